"""Placing thresholds around values, so that each condition has the truth the target asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from random import Random

from plugins.domains.regulated.policy import DOWNWARD, Condition, Threshold, Value
from plugins.domains.regulated.spec import ConditionSpec, Fact


def place(
    spec: ConditionSpec,
    fact: Fact,
    comparator: str,
    wanted: Sequence[tuple[Value, bool]],
    gap: float,
    rng: Random,
) -> Condition | None:
    """The condition with a threshold `gap` away from the nearest value, true where `wanted` says.

    Between two values of different truth the gap does not apply: the threshold falls between them.
    None when there is no such threshold.
    """
    threshold: Threshold | None
    if fact.type == "category":
        threshold = _place_list(spec, fact, comparator, wanted, rng)
    else:
        points = [(_ordinal(value), truth) for value, truth in wanted]
        number = _place_number(spec.step, comparator in DOWNWARD, points, gap, rng)
        if number is None:
            return None
        if fact.type == "date":
            threshold = date.fromordinal(round(number))
        else:
            threshold = number
            if not fact.admissible[0] <= number <= fact.admissible[1]:
                return None
    if threshold is None:
        return None
    condition = Condition(fact=spec.fact, comparator=comparator, threshold=threshold)
    return condition if all(condition.holds(v) == truth for v, truth in wanted) else None


def sample_gap(spec: ConditionSpec, near: bool, rng: Random) -> float:
    """A distance between a value and its threshold."""
    return rng.uniform(*(spec.near if near else spec.far))


def _place_number(
    step: float, downward: bool, points: list[tuple[float, bool]], gap: float, rng: Random
) -> float | None:
    sign = -1 if downward else 1
    under = max((sign * v for v, truth in points if not truth), default=None)
    over = min((sign * v for v, truth in points if truth), default=None)
    # In steps of the threshold's grid, strictly between what must be false and what must be true.
    least = -math.inf if under is None else math.floor(under / step + 1e-9) + 1
    most = math.inf if over is None else math.ceil(over / step - 1e-9) - 1
    if least > most:
        return None
    if under is not None and over is not None:
        steps = rng.randint(int(least), int(most))
    elif under is not None:
        steps = max(int(least), math.ceil((under + gap) / step - 1e-9))
    elif over is not None:
        steps = min(int(most), math.floor((over - gap) / step + 1e-9))
    else:
        return None
    return round(sign * steps * step, 6)


def _place_list(
    spec: ConditionSpec,
    fact: Fact,
    comparator: str,
    wanted: Sequence[tuple[Value, bool]],
    rng: Random,
) -> tuple[str, ...] | None:
    inside = comparator == "one of"
    size = rng.randint(*spec.listed)
    within = {str(value) for value, truth in wanted if truth == inside}
    without = {str(value) for value, truth in wanted if truth != inside}
    others = [word for word in fact.vocabulary if word not in within | without]
    if len(within) > size or size - len(within) > len(others):
        return None
    words = [*within, *rng.sample(others, size - len(within))]
    return tuple(word for word in fact.vocabulary if word in words)


def _ordinal(value: Value) -> float:
    if isinstance(value, date):
        return float(value.toordinal())
    assert not isinstance(value, str)
    return float(value)
