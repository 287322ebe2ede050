"""Commands on judges: rescore, judges, label."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.contracts.command import Command
from framework.errors import UserError
from framework.registry import nearest, register
from framework.reporting.blocks import Cell, Table
from framework.reporting.cells import bounded, count, number_cell
from framework.reporting.format import number
from framework.reporting.terminal import print_blocks
from framework.text.reading import read_json

if TYPE_CHECKING:
    from framework.contracts.labelling import Labelling
    from plugins.judging.compare import Judged
    from plugins.judging.style import Guess

_LIMITS = "in brackets 95% limits, bootstrapped over cases"
_SHOWN = 24
"""Directions shown at most; the rest is in --json."""


@register("command", "rescore")
class Rescore(Command):
    """Judge the stored answers of a run again, as a new run."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN|SWEEP", help="directory of a finished run or sweep")
        parser.add_argument(
            "overrides",
            nargs="*",
            metavar="KEY=VALUE",
            help="the new judge, such as judge=anthropic",
        )
        parser.add_argument("--axes", help="axes to score, comma-separated; default: all")
        parser.add_argument(
            "--out", metavar="DIR", help="default: next to the run, named after the judge"
        )

    def run(self, args: argparse.Namespace) -> int:
        return rescore(args)


def rescore(args: argparse.Namespace) -> int:
    """Judge stored answers again into a new directory."""
    from framework.cli.ending import Ending, show
    from plugins.judging.rescore import rescore as judge_anew

    axes = _words(args.axes)
    for word in args.overrides:
        if "=" not in word:
            raise UserError(
                f"rescore: {word!r} is not an override; expected is for example judge=NAME"
            )
    if not args.overrides and not axes:
        raise UserError("rescore: give the new judge, as judge=llm, or the axes, as --axes=NAMES")
    out = Path(args.out) if args.out else None
    return show(judge_anew(Path(args.run), args.overrides, axes, out, Ending()))


@register("command", "judges")
class Judges(Command):
    """Measure how far judges of the same answers agree."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("sources", nargs="+", metavar="RUN|SWEEP|CSV", help="stored verdicts")
        parser.add_argument("--axes", help="comma-separated; default: the axes that use verdicts")
        parser.add_argument("--judges", help="comma-separated; default: all")
        parser.add_argument(
            "--arms", help="two or more arms to compare, comma-separated; default: all"
        )
        parser.add_argument(
            "--style",
            action="store_true",
            help="test whether the wording of answers reveals the arm",
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed of --style; default: %(default)s"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, args: argparse.Namespace) -> int:
        return judges(args)


def judges(args: argparse.Namespace) -> int:
    """Compare judges of the same answers, or guess arms by the wording of their answers."""
    if args.style:
        return _style(args)
    from plugins.judging.compare import compare_judges

    paths = [Path(path) for path in args.sources]
    if len(paths) == 1 and paths[0].is_dir():
        paths += _rescored_from(paths[0])
    found = _judged(paths)
    chosen = _words(args.judges)
    _check(chosen, [j.judge for j in found], "--judges")
    found = [j for j in found if not chosen or j.judge in chosen]
    axes = _words(args.axes)
    _check(axes, {axis for j in found for axis in j.values}, "--axes")
    result = compare_judges(found, axes or _judged_axes(found))
    arms = _words(args.arms)
    _check(arms, {d[k] for d in result["directions"] for k in ("arm_a", "arm_b")}, "--arms")
    if arms:
        result["directions"] = [
            d for d in result["directions"] if {d["arm_a"], d["arm_b"]} <= set(arms)
        ]
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        print_blocks([_agreement_table(result), *_direction_table(result["directions"])])
    return 0


@register("command", "label")
class Label(Command):
    """Write a blinded sheet for people to label, or read it back."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("run", metavar="RUN|SWEEP", help="directory of a run or sweep")
        parser.add_argument(
            "--of", metavar="WHAT", help="what to label (see `list labelling`); default: verdicts"
        )
        parser.add_argument(
            "--n", type=int, default=40, help="number of rows to draw; default: %(default)s"
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed of the draw; default: %(default)s"
        )
        parser.add_argument(
            "--out", metavar="FILE", help="the sheet; default: RUN-labels.csv next to the run"
        )
        parser.add_argument(
            "--read", metavar="FILE", help="compare this filled-in sheet with the run"
        )
        parser.add_argument("--json", action="store_true", help="print JSON (with --read)")
        parser.add_argument(
            "--regimes",
            dest="of",
            action="store_const",
            const="regimes",
            help="same as --of regimes",
        )

    def run(self, args: argparse.Namespace) -> int:
        return label(args)


