"""What a session on the service may call, and patches that settle its tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from framework.text.canonical import canonical_json
from framework.text.reading import read_json

SEARCH_CODE: Final = "search_code"
RUN_CHECKS: Final = "run_checks"
TOOLS: Final[Mapping[str, str]] = {
    SEARCH_CODE: "lines of the service that hold every word of the argument, with their places",
    RUN_CHECKS: "run the checks on the files as last changed; takes nothing",
}
NOTHING_CHANGED: Final = canonical_json({"edits": []})
"""The edit that leaves the files as they are."""
_MOST: Final = 20


@lru_cache(maxsize=1)
def references() -> dict[str, list[dict[str, str]]]:
    """By target, the edits of a patch written by hand that honours the rule."""
    path = Path(__file__).with_name("references.json")
    loaded: dict[str, list[dict[str, str]]] = read_json(path.read_text(encoding="utf-8"))
    return loaded


def found_in(files: Mapping[str, str], words: str) -> str:
    """The first twenty lines with every word, each with its file and number."""
    wanted = [word.lower() for word in re.findall(r"\w+", words)]
    if not wanted:
        return "Nothing: no word to search for."
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in sorted(files.items())
        for number, line in enumerate(text.splitlines(), start=1)
        if all(word in line.lower() for word in wanted)
    ]
    return "\n".join(found[:_MOST]) or "Nothing has all of these words."
