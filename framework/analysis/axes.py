"""Axes: what each is, and their means over a run's rows with intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framework.analysis.cost import Sharing, cost_effectiveness, sharing
from framework.analysis.forms import poolable
from framework.records import Row
from framework.registry import plugins
from framework.statistics.comparison import case_means
from framework.statistics.intervals import mean_intervals
from framework.statistics.ratios import ratio_of_means
from framework.statistics.variance import repeat_variance


def axis_meta() -> dict[str, dict[str, Any]]:
    """By axis name: its plugin and direction, what it rests on, and whether it is an amount."""
    meta: dict[str, dict[str, Any]] = {}
    for plugin in plugins("axis"):
        for name in plugin.cls.names:
            meta[name] = {
                "plugin": plugin.name,
                "higher_is_better": plugin.cls.higher_is_better.get(name),
                "model_free": name in plugin.cls.model_free,
                "judged": name in plugin.cls.judged,
                "amount": name in plugin.cls.amounts,
            }
    return meta


def amounts() -> frozenset[str]:
    """The axes that are ranks, counts or lengths."""
    return frozenset(name for name, entry in axis_meta().items() if entry["amount"])


def ratios() -> dict[str, tuple[str, str]]:
    """By name, the two axes whose means are divided."""
    return {name: pair for plugin in plugins("axis") for name, pair in plugin.cls.ratios.items()}


def balanced() -> dict[str, str]:
    """By name, the axis whose means by gold decision are averaged."""
    return {name: axis for plugin in plugins("axis") for name, axis in plugin.cls.balanced.items()}


def corrected() -> dict[str, str]:
    """By name, the axis whose mean is corrected for the judge's error."""
    return {n: axis for plugin in plugins("axis") for n, axis in plugin.cls.corrected.items()}


def kind_of(
    axis: str,
    meta: Mapping[str, Mapping[str, Any]],
    model_kind: str,
    needs_model: bool,
    judge_kind: str = "llm",
) -> str:
    """`model-free`, `rule-based` or `measured with an LLM` (validity.md section 1).

    What a memory retained is model-free only if no model helped to build the memory; what rests on
    a rule-based judge is rule-based, whoever read.
    """
    if meta.get(axis, {}).get("judged") and judge_kind == "rule-based":
        return "rule-based"
    if meta.get(axis, {}).get("model_free") and not needs_model:
        return "model-free"
    return "rule-based" if model_kind == "rule-based" else "measured with an LLM"


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


def axes_of_rows(
    rows: Sequence[Row], seed: int, shared: Sharing | None = None
) -> dict[str, dict[str, Any]]:
    """Mean, interval, n and method by axis, repeats and trials averaged within their case.

    A case weighs the share of its trials and repeats that define the axis (`_weights`).
    A row with an error counts for what it has, which is what memory kept, and for nothing else.
    What a reader gave in forms that it does not read is left out of a pool (`poolable`). Beside the
    axes stand ratios of two of them (`Axis.ratios`) and what being right costs
    (`framework.analysis.cost`); `shared` is that of the whole run where `rows` are a part.
    noise_sd : what the mean would move by, were the same cases asked again; None with one repeat.
    """
    good = [row for row in rows if not row.error]
    kept = [row for row in rows if row.error and row.axes]
    entries = _axes_of(good, seed, shared)
    if kept:
        free = {name for row in kept for name in row.axes}
        both = _axes_of([*good, *kept], seed, shared)
        entries |= {name: entry for name, entry in both.items() if name in free}
    return entries


