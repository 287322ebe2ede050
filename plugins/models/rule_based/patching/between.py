"""What a patch is where both texts are known: the stretches in which they differ."""

from __future__ import annotations

import difflib

from framework.text.hunks import Hunk, apply


def hunks_between(file: str, old: str, new: str) -> tuple[Hunk, ...]:
    """Hunks that make `new` of `old`, each with as many whole lines around as make it unique."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    hunks: list[Hunk] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(0):
        start, end = group[0][1], group[-1][2]
        first, last = group[0][3], group[-1][4]
        while old.count("".join(before[start:end])) != 1 or start == end:
            start, end = max(0, start - 1), min(len(before), end + 1)
            first, last = max(0, first - 1), min(len(after), last + 1)
        hunks.append(
            Hunk(
                file=file,
                search="".join(before[start:end]),
                replace="".join(after[first:last]),
            )
        )
    try:
        fine = apply(hunks, {file: old})[file] == new
    except ValueError:
        fine = False  # contexts overlap
    return tuple(hunks) if fine else (Hunk(file=file, search=old, replace=new),)
