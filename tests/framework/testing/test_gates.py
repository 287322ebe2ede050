"""The simulated loops: the truth is what it is said to be, and rules differ as they must."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from framework.testing import gates
from framework.testing.gates import IDEAS, LOOKS, Rule, draw, markdown, simulate

POINT: Mapping[str, Any] = {"rule": "point", "threshold": 0.02}


@pytest.fixture(scope="module")
def found() -> list[gates.Found]:
    rules = [Rule(name="point", gate=POINT), Rule(name="every", gate={"rule": "point"})]
    return simulate(15, seed=1, rules=rules)


def test_the_declared_effects_are_the_true_ones() -> None:
    after = {kind: gates._after(0.75, fix, hurt) - 0.75 for kind, (_, fix, hurt) in IDEAS.items()}
    assert after == pytest.approx({"null": 0, "harmful": -0.0225, "small": 0.02, "large": 0.06})
    assert sum(share for share, _, _ in IDEAS.values()) == pytest.approx(1)


def test_promotions_grow_with_looks_and_a_stricter_gate_makes_fewer(
    found: list[gates.Found],
) -> None:
    by = {(f.rule, f.looks): f for f in found}
    for rule in ("point", "every"):
        counts = [by[rule, looks].promotions for looks in LOOKS]
        assert counts == sorted(counts)
        assert all(by[rule, looks].regret >= -1e-9 for looks in LOOKS)
    assert by["point", 20].promotions < by["every", 20].promotions
    assert by["point", 20].any_false <= by["every", 20].any_false


def test_a_simulation_is_its_seeds(found: list[gates.Found]) -> None:
    assert simulate(15, seed=1, rules=[Rule(name="point", gate=POINT)]) == found[: len(LOOKS)]


def test_the_table_and_the_picture(found: list[gates.Found], tmp_path: Path) -> None:
    assert len(markdown(found).splitlines()) == 2 + len(found)
    draw(found, tmp_path / "gates.svg")
    assert (tmp_path / "gates.svg").read_text().lstrip().startswith("<?xml")
