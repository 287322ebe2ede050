"""The loop: why each candidate was promoted or not, and whether TEST confirms what was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.analysis.evidence import Evidence, Job
from framework.reporting.blocks import Block, Details, Heading, Listing, Note, Text
from framework.reporting.figures.style import Drawing
from framework.reporting.format import p_value
from framework.store.openings import register_of
from framework.text.counting import counted
from plugins.recipes.regimes import loop_figures as figures
from plugins.recipes.regimes.loop_tables import (
    CASES,
    Named,
    drafts,
    failures,
    final_states,
    funnel_table,
    interim_analyses,
    localised,
    pooled_of,
    pooled_table,
    read_loop,
)
from plugins.recipes.regimes.opened import flags

_STOPPED: Final = {
    "no_failure_that_a_seam_reaches": "no failure was left that any seam reaches",
    "all_reachable_regimes_exhausted": "every regime that a seam reaches has used up its attempts",
    "plateau": "several interim analyses in a row found no gain beyond the noise",
    "max_candidates": "it reached its limit of candidates",
    "max_promotions": "it reached its limit of promotions",
    "author_has_nothing_more": "the author had no more drafts",
}
_LEVEL: Final = 0.05
"""Two-sided level at which TEST confirms."""
_LABELS: Final = {
    "rule-based": (
        "Rule-based: a rule-based model was the reader; no evidence about language models."
    ),
    "llm": "Measured with a language model.",
}


def loops(
    evidence: Evidence, add_figure: Callable[[Drawing | None], Iterator[Block]]
) -> Iterator[Block]:
    """The section, for a run or sweep with finished loops; nothing for another."""
    arms = _by_arm(evidence)
    if not arms:
        return
    kind = _LABELS.get(str(evidence.jobs[0].summary["run"]["model_kind"]), _LABELS["llm"])
    yield Heading("The loop" if not evidence.is_sweep else "The loops", "loop")
    for number, (arm, members) in enumerate(arms.items()):
        if arm:
            yield Heading(arm, f"loop-{number}", 3)
        named = members if len(members) > 1 else [("", members[0][1])]
        yield from _openings(named, register_of(evidence.path))
        if len(members) == 1:
            yield from _one(members[0][1], add_figure, kind, f"loop-{number}")
        else:
            yield from _several(members, add_figure, kind, f"loop-{number}")


def _by_arm(evidence: Evidence) -> dict[str, list[Named]]:
    """The finished loops by what of the sweep they differ in besides the seed."""
    found = [(job, r) for job in evidence.jobs if (r := read_loop(job.path)) is not None]
    if evidence.redacted:
        found = [(job, _redacted(results)) for job, results in found]
    summary = read_loop(evidence.path) if evidence.is_sweep else None
    arms = {
        entry["directory"]: arm
        for arm, members in (summary or {"arms": {}})["arms"].items()
        for entry in members["seeds"]
    }
    by_arm: dict[str, list[tuple[Job, Mapping[str, Any]]]] = defaultdict(list)
    for job, results in found:
        by_arm[arms.get(job.path.name, "")].append((job, results))
    named_: dict[str, list[Named]] = {}
    for arm, members in by_arm.items():
        seeds = [r["loop"]["seed"] for _, r in members]
        named_[arm] = [
            (f"seed {seed}" if seeds.count(seed) == 1 else f"seed {seed}, {job.path.name}", results)
            for (job, results), seed in zip(members, seeds, strict=True)
        ]
    return named_


def one_loop(results: Mapping[str, Any]) -> Iterator[Block]:
    """A loop without figures: how it went, why each draft was kept or not, what TEST says."""
    yield Text(_in_words(results))
    yield Listing(_verdicts(results))
    yield from _openings([("", results)])
    yield from _drafts(results, "loop")
    yield final_states([("", results)])
    yield funnel_table([("", results)])


def loops_of(summary: Mapping[str, Any]) -> Iterator[Block]:
    """The loops of a sweep from their summary alone: by seed, pooled, with seeds as the unit."""
    for number, (arm, found) in enumerate(summary["arms"].items()):
        yield Heading(f"Improvement loops{f', {arm}' if arm else ''}", f"loop-{number}")
        members = [
            (f"seed {seed['seed']}", {**seed, "stopped": {**seed, "reason": seed["stopped"]}})
            for seed in found["seeds"]
        ]
        yield from _openings(members)
        yield final_states(members)
        yield pooled_of(summary, arm, f"pooled-{number}")
        yield funnel_table(members)


# ----------------------------------------------------------------------------------------- one loop


def _one(
    results: Mapping[str, Any],
    add_figure: Callable[[Drawing | None], Iterator[Block]],
    kind: str,
    anchor: str,
) -> Iterator[Block]:
    yield Text(_in_words(results))
    yield Listing(_verdicts(results))
    yield final_states([("", results)], anchor=f"{anchor}-states")
    yield from _figures([("", results)], add_figure, kind, anchor)
    yield from _drafts(results, anchor)
    yield funnel_table([("", results)], anchor=f"{anchor}-funnel")
    yield from localised([results], anchor)
    yield from failures(results, anchor)


def _several(
    members: Sequence[Named],
    add_figure: Callable[[Drawing | None], Iterator[Block]],
    kind: str,
    anchor: str,
) -> Iterator[Block]:
    yield final_states(members, anchor=f"{anchor}-states")
    yield pooled_table(members, anchor=f"{anchor}-pooled")
    yield from _figures(members, add_figure, kind, anchor)
    yield funnel_table(members, anchor=f"{anchor}-funnel")
    yield from localised([results for _, results in members], anchor)
    for number, (name, results) in enumerate(members):
        own = f"{anchor}-{number}"
        inner = [Text(_in_words(results)), *_drafts(results, own), *failures(results, own)]
        yield Details(f"{name}: why each candidate was promoted or not", inner)


def _openings(members: Sequence[Named], register: Path | None = None) -> Iterator[Block]:
    """What speaks against TEST of each loop having been opened once."""
    for name, results in members:
        for flag in flags(results["opening"], register) if results.get("opening") else ():
            yield Note(f"{name}: {flag}." if name else f"{flag[0].upper()}{flag[1:]}.")


def unanswered(results: Mapping[str, Any]) -> list[int]:
    """Numbers under which the author was asked and had no draft: they count as attempts."""
    drafted = {entry["number"] for entry in results["candidates"]}
    return [number for number in range(results["stopped"]["asked"]) if number not in drafted]


def unreached(results: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Regimes left among the failures that no seam reaches: walls, and what no predicate knows."""
    routes = results["loop"]["routes"]
    left = results["stopped"]["walls"]
    return [r for r in left if r in routes], [r for r in left if r not in routes]


