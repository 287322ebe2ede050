"""Win rates two ways, survival against figures by hand, and the pages of a small sweep."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.records import Row
from plugins.recipes.depth._sessions import (
    Ended,
    fewer_tokens,
    matchups,
    permuted_rate,
    resolved_then_tokens,
    restricted,
    restricted_mean,
    times,
    token_rate_by_ranks,
    wins,
)
from plugins.recipes.depth.session_costs import frontier
from tests.launching import framework, run

RECIPES = ("table14", "table19", "F065", "F066", "resolution")


def ended(tokens: float, resolved: float = 1.0, cluster: str = "c") -> Ended:
    return Ended(
        cluster=cluster,
        tokens=tokens,
        turns=1.0,
        resolved=resolved,
        usd=0.0,
        seconds=0.0,
        compliance=None,
    )


def row(case: str, turns: float, end: str) -> Row:
    ends = dict.fromkeys(("resolved", "given_up", "out_of_turns"), 0.0)
    return Row(case_id=case, arm="a", axes={**ends, end: 1.0, "turns": turns})


PAIRS = st.lists(
    st.tuples(
        st.builds(ended, st.integers(0, 4).map(float), st.sampled_from([0.0, 1.0])),
        st.builds(ended, st.integers(0, 4).map(float), st.sampled_from([0.0, 1.0])),
    ),
    min_size=1,
    max_size=20,
)


@given(PAIRS)
@settings(max_examples=30)
def test_the_win_rate_is_the_same_computed_twice(pairs: list[tuple[Ended, Ended]]) -> None:
    found = wins(pairs, fewer_tokens, seed=1)
    assert found.rate.value == pytest.approx(token_rate_by_ranks(pairs))
    assert found.n == len(pairs)
    assert found.rate.value == pytest.approx((found.wins + found.ties / 2) / len(pairs))


@given(PAIRS)
@settings(max_examples=30)
def test_the_other_sides_rate_is_what_is_left(pairs: list[tuple[Ended, Ended]]) -> None:
    turned = [(b, a) for a, b in pairs]
    for score in (fewer_tokens, resolved_then_tokens):
        one, other = wins(pairs, score, 1).rate.value, wins(turned, score, 1).rate.value
        assert one is not None
        assert other is not None
        assert one + other == pytest.approx(1.0)


@pytest.mark.parametrize("score", [fewer_tokens, resolved_then_tokens])
def test_swapped_labels_put_the_rate_at_one_half(score: object) -> None:
    pairs = [
        (ended(1.0 + n % 3, n // 2 % 2, cluster=f"c{n}"), ended(2.0, n % 2)) for n in range(48)
    ]
    mean, p = permuted_rate(pairs, score, seed=3)
    assert mean == pytest.approx(0.5, abs=0.01)
    assert p > 0.05
    sure = [(ended(1.0, cluster=f"c{n}"), ended(2.0)) for n in range(40)]
    mean, p = permuted_rate(sure, score, seed=3)
    assert mean == pytest.approx(0.5, abs=0.02)
    assert p < 0.01
    of_one = [(a, b) for a, b in itertools.product([ended(1.0)], [ended(2.0)] * 40)]
    assert permuted_rate(of_one, score, seed=3)[1] > 0.5  # one cluster shows nothing


def test_giving_up_at_once_wins_on_tokens_alone() -> None:
    quits, solves = ended(10.0, 0.0), ended(50.0, 1.0)
    assert fewer_tokens(quits, solves) == 1.0
    assert resolved_then_tokens(quits, solves) == 0.0
    assert resolved_then_tokens(quits, ended(99.0, 0.0)) == 0.5
    cell = ("m", "t")
    assert matchups({cell: quits}, {cell: solves}, both_resolved=True) == []


def test_the_restricted_mean_by_hand() -> None:
    rows = [row("a", 1, "resolved"), row("b", 3, "resolved"), row("c", 2, "given_up")]
    # All until 1, two thirds until 3, one third until 5: 1 + 2 * 2/3 + 2 * 1/3.
    assert restricted_mean(times(rows, "turns", 5), 5) == pytest.approx(3.0)
    # One that ran out of turns at 2 is at risk no longer: then half are left of 2/3 after 3.
    other = [*rows[:2], row("c", 2, "out_of_turns")]
    assert restricted_mean(times(other, "turns", 5), 5) == pytest.approx(1 + 2 * 2 / 3)
    found = restricted([row(str(n), n, "resolved") for n in range(1, 21)], "turns", 20, seed=1)
    assert found.value == pytest.approx(10.5)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 10.5 < found.high


def test_the_front_holds_what_none_beats() -> None:
    points = {"cheap": (1.0, 0.2), "good": (9.0, 0.9), "worse": (9.0, 0.8), "dear": (12.0, 0.9)}
    assert frontier(points) == {"cheap", "good"}
    assert frontier({"a": (1.0, 0.5), "b": (1.0, 0.5)}) == {"a", "b"}


def lines_of(page: str, head: str, n: int) -> list[str]:
    """The first rows of the first table whose head has a text."""
    lines = page.splitlines()
    first = next(at for at, line in enumerate(lines) if head in line and line.startswith("|"))
    return lines[first + 2 : first + 2 + n]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_recipe_makes_its_page(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("domain.items=90", "domain.tasks_per_history=2", "domain.forms=development")
    given_ = ("-m", "protocol=sessions", "domain=governance", "budget=moderate", *small)
    done = run(capsys, *given_, "arch=none,typed_graph,oracle", "n_cases=12", "tracking=none")
    assert done.status == 0, done.err
    pages = {}
    for name in RECIPES:
        made = framework(capsys, "report", str(done.directory), "--recipe", f"sessions/{name}")
        assert made.status == 0, made.err
        pages[name] = (Path("runs/recipes") / f"sessions-{name}" / "report.md").read_text("utf-8")
    figures = Path("runs/recipes")
    assert list(figures.glob("sessions-F065/figures/*.svg"))
    assert list(figures.glob("sessions-F066/figures/*.svg"))
    assert len(list(figures.glob("sessions-resolution/figures/depth-session-curves-*.svg"))) == 2
    assert framework(capsys, "report", str(done.directory)).status == 0
    whole = (done.directory / "report.md").read_text("utf-8")
    for page in pages.values():  # the sweep's own page has all of them
        assert all(caption in whole for caption in re.findall(r"^\*[^*]+\*$", page, re.MULTILINE))
    assert len(list((done.directory / "figures").glob("depth-session-*.svg"))) == 5
    assert framework(capsys, "verify", str(done.directory)).status == 0
    for printed in ("Table 15 of the paper", "Table 16", "Table 17", "Table 18", "Table 19"):
        assert f"{printed}" in whole
    assert "| oracle | 12 |" in pages["F065"]
    assert "turn 4 and later" in pages["table14"]
    assert all(line.endswith("| 12 |") for line in lines_of(pages["table14"], "turn 4", 3))
    one = framework(capsys, "report", str(next(done.directory.glob("*none*"))), "--recipe",
                    "sessions/F065")  # fmt: skip
    assert "the runs lack arch=typed_graph" in one.mistake
