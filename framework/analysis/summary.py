"""summary.json: a run in one page of numbers, made from its rows alone."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from framework.analysis.cost import Sharing, cost_effectiveness, sharing
from framework.analysis.counterfactual import compare_pairs
from framework.analysis.forms import of_read_forms, poolable
from framework.analysis.strata import by_stratum, depths_of_strata
from framework.config import Component, Plan
from framework.contracts import GateOutcome, Judge, ProtectedGroups
from framework.records import Row, TaskCard, Usage
from framework.registry import plugins
from framework.statistics.comparison import case_means
from framework.statistics.intervals import mean_intervals
from framework.statistics.ratios import ratio_of_means
from framework.statistics.variance import repeat_variance
from framework.text.canonical import digest

_COUNTED: Final = tuple(f.name for f in dataclasses.fields(Usage) if f.name != "call_seconds")


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


def summarize(
    plan: Plan,
    rows: Sequence[Row],
    gate: GateOutcome,
    protected: ProtectedGroups | None = None,
    corpus: Mapping[str, float] | None = None,
    card: TaskCard | None = None,
) -> dict[str, Any]:
    """The summary of a run; `protected` (`compare_pairs`), `corpus` and `card` are its domain's.

    Deterministic in the measured columns, `ledger.seconds` apart.
    """
    arch, model = plan.parts["arch"].plugin.cls, plan.parts["model"].plugin.cls
    embedder = plan.used.get("embedder") if arch.uses_embedder else None
    extractor = plan.used.get("extractor")
    reader = plan.parts["reader"].plugin.cls
    extracting = extractor is not None and extractor.plugin.cls.needs_model
    needs_model = arch.needs_model or extracting
    asked = needs_model or reader.searches  # a model had a hand in what was retained
    judge: Judge[Any] = plan.parts["judge"].create()
    judge_kind = judge.kind if judge.model is None else judge.model.kind
    meta = axis_meta()
    good = [row for row in rows if not row.error]
    axes = axes_of_rows(rows, plan.top.seed)
    for name, entry in axes.items():
        entry["kind"] = kind_of(name, meta, model.kind, asked, judge_kind)
    for name in _of_hashed_words(plan):
        if name in axes:
            axes[name]["kind"] = "lexical embedder"
    strata = _strata(rows, plan.top.seed)
    domain = plan.parts["domain"].plugin.cls
    return {
        "run": {
            **{g: plan.label(g) for g in ("domain", "arch", "budget", "reader", "model", "judge")},
            "prompts": _prompts(plan),
            "protocol": _protocol(plan),
            "seed": plan.top.seed,
            "n_cases": len({row.case_id for row in rows}),
            "repeats": plan.top.repeats,
            "digest": plan.digest,
            "model_kind": model.kind,
            "judge_kind": judge_kind,
        },
        "warnings": [*warnings(plan.parts["model"], judge), *_of_embedder(plan)],
        "headline": list(domain.headline),
        "axes": axes,
        "success_axis": domain.success_axis,
        "constants": constants(of_read_forms(good)),
        "unread": len({row.case_id for row in good if not row.form_read}),
        "strata": strata,
        "depths": depths_of_strata(good),
        "by_stratum": by_stratum(domain.by_stratum, axes, strata),
        "ledger": ledger(rows),
        "budget_use": {
            **room_of_rows(good),
            "unbudgeted": arch.unbudgeted,
            "budget_at": arch.budget_at,
            "sees_task": arch.sees_task,
            "knows_schema": arch.knows_schema,
            "gold_edges": arch.gold_edges and extractor is None,
            "sees_gold": arch.sees_gold,
            "query": arch.query,
            "query_names_fields": arch.query == "task" and names_fields(card),
            "needs_model": needs_model,
            **({} if embedder is None else {"embedder": embedder.label}),
            **({} if extractor is None else {"extractor": extractor.label}),
        },
        "corpus": dict(corpus or {}),
        "counterfactual_pairs": compare_pairs(rows, protected, plan.top.seed),
        "gate": dataclasses.asdict(gate),
        "errors": {
            "n": sum(1 for row in rows if row.error),
            "of": len(rows),
            "kinds": dict(Counter(row.error.split(":", 1)[0] for row in rows if row.error)),
            "commonest": _commonest(rows),
        },
    }


def _commonest(rows: Sequence[Row]) -> str:
    """The error that most rows have; empty where none has one."""
    found = Counter(row.error for row in rows if row.error).most_common(1)
    return found[0][0] if found else ""


def names_fields(card: TaskCard | None) -> bool:
    """Whether what memory is asked with holds the label of every field of the answer form.

    Documents that state a fact by its label are then found by matching the words of the query.
    """
    labels = () if card is None else tuple(field.label.casefold() for field in card.fields)
    return bool(labels) and card is not None and all(one in card.query.casefold() for one in labels)


def unbudgeted(budget_use: Mapping[str, Any]) -> bool:
    """Whether an arm has no budget, by its summary's `budget_use`."""
    return bool(budget_use.get("unbudgeted"))


def _prompts(plan: Plan) -> str:
    """Name and digest of the prompts: the name alone would not tell that a file was changed."""
    chosen = (plan.top.prompt_set or "default").rstrip("/").rsplit("/", 1)[-1]
    return f"{chosen}@{digest(plan.prompt_digests)[7:15]}"