def _redacted(results: Mapping[str, Any]) -> dict[str, Any]:
    """A loop without its drafts' edits, names and reasons: an author sees failed cases."""
    told = ("payload", "why")
    drafts = [{k: v for k, v in one.items() if k not in told} for one in results["candidates"]]
    hidden = {"reason": "left out"}
    return {
        **results,
        "candidates": [{**one, **(hidden if "reason" in one else {})} for one in drafts],
    }


def _verdicts(results: Mapping[str, Any]) -> list[str]:
    return [verdict(results, split) for split in ("test", "test_shifted") if split in results]


def _in_words(results: Mapping[str, Any]) -> str:
    """What was set up, how it went, and why it ended."""
    loop, stopped, splits = results["loop"], results["stopped"], results["splits"]
    noise, reason = results["noise"], results["stopped"]["reason"]
    own = "of its own for each analysis" if loop["fresh_confirm"] else "the same for each analysis"
    silent = unanswered(results)
    text = (
        f"Target {loop['target']}, author {loop['author']}, routing {loop['routing']}, gate "
        f"{loop['gate']}, seed {loop['seed']}. {splits['optimize']} cases of OPTIMIZE, "
        f"{splits['confirm']} of CONFIRM ({own}), {splits['test']} of TEST. The author was asked "
        f"{stopped['asked']} times and gave {stopped['drafts']} drafts"
    )
    if silent:
        text += f" (none for {', '.join(f'#{n}' for n in silent)}; these count as attempts)"
    text += (
        f"; {len(results['analyses'])} of them reached an interim analysis of CONFIRM, "
        f"and {stopped['promotions']} were promoted. "
    )
    if without := stopped["analyses"] - len(results["analyses"]):
        text += (
            f"CONFIRM was used {counted(without, 'more time')} to ask whether an edit could go. "
        )
    text += f"It stopped because {_STOPPED.get(reason, reason)} ({reason})"
    if stopped["exhausted"]:
        text += f"; exhausted: {', '.join(stopped['exhausted'])}"
    failures = ", ".join(f"{r} {n}" for r, n in results["baseline"]["failures"].items())
    text += f". Failures of the bare pipeline on OPTIMIZE: {failures or 'none'}"
    walls, unknown = unreached(results)
    if walls:
        text += f"; walls, which no seam reaches: {', '.join(walls)}"
    if unknown:
        text += f"; failures in no regime that a seam could reach: {', '.join(unknown)}"
    text += (
        f". Noise: the bare pipeline differed from itself in {noise['discordant']} cases of "
        f"CONFIRM ({noise['net']:+d} net, {noise['kind']}), so fewer than "
        f"{noise['least_net_flips']} net flips do not count as a gain."
    )
    return text


