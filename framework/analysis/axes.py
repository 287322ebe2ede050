"""Axes: what each is, and their means over a run's rows with intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from framework.analysis.cost import Sharing, cost_effectiveness, sharing
from framework.analysis.forms import asks_model, model_free_axes, poolable
from framework.contracts import Axis, axis_plugins
from framework.errors import UserError
from framework.records import Row
from framework.rows import PackedRows
from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import Interval, mean_intervals
from framework.statistics.ratios import ratio_of_means
from framework.statistics.variance import noise_sd

IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]


def axis_meta(success_axis: str = "") -> dict[str, dict[str, Any]]:
    """By axis name: its plugin and direction, what it rests on, and whether it is an amount.

    success_axis : the domain's; where a judge fills it, what rests on success is judged as well.
    """
    meta: dict[str, dict[str, Any]] = {}
    known = axis_plugins()
    judged = any(success_axis in plugin.cls.judged for plugin in known)
    for plugin in known:
        for name in plugin.cls.names:
            meta[name] = {
                "plugin": plugin.name,
                "higher_is_better": plugin.cls.higher_is_better.get(name),
                "model_free": name in plugin.cls.model_free,
                "judged": name in plugin.cls.judged or (judged and name in plugin.cls.of_success),
                "amount": name in plugin.cls.amounts,
                "signed": name in plugin.cls.signed,
            }
    return meta


def amounts() -> frozenset[str]:
    """The axes that are ranks, counts or lengths."""
    return frozenset(name for name, entry in axis_meta().items() if entry["amount"])


def signed() -> frozenset[str]:
    """The axes that are differences of shares."""
    return frozenset(name for name, entry in axis_meta().items() if entry["signed"])


def ratios() -> dict[str, tuple[str, str]]:
    """By name, the two axes whose means are divided."""
    return {name: pair for plugin in axis_plugins() for name, pair in plugin.cls.ratios.items()}


def balanced() -> dict[str, str]:
    """By name, the axis whose means by gold decision are averaged."""
    return {name: axis for plugin in axis_plugins() for name, axis in plugin.cls.balanced.items()}


def corrected() -> dict[str, str]:
    """By name, the axis whose mean is corrected for the judge's error."""
    return {n: axis for plugin in axis_plugins() for n, axis in plugin.cls.corrected.items()}


def with_corrected(axes: Iterable[str]) -> list[str]:
    """Axes, each with that of its mean corrected for the judge's error behind it, if any."""
    beside = {axis: name for name, axis in corrected().items()}
    return [name for axis in axes for name in (axis, beside.get(axis)) if name is not None]


def correctable() -> dict[str, type[Axis[Any]]]:
    """The classes of the axes that `corrected` names."""
    return {a: plugin.cls for plugin in axis_plugins() for a in plugin.cls.corrected.values()}


def verdicts_behind(axis: str, success_axis: str) -> str:
    """The column of verdicts that a corrected column is or rests on; empty where there is none."""
    known = correctable()
    source = success_axis if axis in known and axis in known[axis].of_success else axis
    return source if source in known else ""


def kind_of(
    axis: str,
    meta: Mapping[str, Mapping[str, Any]],
    model_kind: str,
    needs_model: bool,
    judge_kind: str = "llm",
) -> str:
    """`model-free`, `rule-based`, `measured with an LLM` or `judged by rules` (validity.md 1).

    What a memory retained is model-free only if no model helped to build the memory. `judged by
    rules`: a language model answered, and a rule-based judge said whether that is right.
    """
    if meta.get(axis, {}).get("model_free") and not needs_model:
        return "model-free"
    if model_kind == "rule-based":
        return "rule-based"
    by_rules = judge_kind == "rule-based" and meta.get(axis, {}).get("judged")
    return "judged by rules" if by_rules else "measured with an LLM"


def as_mappings(rows: Sequence[Row], budget: str) -> list[dict[str, Any]]:
    """Rows as `framework.statistics` takes them."""
    return [
        {
            "case_id": row.case_id,
            "arm": row.arm,
            "budget": budget,
            "cluster": row.cluster or row.case_id,
            "axes": row.axes,
        }
        for row in poolable(rows)
    ]


def axes_of_part(
    columns: RowColumns, part: IntArray | None, seed: int, shared: Sharing | None = None
) -> dict[str, dict[str, Any]]:
    """Mean, interval, n and method by axis, repeats and trials averaged within their case.

    A case weighs the share of its trials and repeats that define the axis (`_weights`).
    A row with an error counts for what it has, which is what memory kept, and for nothing else.
    What a reader gave in forms that it does not read is left out of a pool (`poolable`). Beside the
    axes stand ratios of two of them (`Axis.ratios`) and what being right costs
    (`framework.analysis.cost`); `shared` is that of the whole run where `rows` are a part.
    part : the places of the rows, ascending; None for all of them.
    noise_sd : what the mean would move by, were the same cases asked again; None with one repeat.
    """
    at = np.arange(len(columns.rows)) if part is None else part
    good = at[~columns.failed[at]]
    entries = _axes_at(columns, good, seed, shared)
    kept = at[columns.failed[at]]
    free = {name for name, (has, _) in columns.axes.items() if has[kept].any()}
    if free:
        kept = kept[np.any([columns.axes[name][0][kept] for name in free], axis=0)]
        both = _axes_at(columns, np.concatenate((good, kept)), seed, shared)
        entries |= {name: entry for name, entry in both.items() if name in free}
    return entries


