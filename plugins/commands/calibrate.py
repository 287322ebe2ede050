"""`calibrate`: how often a judge passes right and wrong answers, and what that makes of a run."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from framework.contracts.command import Command
from framework.errors import StopRun, UserError
from framework.registry import register
from framework.reporting.blocks import Cell, Table, Text
from framework.reporting.cells import UNDEFINED, bounded, count
from framework.reporting.terminal import print_blocks
from framework.store.atomic import write_json

if TYPE_CHECKING:
    from framework.contracts.calibration import CalibrationSet, Known
    from plugins.commands._calibration import Calibration, Rate

RECORDED: Final = "recorded"
"""In place of a judge: the verdicts that come with the set."""


_OWN: Final = "calibration."
"""How overrides of the set begin, as those of a run do with their group."""


@register("command", "calibrate")
class Calibrate(Command):
    """Measure how often a judge passes right and wrong answers."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "judge", metavar="JUDGE", help="the judge, or `recorded`: verdicts in the set"
        )
        parser.add_argument(
            "overrides",
            nargs="*",
            default=[],
            metavar="KEY=VALUE",
            help="settings: judge.KEY=VALUE, calibration.KEY=VALUE",
        )
        parser.add_argument(
            "--set", required=True, metavar="NAME", help="the answers (see `list calibration`)"
        )
        parser.add_argument(
            "--runs", nargs="+", metavar="RUN", help="also correct the shares judged in these runs"
        )
        parser.add_argument(
            "--out", metavar="FILE", help="store the rates, for judge.calibration=FILE"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, args: argparse.Namespace) -> int:
        return calibrate(args)


def calibrate(args: argparse.Namespace) -> int:
    """Print the judge's rates; status 1 for a judge shown to be no better than chance, or a cap."""
    from plugins.commands._calibration import calibration

    chosen, of_judge = _set(args.set, args.overrides)
    out = None if args.out is None else _free(Path(args.out), args.judge)
    of: dict[str, Any] = {}
    answers = list(chosen.answers())
    if args.judge == RECORDED:
        answers = [known for known in answers if known.recorded is not None]
        said = [known.recorded for known in answers]
        if not answers:
            raise UserError(f"--set {args.set}: no verdicts were recorded with it")
    else:
        try:
            said, of = _judged(args.judge, of_judge, answers)
        except StopRun as stop:
            print(f"stopped: {stop}; answers so far are stored, and not paid for again",
                  file=sys.stderr)  # fmt: skip
            return 1
    found = calibration(args.judge, args.set, answers, said, chosen.demand)
    if out is not None:  # the verdicts are paid for, whatever is wrong with --runs
        write_json(out, {**found.plain(), "discrimination": found.rates.discrimination, **of})
    shares = [_corrected(Path(run), found) for run in args.runs or ()]
    if args.json:
        print(json.dumps({**found.plain(), "runs": shares}, indent=2))
    else:
        print_blocks([_rates(found), Text(_verdict(found)), *_shares(shares)])
        if out is not None:
            print(f"kept: {out}; {_taken(out, args.judge, of['overrides'])}")
    return 1 if found.tells is False else 0


def _taken(out: Path, judge: str, overrides: Sequence[str]) -> str:
    """How a run takes the rates, if its judge takes any."""
    from framework.engine.compose import compose_plan, composer

    with composer():
        settings = compose_plan(overrides).parts["judge"].settings
    if "calibration" in {field.name for field in dataclasses.fields(settings)}:
        return f"a run takes it with {' '.join([*overrides, f'judge.calibration={out}'])}"
    return f"judge={judge} takes no calibration: a run's verdicts are by its rule as it stands"


def _free(path: Path, judge: str) -> Path:
    """A file to be written. Raises UserError for one that is there, or verdicts of no judge."""
    if judge == RECORDED:
        raise UserError("--out: recorded verdicts belong to no judge that a run can use")
    if path.exists():
        raise UserError(f"--out: {path} exists already, and runs may name it; choose another file")
    if not path.absolute().parent.is_dir():
        raise UserError(f"--out: {path.parent} is not a directory")
    return path


