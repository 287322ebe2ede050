"""A page as Markdown: the same blocks as the HTML, pictures by their place beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from framework.reporting.report.blocks import (
    Block,
    Cell,
    Folded,
    Heading,
    Listing,
    Note,
    Page,
    Picture,
    Table,
    Text,
)

__all__ = ["to_markdown"]

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|])")


def to_markdown(page: Page) -> str:
    """The whole file's text."""
    parts = [f"# {_plain(page.title)}", *(part for b in page.blocks for part in _block(b))]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, _, level):
            yield f"{'#' * level} {_plain(text)}"
        case Text(text):
            yield _plain(text)
        case Note(text):
            yield f"> {_plain(text)}"
        case Listing(items):
            yield "\n".join(f"- {_plain(item)}" for item in items)
        case Folded(summary, blocks):
            yield f"**{_plain(summary)}**"
            for inner in blocks:
                yield from _block(inner)
        case Table():
            yield f"*{_plain(block.caption)}*"
            lines = [_line([_plain(c) for c in block.columns]), _line(["---"] * len(block.columns))]
            yield "\n".join([*lines, *(_line([_cell(c) for c in row]) for row in block.rows)])
        case Picture():
            place = f"{block.svg.parent.name}/{block.svg.name}"
            yield f"![{_plain(block.alt)}]({place})"
            yield f"**{_plain(block.title)}.** {_plain(block.caption)}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return _plain(cell)
    return _plain(f"{cell.text} {cell.under}".rstrip())


def _plain(text: str) -> str:
    """The text as it stands: nothing in it is taken for markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
