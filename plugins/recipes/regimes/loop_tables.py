"""Tables of improvement loops: 1b and 1c of the paper, drafts, interim analyses, changed cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.registry import find
from framework.reporting.blocks import Block, Cell, Details, Table
from framework.reporting.cells import UNDEFINED, bounded, count, number_cell, p_cell, yes_no
from framework.reporting.tables import Column, each, table
from framework.store.state import read_report
from framework.text.canonical import canonical_json
from framework.text.counting import counted

PROTOCOL: Final = "improve"
CASES: Final = {
    "test": "TEST",
    "test_shifted": "shifted TEST",
    "confirm": "CONFIRM",
    "whole_pool": "pool without OPTIMIZE",
}
"""Where the final stack was compared with the bare one, and what readers call it."""
SPLITS: Final = tuple(CASES)

Named = tuple[str, Mapping[str, Any]]
"""A loop's name and the content of its improve.json."""


def read_loop(directory: Path) -> dict[str, Any] | None:
    """The results of a finished loop, or of a sweep's; None for another run."""
    return read_report(directory, PROTOCOL)


def final_states(members: Sequence[Named], anchor: str = "final-states") -> Table:
    """The final stack against the bare pipeline by loop and split (the paper's table 1b)."""
    several: dict[str, Column] = {
        "promoted": ("stopped", lambda stopped: count(stopped["promotions"])),
        "stopped": ("stopped", lambda stopped: stopped["reason"]),
    }
    return table(
        anchor,
        "The final stack against the bare pipeline, on the same cases, with 95% intervals. On "
        "CONFIRM it was selected; TEST was opened once, after the end. Where cases come in "
        "clusters intervals and permutation p are over these; McNemar p is case by case.",
        {
            "cases": "name",
            "n": _size,
            "before": ("before", number_cell),
            "after": ("after", number_cell),
            "change": lambda found: bounded(found["delta"], *found["interval"], sign="+"),
            "wrong to right": ("wrong_to_right", count),
            "right to wrong": ("right_to_wrong", count),
            "McNemar p": ("mcnemar_p", p_cell),
            "permutation p": ("permutation_p", p_cell),
            **(several if len(members) > 1 else {}),
        },
        [
            {
                **results[split],
                "name": f"{name}, {CASES[split]}" if name else CASES[split],
                "stopped": results["stopped"],
            }
            for name, results in members
            for split in SPLITS
            if split in results
        ],
    )


def _size(found: Mapping[str, Any]) -> Cell:
    """Cases, and the clusters that they come in."""
    clusters = found.get("clusters")
    under = "" if clusters is None else counted(clusters, "cluster")
    return Cell(text=f"{found['n']:,}", under=under, value=found["n"])


def pooled_table(members: Sequence[Named], anchor: str = "pooled") -> Table:
    """Flips pooled over loops, and the test that has seeds as its unit."""
    loops = [{"arm": "", "directory": n, "results": r} for n, r in members]
    return pooled_of(find("protocol", PROTOCOL).cls.of_sweep(loops), "", anchor)


def pooled_of(loops: Mapping[str, Any], arm: str, anchor: str) -> Table:
    """The same of an arm of a sweep's loops, the content of its improve.json."""
    found = loops["arms"][arm]
    units = found["seeds_as_units"]
    return table(
        anchor,
        f"Pooled over loops. {loops['caveat']}",
        {
            "cases": "cases",
            "wrong to right": ("wrong_to_right", count),
            "right to wrong": ("right_to_wrong", count),
            "McNemar p": ("mcnemar_p", p_cell),
            "mean change": ("units", _mean_change),
            "p, seeds as the unit": ("units", lambda units: p_cell(units.get("p"))),
            "least p": ("units", lambda units: p_cell(units.get("smallest_p"))),
        },
        [
            {**pooled, "cases": CASES[split], "units": units.get(split) or {}}
            for split, pooled in found["pooled"].items()
        ],
    )


def _mean_change(units: Mapping[str, Any]) -> Cell:
    if not units:
        return UNDEFINED
    under = f"{units['positive']} up, {units['negative']} down of {units['n']}"
    return Cell(text=f"{units['mean']:+.3f}", under=under, value=units["mean"])


