"""`calibrate`: how often a judge passes right and wrong answers, and what that makes of a run."""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from framework.errors import UserError
from framework.reporting.blocks import Cell, Table, Text
from framework.reporting.cells import UNDEFINED, bounded, count
from framework.reporting.terminal import print_blocks

if TYPE_CHECKING:
    from framework.analysis.known_answers import Calibration, Rate
    from framework.contracts.calibration import CalibrationSet, KnownAnswer

RECORDED: Final = "recorded"
"""In place of a judge: the verdicts that come with the set."""


_OWN: Final = "calibration."
"""How overrides of the set begin, as those of a run do with their group."""


def calibrate(args: argparse.Namespace) -> int:
    """Print the judge's rates; status 1 for a judge shown to be no better than chance."""
    from framework.analysis.known_answers import calibration

    chosen, of_judge = _set(args.set, args.overrides)
    answers = list(chosen.answers())
    if args.judge == RECORDED:
        answers = [known for known in answers if known.recorded is not None]
        said = [known.recorded for known in answers]
        if not answers:
            raise UserError(f"--set {args.set}: no verdicts were recorded with it")
    else:
        said = _judged(args.judge, of_judge, chosen.prompts, answers)
    found = calibration(args.judge, args.set, answers, said)
    shares = [_corrected(Path(run), found) for run in args.runs or ()]
    if args.json:
        print(json.dumps({**found.plain(), "runs": shares}, indent=2))
    else:
        print_blocks([_rates(found), Text(_verdict(found)), *_shares(shares)])
    return 1 if found.tells is False else 0


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
    name: str, overrides: Sequence[str], prompts: str, answers: Sequence[KnownAnswer]
) -> list[bool | None]:
    from framework.analysis.known_answers import verdicts
    from framework.engine.compose import compose_plan, composer
    from framework.models.client import ModelClient

    given = [f"judge={name}", *overrides]
    with composer():
        plan = compose_plan(given)
        takes = {f.name for f in dataclasses.fields(plan.parts["judge"].settings)}
        if prompts and "prompts" in takes and not any("judge.prompts=" in w for w in overrides):
            plan = compose_plan([*given, f"judge.prompts={prompts}"])

    async def ask() -> list[bool | None]:
        made = plan.parts["judge"].create()
        model = plan.parts["model"].create()
        try:
            return await verdicts(made, answers, ModelClient(model))
        finally:
            await made.close()
            await model.close()

    return asyncio.run(ask())


def _corrected(run: Path, found: Calibration) -> dict[str, Any]:
    """The judged axes of a run that are 0 or 1 for every case."""
    from framework.analysis.known_answers import corrected
    from framework.cli.runs import finished_runs
    from framework.registry import plugins

    judged = {axis for plugin in plugins("axis") for axis in plugin.cls.judged}
    shares = []
    for one in finished_runs([run]):
        axes = judged & one.summary["axes"].keys()
        for axis in sorted(axes):
            values = [v for row in one.rows if (v := row.axes.get(axis)) is not None]
            if values and set(values) <= {0.0, 1.0}:
                labels = {k: one.summary["run"][k] for k in ("arch", "budget", "judge")}
                seed = int(one.summary["run"]["seed"])
                shares.append({**labels, "axis": axis, **corrected(values, found, seed)})
    if not shares:
        raise UserError(f"{run}: no judged axis is 0 or 1 for every case")
    return {"run": str(run), "shares": shares}


def _rates(found: Calibration) -> Table:
    rows = [
        ("all right answers", found.right, 0),
        ("all wrong answers", found.wrong, 0),
        *((sort, rate, found.abstained.get(sort, 0)) for sort, rate in found.sorts.items()),
    ]
    return Table(
        anchor="rates",
        caption=f"Judge {found.judge} on the set {found.set}: share passed, 95% limits",
        columns=["answers", "passed", "n", "no verdict"],
        rows=[[name, _share(rate), count(rate.n), count(none)] for name, rate, none in rows],
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