def _protocol(plan: Plan) -> str:
    """The protocol's label; where it has groups of its own, the rows hang on these and the gate."""
    own = plan.parts["protocol"].plugin.cls.groups
    chosen = (f"{group}={plan.label(group)}" for group in ((*own, "gate") if own else ()))
    return " ".join([plan.label("protocol"), *chosen])


def warnings(reader: Component, judge: Judge[Any]) -> list[str]:
    """What a reader of the results must know before believing them."""
    if judge.model is None:
        return []
    mine = getattr(reader.settings, "name", reader.plugin.name)
    its = getattr(judge.model.settings, "name", judge.model.name)
    if mine != its:
        return []
    return [f"judge and reader are the same model, {its}: it may favour its own answers"]


def _of_embedder(plan: Plan) -> list[str]:
    if not _hashes(plan):
        return []
    arch = plan.parts["arch"].plugin.cls
    got = ["what an arm gets from it"] if arch.uses_embedder else []
    got += [", ".join(names)] if (names := _of_hashed_words(plan)) else []
    return [
        f"embedder={plan.used['embedder'].label}: similarity is overlap of words; {what} is "
        "no evidence about learned embeddings"
        for what in got
    ]


def _of_hashed_words(plan: Plan) -> list[str]:
    """The columns that an axis measured with hashed words."""
    return [name for axis in plan.embedding_axes for name in axis.names] if _hashes(plan) else []


def _hashes(plan: Plan) -> bool:
    embedder = plan.used.get("embedder")
    return embedder is not None and embedder.plugin.cls.kind == "lexical"


SETTING: Final = (
    "domain", "reader", "model", "judge", "prompts", "protocol", "seed", "n_cases", "repeats",
)  # fmt: skip
"""What must be equal between runs whose arms are compared, besides the budget."""


def setting_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of `SETTING` in a summary's `run`."""
    return tuple(run[key] for key in SETTING)


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


def constants(rows: Iterable[Row]) -> dict[str, float]:
    """By gold decision its share of the cases, which is what always giving it earns at most.

    Empty where a case has no gold decision.
    """
    labels = {row.case_id: row.expected for row in rows}
    counts = Counter(labels.values())
    if "" in counts:
        return {}
    return {label: n / len(labels) for label, n in counts.most_common()}


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


def _strata(rows: Sequence[Row], seed: int) -> dict[str, dict[str, Any]]:
    """The axes by stratum and by every tag, as `stratum=open` or `form=held_out`."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in (row for row in rows if row.axes or not row.error):
        groups[f"stratum={row.stratum}"].append(row)
        for tag, value in row.tags.items():
            groups[f"{tag}={value}"].append(row)
    shared = sharing([row for row in rows if not row.error])
    # A tag often says the same of a case as its stratum: the same rows are measured once.
    measured: dict[tuple[int, ...], dict[str, dict[str, Any]]] = {}
    found = {}
    for name, group in sorted(groups.items()):
        place = tuple(map(id, group))
        if place not in measured:
            measured[place] = axes_of_rows(group, seed, shared)
        found[name] = measured[place]
    return found


def ledger(rows: Sequence[Row]) -> dict[str, Any]:
    """Calls, tokens, dollars and latency by phase; each ingest is counted once."""
    cases = {row.case_id for row in rows}
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    latencies: dict[str, list[float]] = defaultdict(list)
    seen: set[tuple[str, str, int, int]] = set()
    for row in sorted(rows, key=lambda row: row.key):
        for phase, usage in row.usage.items():
            if phase == "ingest":
                history = (row.history_id, row.arm, row.trial, row.repeat)
                if history in seen:
                    continue
                seen.add(history)
            latencies[phase] += usage.call_seconds
            for name in _COUNTED:
                phases[phase][name] += getattr(usage, name)
    total: Counter[str] = Counter()
    for counts in phases.values():
        total.update(counts)
    out = {
        phase: _entry(counts, latencies[phase], len(cases))
        for phase, counts in sorted(phases.items())
    }
    out["total"] = _entry(total, [s for each in latencies.values() for s in each], len(cases))
    return out


def _entry(
    counts: Counter[str], latencies: Sequence[float], n_cases: int
) -> dict[str, float | None]:
    tokens = counts["tokens_in"] + counts["tokens_out"]
    return {
        **counts,
        "tokens_per_case": tokens / n_cases if n_cases else 0.0,
        "latency_p50_s": _quantile(latencies, 0.5),
        "latency_p95_s": _quantile(latencies, 0.95),
    }


def _quantile(values: Sequence[float], q: float) -> float | None:
    """The smallest value that at least a share `q` of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(q * len(values)) - 1)] if values else None


def room_of_rows(rows: Sequence[Row]) -> dict[str, Any]:
    """What the budget was and how far views filled it.

    `could_fill` is the share of rows whose arm offered at least the budget: among these, views of
    two arms that differ by more than 1% were not given the same room.
    """
    if not rows:
        return {"budget_tokens": None, "mean_view_tokens": None, "max_view_tokens": None}
    budget = rows[0].budget_tokens
    views = [row.view_tokens for row in rows]
    filled = [r.view_tokens for r in rows if budget is not None and r.available_tokens >= budget]
    return {
        "budget_tokens": budget,
        "mean_view_tokens": sum(views) / len(views),
        "max_view_tokens": max(views),
        "could_fill": len(filled) / len(rows) if budget is not None else None,
        "mean_view_tokens_could_fill": sum(filled) / len(filled) if filled else None,
    }
