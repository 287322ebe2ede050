"""Drift by the run's embedder, on vectors set by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framework.contracts import Embedder, Scored
from framework.models.client import Ledger, book, track_usage
from framework.pipeline.score import score_axes
from framework.records import Case, Event, Gold, TaskCard, Usage
from framework.registry import NoSettings
from framework.store.state import read_summary
from plugins.axes.drift import OTHERS, Drift
from plugins.axes.geometry import Geometry
from tests.launching import framework, run
from tests.plugins.axes.helpers import SmallDomain, scored

SIMILARITY = {"task": 1.0, "entry": 0.8, "middle": 0.4, "end": 0.2, "other": 0.1}


class ByHand(Embedder[NoSettings]):
    """Vectors whose inner product with the task's is the text's similarity; books 10 tokens a text.

    Two other texts are alike as the product of their similarities to the task.
    """

    kind = "model"
    dimension = 1

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__(NoSettings())
        self.asked: list[list[str]] = []
        self.fails = fails

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        book(Usage(calls=1, tokens_in=10 * len(texts), cost_usd=0.5, paid_usd=0.5, paid_calls=1))
        if self.fails:
            raise RuntimeError("no vectors today")
        return np.array([[SIMILARITY[text.split()[0]]] for text in texts], dtype=np.float32)


class Chained(SmallDomain):
    """A chain of three records among twenty others, one of them a look-alike."""

    chain: tuple[str, ...] = ("entry", "middle", "end")

    def chain_texts(self, case: Case) -> Sequence[str]:
        return self.chain

    def history(self, history_id: str) -> Iterator[Event]:
        for name in ("entry", "middle", "end", "task look-alike"):
            yield Event(id=name, text=name, time="", kind="decision")
        for i in range(20):
            yield Event(id=f"o{i}", text=f"other {i}", time="", kind="decision")


GOLD = Gold(
    entry="entry",
    chain=("entry", "middle", "end"),
    governing=("end",),
    distractors=("task look-alike",),
)


def one(embedder: Embedder[Any] | None, domain: SmallDomain | None = None, **case: Any) -> Scored:
    found = scored(None, GOLD)
    card = TaskCard(instruction="", query="task")
    return replace(
        found,
        case=replace(found.case, task=card, **case),
        domain=domain or Chained(),
        embedder=embedder,
    )


def measured(
    given: Scored, axis: Drift | None = None
) -> tuple[dict[str, float | None], dict[str, Usage]]:
    """The columns, and what was booked."""
    ledger = Ledger()

    async def score() -> dict[str, float | None]:
        with track_usage(ledger, "judge", 0):
            return (await score_axes([axis or Drift(NoSettings())], given)).values

    return asyncio.run(score()), dict(ledger.usage())


def test_by_hand() -> None:
    values, _ = measured(one(ByHand()))
    assert values == pytest.approx(
        {
            "achieved_rho_embedded": (0.4 + 0.2) / (0.8 + 0.4),
            "entry_similarity_embedded": 0.8,
            "governing_similarity_embedded": 0.2,
            "hop_similarity_embedded": (0.8 * 0.4 + 0.4 * 0.2) / 2,
            "background_similarity_embedded": 0.1,
            "excess_rho_embedded": (0.3 + 0.1) / (0.7 + 0.3),
        }
    )


def test_it_embeds_a_case_at_once_and_nothing_that_the_gold_names_as_background() -> None:
    embedder = ByHand()
    measured(one(embedder))
    (texts,) = embedder.asked
    assert texts[:4] == ["task", "entry", "middle", "end"]
    assert len(texts) == 4 + OTHERS
    assert all(text.startswith("other ") for text in texts[4:])
    other = ByHand()
    measured(one(other, id="c2"))
    assert other.asked[0][4:] != texts[4:]


def test_what_it_takes_is_booked_apart_from_the_judge() -> None:
    _, usage = measured(one(ByHand()))
    assert list(usage) == ["measure"]
    assert (usage["measure"].tokens_in, usage["measure"].cost_usd) == (120, 0.5)


def test_another_draw_is_booked_alike_and_paid_once() -> None:
    embedder, axis = ByHand(), Drift(NoSettings())
    first = measured(one(embedder), axis)
    again = measured(one(embedder), axis)
    assert len(embedder.asked) == 1
    assert first[0] == again[0]
    assert again[1]["measure"] == replace(first[1]["measure"], paid_usd=0.0, paid_calls=0)
    measured(one(embedder, history_id="h2"), axis)
    assert len(embedder.asked) == 2


def test_what_failed_is_booked_and_asked_for_again() -> None:
    axis, ledger = Drift(NoSettings()), Ledger()

    async def score() -> None:
        with track_usage(ledger, "judge", 0):
            await score_axes([axis], one(ByHand(fails=True)))

    with pytest.raises(RuntimeError, match="no vectors"):
        asyncio.run(score())
    assert ledger.usage()["measure"].calls == 1
    values, _ = measured(one(ByHand()), axis)
    assert values["entry_similarity_embedded"] == pytest.approx(0.8)


def test_without_a_chain_or_an_embedder_nothing_is_measured() -> None:
    embedder = ByHand()
    for given in (one(None), one(embedder, SmallDomain())):
        values, usage = measured(given)
        assert values == dict.fromkeys(Drift.names)
        assert usage == {}
    assert not embedder.asked


def test_a_chain_of_one_has_no_hop() -> None:
    domain = Chained()
    domain.chain = ("entry",)
    values, _ = measured(one(ByHand(), domain))
    assert values["entry_similarity_embedded"] == values["governing_similarity_embedded"]
    assert [n for n in Drift.names if values[n] is None] == [
        "achieved_rho_embedded", "hop_similarity_embedded", "excess_rho_embedded",
    ]  # fmt: skip


def test_an_entry_no_more_alike_than_the_background_has_no_excess() -> None:
    domain = Chained()
    domain.chain = ("other", "end")
    values, _ = measured(one(ByHand(), domain))
    assert values["excess_rho_embedded"] is None
    assert values["achieved_rho_embedded"] == pytest.approx(2.0)


def test_an_axis_that_does_not_declare_it_gets_no_embedder() -> None:
    seen: list[object] = []

    class Looking(Geometry):
        def score(self, scored: Scored) -> Any:
            seen.append(scored.embedder)
            return super().score(scored)

    async def score() -> None:
        await score_axes([Looking(NoSettings())], one(ByHand()))

    asyncio.run(score())
    assert seen == [None]


SHORT = (
    "domain=governance", "domain.items=400", "budget=absolute", "budget.tokens=500", "n_cases=10",
    "tracking=none",
)  # fmt: skip


@pytest.mark.slow
def test_a_run_with_hashed_words_says_what_it_is(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    asked = ("protocol=retrieve", "arch=bm25", "extra_axes=[drift]")
    done = run(capsys, *SHORT, *asked, f"hydra.run.dir={runs_dir / 'drift'}")
    assert done.status == 0, done.err
    summary = read_summary(done.directory)
    axes = summary["axes"]
    assert {axes[name]["kind"] for name in Drift.names} == {"lexical embedder"}
    assert {axes[name]["n"] for name in Drift.names} == {10}
    assert axes["achieved_rho"]["kind"] == "model-free"
    assert "embedder" not in summary["budget_use"], "the arm was told nothing"
    (warning,) = summary["warnings"]
    assert all(name in warning for name in Drift.names)
    assert "embedder" in json.loads((done.directory / "manifest.json").read_text())["plugins"]
    plain = run(capsys, *SHORT, *asked[:2], f"hydra.run.dir={runs_dir / 'plain'}")
    found = read_summary(plain.directory)
    assert found["warnings"] == []
    assert not set(Drift.names) & found["axes"].keys()


@pytest.mark.slow
def test_a_finished_run_can_be_measured_later(
    capsys: pytest.CaptureFixture[str], runs_dir: Path
) -> None:
    old = run(capsys, *SHORT, "arch=bm25", f"hydra.run.dir={runs_dir / 'old'}").directory
    done = framework(capsys, "rescore", str(old), "extra_axes=[drift]", "--axes", "drift")
    assert done.status == 0, done.err
    before, after = (read_summary(path)["axes"] for path in (old, done.directory))
    assert {name: entry["mean"] for name, entry in after.items() if name not in Drift.names} == {
        name: entry["mean"] for name, entry in before.items()
    }
    assert after["excess_rho_embedded"]["n"] == 10
