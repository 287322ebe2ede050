"""Fenced code blocks of a Markdown page."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A block; `title` is the file that it is, empty where it is none."""

    language: str
    title: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(match["language"], match["title"] or "", match["text"])
        for match in _FENCE.finditer(page.read_text(encoding="utf-8"))
    ]


def commands(page: Path) -> list[str]:
    """The lines of its `console` blocks that a reader types."""
    return [
        line.removeprefix("$ ")
        for block in blocks(page)
        if block.language == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ")
    ]


def argv_of(command: str) -> list[str]:
    """The command as this interpreter runs it, from whichever copy of the package is found."""
    first, *words = shlex.split(command)
    assert first in ("decisionbench", "python"), command
    return [sys.executable, *(("-m", "framework") if first == "decisionbench" else ()), *words]


def is_run(command: str) -> bool:
    """Whether a command makes or resumes a run or sweep."""
    first, *words = shlex.split(command)
    return first == "decisionbench" and (words[0] in ("run", "-m") or "=" in words[0])
