"""What being right costs: successes per 1,000 tokens and cost to correct, from a run's rows alone.

Success is the domain's own (`Domain.success_axis`): compliance of governed tasks, the decision on a
loan. A run without it, as under `protocol=retrieve`, has none of these.

successes_per_1000_tokens : P(success) over the mean tokens of a case, in the phases `recall`,
    `answer` and `write` (what a session writes to its memory). It is the return on tokens of Depth
    5.3, Figure 32 and Table 26; for the ratio of means see its section 7 and example (i). At least
    0; higher is better.
cost_to_correct : tokens of the phases `recall`, `answer` and `write` per success, the inverse of
    successes_per_1000_tokens (Theorem 10's work to a correct result). Lower is better.
ingest_to_correct : tokens of the phase `ingest` per success, each history's tokens spread evenly
    over the rows that share it. It is the cost of building the memory, kept separate; the two may
    be added. Lower is better.
cost_to_correct_usd : cost_to_correct in dollars at list price (Figure 33, whose success is
    merge-ready), if anything had a price.
ingest_to_correct_usd : ingest_to_correct in dollars at list price, if anything had a price.

Tokens are those of models, in and out, as the ledger counts them; a judge's are the benchmark's
expense and not counted. Means are over cases, repeats and trials averaged, and leave rows with an
error out: as those of every axis. Without a success a cost is infinite, and so None, which the
method says.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from framework.analysis.forms import poolable
from framework.records import Row, Usage
from framework.rows import chosen, going_up
from framework.statistics.ratios import Ratio, bootstrap_ratios, ratio_difference
from framework.text.canonical import canonical_json

RATE: Final = "successes_per_1000_tokens"
COSTS: Final = (
    "cost_to_correct",
    "ingest_to_correct",
    "cost_to_correct_usd",
    "ingest_to_correct_usd",
)
"""The measures that are a cost per success, by name; the last two in dollars."""

MEASURES: Final = (RATE, *COSTS)

PER: Final = 1_000
"""Tokens that a rate is given for."""

_NONE: Final = Usage()
_PHASES: Final[Mapping[str, tuple[str, ...]]] = {
    "cost_to_correct": ("recall", "answer", "write"),
    "ingest_to_correct": ("ingest",),
}

Sharing = Mapping[tuple[str, str, int, int], int]
"""By history, arm, trial and repeat, the rows that share one ingest."""


def sharing(rows: Sequence[Row]) -> Sharing:
    """How many rows share each ingest: of a whole run, whatever part of it is then looked at."""
    return Counter(map(_ingest_of, rows))


def cost_effectiveness(
    rows: Sequence[Row], shared: Sharing, seed: int
) -> dict[str, dict[str, Any]]:
    """The measures by name, as entries of a summary's `axes`; empty without any success to count.

    rows : without errors; of a run, or of a part of one whose ingests are `shared`.
    """
    cases = _cases(rows, shared)
    if not cases:
        return {}
    priced = any(case.cost[name] > 0 for case in cases.values() for name in COSTS[2:])
    names = COSTS if priced else COSTS[:2]
    clusters = [case.cluster for case in cases.values()]
    rates = bootstrap_ratios(
        [case.success for case in cases.values()],
        {name: [case.cost[name] for case in cases.values()] for name in names},
        clusters,
        seed=seed,
    )
    right = any(case.success for case in cases.values())
    n_clusters = len(set(clusters))
    common = {"n": len(cases), "n_clusters": n_clusters if n_clusters < len(cases) else None}
    entries = {RATE: _rate(rates["cost_to_correct"], right)}
    entries |= {name: _cost(rates[name], right) for name in names}
    return {name: {**entry, **common, "noise_sd": None} for name, entry in entries.items()}


def differences(
    runs: Sequence[tuple[Mapping[str, Any], Sequence[Row]]],
    baseline: str | None,
    seed: int,
) -> list[dict[str, Any]]:
    """Successes per 1,000 tokens of an arm minus another's on the cases of both, with 95% limits.

    Descriptive: no test is made, and the limits are adjusted for nothing. Pairs are of the runs of
    one place: each with the baseline where it is one of the arms, else every two.

    runs : by run, where it stands, `arch` among it, and its rows.
    """
    places: dict[str, Mapping[str, Any]] = {}
    cases: dict[str, dict[str, dict[str, _Case]]] = defaultdict(dict)
    for run, rows in runs:
        place = {key: value for key, value in run.items() if key != "arch"}
        key = canonical_json(place)
        places[key] = place
        good = chosen(rows, lambda row: not row.error)
        cases[key][run["arch"]] = _cases(good, sharing(good))
    found = []
    for key, arms in cases.items():
        pairs = list(combinations(arms, 2))
        if baseline is not None and baseline in arms:
            pairs = [(arm, baseline) for arm in arms if arm != baseline]
        for a, b in pairs:
            of_a, of_b = arms[a], arms[b]
            both = [case for case in of_a if case in of_b]
            if not both:
                continue
            delta = ratio_difference(
                [of_a[case].success for case in both],
                [of_a[case].cost["cost_to_correct"] / PER for case in both],
                [of_b[case].success for case in both],
                [of_b[case].cost["cost_to_correct"] / PER for case in both],
                [of_a[case].cluster for case in both],
                seed=seed,
            )
            found.append(
                {**places[key], "arm_a": a, "arm_b": b, "axis": RATE, "mean_a": delta.a,
                 "mean_b": delta.b, "delta": delta.delta, "ci_low": delta.low,
                 "ci_high": delta.high, "n": delta.n,
                 "n_clusters": delta.n_units if delta.n_units < delta.n else None,
                 "method": delta.method}
            )  # fmt: skip
    return found


@dataclass(frozen=True, slots=True)
class _Case:
    """A case with its repeats and trials averaged."""

    success: float
    cost: Mapping[str, float]
    cluster: str


def _cases(rows: Sequence[Row], shared: Sharing) -> dict[str, _Case]:
    """By id, the cases whose success is known."""
    found: dict[str, tuple[str, list[tuple[float, ...]]]] = {}
    for row in going_up(poolable(rows)):  # sums of floats depend on their order
        if row.success is not None:
            _, own = found.setdefault(row.case_id, (row.cluster or row.case_id, []))
            own.append((row.success, *(_spent(row, name, shared) for name in COSTS)))
    cases = {}
    for case, (cluster, own) in found.items():
        success, *costs = (sum(column) / len(own) for column in zip(*own, strict=True))
        cases[case] = _Case(success, dict(zip(COSTS, costs, strict=True)), cluster)
    return cases


def _spent(row: Row, name: str, shared: Sharing) -> float:
    """What a row took in the phases of a cost; its part of the ingest that it shares."""
    phases = _PHASES[name.removesuffix("_usd")]
    used = [row.usage.get(phase, _NONE) for phase in phases]
    parts = shared[_ingest_of(row)] if phases == ("ingest",) else 1
    if name.endswith("_usd"):
        return sum(usage.cost_usd for usage in used) / parts
    return sum(usage.tokens_in + usage.tokens_out for usage in used) / parts


def _ingest_of(row: Row) -> tuple[str, str, int, int]:
    return row.history_id, row.arm, row.trial, row.repeat


def _rate(rate: Ratio, right: bool) -> dict[str, Any]:
    if rate.value is None:
        return _entry(None, rate.method.replace("the denominator is 0", "no tokens were used"))
    if not right:
        return _entry(0.0, "no interval: no success")
    if rate.low is None or rate.high is None:
        return _entry(PER * rate.value, rate.method)
    return _entry(PER * rate.value, rate.method, PER * rate.low, PER * rate.high)


def _cost(rate: Ratio, right: bool) -> dict[str, Any]:
    """The cost per success: what succeeds per unit of cost, turned over."""
    if not right:
        return _entry(None, "undefined: no success")
    if rate.value is None:  # nothing was spent
        return _entry(0.0, "no interval: it cost nothing")
    if rate.low is None or rate.high is None:
        return _entry(1 / rate.value, rate.method)
    if rate.low <= 0:
        return _entry(1 / rate.value, "no interval: unbounded, some resamples have no success")
    return _entry(1 / rate.value, rate.method, 1 / rate.high, 1 / rate.low)


def _entry(
    mean: float | None, method: str, low: float | None = None, high: float | None = None
) -> dict[str, Any]:
    return {"mean": mean, "ci_low": low, "ci_high": high, "method": method}
