"""From rows to a comparison table: what the terminal, MLflow, reports and gates all show."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

from framework.errors import UserError
from framework.statistics.bootstrap import RESAMPLES
from framework.statistics.effects import against_smallest_effect
from framework.statistics.multiplicity import holm
from framework.statistics.paired import Comparison, compare, paired_bounds
from framework.text.counting import counted

_Subject = tuple[str, str, str, str]  # budget, axis, the two arms
Conclusion = Literal[
    "a better", "b better", "differs", "equivalent", "undecided", "cannot conclude"
]
_DECIDED: Final = ("a better", "b better", "differs")
SKEWED: Final = (
    "p assumes symmetric differences; without that, losses too rare to be seen could undo this one "
    "(the bounds within the family hold 0)"
)
INSENSITIVE: Final = (
    "within the smallest effect, but not both are shown to beat a third arm by more than it: the "
    "cases may be unable to tell arms apart (no assay sensitivity)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMeans:
    """Rows with repeats averaged within their case.

    Attributes:
        values: (budget, arm) -> axis -> case id -> mean of the repeats that define the axis; only
            cases with such a repeat.
        cases: (budget, arm) -> its case ids, sorted.
        clusters: case id -> cluster.
    """

    values: dict[tuple[str, str], dict[str, dict[str, float]]]
    cases: dict[tuple[str, str], list[str]]
    clusters: dict[str, str | None]

    def column(self, budget: str, arm: str, axis: str) -> dict[str, float | None]:
        """Return case id -> mean for every case of the arm, ``None`` where undefined."""
        defined = self.values[budget, arm].get(axis, {})
        return {case: defined.get(case) for case in self.cases[budget, arm]}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One pair of arms on one axis at one budget. `dataclasses.asdict` gives plain JSON values.

    Attributes:
        arm_a: the arm whose advantage is positive delta.
        arm_b: the other; the baseline where one is declared.
        budget: the budget's name.
        axis: the axis's name.
        mean_a: of a, over the pairs.
        mean_b: of b.
        delta: mean_a - mean_b.
        ci_low: 95% limit of delta, ``None`` where none is claimed.
        ci_high: 95% limit of delta, ``None`` where none is claimed.
        ci_method: of the limits, or why there are none.
        bound_low: 95% decision bound of delta, adjusted for no other comparison: what gates and
            "equivalent" rest on; holds where few pairs differ, where the interval does not.
        bound_high: the other.
        bound_method: of the bounds, or why there are none.
        family_low: bound within the family: the decision bound at `family_level`, what "a better"
            rests on beside p; ``None`` where holm_p >= alpha, or nothing is concluded anyway.
        family_high: the other.
        family_level: 1 - alpha permutation_p / holm_p, the level of this row's step of Holm's.
        permutation_p: two-sided sign-flip permutation test: the primary test.
        permutation_method: exact, or Monte Carlo and its draws.
        holm_p: permutation_p adjusted over the whole table.
        mcnemar_p: exact, case by case; descriptive.
        mcnemar_binarisation: how successes were told.
        cohens_h: effect size; descriptive.
        n: pairs of cases that counted.
        n_clusters: clusters among them, ``None`` when every case stands alone.
        n_undefined: pairs left out because the axis is undefined on either side.
        n_discordant: units whose difference is not 0.
        smallest_p: what permutation_p could reach at best with as many units.
        smallest_holm_p: what holm_p could reach if every test of the table were at its smallest.
        conclusion: "a better" or "b better" when holm_p < alpha and the bounds within the family
            leave out 0, "differs" on an axis without a better direction; "equivalent" when the
            decision bounds lie within the declared smallest effect, whatever p is, and each arm is
            shown to beat a third one by more than it; "cannot conclude" when smallest_holm_p >=
            alpha, when there are no bounds, or nothing to test; otherwise "undecided".
        reason: why nothing is concluded, where more than p says so; else empty.
    """

    arm_a: str
    arm_b: str
    budget: str
    axis: str
    mean_a: float | None
    mean_b: float | None
    delta: float | None
    ci_low: float | None
    ci_high: float | None
    ci_method: str
    bound_low: float | None
    bound_high: float | None
    bound_method: str
    family_low: float | None
    family_high: float | None
    family_level: float | None
    permutation_p: float | None
    permutation_method: str
    holm_p: float | None
    mcnemar_p: float | None
    mcnemar_binarisation: str
    cohens_h: float | None
    n: int
    n_clusters: int | None
    n_undefined: int
    n_discordant: int
    smallest_p: float | None
    smallest_holm_p: float | None
    conclusion: Conclusion
    reason: str