def _axes_of(rows: Sequence[Row], seed: int, shared: Sharing | None) -> dict[str, dict[str, Any]]:
    if not rows:
        return {}
    rows = poolable(rows)
    means = case_means(as_mappings(rows, ""))
    (key,) = means.cases
    cases = means.cases[key]
    columns = {
        axis: list(means.column(*key, axis).values())
        for axis in sorted({name for row in rows for name in row.axes})
    }
    clusters = [means.clusters[case] for case in cases]
    intervals = mean_intervals(
        columns, clusters, seed=seed, amounts=amounts(), weights=_weights(rows, cases)
    )
    noise = _noise(rows, columns)
    entries: dict[str, dict[str, Any]] = {
        axis: {
            "mean": i.mean,
            "ci_low": i.low,
            "ci_high": i.high,
            "n": i.n,
            "n_clusters": i.n_clusters,
            "method": i.method,
            "noise_sd": noise[axis],
        }
        for axis, i in intervals.items()
    }
    for name, (top, bottom) in ratios().items():
        if top in columns and bottom in columns:
            ratio = ratio_of_means(columns[top], columns[bottom], clusters)
            entries[name] = {
                "mean": ratio.value,
                "ci_low": ratio.low,
                "ci_high": ratio.high,
                "n": len(cases),
                "n_clusters": ratio.n,
                "method": ratio.method,
                "noise_sd": None,
            }
    for name, axis in balanced().items():
        column = _balanced_column(rows, cases, columns.get(axis, ()))
        if column:
            i = mean_intervals({name: column}, clusters, seed=seed, amounts=(name,))[name]
            entries[name] = {
                "mean": i.mean,
                "ci_low": i.low,
                "ci_high": None if i.high is None else min(i.high, 1.0),
                "n": i.n,
                "n_clusters": i.n_clusters,
                "method": f"{i.method}, gold decisions at equal weight",
                "noise_sd": None,
            }
    return entries | cost_effectiveness(rows, sharing(rows) if shared is None else shared, seed)


def _weights(rows: Sequence[Row], cases: Sequence[str]) -> dict[str, list[float]]:
    """By axis, the share of each case's trials and repeats that define it, where shares differ.

    So P(success) = P_ret kappa + (1 - P_ret) leak also holds of what is printed of several trials,
    in some of which a case's view was sufficient. Of one share everywhere nothing is weighed.
    """
    asked: dict[str, set[tuple[int, int]]] = defaultdict(set)
    defined: dict[str, dict[str, set[tuple[int, int]]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        asked[row.case_id].add((row.trial, row.repeat))
        for axis, value in row.axes.items():
            if value is not None:
                defined[axis][row.case_id].add((row.trial, row.repeat))
    weights = {}
    for axis, found in defined.items():
        shares = {case: len(found[case]) / len(asked[case]) for case in cases if case in found}
        if len(set(shares.values())) > 1:
            weights[axis] = [shares.get(case, 0.0) for case in cases]
    return weights


def _balanced_column(
    rows: Sequence[Row], cases: Sequence[str], column: Sequence[float | None]
) -> list[float | None]:
    """A column of shares so weighted that its mean is the mean of its means by gold decision.

    Empty where the cases have not at least two gold decisions, or one is not known.
    """
    expected = {row.case_id: row.expected for row in rows}
    labels = [expected[case] for case, v in zip(cases, column, strict=False) if v is not None]
    counts = Counter(labels)
    if len(counts) < 2 or "" in counts:
        return []
    each = len(labels) / len(counts)
    return [
        None if value is None else value * each / counts[expected[case]]
        for case, value in zip(cases, column, strict=True)
    ]


def _noise(rows: Sequence[Row], axes: Iterable[str]) -> dict[str, float | None]:
    """By axis, what its mean would move by, were the same cases asked again."""
    if len({row.repeat for row in rows}) == 1:
        return dict.fromkeys(axes)
    ordered = sorted(rows, key=lambda row: row.key)  # sums of floats depend on their order
    return {axis: repeat_variance(_repeats(ordered, axis)).noise_sd for axis in axes}


def _repeats(rows: Sequence[Row], axis: str) -> dict[str, list[float | None]]:
    """By case, the value of every repeat, the arm's trials averaged; None where undefined."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        values = found[row.case_id][row.repeat]
        value = row.axes.get(axis)
        if value is not None:
            values.append(value)
    return {
        case: [sum(v) / len(v) if v else None for _, v in sorted(samples.items())]
        for case, samples in found.items()
    }