def label(args: argparse.Namespace) -> int:
    """Write a sheet for people to label that shows no label of the machine's, or read one back."""
    from framework.registry import find

    run = Path(args.run)
    chosen: type[Labelling] = find("labelling", args.of or "verdicts").cls
    labelling = chosen(_directories([run]))
    if args.read:
        found = labelling.compare(Path(args.read))
        _show_agreement(labelling.title, found, labelling.limits, as_json=args.json)
        return 0
    if args.n < 1:
        raise UserError(f"--n: {args.n} given, at least 1 expected")
    beside = run.parent / f"{run.resolve().name}-{labelling.file}.csv"
    out = beside if args.out is None else Path(args.out)
    for line in labelling.write(args.n, args.seed, out):
        print(line)
    of = f" --of {args.of}" if args.of else ""
    print(f"decisionbench label {run}{of} --read {out}")
    print(f"sheet: {out}")
    return 0


def _directories(paths: list[Path]) -> list[Path]:
    """Run directories of `paths`, a sweep standing for its jobs."""
    from framework.engine.sweep import job_directories

    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path}: no such directory")
        found += job_directories(path) or [path]
    return found


def _show_agreement(
    title: str, rows: Sequence[Mapping[str, Any]], limits: str, *, as_json: bool
) -> None:
    """Print what was found beside people's labels, each bounded value with its limits."""
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    shown = [
        {k: _bounded(row, k) if k in row["limits"] else v for k, v in row.items() if k != "limits"}
        for row in rows
    ]
    print_blocks([_table(title, shown, limits)])


def _style(args: argparse.Namespace) -> int:
    from plugins.judging.style import answers_of, guess_arms

    answers = answers_of(_directories([Path(path) for path in args.sources]))
    try:
        guesses = {budget: guess_arms(given, args.seed) for budget, given in answers.items()}
    except ValueError as error:
        raise UserError(f"--style: {error}") from None
    if args.json:
        plain = {budget: dataclasses.asdict(guess) for budget, guess in guesses.items()}
        print(json.dumps(plain, indent=2))
    else:
        print_blocks([_table("arms guessed from the wording of answers", _guessed(guesses))])
    return 0


def _guessed(guesses: Mapping[str, Guess]) -> list[dict[str, Any]]:
    said = {True: "yes", False: "no", None: "cannot tell"}
    return [
        {
            "budget": budget,
            "right": g.accuracy,
            "ci_low": g.ci_low,
            "ci_high": g.ci_high,
            "chance": g.chance,
            "answers": g.n_answers,
            "above chance": said[g.above_chance],
        }
        for budget, g in guesses.items()
    ]


def _judged(paths: Sequence[Path]) -> list[Judged]:
    """The judges of tables and of runs, one name each."""
    from framework.cli.runs import finished_runs
    from plugins.judging.compare import judged_in_runs, judged_in_table

    found: list[Judged] = []
    for path in paths:
        if path.suffix.lower() == ".csv":
            found += judged_in_table(path)
            continue
        runs = finished_runs([path])
        names = {run.summary["run"]["judge"] for run in runs}
        if len(names) > 1:
            raise UserError(f"{path}: several judges in one sweep: {', '.join(sorted(names))}")
        found.append(judged_in_runs(names.pop(), runs))
        if sum(j.judge == found[-1].judge for j in found) > 1:
            found[-1] = dataclasses.replace(found[-1], judge=f"{found[-1].judge} in {path.name}")
    twice = next((j.judge for j in found if sum(k.judge == j.judge for k in found) > 1), None)
    if twice is not None:
        raise UserError(f"judges: {twice} appears twice")
    return found


