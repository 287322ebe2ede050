"""sweep.json: the arms of a sweep side by side, and every paired comparison."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from framework.analysis.axes import amounts, as_mappings, axis_meta, signed
from framework.analysis.cost import differences
from framework.analysis.headroom import telling_cases
from framework.analysis.known_answers import corrected_pair
from framework.analysis.remeasured import over_seeds
from framework.analysis.summary import SETTING, setting_of
from framework.contracts.calibration import rates_in
from framework.contracts.recipe import Convention
from framework.errors import UserError
from framework.records import Row
from framework.registry import find, names, nearest
from framework.rows import by_session
from framework.statistics.comparison import case_means, comparison_table
from framework.statistics.correlation import axis_correlations
from framework.statistics.replication import replication
from framework.text.canonical import canonical_json

BUDGET_MARGIN: Final = 0.01
"""Arms that could have filled their budget and differ by more than this share are flagged."""


def sweep_summary(
    summaries: Sequence[Mapping[str, Any]],
    rows: Sequence[Sequence[Row]],
    names: Sequence[str],
    *,
    baseline: str | None = None,
    axes: Sequence[str] | None = None,
    smallest_effect: float | None = None,
    published_convention: str | None = None,
) -> dict[str, Any]:
    """Runs in order with their axes, comparisons on the same cases, correlations and flags.

    Comparisons are made within one `SETTING` and budget: nothing but the arm differs.
    Rows with an error are left out of means and pairs, but for what memory kept; `errors` says
    how many. Holm's adjustment is over all comparisons of the sweep. The same pairs stand in a
    published convention too where one is named. `cost_effectiveness` has the pairs' successes per
    1,000 tokens, ratios of means and no axis of a case: described with intervals, not tested.
    `over_seeds` has the same of runs that differ in their seed alone as one run; None for none.
    """
    rows = [by_session(own) for own in rows]
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for summary in summaries:
        groups[setting_of(summary["run"])].append(summary)
    flags = [flag for members in groups.values() for flag in budget_flags(members)]
    return {
        "jobs": [job_entry(name, s) for name, s in zip(names, summaries, strict=True)],
        "comparisons": compare_runs(summaries, rows, axes, baseline, smallest_effect),
        "telling_cases": telling_cases(summaries, rows),
        "over_seeds": _over_seeds(summaries, rows, axes, baseline, smallest_effect),
        "smallest_effect": smallest_effect,
        "cost_effectiveness": _cost_effectiveness(summaries, rows, baseline),
        "published_convention": (
            published_rows(summaries, rows, axes, baseline, published_convention)
            if published_convention
            else None
        ),
        "correlation": _correlation(summaries, rows),
        "reader_agreement": reader_agreement(summaries),
        "model_agreement": model_agreement(summaries),
        "budget_flags": flags,
    }  # fmt: skip


def _over_seeds(
    summaries: Sequence[Mapping[str, Any]],
    rows: Sequence[Sequence[Row]],
    axes: Sequence[str] | None,
    baseline: str | None,
    smallest_effect: float | None,
) -> dict[str, Any] | None:
    """Jobs, comparisons (a family of their own) and cases that tell arms apart, of all seeds."""
    joined, their_rows = over_seeds(summaries, rows)
    if not joined:
        return None

    def place(of: Mapping[str, Any]) -> tuple[Any, ...]:
        return (*setting_of(of), of["budget"])

    seeds = {place(s["run"]): s["run"].pop("seeds", s["run"]["seed"]) for s in joined}

    def named(of: Mapping[str, Any]) -> dict[str, Any]:
        return {**of, "seed": seeds[place(of)]}

    pairs = compare_runs(joined, their_rows, axes, baseline, smallest_effect)
    return {
        "jobs": [job_entry("", {**s, "run": named(s["run"])}) for s in joined],
        "comparisons": [named(row) for row in pairs],
        "telling_cases": [named(entry) for entry in telling_cases(joined, their_rows)],
    }


def job_entry(directory: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """What sweep.json holds of a run: all of it is in the run's summary."""
    s = summary
    return {
        "directory": directory, "run": s["run"], "axes": s["axes"], "budget_use": s["budget_use"],
        "ledger": s["ledger"], "gate": s["gate"], "errors": s["errors"],
        "headline": s["headline"], "success_axis": s.get("success_axis", ""),
        "unread": s.get("unread", 0), "constants": s.get("constants") or {},
        "states": s.get("states") or {},
        "by_stratum": s.get("by_stratum"),
        "counterfactual_pairs": s.get("counterfactual_pairs"), "corpus": s.get("corpus") or {},
        "extraction": s.get("extraction") or {}, "checks": s.get("checks") or {},
        "warnings": s.get("warnings") or [],
    }  # fmt: skip


