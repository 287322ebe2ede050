"""What becomes of arms as histories grow, with evidence that grows and with filler alone.

    python -m benchmarks.studies.growth [--domain claims] [--lengths 2000,20000]
        [--into FILE#NAME]

Runs `+experiment=longhorizon/growth` into `runs/results/growth` (another domain than loans into
`runs/results/growth-DOMAIN`), or goes on with it, and writes one table: by the length of a history
and by whether the evidence grows, how many documents a decision rests on, and of each arm how often
the view held all that is needed and how often the decision was right. How many documents is counted
in the cases themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from benchmarks.results import ROOT, RUNS, call
from framework.cli.runs import finished_runs
from framework.reporting.markdown import print_or_put
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.loading import SPECS
from plugins.domains.regulated.settings import RegulatedSettings

COLUMNS: Final = (
    "tokens", "entries", "documents of evidence", "tokens of gold", "arm", "view tokens", "p_ret",
    "eda†",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", help="a file with markers for the table")
    parser.add_argument(
        "--domain", default="loan", choices=sorted(file.stem for file in SPECS.glob("*.yaml"))
    )
    parser.add_argument(
        "--lengths", default="", help="tokens of histories, with commas; all of the experiment's"
    )
    asked = parser.parse_args(arguments)
    lengths = tuple(map(int, filter(None, asked.lengths.split(","))))
    directory = ROOT / RUNS / ("growth" if asked.domain == "loan" else f"growth-{asked.domain}")
    if not directory.exists():
        words = ["+experiment=longhorizon/growth", f"domain={asked.domain}", "report=false"]
        words += [f"domain.tokens={asked.lengths}"] if lengths else []
        call("run.py", "-m", *words, f"hydra.sweep.dir={directory}")
    elif not (directory / "sweep.json").exists():
        call("run.py", f"resume={directory}")
    print_or_put(table(directory, lengths), asked.into)
    return 0


def table(directory: Path, lengths: Container[int] = ()) -> str:
    """The finished runs of a sweep, in Markdown, by length, entries and arm.

    lengths : those that are shown; all without any.
    """
    rows = []
    for run in finished_runs([directory]):
        config = run.state.started["config"]
        settings = {key: value for key, value in config["domain"].items() if key != "plugin"}
        axes, use = run.summary["axes"], run.summary["budget_use"]
        length = RegulatedSettings(**settings)
        if lengths and length.tokens not in lengths:
            continue
        cells = (
            f"{length.tokens:,}",
            str(length.entries),
            f"{evidence(length, config['n_cases'], config['seed']):.1f}",
            f"{axes['gold_tokens']['mean']:,.0f}",
            run.summary["run"]["arch"],
            f"{use['mean_view_tokens']:,.0f}",
            _told(axes["p_ret"]),
            _told(axes["eda"]),
        )
        rows.append(((length.entries > 0, length.tokens, run.summary["run"]["arch"]), cells))
    lines: list[Sequence[str]] = [COLUMNS, ["---"] * len(COLUMNS)]
    lines += [cells for _, cells in sorted(rows, key=lambda row: row[0])]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def evidence(settings: RegulatedSettings, n: int, seed: int) -> float:
    """Documents that a decision rests on, as a mean over the cases."""
    domain = Regulated(settings)
    return fmean(len(case.gold.evidence) for case in domain.cases(n, seed))


def _told(axis: dict[str, Any]) -> str:
    return f"{axis['mean']:.2f} {axis['ci_low']:.2f}–{axis['ci_high']:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