def _axes_at(
    columns: RowColumns, at: IntArray, seed: int, shared: Sharing | None
) -> dict[str, dict[str, Any]]:
    if not len(at):
        return {}
    cases, case = np.unique(columns.case[at], return_inverse=True)
    n = len(cases)
    values = columns.poolable(at)
    means = {axis: _means(case, values[axis], n) for axis in sorted(values)}
    clusters = _clusters(columns, at, case, n)
    intervals = mean_intervals(
        means, clusters, seed=seed, amounts=amounts(), signed=signed(),
        weights=_weights(columns.sample[at], case, values, n),
    )  # fmt: skip
    noise = _noise(columns, at, values)
    for name, (top, bottom) in ratios().items():
        if top in means and bottom in means:
            r = ratio_of_means(means[top], means[bottom], clusters)
            intervals[name] = Interval(
                mean=r.value, low=r.low, high=r.high, n=n, n_clusters=r.n, method=r.method
            )
    for name, axis in balanced().items():
        column = _balanced_column(columns, at, case, means.get(axis))
        if column is not None:
            i = mean_intervals({name: column}, clusters, seed=seed, amounts=(name,))[name]
            method = f"{i.method}, gold decisions at equal weight"
            if i.low is not None and i.high is not None:
                i = replace(i, low=max(i.low, 0.0), high=min(i.high, 1.0))
            intervals[name] = replace(i, method=method)
    entries = {
        axis: {
            "mean": i.mean,
            "ci_low": i.low,
            "ci_high": i.high,
            "n": i.n,
            "n_clusters": i.n_clusters,
            "method": i.method,
            "noise_sd": noise.get(axis),
        }
        for axis, i in intervals.items()
    }
    if not columns.answered[at].any():
        return entries
    rows = columns.rows_at(at)
    return entries | cost_effectiveness(rows, sharing(rows) if shared is None else shared, seed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowColumns:
    """Rows as columns of n numbers, which take a tenth of the memory.

    case : the rank of its id. cluster, expected : a number for each name; of `expected`, 0 is that
    of no gold decision. sample : trial and repeat as one number. read, failed : see `Row`. asked :
    a model built the memory or was asked in recall. answered : its success is known. axes : by
    name, where a row has the axis, and its value, NaN where it is undefined.
    """

    rows: Sequence[Row]
    case: IntArray
    cluster: IntArray
    expected: IntArray
    sample: IntArray
    read: BoolArray
    failed: BoolArray
    asked: BoolArray
    answered: BoolArray
    axes: Mapping[str, tuple[BoolArray, FloatArray]]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> RowColumns:
        """The columns of rows. Raises UserError for one case in two clusters."""
        n = len(rows)
        number = {"": 0}
        case, cluster, expected, sample = (np.zeros(n, np.int64) for _ in range(4))
        read, failed, asked, answered = (np.zeros(n, np.bool_) for _ in range(4))
        axes: dict[str, tuple[BoolArray, FloatArray]] = {}
        plain = all(  # as in a long run of generated cases, whose ids need not be remembered
            a.case_id < b.case_id and all(r.cluster in ("", r.case_id) for r in (a, b))
            for a, b in pairwise(rows)
        )
        for i, row in enumerate(rows):
            if not plain:
                case[i] = number.setdefault(row.case_id, len(number))
                cluster[i] = number.setdefault(row.cluster or row.case_id, len(number))
            expected[i] = number.setdefault(row.expected, len(number))
            sample[i] = row.trial * (1 << 31) + row.repeat
            read[i], failed[i] = row.form_read, bool(row.error)
            asked[i], answered[i] = asks_model(row), row.success is not None
            for name, value in row.axes.items():
                if name not in axes:
                    axes[name] = np.zeros(n, np.bool_), np.full(n, np.nan)
                axes[name][0][i] = True
                if value is not None:
                    axes[name][1][i] = value
        if plain:
            case = cluster = np.arange(n)
        else:
            _check_clusters(rows, case, cluster)
            rank = np.empty(len(number), np.int64)
            in_order = np.fromiter(map(number.__getitem__, sorted(number)), np.int64)
            rank[in_order] = np.arange(len(number))
            case = rank[case]
        return cls(
            rows=rows, case=case, cluster=cluster, expected=expected, sample=sample,
            read=read, failed=failed, asked=asked, answered=answered, axes=axes,
        )  # fmt: skip

    def poolable(self, at: IntArray) -> dict[str, FloatArray]:
        """The values of these rows, by axis: those of `framework.analysis.forms.poolable`."""
        read = self.read[at]
        whole = np.array_equal(at, np.arange(len(self.rows)))
        values = {n: v if whole else v[at] for n, (has, v) in self.axes.items() if has[at].any()}
        if read.any() and not read.all():
            free = set() if self.asked[at].any() else model_free_axes()
            for name in values.keys() - free:
                values[name] = np.where(read, values[name], np.nan)
        return values

    def rows_at(self, at: IntArray) -> Sequence[Row]:
        """The rows at these places."""
        if len(at) == len(self.rows):
            return self.rows
        wanted = np.zeros(len(self.rows), np.bool_)
        wanted[at] = True
        return PackedRows(row for row, one in zip(self.rows, wanted, strict=True) if one)


def _check_clusters(rows: Sequence[Row], case: IntArray, cluster: IntArray) -> None:
    order = np.argsort(case, kind="stable")
    after, before = order[1:], order[:-1]
    apart = np.flatnonzero((case[after] == case[before]) & (cluster[after] != cluster[before]))
    if len(apart):
        a, b = (rows[order[apart[0] + step]] for step in (0, 1))
        two = f"{a.cluster or a.case_id} and {b.cluster or b.case_id}"
        raise UserError(f"case {a.case_id} is in two clusters: {two}")


def _means(case: IntArray, values: FloatArray, n: int) -> FloatArray:
    """By case, the mean of the rows that define the axis, NaN where none does."""
    if n == len(values) and (case[1:] > case[:-1]).all():
        return values
    means = np.full(n, np.nan)
    if n == len(values):
        means[case] = values
        return means
    found: dict[int, list[float]] = defaultdict(list)
    for one, value in zip(case.tolist(), values.tolist(), strict=True):
        if value == value:
            found[one].append(value)
    for one, several in found.items():
        # fsum: the order of repeats must not reach the last bit.
        means[one] = math.fsum(several) / len(several)
    return means


def _clusters(columns: RowColumns, at: IntArray, case: IntArray, n: int) -> list[str | None] | None:
    """A label for each case; None where every case stands alone."""
    labels = np.zeros(n, np.int64)
    labels[case] = columns.cluster[at]
    return None if len(np.unique(labels)) == n else [str(label) for label in labels]


def _weights(
    sample: IntArray, case: IntArray, values: Mapping[str, FloatArray], n: int
) -> dict[str, FloatArray]:
    """By axis, the share of each case's trials and repeats that define it, where shares differ.

    So P(success) = P_ret kappa + (1 - P_ret) leak also holds of what is printed of several trials,
    in some of which a case's view was sufficient. Of one share everywhere nothing is weighed.
    """
    if n == len(case):
        return {}
    asked = _samples(case, sample, n)
    weights = {}
    for axis, column in values.items():
        defined = ~np.isnan(column)
        shares = _samples(case[defined], sample[defined], n) / asked
        if len(np.unique(shares[shares > 0])) > 1:
            weights[axis] = shares
    return weights


def _samples(case: IntArray, sample: IntArray, n: int) -> IntArray:
    """By case, its different trials and repeats."""
    pairs = np.unique(np.column_stack((case, sample)), axis=0)
    return np.bincount(pairs[:, 0], minlength=n)


def _balanced_column(
    columns: RowColumns, at: IntArray, case: IntArray, column: FloatArray | None
) -> FloatArray | None:
    """A column of shares so weighted that its mean is the mean of its means by gold decision.

    None where the cases have not at least two gold decisions, or one is not known.
    """
    if column is None:
        return None
    expected = np.zeros(len(column), np.int64)
    expected[case] = columns.expected[at]
    counts = np.bincount(expected[~np.isnan(column)])
    if np.count_nonzero(counts) < 2 or counts[0]:
        return None
    each = counts.sum() / np.count_nonzero(counts)
    of = np.maximum(counts, 1)[np.minimum(expected, len(counts) - 1)]
    weighed: FloatArray = column * each / of
    return weighed


def _noise(
    columns: RowColumns, at: IntArray, values: Mapping[str, FloatArray]
) -> dict[str, float | None]:
    """By axis, what its mean would move by, were the same cases asked again; empty with one repeat.

    values : of the rows at these places.
    """
    repeats = columns.sample[at] % (1 << 31)
    if len(np.unique(repeats)) == 1:
        return {}
    # Sums of floats depend on their order.
    order = np.lexsort((columns.sample[at], columns.case[at]))
    places = list(zip(columns.case[at][order].tolist(), repeats[order].tolist(), strict=True))
    return {axis: noise_sd(_repeats(places, own[order].tolist())) for axis, own in values.items()}


def _repeats(
    places: Sequence[tuple[int, int]], values: Sequence[float]
) -> dict[str, list[float | None]]:
    """By case, the value of every repeat, the arm's trials averaged; None where undefined."""
    found: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (case, repeat), value in zip(places, values, strict=True):
        trials = found[case][repeat]
        if value == value:
            trials.append(value)
    return {
        str(case): [sum(v) / len(v) if v else None for _, v in sorted(repeats.items())]
        for case, repeats in found.items()
    }
