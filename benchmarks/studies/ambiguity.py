"""What near misses in the narrative documents do to arms: loans, nothing else changed.

    python -m benchmarks.studies.ambiguity [--into FILE#NAME]

Runs `+experiment=longhorizon/ambiguity embedder=hashing` into `runs/results/ambiguity`, or goes on
with it, and writes one table: by the share of documents that carry a near miss, how often the view
of each arm held all that is needed, how much of the gold it held, and how often the decision was
right.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.results import ROOT, RUNS, call
from framework.analysis.evidence import printed_names
from framework.cli.runs import finished_runs
from framework.reporting.markdown import print_or_put

COLUMNS: Final = (
    "arm", "ambiguity", "view tokens", "surface_ceiling", "p_ret", "frp†", "eda†",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    directory = ROOT / RUNS / "ambiguity"
    if not directory.exists():
        words = ("+experiment=longhorizon/ambiguity", "embedder=hashing", "report=false")
        call("run.py", "-m", *words, f"hydra.sweep.dir={directory}")
    elif not (directory / "sweep.json").exists():
        call("run.py", f"resume={directory}")
    print_or_put(table(directory), asked.into)
    return 0


def table(directory: Path) -> str:
    """The finished runs of a sweep, in Markdown, by arm and by share."""
    rows = []
    runs = finished_runs([directory])
    names = printed_names(run.summary for run in runs)
    for run in runs:
        share = run.state.started["config"]["domain"]["ambiguity"]
        axes, label = run.summary["axes"], run.summary["run"]["arch"]
        arm = names.get(label, label)
        cells = (
            arm,
            f"{share:g}",
            f"{run.summary['budget_use']['mean_view_tokens']:,.0f}",
            *(_told(axes[name]) for name in ("surface_ceiling", "p_ret", "frp", "eda")),
        )
        rows.append(((arm, share), cells))
    lines: list[Sequence[str]] = [COLUMNS, ["---"] * len(COLUMNS)]
    lines += [cells for _, cells in sorted(rows, key=lambda row: row[0])]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _told(axis: dict[str, Any]) -> str:
    return f"{axis['mean']:.2f} {axis['ci_low']:.2f}–{axis['ci_high']:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
