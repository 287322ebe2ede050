"""`power`: cases needed for a declared smallest effect, from a pilot's discordance."""

from __future__ import annotations

import argparse
import math
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import register
from framework.text.counting import counted

if TYPE_CHECKING:
    from plugins.commands.pilot import PilotPower


@register("command", "power")
class Power(Command):
    """Plan how many cases a comparison needs, from a pilot and a smallest effect."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("runs", nargs="+", metavar="SWEEP|RUN", help="the pilot")
        parser.add_argument("--axis", required=True, help="the axis to plan for")
        effect = "the smallest difference that matters"
        parser.add_argument(
            "--smallest-effect", required=True, type=float, metavar="D", help=effect
        )
        parser.add_argument("--baseline", help="only pairs with this arm")
        parser.add_argument(
            "--power", type=float, default=0.8, help="the power wanted; default: %(default)s"
        )
        parser.add_argument(
            "--alpha", type=float, default=0.05, help="error rate; default: %(default)s"
        )
        parser.add_argument(
            "--comparisons", type=int, help="comparisons in the family; default: the pairs shown"
        )

    def run(self, args: argparse.Namespace) -> int:
        return power(args)


def power(args: argparse.Namespace) -> int:
    """Print, for each pair of arms of the pilot, how many cases a real comparison needs."""
    from framework.analysis.axes import as_mappings, signed
    from framework.analysis.compare_runs import comparable
    from framework.cli.runs import finished_runs
    from framework.registry import nearest
    from framework.statistics.comparison import case_means
    from plugins.commands.pilot import power_from_pilot

    runs = finished_runs([Path(p) for p in args.runs])
    if len(runs) < 2:
        raise UserError("power needs two runs or a sweep: the pilot of a comparison")
    comparable(runs)
    summaries = [run.summary for run in runs]
    named = [tuple(s["run"][k] for k in ("arch", "budget", "model", "reader")) for s in summaries]
    twice = next((words for words in named if named.count(words) > 1), None)
    if twice is not None:
        raise UserError(f"power: two runs are {', '.join(twice)}; give one of them")
    rows = [
        row
        for run, summary in zip(runs, summaries, strict=True)
        for row in as_mappings(
            [r for r in run.rows if not r.error],
            f"{summary['run']['budget']}, {summary['run']['model']}, {summary['run']['reader']}",
        )
    ]
    means = case_means(rows)
    axes = {axis for by_axis in means.values.values() for axis in by_axis}
    if args.axis not in axes:
        raise UserError(f"--axis: the runs have no {args.axis!r}{nearest(args.axis, axes)}")
    places = sorted({place for place, _ in means.values})
    pairs = [
        (place, a, b)
        for place in places
        for a, b in combinations(sorted(arm for p, arm in means.values if p == place), 2)
        if args.baseline is None or args.baseline in (a, b)
    ]
    if not pairs:
        raise UserError("power: no two arms of one budget, model and reader to compare")
    comparisons = args.comparisons or len(pairs)
    lines = []
    try:
        for place, a, b in pairs:
            found = power_from_pilot(
                means.column(place, a, args.axis),
                means.column(place, b, args.axis),
                means.clusters,
                smallest_effect=args.smallest_effect,
                seed=summaries[0]["run"]["seed"],
                power=args.power,
                alpha=args.alpha,
                amount=args.axis in signed(),
                comparisons=comparisons,
            )
            unit = "clusters" if found.clustered else "cases"
            run = next(s["run"] for s in summaries if s["run"]["arch"] in (a, b))
            whole = "" if found.clustered else _of_all(found.decides, found.units, run["n_cases"])
            lines.append(
                f"{place}: {a} - {b}: {_count(found.decides)}, at most "
                f"{_count(found.decides_high)} {unit}{_of_test(found)}   "
                f"(spread {_share(found.spread)}, at most {_share(found.spread_high)}, pilot of "
                f"{found.units} {unit}; {found.method}){whole}"
            )
    except ValueError as error:
        raise UserError(f"power: {error}") from None
    print(
        f"cases needed to find a difference of {args.smallest_effect:g} in {args.axis} with power "
        f"{args.power:g}, two-sided alpha {args.alpha:g} over "
        f"{counted(comparisons, 'comparison')} (Holm's hardest step)"
    )
    print("from the observed spread of paired differences, and from its upper 95% limit:\n")
    print("\n".join(lines))
    print("\nDecided: p is below alpha, and the bounds within the family exclude 0.")
    print("The difference seen in the pilot is not used: it would only repeat its p-value.")
    return 0


def _of_all(n: int | None, counted_cases: int, n_cases: int) -> str:
    """How many cases to ask for, where not each of the pilot's counts on the axis."""
    if n is None or not 0 < counted_cases < n_cases:
        return ""
    ask = math.ceil(n * n_cases / counted_cases)
    return f"\n    {counted_cases} of {n_cases} cases count on this axis: ask for n_cases={ask}"


def _of_test(found: PilotPower) -> str:
    """What p alone would need, where the bounds, which decide as well, need more."""
    if (found.decides, found.decides_high) == (found.n, found.n_high):
        return ""
    return f" (p alone {_count(found.n)}, at most {_count(found.n_high)})"


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
