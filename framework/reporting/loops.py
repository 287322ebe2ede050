"""Improvement loops side by side: the paper's tables over seeds (Regimes 5), kept and printed."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.reporting.format import number, p_value, short, terminal

__all__ = [
    "CASES",
    "LOOP",
    "SPLITS",
    "loops_summary",
    "named",
    "print_loop",
    "print_loops",
    "read_loop",
    "unanswered",
    "unreached",
    "why",
]

LOOP: Final = "improve.json"
"""What a loop's run directory holds beside a run's files, and a sweep's beside a sweep's."""

SPLITS: Final = ("test", "test_shifted", "confirm", "whole_pool")
"""Where the final stack was compared with the bare one; `confirm` is what it was selected on."""
CASES: Final = {
    "test": "TEST",
    "test_shifted": "shifted TEST",
    "confirm": "CONFIRM",
    "whole_pool": "pool without OPTIMIZE",
}
"""What readers call them."""
_FUNNEL: Final = (
    "authored", "static", "sandbox", "best_of", "optimize", "confirm", "plateau", "promoted",
)  # fmt: skip
CAVEAT: Final = (
    "Pooled counts describe these loops: where their cases come from one pool the pairs are not "
    "independent. The test with seeds as the unit is the one that generalises over seeds."
)


def read_loop(directory: Path) -> dict[str, Any] | None:
    """The results of a finished loop; None for another run."""
    path = directory / LOOP
    if not path.is_file():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def loops_summary(loops: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Finished loops by arm: per-seed table, pooled flips, seeds as the unit, funnel, tables.

    Each of `loops` has `arm` (how it differs from the others), `directory`, and `results`, the
    content of its improve.json.
    """
    arms: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for loop in loops:
        arms[loop["arm"]].append(loop)
    return {"caveat": CAVEAT, "arms": {arm: _arm(members) for arm, members in arms.items()}}


def _arm(loops: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    results = [loop["results"] for loop in loops]
    seeds = [
        {
            "seed": r["loop"]["seed"],
            "directory": loop["directory"],
            "stopped": r["stopped"]["reason"],
            "exhausted": r["stopped"]["exhausted"],
            "walls": r["stopped"]["walls"],
            "optimize_before": r["baseline"]["optimize"],
            "confirm_before": r["baseline"]["confirm"],
            "failures": r["baseline"]["failures"],
            "looks": r["stopped"]["looks"],
            "promotions": r["stopped"]["promotions"],
            "funnel": r["funnel"],
            "trajectory": r["trajectory"],
            **{name: r[name] for name in SPLITS if name in r},
        }
        for loop, r in zip(loops, results, strict=True)
    ]
    return {
        "seeds": seeds,
        "pooled": {name: _pooled(results, name) for name in SPLITS if _has(results, name)},
        "seeds_as_units": {
            name: _units([r[name]["delta"] for r in results])
            for name in SPLITS
            if len(_has(results, name)) == len(results)
        },
        "funnel": {key: sum(r["funnel"].get(key, 0) for r in results) for key in _keys(results)},
        "by_kind": _summed(results, "by_kind"),
        "by_regime": _summed(results, "by_regime"),
    }


def _has(results: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [r[name] for r in results if name in r]


def _keys(results: Sequence[Mapping[str, Any]]) -> list[str]:
    seams = sorted({key for r in results for key in r["funnel"] if key.startswith("seam_")})
    return [*_FUNNEL, *seams]


def _pooled(results: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Flips over all seeds with their exact McNemar, and without each seed in turn."""
    from framework.statistics.proportions import mcnemar_p

    found = [(r["loop"]["seed"], r[name]) for r in results if name in r]

    def counted(left_out: int | None) -> dict[str, Any]:
        kept = [entry for seed, entry in found if seed != left_out]
        fixed = sum(e["wrong_to_right"] for e in kept)
        broken = sum(e["right_to_wrong"] for e in kept)
        return {
            "wrong_to_right": fixed,
            "right_to_wrong": broken,
            "mcnemar_p": mcnemar_p(fixed, broken),
        }

    without = {str(seed): counted(seed) for seed, _ in found} if len(found) > 1 else {}
    return {**counted(None), "without": without}


def _units(deltas: Sequence[float]) -> dict[str, Any]:
    """One difference a seed: their mean, and the sign-flip test with the least p it can reach."""
    import numpy as np

    from framework.statistics.permutation import sign_flip_test

    values = np.array(deltas, dtype=float)
    tested = sign_flip_test(values, np.random.default_rng(0))
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "sd": spread,
        "positive": int((values > 0).sum()),
        "negative": int((values < 0).sum()),
        "p": tested.p,
        "smallest_p": tested.smallest_p,
        "method": tested.method,
    }


def _summed(results: Sequence[Mapping[str, Any]], key: str) -> dict[str, dict[str, int]]:
    """A table of TEST summed over seeds."""
    found: dict[str, Counter[str]] = {}
    for entry in _has(results, "test"):
        for group, counts in entry[key].items():
            found.setdefault(group, Counter()).update(counts)
    return {group: dict(counts) for group, counts in sorted(found.items())}


# ----------------------------------------------------------------------------------------- in words


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


def unanswered(results: Mapping[str, Any]) -> list[int]:
    """Numbers under which the author was asked and had no draft: they count as attempts."""
    drafted = {entry["number"] for entry in results["candidates"]}
    return [number for number in range(results["stopped"]["asked"]) if number not in drafted]


def unreached(results: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Regimes left among the failures that no seam reaches: walls, and what no predicate knows."""
    routes = results["loop"]["routes"]
    left = results["stopped"]["walls"]
    return [r for r in left if r in routes], [r for r in left if r not in routes]


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
