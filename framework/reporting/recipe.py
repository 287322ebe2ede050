"""Recipes by name, and a recipe's page on disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from framework.analysis.evidence import printed_names
from framework.contracts.recipe import Recipe
from framework.errors import UserError
from framework.registry import Plugin, nearest, plugins
from framework.reporting.blocks import Block, Cell, Details, Page, Table, Text
from framework.reporting.figures.style import Drawing, FigureWriter
from framework.reporting.html import to_html
from framework.reporting.markdown import to_markdown
from framework.store.directory import FIGURES, HTML, MARKDOWN, SWEEP
from framework.store.former import read_json
from framework.store.state import SUMMARY

_MADE_BY: Final = "Made by: report --recipe"


def write_recipe(name: str, sources: Sequence[Path], target: Path | None) -> tuple[Path, str]:
    """Make a recipe and write its page; return the HTML file and the page as Markdown.

    target : a directory; `runs/recipes/PAPER-WHAT` where None is given. The same sources give the
    same bytes. Raises UserError for an unknown recipe, sources that lack what it needs, or a
    directory with the page of a run or of someone else: then nothing is written.
    """
    plugin = _find(name)
    recipe: Recipe = plugin.cls()
    if not sources and recipe.needs:
        raise UserError(f"{name} needs {recipe.needs}")
    directory = target or Path("runs") / "recipes" / recipe.name.replace("/", "-")
    _check_no_other_page(directory)
    writer = FigureWriter(directory / FIGURES)
    names = _names(sources)
    made = recipe.blocks(sources, lambda drawing: writer.add_figure(_drawn(drawing, names)))
    blocks = list(_named(made, names))
    page = Page(
        title=f"{plugin.summary} ({recipe.source})",
        blocks=[*blocks, Text(f"{_MADE_BY} {recipe.name}")],
    )
    text = to_markdown(page)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MARKDOWN).write_text(text, encoding="utf-8")
    html = directory / HTML
    html.write_text(to_html(page), encoding="utf-8")
    return html, text


def _check_no_other_page(directory: Path) -> None:
    for page in (directory / MARKDOWN, directory / HTML):
        if page.exists() and _MADE_BY not in page.read_text("utf-8", errors="replace"):
            raise UserError(f"--to: {page} exists, and no recipe made it: name another directory")


def _names(sources: Sequence[Path]) -> dict[str, str]:
    """How arms of these sweeps and runs are printed, where that is not their label."""
    found: dict[str, str] = {}
    for source in sources:
        for file in (source / SWEEP, source / SUMMARY):
            if file.is_file():
                read = read_json(file.read_bytes())
                found |= printed_names(read.get("jobs", [read]))
    return found


def _named(blocks: Iterable[Block], names: Mapping[str, str]) -> Iterator[Block]:
    """The blocks with arms so named in captions and tables, also in cells as `dense, commit`."""
    for block in blocks:
        if isinstance(block, Details):
            block = replace(block, blocks=list(_named(block.blocks, names)))
        elif isinstance(block, Table):
            rows = [[_cell(cell, names) for cell in row] for row in block.rows]
            columns = [_label(column, names) for column in block.columns]
            caption = _worded(block.caption, names)
            block = replace(block, caption=caption, columns=columns, rows=rows)
        yield block


def _cell(cell: Cell | str, names: Mapping[str, str]) -> Cell | str:
    if isinstance(cell, Cell):
        return cell if cell.value is not None else replace(cell, text=_label(cell.text, names))
    return _label(cell, names)


def _label(text: str, names: Mapping[str, str]) -> str:
    arm, comma, rest = text.partition(", ")
    return f"{names.get(arm, arm)}{comma}{rest}"


def _worded(text: str, names: Mapping[str, str]) -> str:
    """A line with the arms in it so named: a label between blanks or punctuation, the longest."""
    if not names:
        return text
    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w(=])(?:{known})(?![\w(=])", lambda found: names[found[0]], text)


def _drawn(drawing: Drawing | None, names: Mapping[str, str]) -> Drawing | None:
    """The figure with arms so named in its words, its legend, at its axes and beside its marks."""
    if drawing is None or not names:
        return drawing
    from matplotlib.text import Text as Written

    for panel in drawing.figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            ticks = [tick.get_text() for tick in axis.get_ticklabels()]
            if any(_label(tick, names) != tick for tick in ticks):
                axis.set_ticklabels([_label(tick, names) for tick in ticks])
    for written in drawing.figure.findobj(Written):
        assert isinstance(written, Written)
        if (text := _label(written.get_text(), names)) != written.get_text():
            written.set_text(text)
    caption, alt = (_worded(text, names) for text in (drawing.caption, drawing.alt))
    return replace(drawing, caption=caption, alt=alt)


def _find(name: str) -> Plugin:
    known = {plugin.name: plugin for plugin in plugins("recipe")}
    if name not in known:
        raise UserError(f"--recipe: no recipe {name!r}{nearest(name, known)}")
    return known[name]
