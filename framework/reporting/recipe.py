"""Recipes by name, and a recipe's page on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from framework.analysis.evidence import printed_names
from framework.contracts.recipe import Recipe
from framework.errors import UserError
from framework.registry import Plugin, nearest, plugins
from framework.reporting.blocks import Block, Cell, Details, Page, Table, Text
from framework.reporting.figures.style import FigureWriter
from framework.reporting.html import to_html
from framework.reporting.markdown import to_markdown
from framework.store.directory import FIGURES, SUMMARY, SWEEP
from framework.store.former import read_json


def write_recipe(name: str, sources: Sequence[Path], target: Path | None) -> tuple[Path, str]:
    """Make a recipe and write its page; return the HTML file and the page as Markdown.

    target : a directory; `runs/recipes/PAPER-WHAT` where None is given. The same sources give the
    same bytes. Raises UserError for an unknown recipe, or sources that lack what it needs: then
    nothing is written.
    """
    plugin = _find(name)
    recipe: Recipe = plugin.cls()
    if not sources and recipe.needs:
        raise UserError(f"{name} needs {recipe.needs}")
    directory = target or Path("runs") / "recipes" / recipe.name.replace("/", "-")
    writer = FigureWriter(directory / FIGURES)
    blocks = list(_named(recipe.blocks(sources, writer.add_figure), _names(sources)))
    page = Page(
        title=f"{plugin.summary} ({recipe.source})",
        blocks=[*blocks, Text(f"Made by: report --recipe {recipe.name}")],
    )
    text = to_markdown(page)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "report.md").write_text(text, encoding="utf-8")
    html = directory / "report.html"
    html.write_text(to_html(page), encoding="utf-8")
    return html, text


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
    """The blocks with arms so named in their tables, also in cells as `dense, commit`."""
    for block in blocks:
        if isinstance(block, Details):
            block = replace(block, blocks=list(_named(block.blocks, names)))
        elif isinstance(block, Table):
            rows = [[_cell(cell, names) for cell in row] for row in block.rows]
            block = replace(block, rows=rows)
        yield block


def _cell(cell: Cell | str, names: Mapping[str, str]) -> Cell | str:
    if isinstance(cell, Cell):
        return cell if cell.value is not None else replace(cell, text=str(_cell(cell.text, names)))
    arm, comma, rest = cell.partition(", ")
    return f"{names.get(arm, arm)}{comma}{rest}"


def _find(name: str) -> Plugin:
    known = {plugin.name: plugin for plugin in plugins("recipe")}
    if name not in known:
        raise UserError(f"--recipe: no recipe {name!r}{nearest(name, known)}")
    return known[name]
