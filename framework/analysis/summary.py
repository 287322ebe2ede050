"""summary.json: a run in one page of numbers, made from its rows alone."""

from __future__ import annotations

import dataclasses
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from framework.analysis.axes import (
    RowColumns,
    axes_of_part,
    axis_meta,
    corrected,
    kind_of,
    with_corrected,
)
from framework.analysis.cost import sharing
from framework.analysis.counterfactual import compare_pairs
from framework.analysis.forms import of_read_forms
from framework.analysis.known_answers import of_error, with_error
from framework.analysis.strata import by_stratum, depths_of_strata
from framework.config import Component, Plan
from framework.contracts import GateOutcome, Judge, ProtectedGroups
from framework.contracts.calibration import ErrorRates, plain_rates
from framework.models.prices import no_price
from framework.models.transport import Served
from framework.records import Row, TaskCard, Usage
from framework.rows import by_session, chosen, going_up
from framework.text.canonical import digest, digest_bytes

_COUNTED: Final = tuple(f.name for f in dataclasses.fields(Usage) if f.name != "call_seconds")


def summarize(
    plan: Plan,
    rows: Sequence[Row],
    gate: GateOutcome,
    protected: ProtectedGroups | None = None,
    corpus: Mapping[str, float] | None = None,
    card: TaskCard | None = None,
    unsupported: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """The summary of a run; `protected` (`compare_pairs`), `corpus` and `card` are its domain's.

    unsupported : verdicts of the judge without support, of how many.

    Deterministic in the measured columns, `ledger.seconds` apart.
    """
    every, rows = rows, by_session(rows)
    model, domain = plan.parts["model"].plugin.cls, plan.parts["domain"].plugin.cls
    good = chosen(rows, lambda row: not row.error)
    budget_use = _budget_use(plan, good, card)
    # Whether a model had a hand in what was retained.
    asked = budget_use["needs_model"] or plan.parts["reader"].plugin.cls.searches
    judge: Judge[Any] = plan.parts["judge"].create()
    judge_kind = judge.kind if judge.model is None else judge.model.kind
    verdicts, meta = axis_meta(), axis_meta(domain.success_axis)
    columns = RowColumns.of(rows)
    axes = axes_of_part(columns, None, plan.top.seed)
    without = unpriced(plan, judge)
    for name in [name for name in axes if without and name.endswith("_usd")]:
        del axes[name]
    for name, entry in axes.items():
        entry["kind"] = kind_of(name, meta, model.kind, asked, judge_kind)
    for name in _of_hashed_words(plan):
        if name in axes:
            axes[name]["kind"] = "lexical embedder"
    rates = judge.error_rates
    axes = with_error(rows, axes, rates, judge_kind, plan.top.seed, domain.success_axis)
    for name in corrected().keys() & axes.keys():
        axes[name]["kind"] = axes[corrected()[name]]["kind"]
    judged = [
        name for name, entry in axes.items() if verdicts.get(name, {}).get("judged") and entry["n"]
    ]
    strata = axes_of_strata(columns, plan.top.seed, rates, judge_kind, domain.success_axis)
    return {
        "run": {
            **{g: plan.label(g) for g in ("domain", "arch", "budget", "reader", "model", "judge")},
            "prompts": _prompts(plan),
            "protocol": _protocol(plan),
            "seed": plan.top.seed,
            "n_cases": len(np.unique(columns.case)),
            "repeats": plan.top.repeats,
            "digest": plan.digest,
            "model_kind": model.kind,
            "answered_by": _answered_by(rows),
            "judge_kind": judge_kind,
        },
        "warnings": [
            *warnings(plan.parts["model"], judge),
            *_of_verdicts(unsupported),
            *(f"{no_price(name)}: dollars are left empty" for name in without),
            *of_error(rates, judge_kind, judged, plan.option("judge"), domain.success_axis),
            *_of_embedder(plan),
        ],
        "unsupported_verdicts": {"n": unsupported[0], "of": unsupported[1]},
        **({"judge_error": plain_rates(rates)} if rates else {}),
        "headline": [*domain.headline, *plan.parts["protocol"].plugin.cls.headline],
        "axes": axes,
        "success_axis": domain.success_axis,
        **of_cases(rows, good),
        "strata": strata,
        "depths": depths_of_strata(good),
        "by_stratum": by_stratum(with_corrected(domain.by_stratum), axes, strata),
        "ledger": ledger(every, priced=not without),
        "budget_use": budget_use,
        "corpus": dict(corpus or {}),
        "counterfactual_pairs": compare_pairs(rows, protected, plan.top.seed),
        "gate": dataclasses.asdict(gate),
        "errors": errors_of(rows),
    }


def _budget_use(plan: Plan, rows: Sequence[Row], card: TaskCard | None) -> dict[str, Any]:
    """What the arm made of its budget and what it was told; `rows` are those without an error."""
    arch, extractor = plan.parts["arch"].plugin.cls, plan.used.get("extractor")
    embedder = plan.used.get("embedder") if arch.uses_embedder else None
    extracting = extractor is not None and extractor.plugin.cls.needs_model
    return {
        **room_of_rows(rows),
        "unbudgeted": arch.unbudgeted,
        "budget_at": arch.budget_at,
        "sees_task": arch.sees_task,
        "knows_schema": arch.knows_schema,
        "gold_edges": arch.gold_edges and extractor is None,
        "sees_gold": arch.sees_gold,
        "query": arch.query,
        "query_names_fields": arch.query == "task" and names_fields(card),
        "needs_model": arch.needs_model or extracting,
        **({"adapted": True, "deterministic": arch.deterministic} if arch.adapted else {}),
        **({} if embedder is None else {"embedder": embedder.label}),
        **({} if extractor is None else {"extractor": extractor.label}),
    }


def errors_of(rows: Sequence[Row]) -> dict[str, Any]:
    """How many rows failed, of how many, by kind, and the commonest error."""
    failed = [row.error for row in rows if row.error]
    return {
        "n": len(failed),
        "of": len(rows),
        "kinds": dict(Counter(error.split(":", 1)[0] for error in failed)),
        "commonest": _commonest(rows),
    }


def _answered_by(rows: Sequence[Row]) -> str:
    """The language models that answered, as rows name them; empty where none did."""
    found = {row.model for row in rows if not (row.error or row.state)}
    return "; ".join(sorted((found or {row.model for row in rows}) - {""}))


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


def _of_verdicts(unsupported: tuple[int, int]) -> list[str]:
    n, of = unsupported
    quote = "verdicts of the judge quote what the answer does not say: they count as not met"
    return [f"unsupported verdicts: {n} of {of} {quote}"] if n else []


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


def of_cases(rows: Sequence[Row], good: Sequence[Row]) -> dict[str, Any]:
    """What must be known of a run's cases beside its figures. good : the rows without an error."""
    return {
        "constants": constants(of_read_forms(good)),
        "unread": len({row.case_id for row in good if not row.form_read}),
        "states": dict(Counter(row.state for row in rows if row.state).most_common()),
    }


def setting_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of `SETTING` in a summary's `run`."""
    return tuple(run[key] for key in SETTING)


def constants(rows: Iterable[Row]) -> dict[str, float]:
    """By gold decision its share of the cases, which is what always giving it earns at most.

    The most frequent first, of as many the first by name. Empty where a case has no gold decision.
    """
    labels = {row.case_id: row.expected for row in rows}
    counts = Counter(labels.values())
    if "" in counts:
        return {}
    ranked = sorted(counts.items(), key=lambda of: (-of[1], of[0]))  # rows come as they are done
    return {label: n / len(labels) for label, n in ranked}


def axes_of_strata(
    columns: RowColumns,
    seed: int,
    rates: Mapping[str, ErrorRates],
    judge_kind: str,
    success_axis: str,
) -> dict[str, dict[str, Any]]:
    """The axes by stratum and by every tag, as `stratum=open` or `form=held_out`."""
    rows = columns.rows
    groups: dict[str, array[int]] = defaultdict(lambda: array("i"))
    for at, row in enumerate(rows):
        if row.axes or not row.error:
            groups[f"stratum={row.stratum}"].append(at)
            for tag, value in row.tags.items():
                groups[f"{tag}={value}"].append(at)
    known = columns.answered.any()
    shared = sharing(chosen(rows, lambda row: not row.error)) if known else {}
    # A tag often says the same of a case as its stratum: the same rows are measured once.
    measured: dict[str, dict[str, dict[str, Any]]] = {}
    found = {}
    for name, group in sorted(groups.items()):
        place = digest_bytes(group.tobytes())
        if place not in measured:
            part = np.frombuffer(group, np.intc)
            entries = axes_of_part(columns, part, seed, shared)
            own = columns.rows_at(part) if rates else ()
            measured[place] = with_error(own, entries, rates, judge_kind, seed, success_axis)
        found[name] = measured[place]
    return found


def unpriced(plan: Plan, judge: Judge[Any] | None) -> list[str]:
    """What of a run is served at no known price."""
    parts = [(p.plugin.cls, p.settings) for g in ("model", "embedder") if (p := plan.used.get(g))]
    if judge is not None and judge.model is not None:
        parts.append((type(judge.model), judge.model.settings))
    served = [(cls, settings) for cls, settings in parts if issubclass(cls, Served)]
    return sorted({given.name for cls, given in served if cls.price_for(given) is None})


def ledger(rows: Sequence[Row], *, priced: bool = True) -> dict[str, Any]:
    """Calls, tokens, dollars and latency by phase; each ingest is counted once.

    priced : False where something has no price: dollars are None in the total, and where a phase
    that took tokens has none.
    """
    cases = {row.case_id for row in rows}
    phases: dict[str, Counter[str]] = defaultdict(Counter)
    latencies: dict[str, list[float]] = defaultdict(list)
    seen: set[tuple[str, str, int, int]] = set()
    for row in going_up(rows) if any(row.usage for row in rows) else ():
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
    for phase, entry in out.items():
        if not priced and (phase == "total" or (entry["tokens_in"] and not entry["cost_usd"])):
            entry |= {"cost_usd": None, "paid_usd": None}
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