def _set(name: str, words: Sequence[str]) -> tuple[CalibrationSet[Any], list[str]]:
    """The set with its settings, and the other overrides."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from framework.registry import find, settings_of

    plugin = find("calibration", name)
    own = [word.removeprefix(_OWN) for word in words if word.startswith(_OWN)]
    try:
        values: Any = OmegaConf.to_container(OmegaConf.from_dotlist(own))
    except OmegaConfBaseException as error:
        raise UserError(f"{_OWN}KEY=VALUE: {error}") from None
    made: CalibrationSet[Any] = plugin.cls(settings_of(plugin, values))
    return made, [word for word in words if not word.startswith(_OWN)]


def _judged(
    name: str, overrides: Sequence[str], answers: Sequence[Known]
) -> tuple[list[bool | None], dict[str, Any]]:
    """The verdicts, and which judge gave them: its digest and the overrides that make it.

    Raises StopRun where `max_cost_usd` or `max_tokens_total` allows no further call.
    """
    import asyncio

    from framework.contracts.calibration import judge_digest
    from framework.engine.account import account, check_prices, served_of
    from framework.engine.compose import compose_plan, composer
    from framework.models.client import Ledger, ModelClient, track_usage
    from framework.registry import identity_of
    from plugins.commands._calibration import verdicts

    given = [f"judge={name}", *overrides]
    with composer():
        plan = compose_plan(given)
        takes = {f.name for f in dataclasses.fields(plan.parts["judge"].settings)}
        if "prompts" in takes and (prompts := _rules_for(plan.parts["judge"].settings, answers)):
            given.append(f"judge.prompts={prompts}")
            plan = compose_plan(given)

    async def ask() -> list[bool | None]:
        made = plan.parts["judge"].create()
        model = plan.parts["model"].create()
        try:
            check_prices(plan, served_of(model, made))
            with track_usage(Ledger(), "judge", 0):
                return await verdicts(made, answers, ModelClient(model))
        finally:
            await made.close()
            await model.close()

    chosen = plan.parts["judge"]
    of = judge_digest(chosen.plugin.name, identity_of(chosen.plugin, chosen.settings))
    # What is capped is this command's spending: its account is gone with it, its answers are not.
    with TemporaryDirectory() as place, account(plan, Path(place) / "run", None, None):
        said = asyncio.run(ask())
    return said, {"identity": of, "overrides": [word for word in given if not _caps(word)]}


def _caps(word: str) -> bool:
    """Whether an override is a cap of the command's own, and nothing of the judge."""
    return word.partition("=")[0] in ("max_cost_usd", "max_tokens_total")


def _rules_for(settings: Any, answers: Sequence[Known]) -> str:
    """The shipped prompt set with a rule for each kind of answer; empty where there is one already.

    Raises UserError for prompts that were chosen and lack a rule, or where no set has them all.
    """
    from framework.contracts.calibration import KnownAnswer
    from framework.operations.equivalent import Equivalent
    from framework.operations.prompted import SETS, PromptedOperation, PromptSet

    def lacking(prompts: str) -> list[str]:
        bound = PromptSet(prompts).bind(Equivalent())
        assert isinstance(bound, PromptedOperation)
        return sorted(
            {one.kind for one in answers if isinstance(one, KnownAnswer)} - bound.files.rules.keys()
        )

    chosen = settings.prompts or ""
    if not (missing := lacking(chosen)):
        return ""
    fitting = [name for path in sorted(SETS.iterdir()) if not lacking(name := path.name)]
    if chosen or not fitting:
        raise UserError(f"judge.prompts: no rule for answers of the kind {', '.join(missing)}")
    return fitting[0]


def _corrected(run: Path, found: Calibration) -> dict[str, Any]:
    """The judged axes of a run that rest on verdicts such as those on the set."""
    from framework.analysis.axes import corrected
    from framework.analysis.known_answers import corrected_axes
    from framework.cli.runs import finished_runs

    shares = []
    for one in finished_runs([run]):
        labels = {k: one.summary["run"][k] for k in ("arch", "budget", "judge")}
        axes, seed = one.summary["axes"], int(one.summary["run"]["seed"])
        right = str(one.summary.get("success_axis") or "")
        entries = corrected_axes(one.rows, {found.demand: found.rates}, seed, right)
        for name, entry in entries.items():
            axis = corrected()[name]
            counted = axes[axis]["mean"]
            limits = {"share": entry["mean"], "low": entry["ci_low"], "high": entry["ci_high"]}
            of = {"axis": axis, "counted": counted, "n": entry["n"], "method": entry["method"]}
            shares.append({**labels, **of, **limits})
    if not shares:
        raise UserError(f"{run}: no axis uses verdicts of the kind of this set")
    return {"run": str(run), "shares": shares}


def _rates(found: Calibration) -> Table:
    rows = [
        ("all right answers", found.right, None),
        ("all wrong answers", found.wrong, None),
        *((sort, rate, found.abstained.get(sort, 0)) for sort, rate in found.sorts.items()),
    ]
    return Table(
        anchor="rates",
        caption=f"Judge {found.judge} on the set {found.set}: share passed, 95% limits",
        columns=["answers", "passed", "n", "no verdict"],
        rows=[
            [name, _share(rate), count(rate.n), "" if none is None else count(none)]
            for name, rate, none in rows
        ],
    )


def _share(rate: Rate) -> Cell:
    return bounded(rate.passed / rate.n, rate.low, rate.high) if rate.n else UNDEFINED


def _verdict(found: Calibration) -> str:
    if not found.right.n or not found.wrong.n:
        return "Whether it tells right answers from wrong ones needs verdicts on both."
    if found.tells is None:
        return "Not shown to pass right answers more often than wrong ones."
    if not found.tells:
        return "No better than chance: it passes wrong answers at least as often as right ones."
    return "It passes right answers more often than wrong ones."


def _shares(found: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    for run in found:
        yield Table(
            anchor="shares",
            caption=f"{run['run']}: judged shares, as counted and corrected for the judge's error",
            columns=["arm", "budget", "axis", "counted", "corrected", "n"],
            rows=[
                [
                    share["arch"],
                    share["budget"],
                    share["axis"],
                    Cell(text=f"{share['counted']:.2f}"),
                    UNDEFINED
                    if share["share"] is None
                    else bounded(share["share"], share["low"], share["high"]),
                    count(share["n"]),
                ]
                for share in run["shares"]
            ],
        )
