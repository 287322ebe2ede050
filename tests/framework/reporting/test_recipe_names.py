"""A recipe's page names an arm as every page does: what is lexical is printed as lexical."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.reporting import recipe as pages
from framework.reporting.blocks import Block, Cell, Table
from framework.reporting.figures.style import Drawing, canvas, handles, legend, marks

ARMS = ("bm25", "dense", "dense(embedder=e5)", "mmr(relevance=0.7)")


class Lists:
    """Arms in a caption, in cells, at an axis and in a legend."""

    name = "tests/lists"
    source = "nowhere"
    needs = "a sweep"

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        yield Table(
            anchor="t",
            caption="Recall of dense, a dense_graph and dense(embedder=e5) by mmr(relevance=0.7)",
            columns=("arm", "dense, twice"),
            rows=[[arm, Cell(text=f"{arm}, commit")] for arm in ARMS],
        )
        with canvas(4, 3) as (figure, panels):
            panels[0][0].set_xticks(range(len(ARMS)), ARMS)
            panels[0][0].text(0, 0, "dense")
            legend(figure, handles(marks(ARMS).values()), ARMS)
        self.figure = figure
        told = "recall of dense: 0.10; recall of dense(embedder=e5): 0.20"
        yield from add_figure(
            Drawing(name="f", title="A figure", caption="dense is below.", alt=told, figure=figure)
        )


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    def job(label: str, embedder: str) -> dict[str, Any]:
        return {"run": {"arch": label}, "budget_use": {"embedder": embedder}}

    used = ("", "hashing", "e5", "hashing(dimension=64)")
    jobs = [job(*of) for of in zip(ARMS, used, strict=True)]
    (tmp_path / "sweep.json").write_text(json.dumps({"jobs": jobs}))
    return tmp_path


def test_captions_cells_and_figures_say_what_is_lexical(
    sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Lists()
    monkeypatch.setattr(
        pages, "_find", lambda _: SimpleNamespace(cls=lambda: made, summary="Lists")
    )
    _, page = pages.write_recipe("tests/lists", [sweep], sweep / "page")
    shown = ["bm25", "dense(lexical)", "dense(embedder=e5)", "mmr(relevance=0.7,lexical)"]
    caption = (
        "Recall of dense(lexical), a dense_graph and dense(embedder=e5) by "
        "mmr(relevance=0.7,lexical)"
    )
    assert caption in page
    assert "| arm | dense(lexical), twice |" in page
    assert all(f"| {arm} | {arm}, commit |" in page for arm in shown)
    assert "dense(lexical) is below." in page
    assert "recall of dense(lexical): 0.10; recall of dense(embedder=e5): 0.20" in page
    (panel,) = made.figure.axes
    assert [tick.get_text() for tick in panel.get_xticklabels()] == shown
    assert [text.get_text() for text in panel.texts] == ["dense(lexical)"]
    assert [text.get_text() for text in made.figure.legends[0].get_texts()] == shown


def test_a_recipe_overwrites_no_page_but_a_recipes(
    sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_find", lambda _: SimpleNamespace(cls=Lists, summary="Lists"))
    first, text = pages.write_recipe("tests/lists", [sweep], sweep / "page")
    assert pages.write_recipe("tests/lists", [sweep], sweep / "page") == (first, text)
    for name in ("report.md", "report.html"):
        (sweep / name).write_text("a run's")
        with pytest.raises(UserError, match=f"{name} exists, and no recipe made it"):
            pages.write_recipe("tests/lists", [sweep], sweep)
        assert (sweep / name).read_text() == "a run's"
        assert not (sweep / "figures").exists()
        (sweep / name).unlink()
