"""The second pre-registration on depth: locked as it is, and its cases enough for what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from framework.statistics.intervals import clopper_pearson
from framework.statistics.noninferiority import cases_needed
from framework.statistics.proportions import tango_limits
from framework.store.hypotheses import Preregistration, read_file
from framework.store.register import locks

CONF = Path(__file__).resolve().parents[4] / "conf" / "prereg"
PILOT = 120
DISCORDANT = {
    "N-traversal": 3,
    "rho-traversal": 8,
    "rho-no-drift": 1,
    "entry-none": 1,
    "q-level": 0,
}
"""Of the first run's 120 pairs."""


@pytest.fixture(scope="module")
def plan() -> Preregistration:
    return read_file(CONF / "depth_traversal.yaml")[0]


def test_it_is_what_was_locked_and_is_judged_on_another_seed(plan: Preregistration) -> None:
    (entry,) = [entry for entry in locks(CONF / "register.jsonl") if entry.name == plan.name]
    assert entry.digest == plan.digest
    first, _ = read_file(CONF / "depth.yaml")
    assert plan.seed != first.seed
    margins = {h.name: h.margin for h in first.hypotheses}
    asked = {h.name: h.margin for h in plan.hypotheses if h.name in margins}
    assert len(asked) == 4
    assert asked.items() <= margins.items()
    assert plan.base == {**first.base, "domain.tasks_per_history": 1}


@pytest.mark.parametrize("name", DISCORDANT)
def test_its_cases_are_enough_when_half_of_the_margin_is_lost(
    plan: Preregistration, name: str
) -> None:
    (h,) = [h for h in plan.hypotheses if h.name == name]
    level = 1 - h.alpha / len(DISCORDANT)
    assert h.n >= cases_needed(h.margin, (1 - level) / 2)
    loss = h.margin / 2
    discordance = max(clopper_pearson(DISCORDANT[name], PILOT)[1], loss)
    assert _power(h.n, h.margin, loss, discordance, level) >= 0.8


def _power(n: int, margin: float, loss: float, discordance: float, level: float) -> float:
    """How often the lower limit is above minus the margin, over all likely counts."""
    losing, winning = (discordance + loss) / 2, (discordance - loss) / 2
    total = 0.0
    for losses in np.flatnonzero(binom.pmf(np.arange(n + 1), n, losing) > 1e-6):
        chance = binom.pmf(losses, n, losing)
        rest = n - losses
        wins = binom.pmf(np.arange(rest + 1), rest, winning / (1 - losing))
        for count in np.flatnonzero(wins > 1e-6):
            if losses or count:
                low = tango_limits(int(count), int(losses), n, level)[0]
            else:
                low = -clopper_pearson(0, n, level)[1]
            total += (low > -margin) * chance * wins[count]
    return float(total)
