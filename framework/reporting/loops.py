"""Improvement loops in words and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.analysis.loops import CASES, SPLITS, unanswered, unreached
from framework.reporting.format import number, p_value, short, terminal


def why(entry: Mapping[str, Any], least: int) -> str:
    """Why a draft ended as it did; `least` is the least net flips that counted as a gain."""
    if entry["outcome"] == "discarded":
        return f"{entry['stage']}: {entry['reason']}"
    look = entry["confirm"]
    bound, threshold = look["bound"], look["threshold"]
    if bound is None:
        text = "the gate judged nothing"
    else:
        text = f"bound {bound:+.4f} above {threshold:+.4f}"
        if bound <= threshold:  # the published rule asks nothing of the bound
            text = f"gain {look['delta']:+.4f} reaches {threshold:+.4f} (bound {bound:+.4f})"
        text += f", net {look['net']:+d} of at least {least}"
    if entry["outcome"] == "consolidated":
        text += "; dropped after the loop: the others do as well without it"
    return text


def named(entry: Mapping[str, Any]) -> str:
    """What a draft is called: its author's word for it, else its digest, else a dash."""
    return str(entry.get("why") or entry.get("candidate", "")[7:15] or "-")


# ------------------------------------------------------------------------------------------ printed


def print_loop(results: Mapping[str, Any]) -> None:
    """One loop: why each draft was kept or not, then what TEST says."""
    from rich.table import Table

    console = terminal()
    stopped, noise = results["stopped"], results["noise"]
    failures = ", ".join(f"{r} {n}" for r, n in results["baseline"]["failures"].items())
    console.print(
        f"loop: {stopped['drafts']} drafts, {stopped['looks']} looks at CONFIRM, "
        f"{stopped['promotions']} promoted; stopped: {stopped['reason']}"
    )
    if silent := unanswered(results):
        console.print(
            f"the author had no draft when asked as {', '.join(f'#{n}' for n in silent)}: "
            "these count as attempts",
            soft_wrap=True,
        )
    console.print(f"failures on OPTIMIZE at the start: {failures or 'none'}", soft_wrap=True)
    walls, unknown = unreached(results)
    if walls:
        console.print(f"walls, which no seam reaches: {', '.join(walls)}")
    if unknown:
        console.print(f"left of no regime that a seam could reach: {', '.join(unknown)}")
    least = noise["least_net_flips"]
    console.print(
        f"least net flips that count: {least} "
        f"(A/A, {noise['kind']}: {noise['discordant']} flips, {noise['net']:+d})"
    )
    drafts = Table("#", "regime", "seam", "draft", "OPTIMIZE", "CONFIRM", "outcome", "why")
    for entry in results["candidates"]:
        drafts.add_row(
            str(entry["number"]),
            entry["regime"] or "-",
            entry.get("seam", "-"),
            named(entry)[:24],
            _flips(entry.get("optimize")),
            _flips(entry.get("confirm")),
            entry["outcome"],
            why(entry, least),
        )
    console.print(drafts)
    console.print(_splits_table({"": results}))


def print_loops(summary: Mapping[str, Any]) -> None:
    """A sweep of loops: per seed, pooled, with seeds as the unit."""
    from rich.table import Table

    console = terminal()
    for arm, found in summary["arms"].items():
        table = _splits_table({f"{entry['seed']}": entry for entry in found["seeds"]})
        table.title = f"improvement loops, {arm}" if arm else "improvement loops"
        console.print(table)
        for name, pooled in found["pooled"].items():
            units = found["seeds_as_units"].get(name)
            line = (
                f"{CASES[name]}: pooled {pooled['wrong_to_right']}/{pooled['right_to_wrong']} "
                f"p {p_value(pooled['mcnemar_p'])}"
            )
            if units:
                line += (
                    f"; seeds as the unit: mean {units['mean']:+.3f}, {units['positive']} up, "
                    f"{units['negative']} down of {units['n']}, p {p_value(units['p'])} "
                    f"(least possible {p_value(units['smallest_p'])})"
                )
            console.print(line, soft_wrap=True)
        funnel = Table(*found["funnel"], title="funnel")
        funnel.add_row(*(str(n) for n in found["funnel"].values()))
        console.print(funnel)
    console.print(summary["caveat"], soft_wrap=True)


def _splits_table(results: Mapping[str, Mapping[str, Any]]) -> Any:
    """By seed and split: accuracies, flips, exact McNemar."""
    from rich.table import Table

    several = any(results)
    table = Table(
        *(("seed",) if several else ()),
        *("cases", "before", "after", "delta", "95% interval", "fixed", "broken", "McNemar p"),
        *(("promoted", "stopped") if several else ()),
    )
    for seed, entry in results.items():
        for name in SPLITS:
            if name not in entry:
                continue
            found = entry[name]
            low, high = found["interval"]
            cells = [
                CASES[name],
                number(found["before"]),
                number(found["after"]),
                f"{found['delta']:+.3f}",
                "-" if low is None else f"{short(low, '+')} {short(high, '+')}",
                str(found["wrong_to_right"]),
                str(found["right_to_wrong"]),
                p_value(found["mcnemar_p"]),
            ]
            if several:
                cells = [seed, *cells, str(entry["promotions"]), entry["stopped"]]
            table.add_row(*cells)
    return table


def _flips(diff: Mapping[str, Any] | None) -> str:
    return "" if diff is None else f"+{diff['fixed']} -{diff['broken']}"