def case_means(rows: Iterable[Mapping[str, Any]]) -> CaseMeans:
    """Average repeats (rows of one budget, arm and case, whatever repeat, trial or turn).

    Budgets are never averaged over. A repeat that does not define an axis does not count in its
    mean.

    Args:
        rows: mappings with `case_id`, `arm` and `axes` (axis -> number or ``None``), and optionally
            `budget` (default "") and `cluster` (default ``None``).

    Raises:
        UserError: one case in two clusters.
    """
    repeats: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = {}
    cases: dict[tuple[str, str], set[str]] = {}
    clusters: dict[str, str | None] = {}
    for row in rows:
        case, cluster = str(row["case_id"]), row.get("cluster")
        if clusters.setdefault(case, cluster) != cluster:
            raise UserError(f"case {case} is in two clusters: {clusters[case]} and {cluster}")
        key = (str(row.get("budget") or ""), str(row["arm"]))
        cases.setdefault(key, set()).add(case)
        by_axis = repeats.setdefault(key, {})
        for axis, value in row["axes"].items():
            by_case = by_axis.setdefault(axis, {})
            if value is not None and not math.isnan(value):
                by_case.setdefault(case, []).append(float(value))
    return CaseMeans(
        values={
            key: {
                # fsum: the order of repeats must not reach the last bit.
                axis: {case: math.fsum(found) / len(found) for case, found in by_case.items()}
                for axis, by_case in by_axis.items()
            }
            for key, by_axis in repeats.items()
        },
        cases={key: sorted(found) for key, found in cases.items()},
        clusters=clusters,
    )


def comparison_table(
    rows: Iterable[Mapping[str, Any]],
    *,
    seed: int,
    baseline: str | None = None,
    axes: Sequence[str] | None = None,
    amounts: Collection[str] = (),
    lower_is_better: Collection[str] = (),
    undirected: Collection[str] = (),
    smallest_effect: float | Mapping[str, float] | None = None,
    resamples: int = RESAMPLES,
    alpha: float = 0.05,
) -> list[ComparisonRow]:
    """Compare arms with each other on the same cases, for each budget and axis.

    The primary test is the sign-flip permutation of mean differences over cases (over clusters when
    some cluster holds several cases), with Holm's adjustment over every row of the table; a row is
    decided where the bounds within the family, at its own level, leave out 0 as well. The
    generator of a row comes from the seed and the names in it, so another arm, axis or budget
    changes no existing interval or raw p; only the Holm columns depend on the family.

    Args:
        rows: see `case_means`.
        seed: of the run or sweep.
        baseline: compare every other arm with this one; ``None`` compares all pairs.
        axes: which axes, in this order; ``None`` takes all found, sorted by name.
        amounts: axes that are amounts (tokens, dollars, seconds): no McNemar, no h.
        lower_is_better: axes where the smaller mean is the better one.
        undirected: axes where neither is: no arm wins there.
        smallest_effect: the smallest difference that matters, for all axes or by axis; only axes
            with one can come out as equivalent.
        resamples: of each bootstrap, and draws of each Monte Carlo permutation.
        alpha: of the family.

    Returns:
        Rows sorted by budget, then axis, then pair.

    Raises:
        UserError: arms with different cases (`UnpairedCases`), an unknown baseline or axis, one
            case in two clusters.
    """
    means = case_means(rows)
    compared: list[tuple[_Subject, Comparison, int, bool]] = []
    for subject, a, b in _subjects(means, baseline, axes):
        budget, axis, *arms = subject
        effect = smallest_effect
        if isinstance(effect, Mapping):
            effect = effect.get(axis)
        result = compare(
            a,
            b,
            means.clusters,
            seed=seed,
            # The pair in sorted order: (a, b) and (b, a) draw the same numbers.
            names=(budget, axis, *sorted(arms)),
            amount=axis in amounts,
            smallest_effect=effect,
            resamples=resamples,
            alpha=alpha,
        )
        direction = 0 if axis in undirected else -1 if axis in lower_is_better else 1
        sensitive = bool(result.within_effect and effect) and all(
            _beats_another(means, subject, arm, effect or 0.0, direction, axis in amounts, alpha)
            for arm in arms
        )
        compared.append((subject, result, direction, sensitive))
    adjusted = _holm_defined([result.permutation.p for _, result, _, _ in compared])
    floors = _holm_defined([result.permutation.smallest_p for _, result, _, _ in compared])
    table = []
    again = _subjects(means, baseline, axes)
    for found, (_, a, b), holm_p, floor in zip(compared, again, adjusted, floors, strict=True):
        subject, result, direction, sensitive = found
        concluded = _conclude(result, holm_p, floor, direction, sensitive, alpha)
        family: tuple[float | None, float | None, float | None] = None, None, None
        if holm_p and result.permutation.p and concluded[0] in _DECIDED:
            level, amount = alpha * result.permutation.p / holm_p, subject[1] in amounts
            bounds = paired_bounds(a, b, means.clusters, amount=amount, alpha=level)
            family = bounds.low, bounds.high, 1 - level
            if bounds.low is None or bounds.high is None or bounds.low <= 0 <= bounds.high:
                concluded = "undecided", SKEWED
        table.append(_table_row(subject, result, holm_p, floor, concluded, family))
    return table