def funnel_table(members: Sequence[Named], anchor: str = "funnel") -> Table:
    """Where each authored candidate ended (the paper's table 1c), and at which seam it was."""
    keys = list(dict.fromkeys(key for _, r in members for key in r["funnel"]))
    seams = sorted(key for key in keys if key.startswith("seam_"))
    ends = [key for key in keys if key not in seams]
    return table(
        anchor,
        "Where each authored candidate ended; the last columns count drafts by seam.",
        {
            "": "name",
            **each(ends, _none_is_0),
            **{seam.removeprefix("seam_"): (seam, _none_is_0) for seam in seams},
            "stopped": "reason",
        },
        [
            {"name": name or "candidates", "reason": r["stopped"]["reason"], **r["funnel"]}
            for name, r in members
        ],
    )


def _none_is_0(n: int | None) -> Cell:
    return count(n or 0)


def drafts(results: Mapping[str, Any], anchor: str) -> Iterator[Block]:
    """Every draft with what became of it and why; what the drafts say."""
    least = results["noise"]["least_net_flips"]
    yield table(
        f"{anchor}-drafts",
        "Every draft, in the order in which they came: cases fixed and broken on OPTIMIZE "
        "(under it, how many failures of the regime became correct) and on CONFIRM (under it, "
        "the change of accuracy and its lower bound).",
        {
            "draft": _numbered,
            "regime": ("regime", lambda regime: regime or "any"),
            "seam": ("seam", lambda seam: seam or "none"),
            "OPTIMIZE": ("optimize", _on_optimize),
            "CONFIRM": ("confirm", _on_confirm),
            "outcome": ("outcome", _outcome),
            "why": lambda entry: why(entry, least),
        },
        results["candidates"],
    )
    told = [entry for entry in results["candidates"] if "payload" in entry]
    if told:
        edits = table(
            f"{anchor}-edits",
            "The edits themselves; a draft that the static gate refused has none.",
            {"draft": _numbered, "seam": "seam", "edit": ("payload", _payload)},
            told,
        )
        yield Details("What each draft says", [edits])
    yield from _operators(results, anchor)


def _operators(results: Mapping[str, Any], anchor: str) -> Iterator[Block]:
    """Where operators acted and how that ended, where the author could propose any."""
    compared = [
        (f"{_numbered(entry)}, {stage.upper()}", entry[stage]["operator"])
        for entry in results["candidates"]
        for stage in ("optimize", "confirm")
        if "operator" in entry.get(stage, {})
    ]
    compared += [
        (f"final stack, {CASES[split]}", results[split]["operator"])
        for split in SPLITS
        if "operator" in results.get(split, {})
    ]
    if compared:
        yield table(
            f"{anchor}-operators",
            "Operators: cases where one acted, how many of these were wrong then, how many of them "
            "had been right, and what the operators counted (unsupported: what no memory of the "
            "view holds).",
            {
                "": "name",
                "acted": ("fired", count),
                "wrong": ("wrong", count),
                "broken": ("broken", count),
                "counted": ("told", _told),
            },
            [{"name": name, **found} for name, found in compared],
        )


def _told(told: Mapping[str, Mapping[str, int]]) -> str:
    """The sums of what each operator counted."""
    return "; ".join(
        f"{name}: " + ", ".join(f"{n} {what}" for what, n in sorted(sums.items()))
        for name, sums in told.items()
    )


def why(entry: Mapping[str, Any], least: int) -> str:
    """Why a draft ended as it did; `least` is the least net flips that counted as a gain."""
    if entry["outcome"] == "discarded":
        return f"{entry['stage']}: {entry['reason']}"
    confirm = entry["confirm"]
    bound, threshold = confirm["bound"], confirm["threshold"]
    if bound is None:
        text = "the gate judged nothing"
    else:
        text = f"bound {bound:+.4f} above {threshold:+.4f}"
        if bound <= threshold:  # the published rule asks nothing of the bound
            text = f"gain {confirm['delta']:+.4f} reaches {threshold:+.4f} (bound {bound:+.4f})"
        text += f", net {confirm['net']:+d} of at least {least}"
    if entry["outcome"] == "consolidated":
        text += "; dropped after the loop: the others do as well without it"
    return text


def _numbered(entry: Mapping[str, Any]) -> str:
    """A draft's number and name: its author's word for it, else its digest, else a dash."""
    name = str(entry.get("why") or entry.get("candidate", "")[7:15] or "-")
    return f"#{entry['number']} {name[:60]}"


def _outcome(outcome: str) -> Cell:
    return Cell(text=outcome, tone="" if outcome == "discarded" else "good")


