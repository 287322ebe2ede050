"""The order of arms on generated and outside cases, from hand-made retention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from benchmarks.studies import order_of_arms
from benchmarks.studies.order_of_arms import (
    ROOT,
    SETTINGS,
    Measured,
    Setting,
    agreement,
    measure,
    short,
    tables,
)
from framework.registry import find
from framework.reporting.markdown import between_markers

ARMS = ("bm25", "tfidf", "dense", "mmr")


def measured(
    name: str, made: str, means: Sequence[float], clusters: int = 12, spread: float = 0.0
) -> Measured:
    values: dict[str, Mapping[str, Sequence[float]]] = {
        arm: {f"c{i}": [mean + spread * (i % 2)] for i in range(clusters)}
        for arm, mean in zip(ARMS, means, strict=True)
    }
    setting = Setting(name=name, made=made, overrides=())
    return Measured(setting=setting, budget="tight", cases=clusters, values=values)


def test_one_order_reversed_and_one_with_a_pair_swapped() -> None:
    a = [measured("a", "generated", (0.1, 0.2, 0.3, 0.4))]
    assert agreement(a, [measured("b", "outside", (0.5, 0.6, 0.7, 0.8))]) == pytest.approx(1)
    assert agreement(a, [measured("b", "outside", (0.8, 0.7, 0.6, 0.5))]) == pytest.approx(-1)
    assert agreement(a, [measured("b", "outside", (0.2, 0.1, 0.3, 0.4))]) == pytest.approx(4 / 6)
    assert agreement(a, [measured("b", "outside", (0.5, 0.5, 0.5, 0.5))]) is None


def test_of_several_settings_the_mean_ranks_are_compared() -> None:
    pair = [
        measured("a", "generated", (0.1, 0.2, 0.3, 0.4)),
        measured("b", "generated", (0.0, 0.0, 0.9, 0.8)),
    ]
    # Mean ranks 0.75, 1.25, 3, 3 (from ranks 0.5, 1.5, 2.5, 3.5 and 1, 1, 3.5, 2.5).
    outside = [measured("c", "outside", (0.1, 0.2, 0.3, 0.3))]
    assert agreement(pair, outside) == pytest.approx(1)


def test_a_mean_is_over_cases_and_drawn_clusters_count_as_often_as_drawn() -> None:
    setting = Setting(name="a", made="outside", overrides=())
    one = Measured(
        setting=setting,
        budget="tight",
        cases=3,
        values={"bm25": {"x": [1.0, 0.0], "y": [1.0]}},
    )
    assert one.means()["bm25"] == pytest.approx(2 / 3)
    assert one.means(np.array([0.0, 2.0]))["bm25"] == pytest.approx(1)
    assert one.means(np.array([2.0, 0.0]))["bm25"] == pytest.approx(1 / 2)


def test_a_table_gives_an_interval_only_from_ten_clusters() -> None:
    found = [
        measured("made", "generated", (0.1, 0.2, 0.3, 0.4), spread=0.3),
        measured("few", "outside", (0.1, 0.2, 0.3, 0.4), clusters=9),
        measured("real", "outside", (0.1, 0.3, 0.2, 0.4), spread=0.3),
    ]
    retention, taus = tables(found, "tight", ARMS)
    assert "| arm | made (n 12, 12) | few (n 9, 9) | real (n 12, 12) |" in retention
    assert "| bm25 | 0.25 | 0.10 | 0.25 |" in retention
    (row,) = (line for line in taus.splitlines() if line.startswith("| made |"))
    assert "+1.00, no interval: fewer than 10 clusters" in row
    assert "+0.67 (+0.67 to +0.67)" in row
    assert tables(found[1:], "tight", ARMS) == []


def test_the_short_table_is_the_last_row_of_each_long_one() -> None:
    found = [
        replace(measured(name, made, means, clusters, spread=0.3), budget=budget)
        for budget in ("tight", "moderate")
        for name, made, means, clusters in (
            ("a", "generated", (0.1, 0.2, 0.3, 0.4), 12),
            ("b", "generated", (0.2, 0.1, 0.3, 0.4), 12),
            ("real", "outside", (0.1, 0.3, 0.2, 0.4), 12),
            ("few", "outside", (0.1, 0.2, 0.3, 0.4), 9),
            ("more", "outside", (0.4, 0.2, 0.3, 0.1), 12),
        )
    ]
    told = short(found, ["tight", "moderate"])
    rows = {line.split(" | ")[0]: line for line in told.splitlines()[2:]}
    for place, budget in enumerate(("tight", "moderate")):
        long = tables(found, budget, ARMS)[1].splitlines()
        for name, cell in zip(_cells(long[2])[1:], _cells(long[-1])[1:], strict=True):
            assert _cells(rows[f"| {name}"])[2 + place] == cell.partition(", no interval")[0]
    assert _cells(rows["| few"])[1] == "9"


def test_the_short_table_shows_the_last_rows_of_the_long_ones() -> None:
    page = between_markers(f"{ROOT}/docs/results/order-of-arms.md#order")
    front = between_markers(f"{ROOT}/docs/results/order-of-arms.md#short").splitlines()
    long = [line for line in page.splitlines() if line.startswith("| all, by mean rank")]
    names = [line for line in page.splitlines() if line.startswith("| | ")]
    assert [_cells(line)[0] for line in front[2:]] == _cells(names[0])[1:]
    for place, line in enumerate(long):
        cells = [cell.partition(", no interval")[0] for cell in _cells(line)[1:]]
        assert [_cells(row)[2 + place] for row in front[2:]] == cells


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_what_is_compared_is_registered_and_no_control() -> None:
    said = yaml.safe_load(SETTINGS.read_text())
    for name in said["arms"]:
        arm = find("arch", name).cls
        assert not arm.control, name
        assert not any((arm.sees_gold, arm.unbudgeted, arm.needs_model)), name
    assert {one["made"] for one in said["settings"]} == {"generated", "outside"}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_page_names_the_arms_as_their_runs_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(order_of_arms, "RUNS", tmp_path)
    said = {**yaml.safe_load(SETTINGS.read_text()), "budgets": ["tight"]}
    setting = Setting(name="loan", made="generated", overrides=("domain=loan", "n_cases=2"))
    (found,) = measure(setting, tmp_path, said)
    assert {"bm25", "dense(lexical)"} < set(found.values)
    outside = replace(found, setting=replace(setting, name="real", made="outside"))
    retention, _ = tables([found, outside], "tight", said["arms"])
    table = between_markers(f"{ROOT}/docs/results/order-of-arms.md#order")
    assert _first_column(retention) == _first_column(table.partition("\n\n**")[0])


def _first_column(table: str) -> list[str]:
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
