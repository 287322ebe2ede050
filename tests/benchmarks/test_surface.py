"""What is left of a history without its facts does not tell the label."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.attacks._told import CASES, CHANCE, told
from benchmarks.attacks.surface import (
    CONTROLS,
    DOMAINS,
    POLICY,
    REGULATED,
    SYNTHETIC,
    Drawn,
    controls,
    drawn,
    policy,
    tells,
)

SEED = 41
PAIRS = [(option, name) for option in DOMAINS for name in controls(option)]


@cache
def all_cases(option: str) -> Drawn:
    return drawn(option, CASES, SEED)


def cases(option: str, n: int) -> Drawn:
    one = all_cases(option)
    first = {name: getattr(one, name)[:n] for name in ("cases", "histories", "labels", "sampled")}
    return replace(one, **first)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["structure", POLICY])
@pytest.mark.parametrize("option", REGULATED)
def test_the_interval_of_few_cases_holds_chance(option: str, name: str) -> None:
    found = tells(name, cases(option, 150))
    assert found is not None
    print(f"{option}, {name}: {found}")
    assert found.at_chance, found


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("option", "name"), PAIRS)
def test_the_label_is_at_chance(option: str, name: str) -> None:
    found = tells(name, cases(option, CASES))
    assert found is not None
    print(f"{option}, {name}: {found}")
    assert found.at_chance, found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_shortcut_planted_in_the_policy_is_found() -> None:
    """A rule that is in force in 55% of one label's cases and 35% of the others': an AUC of .60."""
    one = cases(REGULATED[0], CASES)
    deny = np.array([label == "DENY" for label in one.labels])
    marked = np.random.default_rng(0).random(CASES) < np.where(deny, 0.55, 0.35)
    rows = [{**row, "planted": float(mark)} for row, mark in zip(policy(one), marked, strict=True)]
    found = told(rows, list(deny))
    assert found is not None
    print(found)
    assert found.auc > CHANCE[1]


def test_every_control_concerns_some_domain() -> None:
    assert {name for _, name in PAIRS} == set(CONTROLS)
    assert POLICY not in controls(SYNTHETIC)