def interim_analyses(found: Sequence[Mapping[str, Any]], anchor: str) -> Table:
    """The interim analyses of CONFIRM in order."""
    return table(
        f"{anchor}-interim-analyses",
        "Interim analyses of CONFIRM in order.",
        {
            "analysis": "analysis",
            "draft": ("number", lambda number: f"#{number}"),
            "fixed": ("fixed", count),
            "broken": ("broken", count),
            "net": ("net", lambda net: Cell(text=f"{net:+d}", value=net)),
            "change": ("delta", _signed),
            "lower bound": ("bound", _signed),
            "above": ("threshold", number_cell),
            "level": ("alpha", lambda alpha: number_cell(alpha, 4)),
            "passed": ("passed", lambda passed: "yes" if passed else yes_no(passed)),
        },
        found,
    )


def _signed(value: float | None) -> Cell:
    return UNDEFINED if value is None else Cell(text=f"{value:+.4f}", value=value)


def _on_optimize(diff: Mapping[str, Any] | None) -> Cell:
    if diff is None:
        return UNDEFINED
    target = f"{diff['target_fixed']} of {diff['target_failures']}"
    return Cell(text=f"+{diff['fixed']} −{diff['broken']}", under=target, value=diff["net"])


def _on_confirm(confirm: Mapping[str, Any] | None) -> Cell:
    if confirm is None:
        return UNDEFINED
    bound = "" if confirm["bound"] is None else f", bound {confirm['bound']:+.4f}"
    under = f"{confirm['delta']:+.4f}{bound}"
    return Cell(text=f"+{confirm['fixed']} −{confirm['broken']}", under=under, value=confirm["net"])


def _payload(payload: Mapping[str, Any]) -> Cell:
    """An edit as a person reads it."""
    if "fragments" in payload:
        return Cell(text=" / ".join(f"{name}: {t}" for name, t in payload["fragments"].items()))
    if "expression" in payload:
        return Cell(text=str(payload["expression"]))
    if "operator" in payload:
        said = [
            f"{verb} " + " or ".join(f'"{phrase}"' for phrase in payload["guard"][key])
            for key, verb in (("contains", "contains"), ("lacks", "does not contain"))
            if payload["guard"][key]
        ]
        return Cell(text=f"{payload['operator']}, if the question {' and '.join(said)}")
    return Cell(text=canonical_json(payload))


def localised(results: Sequence[Mapping[str, Any]], anchor: str) -> Iterator[Block]:
    """Flips by question type and by the regime that the cases had before, summed over loops."""
    over = f", summed over {len(results)} loops" if len(results) > 1 else ""
    for key, title in (
        ("by_kind", "By question type, abstention too, which are cases of these types"),
        ("by_regime", "By the regime that the bare pipeline's answer had (localisation)"),
    ):
        summed: dict[str, dict[str, dict[str, int]]] = {}
        for split in SPLITS:
            for r in results:
                for group, counts in r.get(split, {}).get(key, {}).items():
                    into = summed.setdefault(group, {}).setdefault(split, defaultdict(int))
                    for name, n in counts.items():
                        into[name] += n
        splits = [split for split in SPLITS if any(split in r for r in results)]
        groups = sorted(summed, key=lambda name: (name in ("abstention", "correct"), name))
        yield table(
            f"{anchor}-{key.replace('_', '-')}",
            f"{title}: fixed and broken; under it, right before and after, of how many{over}.",
            {"": "group", **{CASES[split]: (split, _group) for split in splits}},
            [{"group": group, **summed[group]} for group in groups],
        )


def _group(counts: Mapping[str, int] | None) -> Cell:
    if counts is None:
        return UNDEFINED
    under = f"{counts['before']} → {counts['after']} of {counts['n']}"
    net = counts["fixed"] - counts["broken"]
    return Cell(text=f"+{counts['fixed']} −{counts['broken']}", under=under, value=net)


def failures(results: Mapping[str, Any], anchor: str) -> Iterator[Block]:
    """Failures of the bare pipeline on OPTIMIZE, by type and regime; other limits."""
    crossed = results["baseline"]["failures_by_kind"]
    regimes = list(results["baseline"]["failures"])
    if not regimes:
        return
    tables = [
        table(
            f"{anchor}-failures",
            "Failures of the bare pipeline on OPTIMIZE, by question type and regime.",
            {"": "kind", **each(regimes, _none_is_0)},
            [{"kind": kind, **counts} for kind, counts in crossed.items()],
        )
    ]
    varied = results["sensitivity"]
    if varied:
        names = sorted({regime for found in varied.values() for regime in found})
        tables += [
            table(
                f"{anchor}-sensitivity",
                "The same failures under other limits of the taxonomy.",
                {"": "limits", **each(names, _none_is_0)},
                [{"limits": limits, **found} for limits, found in varied.items()],
            )
        ]
    yield Details("Failures at the start, by type and regime", tables)
