"""Whatever speaks of dense retrieval says by which encoder, and names one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from framework.engine.compose import compose_raw, composer
from framework.registry import plugins

ROOT: Final = Path(__file__).resolve().parents[2]
DENSE: Final = sorted(p.name for p in plugins("arch") if p.cls.uses_embedder)
NAMED: Final = ("e5", "/embedder:")
LEXICAL: Final = ("hashing",)
HISTORY: Final = "corrections.md"
"""Tells what was wrong, by the names that arms had."""
PAGES: Final = [
    *sorted((ROOT / "conf" / "experiment").rglob("*.yaml")),
    *sorted(p for p in (ROOT / "docs" / "results").glob("*.md") if p.name != HISTORY),
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]


def speaks(text: str) -> bool:
    """Whether a page runs or shows an arm that searches by vectors."""
    return any(re.search(rf"\b{name}\b(?![=:])", text) for name in DENSE)


def test_these_are_the_arms_that_search_by_vectors() -> None:
    assert {"dense", "hybrid_rrf", "mmr", "raptor"} <= set(DENSE)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_dense_retrieval_names_an_encoder(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if speaks(text):
        assert any(name in text for name in NAMED)


RUNNING: Final = [p for p in PAGES if p.suffix == ".yaml" and speaks(p.read_text("utf-8"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNING, ids=lambda p: p.stem)
def test_an_experiment_that_searches_by_vectors_runs_an_encoder(page: Path) -> None:
    """Without its packages it ends in one line, and measures no words under the name `dense`."""
    name = page.relative_to(ROOT / "conf" / "experiment").with_suffix("").as_posix()
    with composer():
        config = compose_raw([f"+experiment={name}"])
    chosen = str(config.hydra.runtime.choices["embedder"])
    assert chosen not in LEXICAL or "e5" in str(config.hydra.sweeper.params.get("embedder"))
