"""Drawing the facts of a case, with no regard to the decision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from random import Random

from framework.errors import UserError
from plugins.domains.regulated.chains import chains_of, opening_of
from plugins.domains.regulated.policy import Value, compute, derive
from plugins.domains.regulated.spec import NUMERIC, Fact, Spec

_TRIES = 200


def sample_facts(
    spec: Spec, rng: Random, intake: date, provisions: tuple[str, ...]
) -> dict[str, Value]:
    """Every fact, derived ones too. `provisions`: codes that a fact of that type may name.

    No figure that is kept by entries is its opening figure: that one would be right by chance.

    Raises UserError when derived facts keep falling outside the range that the spec gives.
    """
    figures = chains_of(spec)
    beyond = Counter[str]()
    for _ in range(_TRIES):
        sampled: dict[str, Value] = {}
        for fact in spec.facts.values():
            if fact.formula:
                sampled[fact.key] = compute(fact.formula, sampled)
            else:
                sampled[fact.key] = _draw(fact, rng, intake, provisions, sampled)
        told = all(sampled[opening_of(figure)] != sampled[figure] for figure in figures)
        outside = [f.key for f in spec.facts.values() if not _within(f, sampled[f.key])]
        if told and not outside:
            return sampled
        beyond.update(outside)
    most = f"{beyond.most_common(1)[0][0]}." if beyond else ""
    raise UserError(f"{spec.file}: facts.{most}range: drawn values are hardly ever within it")


def other_value(
    spec: Spec, facts: Mapping[str, Value], key: str, up: bool, rng: Random
) -> dict[str, Value] | None:
    """`facts` with another value of `key`, higher or lower by a revision's distance.

    Derived facts follow. None when there is no such value within what is admissible. For a category
    `up` means nothing.
    """
    fact = spec.facts[key]
    value = facts[key]
    other: Value
    if isinstance(value, str):
        other = rng.choice([word for word in fact.vocabulary if word != value])
    else:
        assert fact.revision is not None
        distance = rng.uniform(*fact.revision)
        if isinstance(value, date):
            other = value + timedelta(days=(1 if up else -1) * max(1, round(distance)))
        else:
            size = max(
                fact.step,
                _stepped(distance * (value if fact.revision_by == "share" else 1), fact.step),
            )
            other = _stepped(value + (size if up else -size), fact.step)
            if not fact.admissible[0] <= other <= fact.admissible[1]:
                return None
    changed = derive({**facts, key: other}, spec.formulas)
    for name, formula in spec.formulas.items():
        low, high = spec.facts[name].admissible
        if formula and not low <= _number(changed[name]) <= high:
            return None
    return changed


def admissible_values(
    spec: Spec, key: str, thresholds: tuple[float, ...], intake: date
) -> list[Value]:
    """Values that stand for all of a missing fact: a grid, and both sides of each threshold."""
    fact = spec.facts[key]
    if fact.type == "category":
        return list(fact.vocabulary)
    if fact.type == "date":
        return [intake - timedelta(days=d) for d in (*range(0, 120, 2), *range(120, 800, 20))]
    low, high = fact.admissible
    first = max(low, fact.step)
    grid = [low, *(first * (high / first) ** (i / 60) for i in range(61))]
    sides = [t + side * fact.step for t in thresholds for side in (-1, 0, 1)]
    return [value for value in (*grid, *sides) if low <= value <= high]


def _draw(
    fact: Fact, rng: Random, intake: date, provisions: tuple[str, ...], sampled: Mapping[str, Value]
) -> Value:
    distribution = fact.distribution
    assert distribution is not None
    of = distribution.parameters
    match distribution.kind:
        case "choice":
            return rng.choice(fact.vocabulary)
        case "provision":
            return rng.choice(provisions)
        case "pattern":
            return "".join(str(rng.randrange(10)) if c == "#" else c for c in distribution.of)
        case "days_before":
            return intake - timedelta(days=rng.randint(int(of["low"]), int(of["high"])))
    low, high = fact.range
    for _ in range(_TRIES):
        match distribution.kind:
            case "lognormal":
                value = math.exp(rng.gauss(math.log(of["median"]), of["sigma"]))
            case "normal":
                value = rng.gauss(of["mean"], of["sd"])
            case "share":
                value = compute(distribution.of, sampled) * rng.uniform(of["low"], of["high"])
            case "quantiles":
                value = _between(distribution.values, rng)
            case "share_quantiles":
                value = compute(distribution.of, sampled) * _between(distribution.values, rng)
            case _:
                value = rng.uniform(low - fact.step / 2, high + fact.step / 2)
        value = _stepped(value, fact.step)
        if low <= value <= high:
            return value
    return min(max(value, low), high)


def _between(quantiles: Sequence[float], rng: Random) -> float:
    """A draw from the distribution that has these quantiles, in equal steps from 0 to 1."""
    part, place = math.modf(rng.random() * (len(quantiles) - 1))
    low, high = quantiles[int(place) : int(place) + 2]
    return low + (high - low) * part


def _stepped(value: float, step: float) -> float:
    return round(round(value / step) * step, 6)


def _within(fact: Fact, value: Value) -> bool:
    return fact.type not in NUMERIC or fact.range[0] <= _number(value) <= fact.range[1]


def _number(value: Value) -> float:
    assert isinstance(value, (int, float))
    return float(value)
