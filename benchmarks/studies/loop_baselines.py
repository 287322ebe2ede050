"""The loop beside authors in the style of GRASP, DSPy and Reflexion, on the same seeds.

    python -m benchmarks.studies.loop_baselines [--only ARM ...] [--into FILE#NAME]

`conf/experiment/improve/baselines.yaml` fixes sizes, gate, caps and seeds; each arm below is a
sweep of it, in `runs/loop_baselines`, and one that was cut off goes on. `--only` runs arms and
writes nothing. Limits are Student's t over seeds, 95%; a difference is to the first arm, paired by
seed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from scipy.special import stdtrit

from benchmarks.results import call
from framework.reporting.markdown import print_or_put
from plugins.protocols.improve.operators import SEAM

ROOT: Final = Path(__file__).resolve().parents[2]
RUNS: Final = ROOT / "runs" / "loop_baselines"
_PROMPT: Final = "routing=prompt"
_OPERATORS: Final = (
    "count_entities_across_sessions,count_listed_events,fallback_to_raw_span,"
    "resolve_relative_time_against_session_date,select_current_fact_under_supersession,"
    "verify_evidence_absence_before_abstention"
)
ARMS: Final[Mapping[str, Sequence[str]]] = {
    "rules, by regime": ("author=rules", "routing=regime"),
    "rules, no routing": ("author=rules", "routing=none"),
    "rules, prompt only": ("author=rules", _PROMPT),
    "rules, with operators": (
        "author=rules",
        "routing=regime",
        f"protocol.operators=[{_OPERATORS}]",
    ),
    "GRASP-style": ("author=grasp_style", _PROMPT),
    "DSPy-style": ("author=dspy_style", _PROMPT, "routing.drafts=4"),
    "Reflexion-style": ("author=reflexion_style", _PROMPT),
}
"""By name the words of each arm; the first is what the others are compared with."""

Loops = Mapping[int, Mapping[str, Any]]
"""What a loop's improve.json says, by seed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and print the table, or write it between markers. The status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", nargs="*", choices=ARMS, metavar="ARM", help="run these alone")
    parser.add_argument("--into", metavar="FILE#NAME", help="where the table goes")
    args = parser.parse_args(arguments)
    for name in args.only or ARMS:
        run(name)
    if not args.only:
        print_or_put(table({name: loops_of(directory(name)) for name in ARMS}), args.into)
    return 0


def directory(arm: str) -> Path:
    """Where an arm's sweep is."""
    return RUNS / arm.replace(",", "").replace(" ", "_")


def run(arm: str) -> None:
    """Run an arm's loops, or go on with them."""
    place = directory(arm)
    if place.exists():
        call("run.py", f"resume={place}")
    else:
        call(
            "run.py", "-m", "+experiment=improve/baselines", *ARMS[arm], f"hydra.sweep.dir={place}"
        )


def loops_of(sweep: Path) -> dict[int, dict[str, Any]]:
    """The loops of a sweep, by seed."""
    found = [json.loads(path.read_text()) for path in sweep.glob("*/improve.json")]
    return {loop["loop"]["seed"]: loop for loop in found}


def table(arms: Mapping[str, Loops]) -> str:
    """The arms: what each did, what it gained on TEST and the shifted TEST, and the difference.

    Raises ValueError where the arms were not run on the same seeds.
    """
    first = next(iter(arms.values()))
    if any(loops.keys() != first.keys() for loops in arms.values()):
        raise ValueError("arms have other seeds than the first")
    lines = [
        "| arm | drafts | analyses | promoted | TEST | up, down | shifted TEST | less the first |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, loops in arms.items():
        gains = [loops[seed]["test"]["delta"] for seed in sorted(first)]
        shifted = [loops[seed]["test_shifted"]["delta"] for seed in sorted(first)]
        theirs = [first[seed]["test"]["delta"] for seed in sorted(first)]
        beside = [a - b for a, b in zip(gains, theirs, strict=True)]
        cells = (
            _mean(loops, lambda loop: loop["stopped"]["drafts"]),
            _mean(loops, lambda loop: len(loop["analyses"])),
            _mean(loops, lambda loop: loop["stopped"]["promotions"]) + _operators(loops),
            limits(gains),
            f"{sum(gain > 0 for gain in gains)}, {sum(gain < 0 for gain in gains)} of {len(gains)}",
            limits(shifted),
            "" if loops is first else limits(beside),
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def limits(values: Sequence[float], level: float = 0.95) -> str:
    """A mean over seeds with its limits, as a cell has them."""
    mean, n = fmean(values), len(values)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * stdev(values) / n**0.5
    return f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]"


def _operators(loops: Loops) -> str:
    """How many of what was promoted were operators, by loop; empty where none was."""
    promoted = [
        sum(one["seam"] == SEAM and one["outcome"] == "promoted" for one in loop["candidates"])
        for loop in loops.values()
    ]
    return f", {fmean(promoted):.1f} operators" if any(promoted) else ""


def _mean(loops: Loops, value: Callable[[Mapping[str, Any]], float]) -> str:
    return f"{fmean(map(value, loops.values())):.1f}"


if __name__ == "__main__":
    sys.exit(main())