def verdict(results: Mapping[str, Any], split: str) -> str:
    """What a split on which nothing was chosen says of the final stack."""
    found = results[split]
    low, high = found["interval"]
    p, named_p = found["mcnemar_p"], "exact McNemar p"
    if found.get("clusters") is not None:
        p, named_p = found["permutation_p"], f"permutation p over {found['clusters']} clusters"
    sure = p is not None and p < _LEVEL  # a bootstrap alone is too sure where few cases differ
    if not results["stack"]:
        says = "nothing was kept, so there is nothing to confirm"
    elif low is None:
        says = "no interval is claimed, so it neither confirms nor refutes"
    elif low > 0 and sure:
        says = "it confirms the gain"
    elif high < 0 and sure:
        says = "it refutes the gain: the final stack is worse"
    elif low > 0 or high < 0:
        says = "the test does not reject, though the interval excludes 0: "
        says += "it neither confirms nor refutes"
    else:
        says = "the interval contains 0: it neither confirms nor refutes the gain"
    limits = "" if low is None else f" [{low:+.3f}, {high:+.3f}]"
    n = found.get("failed_before", 0)
    failed = f", {counted(n, 'case')} with an error before counted as unchanged" if n else ""
    return (
        f"{CASES[split]}: {found['before']:.3f} before, {found['after']:.3f} after, "
        f"{found['delta']:+.3f}{limits}, {found['wrong_to_right']} fixed and "
        f"{found['right_to_wrong']} broken{failed}, {named_p} {p_value(p)}: {says}."
    )


def _drafts(results: Mapping[str, Any], anchor: str) -> Iterator[Block]:
    """Every draft with what became of it and why; what the drafts say; the analyses."""
    if not results["candidates"]:
        yield Text("The author gave no draft.")
        return
    yield from drafts(results, anchor)
    if not results["analyses"]:
        yield Text("No draft reached an interim analysis of CONFIRM.")
        return
    yield Text(_price(results))
    yield interim_analyses(results["analyses"], anchor)


def _price(results: Mapping[str, Any]) -> str:
    """What the interim analyses cost of the claim that a promotion helps."""
    levels = [a["alpha"] for a in results["analyses"] if a["alpha"] is not None]
    if not levels:
        return "The gate judged nothing, so a promotion is no evidence of a gain."
    n, spent = len(levels), sum(levels)
    if results["loop"]["fresh_confirm"]:
        return (
            f"Each of the {n} interim analyses had cases of its own and the level {levels[0]:g}. "
            "If no candidate helped, the chance that some analysis still passes a gate on the "
            f"bound would be at most {min(1.0, spent):g}."
        )
    return (
        f"All {n} interim analyses were on the same cases, so each had a smaller level than the "
        f"one before; together they spent alpha = {spent:.4f}."
    )


def _figures(
    members: Sequence[Named],
    add_figure: Callable[[Drawing | None], Iterator[Block]],
    kind: str,
    anchor: str,
) -> Iterator[Block]:
    shown = [figures.measured(name, results) for name, results in members]
    flipped = "Questions that the final stack and the bare pipeline answer differently"
    if any(gained or lost for loop in shown for gained, lost, _ in loop.flips.values()):
        caption = f"{flipped}, by cases; at the end the change of accuracy. {kind}"
        yield from add_figure(figures.barcode(shown, f"{anchor}-flips", caption))
        yield from add_figure(figures.promises(members, f"{anchor}-trajectory", kind))
    else:
        yield Note(f"{flipped}: none. The final stack is the bare pipeline or changes no answer.")
    if len(members) > 1:
        caption = f"Where each authored candidate ended. {kind}"
        yield from add_figure(figures.funnel(shown, f"{anchor}-funnel", caption))
