"""`compare`: runs made at any time, beside each other."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import nearest, register


@register("command", "compare")
class Compare(Command):
    """Compare runs on the same cases, case by case."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        of_all = "directories of finished runs on the same cases; a sweep stands for all its runs"
        parser.add_argument("runs", nargs="+", metavar="RUN", help=of_all)
        parser.add_argument("--axes", help="comma-separated; default: the domain's headline axes")
        parser.add_argument("--baseline", help="compare every arm with this one only")
        parser.add_argument(
            "--smallest-effect",
            type=float,
            metavar="D",
            help="the smallest difference that matters",
        )
        parser.add_argument(
            "--json", action="store_true", help="print JSON, with the content of a sweep.json"
        )
        parser.add_argument(
            "--out", metavar="FILE", help="write to this file: Markdown, or JSON with --json"
        )
        parser.add_argument(
            *("--published-convention", "--compat"),
            metavar="NAME",
            help="also print a paper's convention (see `list convention`)",
        )

    def run(self, args: argparse.Namespace) -> int:
        return compare(args)


def compare(args: argparse.Namespace) -> int:
    """Print paired comparisons of runs made at any time, on the cases that they share."""
    from framework.analysis.doubts import doubts_of_state
    from framework.cli.runs import finished_runs
    from framework.reporting.page import print_sweep, sweep_markdown
    from framework.store.atomic import as_json, write_text
    from plugins.commands._across import compare_across

    runs = finished_runs([Path(p) for p in args.runs])
    axes = args.axes.split(",") if args.axes else None
    _check_known("--axes", axes or (), {a for run in runs for a in run.summary["axes"]})
    if args.baseline is not None:
        _check_known("--baseline", [args.baseline], {r.summary["run"]["arch"] for r in runs})
    effect = args.smallest_effect
    if effect is not None and not 0 < effect < 1:
        raise UserError(f"--smallest-effect: {effect:g} given, between 0 and 1 expected")
    found = compare_across(
        runs,
        baseline=args.baseline,
        axes=axes,
        smallest_effect=effect,
        published_convention=args.published_convention,
    )
    if not found.summary["comparisons"]:
        why = "; ".join(found.notes) or "no two runs that differ in the arm alone have an axis"
        raise UserError(f"nothing to compare: {why}")
    notes = [f"note: {note}" for note in found.notes]
    doubts = [said for run in runs for said in doubts_of_state(run.state)]
    notes += [f"warning: {said}" for said in doubts]
    if axes:
        notes.append(
            "note: Holm's family has only --axes; chosen after a look at results it is too small"
        )
    if not args.json and args.out is None:
        print_sweep(found.summary)
        print(*notes, sep="\n", end="\n" if notes else "")
        return 0
    text = "\n\n".join([sweep_markdown(found.summary), *notes]) + "\n"
    if args.json:
        text = as_json({**found.summary, "notes": [*found.notes, *doubts]})
    if args.out is None:
        print(text, end="")
        return 0
    try:
        write_text(Path(args.out), text)
    except OSError as error:
        raise UserError(f"--out: {args.out} can't be written: {error.strerror}") from None
    print(args.out)
    return 0


def _check_known(option: str, given: Sequence[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option}: the runs have no {name!r}{nearest(name, known)}")
