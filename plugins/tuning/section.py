"""The section of a report that says how arms were tuned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Heading, Note, Table, Text
from framework.text.counting import counted
from plugins.tuning.checks import problems_of, trials_of


@register("section", "tuning")
class TuningSection(Section):
    """Trials, search space and chosen settings, by arm."""

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        yield from tuning_blocks(evidence.plan)

    def runs_beside(self, plan: Mapping[str, Any]) -> Collection[str]:
        return trials_of(plan)

    def problems(self, path: Path, plan: Mapping[str, Any]) -> Sequence[str]:
        """Where the trials give something else than the plan tells of them."""
        try:
            return problems_of(path, plan)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            return [f"tuning: not what a tuned sweep writes ({type(error).__name__})"]


def tuning_blocks(plan: Mapping[str, Any]) -> Iterator[Block]:
    """The section, from the plan of a sweep; nothing for one that tuned nothing."""
    tuning = plan.get("tuning")
    if not tuning or not tuning["done"]:
        return
    arms = tuning["arms"]
    searched = [arm for arm in arms if arm["space"]]
    varied = _varied(searched)
    numbers = sorted({arm["n_cases"] for arm in searched})
    on = (
        counted(numbers[0], "case") if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} cases"
    )
    yield Heading("Tuning", "tuning")
    yield Text(
        f"Each arm below had {counted(tuning['trials'], 'trial')}, the first with its default "
        f"settings, to find the {'highest' if tuning['higher_is_better'] else 'lowest'} mean of "
        f"{tuning['objective']} on {on} that share no history and no cluster with those of the "
        "comparison (if all cases are about one history: no cluster). The means here are of these "
        "cases; of a share, a case that failed counts as the worst. The best of many trials looks "
        "better than it will on other cases: the effect of tuning is the difference "
        "between an arm and its tuned form in the comparison."
    )
    yield Table(
        anchor="tuning-table",
        caption=f"By arm: the mean of {tuning['objective']} on the tuning cases.",
        columns=["arm", "budget", *varied, "searched", "trials", "calls", "cost", "as it is",
                 "best", "chosen"],
        rows=[_row(arm, *(values[i] for values in varied.values()))
              for i, arm in enumerate(searched)],
    )  # fmt: skip
    left = list(dict.fromkeys(arm["arm"] for arm in arms if not arm["space"]))
    if left:
        yield Note(
            f"Not tuned, as none of their settings were searched: {', '.join(left)}. They had no "
            "trials."
        )


def _varied(arms: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What arm and budget do not say and is not one for all: by column, the value of each arm."""
    given = [dict(one.lstrip("+").partition("=")[::2] for one in arm["overrides"]) for arm in arms]
    keys = dict.fromkeys(key for one in given for key in one)
    found = {
        key: [one.get(key, NOTHING) for one in given]
        for key in keys
        if key.split(".")[0] not in ("arch", "budget", "n_cases")
    }
    found["cases of a trial"] = [str(arm["n_cases"]) for arm in arms]
    return {key: values for key, values in found.items() if len(set(values)) > 1}


def _row(arm: Mapping[str, Any], *varied: str) -> list[Cell | str]:
    first = arm["tried"][0]["value"]
    best = next(t["value"] for t in arm["tried"] if t["settings"] == arm["chosen"])
    space = ", ".join(f"{name} {_range(given)}" for name, given in arm["space"].items())
    chosen = ", ".join(f"{name}={value}" for name, value in arm["chosen"].items())
    n, distinct = len(arm["tried"]), arm["distinct"]
    cost = arm["cost_usd"]
    return [
        arm["arm"],
        arm["budget"],
        *varied,
        space,
        Cell(text=str(n), under="" if n == distinct else f"{distinct} distinct", value=n),
        Cell(text=str(arm["calls"]), value=arm["calls"]),
        NOTHING if cost is None else Cell(text=f"${cost:.2f}", value=cost),
        Cell(text=f"{first:.3f}", value=first),
        Cell(text=f"{best:.3f}", value=best),
        chosen or "as it is",
    ]


def _range(given: Any) -> str:
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in given):
        return f"{given[0]:g} to {given[1]:g}"
    return " or ".join(str(value) for value in given)
