"""`differ`: the cases in which two arms have different values, so that one can look at them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import nearest, register
from framework.text.counting import counted

_SHOWN = 20


@register("command", "differ")
class Differ(Command):
    """List the cases in which two arms differ on an axis, largest difference first."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "runs", nargs="+", metavar="SWEEP|RUN", help="runs of at least two arms"
        )
        parser.add_argument(
            "--axis", required=True, help="a column, such as p_ret (see `list axis`)"
        )
        parser.add_argument("--arms", metavar="A,B", help="the two arms; not needed for two runs")
        parser.add_argument("--budget", help="only this budget")
        parser.add_argument(
            "--all", action="store_true", help=f"list all cases, not only the first {_SHOWN}"
        )

    def run(self, args: argparse.Namespace) -> int:
        return differ(args)


def differ(args: argparse.Namespace) -> int:
    """Print, by budget, the cases in which two arms have different values of an axis."""
    from framework.analysis.axes import as_mappings
    from framework.analysis.compare_runs import comparable
    from framework.cli.runs import finished_runs
    from framework.statistics.comparison import case_means

    runs = finished_runs([Path(p) for p in args.runs])
    comparable(runs)
    by_budget: dict[str, dict[str, Path]] = {}
    rows = []
    for run in runs:
        own = run.summary["run"]
        if args.budget in (None, own["budget"]):
            arms = by_budget.setdefault(own["budget"], {})
            if arms.setdefault(own["arch"], run.path) != run.path:
                raise UserError(f"differ: two runs are {own['arch']}, {own['budget']}; give one")
            rows += as_mappings([r for r in run.rows if not r.error], own["budget"])
    if not rows:
        raise UserError(f"--budget: no run has {args.budget!r}")
    means = case_means(rows)
    axes = {axis for by_axis in means.values.values() for axis in by_axis}
    if args.axis not in axes:
        raise UserError(f"--axis: the runs have no {args.axis!r}{nearest(args.axis, axes)}")
    for budget, paths in sorted(by_budget.items()):
        a, b = _two(args.arms, list(paths))
        one, other = (means.column(budget, arm, args.axis) for arm in (a, b))
        both = [
            (case, x, y)
            for case, x in sorted(one.items())
            if x is not None and (y := other.get(case)) is not None
        ]
        apart = sorted((c for c in both if c[1] != c[2]), key=lambda c: -abs(c[1] - c[2]))
        print(f"{args.axis}, {budget}: {a} and {b} differ in {len(apart)} of ", end="")
        print(f"{counted(len(both), 'case')} that count for both")
        shown = apart if args.all else apart[:_SHOWN]
        width = max((len(case) for case, _, _ in shown), default=0)
        if shown:
            print(f"  {'case':<{width}}  {a:>8}  {b:>8}")
        for case, x, y in shown:
            print(f"  {case:<{width}}  {x:>{max(8, len(a))}.3f}  {y:>{max(8, len(b))}.3f}")
        if len(apart) > len(shown):
            print(f"  and {len(apart) - len(shown)} more (--all)")
        for arm in (a, b) if apart else ():
            print(f"next: decisionbench show {paths[arm]} case={apart[0][0]}  # {arm}")
    return 0


def _two(given: str | None, arms: Sequence[str]) -> tuple[str, str]:
    names = given.split(",") if given else list(arms)
    if len(names) != 2:
        raise UserError(f"--arms: two of {', '.join(arms)}")
    unknown = next((name for name in names if name not in arms), None)
    if unknown is not None:
        raise UserError(f"--arms: no run of {unknown!r}{nearest(unknown, arms)}")
    return names[0], names[1]