def _rescored_from(run: Path) -> list[Path]:
    """The runs or sweeps beside this one that judged its answers again, by name."""
    from framework.store import MANIFEST
    from framework.store.directory import SWEEP_PLAN

    found = []
    for path in sorted(run.absolute().parent.iterdir()):
        files = (path / SWEEP_PLAN, path / MANIFEST)
        file = next((file for file in files if file.is_file()), None)
        try:
            stored = read_json(file.read_bytes()) if file is not None else {}
        except ValueError:
            continue
        origin = stored.get("rescored_from", {})
        olds = [origin["run"]] if "run" in origin else list(origin.get("runs", {}).values())
        places = [(path / old).resolve() for old in olds]
        if any(run.resolve() in (place, place.parent) for place in places):
            found.append(path)
    return found


def _judged_axes(found: Sequence[Judged]) -> list[str]:
    """Axes that rest on verdicts, as far as two judges have them."""
    from framework.contracts import axis_plugins

    judged = (axis for plugin in axis_plugins() for axis in sorted(plugin.cls.judged))
    return [axis for axis in judged if sum(axis in j.values for j in found) > 1]


def _check(given: Sequence[str], known: Collection[str], option: str) -> None:
    for name in given:
        if name not in known:
            raise UserError(f"{option}: no {name!r} here{nearest(name, known)}")


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").split(",") if word]


def _agreement_table(result: Mapping[str, Any]) -> Table:
    rows = [
        {
            "axis": row["axis"],
            "a": row["judge_a"],
            "b": row["judge_b"],
            "n": f"{row['n']} ({row['n_cases']})",
            "mean a": row["mean_a"],
            "mean b": row["mean_b"],
            "mean |a-b|": _bounded(row, "mean_absolute_disagreement"),
            "r": _bounded(row, "pearson"),
            "cohens_kappa > .5": _bounded(row, "cohens_kappa_above"),
            "cohens_kappa >= .5": _bounded(row, "cohens_kappa_at_least"),
            "alpha": _bounded(row, "alpha"),
        }
        for row in result["agreement"]
    ]
    judges_ = {name for row in result["agreement"] for name in (row["judge_a"], row["judge_b"])}
    caption = f"n: answers (cases); {_LIMITS}"
    if len(judges_) > 2:
        alphas = (f"{axis} {number(alpha)}" for axis, alpha in result["alpha"].items())
        caption += f"\nKrippendorff's alpha of all {len(judges_)} judges: {', '.join(alphas)}"
    return _table("judges of the same answers", rows, caption)


def _bounded(row: Mapping[str, Any], figure: str) -> Cell:
    """A figure over its limits."""
    limits = row["limits"][figure] or (None, None)
    return bounded(row[figure], *limits)


def _direction_table(directions: Sequence[Mapping[str, Any]]) -> list[Table]:
    """On which paired comparisons the judges see the same sign; empty without two arms."""
    rows = [
        {
            "axis": d["axis"],
            "judges": f"{d['judge_a']}, {d['judge_b']}",
            "budget": d["budget"],
            "arms": f"{d['arm_a']} - {d['arm_b']}",
            "cases": d["n"],
            "kept": d["kept"],
            "of them ties": d["ties"],
            "reversed": d["reversed"],
        }
        for d in directions
    ]
    more = len(rows) - _SHOWN
    caption = f"and {more} more: choose by --arms A,B or take --json" if more > 0 else ""
    title = "direction of paired differences, by case"
    return [_table(title, rows[:_SHOWN], caption)] if rows else []


def _table(title: str, rows: Sequence[Mapping[str, Any]], caption: str = "") -> Table:
    return Table(
        anchor="judges",
        caption=f"{title}. {caption}" if caption else title,
        columns=list(rows[0]),
        rows=[[_cell(value) for value in row.values()] for row in rows],
    )


def _cell(value: Any) -> Cell | str:
    if isinstance(value, (Cell, str)):
        return value
    return number_cell(value) if value is None or isinstance(value, float) else count(value)
