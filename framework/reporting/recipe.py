"""Recipes by name, and a recipe's page on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framework.contracts.recipe import Recipe
from framework.errors import UserError
from framework.registry import Plugin, nearest, plugins
from framework.reporting.blocks import Page, Text
from framework.reporting.figures.style import FigureWriter
from framework.reporting.html import to_html
from framework.reporting.markdown import to_markdown
from framework.store.directory import FIGURES


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
    blocks = list(recipe.blocks(sources, writer.add_figure))
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


def _find(name: str) -> Plugin:
    known = {plugin.name: plugin for plugin in plugins("recipe")}
    if name not in known:
        raise UserError(f"--recipe: no recipe {name!r}{nearest(name, known)}")
    return known[name]
