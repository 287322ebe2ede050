"""A page as Markdown: the same blocks as the HTML, pictures by their place beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.errors import UserError
from framework.reporting.blocks import (
    Block,
    Cell,
    Details,
    Figure,
    Heading,
    Listing,
    Note,
    Page,
    Table,
    Text,
)
from framework.store.atomic import write_text

_BEGIN: Final = "<!-- result table{}: begin -->"
_END: Final = "<!-- result table{}: end -->"
_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|])")


def to_markdown(page: Page) -> str:
    """The whole file's text."""
    return f"# {_plain(page.title)}\n\n{blocks_markdown(page.blocks)}\n"


def blocks_markdown(blocks: Iterable[Block], *, brief: bool = False) -> str:
    """Blocks one after another; `brief` takes a cell's shorter form where it has one."""
    return "\n\n".join(part for block in blocks for part in _block(block, brief))


def _block(block: Block, brief: bool) -> Iterator[str]:
    match block:
        case Heading(text, _, level):
            yield f"{'#' * level} {_plain(text)}"
        case Text(text):
            yield _plain(text)
        case Note(text):
            yield f"> {_plain(text)}"
        case Listing(items):
            yield "\n".join(f"- {_plain(item)}" for item in items)
        case Details(summary, blocks):
            yield f"**{_plain(summary)}**"
            for inner in blocks:
                yield from _block(inner, brief)
        case Table():
            yield f"**{_plain(block.caption)}**" if brief else f"*{_plain(block.caption)}*"
            lines = [_line([_plain(c) for c in block.columns]), _line(["---"] * len(block.columns))]
            yield "\n".join(
                [*lines, *(_line([_cell(c, brief) for c in row]) for row in block.rows)]
            )
        case Figure():
            place = f"{block.svg.parent.name}/{block.svg.name}"
            yield f"![{_plain(block.alt)}]({place})"
            yield f"**{_plain(block.title)}.** {_plain(block.caption)}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell | str, brief: bool) -> str:
    if isinstance(cell, str):
        return _plain(cell)
    if brief and cell.brief:
        return _plain(cell.brief)
    return _plain(f"{cell.text} {cell.under}".rstrip())


def _plain(text: str) -> str:
    """The text as it stands: nothing in it is taken for markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def put_between_markers(place: str, text: str) -> None:
    """Replace what stands between the table markers of a file.

    place : a path, or PATH#NAME where a file has several tables, whose markers bear their names.
    Raises UserError without markers.
    """
    path, name = _place(place)
    before, _, after = _between(path, name)
    whole = f"{before}{_BEGIN.format(name)}\n\n{text}\n\n{_END.format(name)}{after}"
    write_text(path, whole)


def print_or_put(text: str, place: str | None) -> None:
    """Print a text or, where `place` is given, put it between the table markers there."""
    if place is None:
        print(text)
    else:
        put_between_markers(place, text)


def between_markers(place: str) -> str:
    """What stands there; see `put_between_markers`."""
    return _between(*_place(place))[1].strip()


def _place(place: str) -> tuple[Path, str]:
    path, _, name = place.partition("#")
    return Path(path), f" {name}" if name else ""


def _between(path: Path, name: str) -> tuple[str, str, str]:
    begin, end = _BEGIN.format(name), _END.format(name)
    try:
        before, first, rest = path.read_text(encoding="utf-8").partition(begin)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    text, last, after = rest.partition(end)
    if not first or not last:
        raise UserError(f"{path} has no lines {begin} and {end}")
    return before, text, after