def _cost_effectiveness(
    summaries: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Row]], baseline: str | None
) -> list[dict[str, Any]]:
    """Differences in successes per 1,000 tokens within one setting and budget."""
    keys = (*SETTING, "budget", "arch")
    runs = [{key: summary["run"][key] for key in keys} for summary in summaries]
    seed = min(int(summary["run"]["seed"]) for summary in summaries)
    return differences(list(zip(runs, rows, strict=True)), baseline, seed)


def reader_agreement(summaries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Which orders of two arms survive every model of the sweep, by budget and headline axis.

    Empty for one model. A pair counts as ordered when every model gives the two arms different
    means, and as surviving when all of them give the same order (validity.md section 1). Each entry
    names where it stands, as in `model_agreement`.
    """
    models = sorted({s["run"]["model"] for s in summaries})
    found: list[dict[str, Any]] = []
    for place, means in _by_model(summaries).items() if len(models) > 1 else ():
        everywhere = sorted(set.intersection(*(set(means.get(m, {})) for m in models)))
        ordered, survive = 0, []
        for a, b in combinations(everywhere, 2):
            signs = {(means[m][a] > means[m][b]) - (means[m][a] < means[m][b]) for m in models}
            ordered += 0 not in signs
            if signs in ({1}, {-1}):
                survive.append([a, b] if signs == {1} else [b, a])
        here = {"models": models, "ordered_pairs": ordered, "surviving": survive}
        found.append({**dict(place), **here})
    return found


def model_agreement(summaries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The cross-model check: each pair of models, by budget and headline axis, over arm means.

    Arms are compared between models where all of `SETTING` but the model is equal. Each entry names
    where it stands and the two models, and holds a `Replication`. Empty for one model.
    """
    return [
        {**dict(place), "model_a": a, "model_b": b, **dataclasses.asdict(found)}
        for place, models in _by_model(summaries).items()
        for a, b in combinations(models, 2)
        if models[a].keys() & models[b].keys()
        for found in [replication(models[a], models[b])]
    ]


def _by_model(
    summaries: Sequence[Mapping[str, Any]],
) -> dict[tuple[Any, ...], dict[str, dict[str, float]]]:
    """By all that the models share, budget and headline axis: by model, the means of the arms."""
    means: dict[tuple[Any, ...], dict[str, dict[str, float]]] = defaultdict(dict)
    for s in summaries:
        run = s["run"]
        others = {key: run[key] for key in (*SETTING, "budget") if key != "model"}
        for axis in _headline(s):
            if (mean := s["axes"][axis]["mean"]) is not None:
                place = means[*others.items(), ("axis", axis)]
                place.setdefault(run["model"], {})[run["arch"]] = mean
    return means


def compare_runs(
    summaries: Sequence[Mapping[str, Any]],
    rows: Sequence[Sequence[Row]],
    axes: Sequence[str] | None,
    baseline: str | None = None,
    smallest_effect: float | None = None,
) -> list[dict[str, Any]]:
    """Paired comparisons of arms within one setting and budget, adjusted as one family.

    A pair is compared on the cases where both define the axis: kappa, on those both retained.
    `axes` of None takes each setting's headline. `smallest_effect` is that of axes in [0, 1].
    Where the judge's error is known, a pair on a judged axis has `corrected_delta` too: the
    difference that is behind the verdicts' (`corrected_pair`). It is of no test and no conclusion.
    """
    meta, no_shares = axis_meta(), amounts() | signed()
    of_arm: dict[tuple[str, str], tuple[Mapping[str, Any], Sequence[Row]]] = {}
    flat: list[dict[str, Any]] = []
    places: dict[str, dict[str, Any]] = {}
    arms: dict[str, set[str]] = defaultdict(set)
    for summary, run_rows in zip(summaries, rows, strict=True):
        setting = setting_of(summary["run"])
        place = canonical_json([*setting, summary["run"]["budget"]])
        of_setting = dict(zip(SETTING, setting, strict=True))
        at = {**of_setting, "budget": summary["run"]["budget"], "chosen": set()}
        places.setdefault(place, at)["chosen"].update(axes or _headline(summary))
        arms[place].add(summary["run"]["arch"])
        of_arm[place, summary["run"]["arch"]] = summary, run_rows
        flat += as_mappings(run_rows, place)
    flat = [row for row in flat if len(arms[row["budget"]]) > 1]
    chosen = list(dict.fromkeys(a for s in summaries for a in (axes or _headline(s))))
    measured = {axis for row in flat for axis in row["axes"]}
    if not flat:
        return []
    table = comparison_table(
        flat,
        seed=min(summary["run"]["seed"] for summary in summaries),
        baseline=baseline if any(baseline in names for names in arms.values()) else None,
        axes=[axis for axis in chosen if axis in measured],
        lower_is_better=[a for a in measured if meta.get(a, {}).get("higher_is_better") is False],
        undirected=[a for a in measured if meta.get(a, {}).get("higher_is_better") is None],
        amounts=no_shares,
        smallest_effect={
            a: smallest_effect for a in measured if a not in no_shares and _is_share(flat, a)
        }
        if smallest_effect is not None
        else None,
    )
    return [
        {**{k: v for k, v in places[row.budget].items() if k != "chosen"},
         **{k: v for k, v in dataclasses.asdict(row).items() if k != "budget"},
         **_corrected(of_arm[row.budget, row.arm_a], of_arm[row.budget, row.arm_b], row.axis)}
        for row in table
        if row.axis in places[row.budget]["chosen"]
    ]  # fmt: skip


def _corrected(
    a: tuple[Mapping[str, Any], Sequence[Row]],
    b: tuple[Mapping[str, Any], Sequence[Row]],
    axis: str,
) -> dict[str, Any]:
    """`corrected_delta` and its limits, where one judge of one known error judged both arms.

    Where the error is not known, `judge_error` says so.
    """
    for summary, _ in (a, b):
        if said := summary["axes"].get(axis, {}).get("judge_error"):
            return {"judge_error": said}
    if a[0].get("judge_error") != b[0].get("judge_error"):
        return {}
    seed = min(int(summary["run"]["seed"]) for summary in (a[0], b[0]))
    known, of_success = rates_in(a[0].get("judge_error")).values(), a[0].get("success_axis") or ""
    found = (corrected_pair(a[1], b[1], axis, rates, seed, of_success) for rates in known)
    return next(filter(None, found), {})


def _is_share(rows: Sequence[Mapping[str, Any]], axis: str) -> bool:
    """Whether all values of an axis lie in [0, 1]: a share's effect says nothing of amounts."""
    values = (row["axes"].get(axis) for row in rows)
    return all(0 <= value <= 1 for value in values if value is not None)


def published_rows(
    summaries: Sequence[Mapping[str, Any]],
    rows: Sequence[Sequence[Row]],
    axes: Sequence[str] | None,
    baseline: str | None,
    convention: str,
) -> dict[str, Any]:
    """The pairs of `compare_runs` in a published convention: budgets pooled, nothing adjusted.

    To reproduce, not to conclude. Raises UserError for a convention that is not known.
    """
    known = names("convention")
    if convention not in known:
        raise UserError(
            f"published_convention: no convention {convention!r}{nearest(convention, known)}"
        )
    plugin: Convention = find("convention", convention).cls()
    flat: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    chosen: dict[tuple[Any, ...], list[str]] = {}
    for summary, run_rows in zip(summaries, rows, strict=True):
        setting = setting_of(summary["run"])
        flat[setting] += as_mappings(run_rows, summary["run"]["budget"])
        chosen.setdefault(setting, list(axes or _headline(summary)))
    return {
        "convention": convention,
        "comparisons": [
            {**dict(zip(SETTING, setting, strict=True)), **entry}
            for setting, members in flat.items()
            for entry in plugin.compare(
                members,
                chosen[setting],
                baseline if any(m["arm"] == baseline for m in members) else None,
            )
        ],
    }


def _headline(summary: Mapping[str, Any]) -> list[str]:
    return [axis for axis in summary["headline"] if axis in summary["axes"]]


def budget_flags(summaries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Pairs of arms at one budget that were not given the same room, and arms that did not use it.

    An arm that offers less than the budget by its own choice (a cap on items) is named too: its
    result is that of a smaller view.
    """
    flags: list[str] = []
    for summary in summaries:
        fair, run = summary["budget_use"], summary["run"]
        budget, mean, could = (
            fair.get(name) for name in ("budget_tokens", "mean_view_tokens", "could_fill")
        )
        if budget and mean and could < 1 and mean < (1 - BUDGET_MARGIN) * budget:
            limited = ", perhaps as its mapping asks for no more (arch.limit=null)"
            flags.append(
                f"{run['budget']}: {run['arch']} offered less than the budget in {1 - could:.0%} "
                f"of its rows; its mean view is {mean:.0f} of {budget} tokens"
                f"{limited if fair.get('adapted') else ''}"
            )
    by_budget: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
    for summary in summaries:
        fair = summary["budget_use"]
        tokens = fair.get("mean_view_tokens_could_fill")
        if not fair.get("unbudgeted") and tokens is not None:
            run = summary["run"]
            by_budget[run["budget"]].append((run["arch"], tokens, fair["budget_tokens"]))
    for budget, arms in sorted(by_budget.items()):
        low, high = min(arms, key=lambda a: a[1]), max(arms, key=lambda a: a[1])
        if high[1] - low[1] > BUDGET_MARGIN * high[2]:
            flags.append(
                f"{budget}: mean view of {low[0]} is {low[1]:.1f} tokens, of {high[0]} "
                f"{high[1]:.1f}, of a budget of {high[2]}, where both could have filled it"
            )
    return flags


def _correlation(
    summaries: Sequence[Mapping[str, Any]], rows: Sequence[Sequence[Row]]
) -> dict[str, Any]:
    """Spearman correlations of the headline axes over the cases of every run of the sweep.

    An observation is a case in a run, its repeats and trials averaged (validity.md section 4).
    """
    named = {axis for summary in summaries for axis in _headline(summary)}
    of_cases = {axis for run in rows for row in run for axis in row.axes}
    axes = sorted(named & of_cases)  # a ratio of means is of no case
    columns: dict[str, list[float | None]] = {axis: [] for axis in axes}
    for run in rows:
        means = case_means(as_mappings([row for row in run if not row.error], ""))
        for budget, arm in means.cases:
            for axis in axes:
                columns[axis] += means.column(budget, arm, axis).values()
    matrix = axis_correlations(columns)
    rho = [[None if value != value else float(value) for value in line] for line in matrix.rho]
    return {"axes": list(matrix.axes), "rho": rho, "n": matrix.n.tolist()}
