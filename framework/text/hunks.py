"""A patch: stretches of files and what stands in their place.

Search and replace is what a language model writes reliably: no line numbers to count, no context
marks to keep. It is read strictly: a stretch that is not in the file exactly once is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from framework.text.canonical import canonical_json
from framework.text.reading import read_json

_BETWEEN: Final = re.compile(r"\n\n+(?=\S)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """In `file`, `search` (verbatim, there once) becomes `replace`."""

    file: str
    search: str
    replace: str


def apply(hunks: Sequence[Hunk], files: Mapping[str, str]) -> dict[str, str]:
    """The files with all hunks made, in their order.

    Raises ValueError naming the hunk whose file is unknown or whose text is empty, missing or there
    more than once.
    """
    changed = dict(files)
    for number, hunk in enumerate(hunks, start=1):
        where = f"edit {number}"
        if hunk.file not in changed:
            raise ValueError(f"{where}: no file {hunk.file!r}; there are {', '.join(files)}")
        if not hunk.search:
            raise ValueError(f"{where}: search is empty")
        times = changed[hunk.file].count(hunk.search)
        if times != 1:
            raise ValueError(f"{where}: search is {times} times in {hunk.file}, expected once")
        changed[hunk.file] = changed[hunk.file].replace(hunk.search, hunk.replace)
    return changed


def named_blocks(text: str) -> dict[str, str]:
    """The blocks of a file by their first line that no other has: a function by its signature.

    A block ends before an empty line that one without indentation follows. One that has no such
    line can't be named and is left out.
    """
    blocks = [block for block in _BETWEEN.split(text.strip("\n")) if block]
    owners = Counter(line for block in blocks for line in set(block.split("\n")) if line)
    named = ((next((x for x in b.split("\n") if owners[x] == 1), ""), b) for b in blocks)
    return {name: block for name, block in named if name and text.count(block) == 1}


def as_edit(hunks: Sequence[Hunk]) -> str:
    """The patch as canonical JSON, the form of `Answer.edit`."""
    return canonical_json({"edits": hunks})


def hunks_of(edit: str) -> tuple[Hunk, ...]:
    """The hunks of an edit in its JSON form; none of an empty text. Raises ValueError."""
    if not edit:
        return ()
    data = read_json(edit)
    if (
        not isinstance(data, dict)
        or data.keys() != {"edits"}
        or not isinstance(data["edits"], list)
    ):
        raise ValueError("an object with the key edits, a list, expected")
    return tuple(_hunk(entry) for entry in data["edits"])


def _hunk(entry: Any) -> Hunk:
    names = ("file", "search", "replace")
    if not isinstance(entry, dict) or entry.keys() != set(names):
        raise ValueError(f"an edit has the keys {', '.join(names)}")
    if not all(isinstance(entry[name], str) for name in names):
        raise ValueError("the values of an edit are texts")
    return Hunk(**entry)