def _beats_another(
    means: CaseMeans,
    subject: _Subject,
    arm: str,
    effect: float,
    direction: int,
    amount: bool,
    alpha: float,
) -> bool:
    """Whether the bounds show the arm better than a third one by more than the smallest effect.

    What two arms share is else perhaps no more than the floor, or what these cases can't tell apart
    (assay sensitivity: ICH E10, 1.5). Without a direction any such difference counts.
    """
    budget, axis, *both = subject
    for other in sorted(o for at, o in means.values if at == budget and o not in both):
        own, theirs = (means.column(budget, side, axis) for side in (arm, other))
        bounds = paired_bounds(own, theirs, means.clusters, amount=amount, alpha=alpha)
        verdict = against_smallest_effect(bounds.low, bounds.high, effect)
        good = [word for word, sign in (("more", 1), ("less", -1)) if direction in (0, sign)]
        if verdict.startswith(tuple(f"{word} than" for word in good)):
            return True
    return False


def _subjects(
    means: CaseMeans,
    baseline: str | None,
    axes: Sequence[str] | None,
) -> Iterator[tuple[_Subject, dict[str, float | None], dict[str, float | None]]]:
    """Yield what is to be compared, each with the values of its two arms."""
    measured = {axis for by_axis in means.values.values() for axis in by_axis}
    arms = sorted({arm for _, arm in means.values})
    unknown = [axis for axis in axes or () if axis not in measured]
    if unknown:
        raise UserError(f"no row holds axis {unknown[0]!r}; measured: {_listed(measured)}")
    if baseline is not None and baseline not in arms:
        raise UserError(f"baseline {baseline!r} is not among the arms: {_listed(arms)}")
    for budget in sorted({budget for budget, _ in means.values}):
        here = [arm for arm in arms if (budget, arm) in means.values]
        pairs = [
            (a, b) if baseline is None else (b if a == baseline else a, baseline)
            for a, b in combinations(here, 2)
            if baseline is None or baseline in (a, b)
        ]
        for axis in sorted(measured) if axes is None else axes:
            with_axis = {arm for arm in here if axis in means.values[budget, arm]}
            columns = {arm: means.column(budget, arm, axis) for arm in here}
            for a, b in pairs:
                if a in with_axis or b in with_axis:
                    yield (budget, axis, a, b), columns[a], columns[b]


def _holm_defined(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust the defined p-values; a comparison without one is no test, so not in the family."""
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def _table_row(
    subject: _Subject,
    result: Comparison,
    holm_p: float | None,
    floor: float | None,
    concluded: tuple[Conclusion, str],
    family: tuple[float | None, float | None, float | None],
) -> ComparisonRow:
    budget, axis, arm_a, arm_b = subject
    conclusion, reason = concluded
    return ComparisonRow(
        arm_a=arm_a,
        arm_b=arm_b,
        budget=budget,
        axis=axis,
        mean_a=result.mean_a,
        mean_b=result.mean_b,
        delta=result.delta,
        ci_low=result.interval.low,
        ci_high=result.interval.high,
        ci_method=result.interval.method,
        bound_low=result.bounds.low,
        bound_high=result.bounds.high,
        bound_method=result.bounds.method,
        family_low=family[0],
        family_high=family[1],
        family_level=family[2],
        permutation_p=result.permutation.p,
        permutation_method=result.permutation.method,
        holm_p=holm_p,
        mcnemar_p=result.mcnemar.p,
        mcnemar_binarisation=result.mcnemar.binarisation,
        cohens_h=result.cohens_h,
        n=result.n,
        n_clusters=result.n_clusters,
        n_undefined=result.n_undefined,
        n_discordant=result.n_discordant,
        smallest_p=result.permutation.smallest_p,
        smallest_holm_p=floor,
        conclusion=conclusion,
        reason=reason,
    )


def _conclude(
    result: Comparison,
    holm_p: float | None,
    floor: float | None,
    direction: int,
    sensitive: bool,
    alpha: float,
) -> tuple[Conclusion, str]:
    if result.delta is None or holm_p is None or floor is None:
        return "cannot conclude", "no case where both define the axis"
    if sensitive:
        return "equivalent", ""
    if floor >= alpha:
        n, unit = (k, "cluster") if (k := result.n_clusters) else (result.n, "case")
        verb = "reaches" if n == 1 else "reach"
        reach = f"{counted(n, unit)} {verb} p {result.permutation.smallest_p:.2g} at best "
        return "cannot conclude", f"{reach}({result.permutation.method}), {floor:.2g} after Holm"
    if result.bounds.low is None or result.bounds.high is None:
        return "cannot conclude", result.bounds.method
    if holm_p >= alpha:
        return "undecided", INSENSITIVE if result.within_effect else ""
    if direction == 0:
        return "differs", ""
    return ("a better" if result.delta * direction > 0 else "b better"), ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
