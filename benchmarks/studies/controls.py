"""What arms that are asked nothing keep: rarity, length and figures, beside arms that are asked.

    python -m benchmarks.studies.controls [--data DIR] [--only NAME,...] [--into FILE#NAME]

Runs one sweep a setting into `runs/results/controls`, or goes on with it, and writes one table: by
setting and measure a row, by arm a column. A dagger marks what went through the rule-based model.
A setting whose files are not in DIR is left out, and named.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.results import ROOT, RUNS, call
from framework.analysis.evidence import printed_names
from framework.cli.runs import finished_runs
from framework.reporting.markdown import print_or_put

CONTROLS: Final = ("rare_first", "shortest_first", "figures_first", "figures_shortest")
LINKED: Final = ("graph_ppr", "typed_graph", "typed_graph_pruned", "typed_graph_one_seed")
ARMS: Final = ("bm25", *LINKED, "by_kind", *CONTROLS)
DATA: Final = ROOT.parent / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Cases that all arms get under one budget.

    others : arms beside bm25 and the controls. measures : the columns shown; compliance and kappa
    are of answers. file : of a data set that is no part of the package.
    """

    name: str
    overrides: Sequence[str]
    others: Sequence[str] = LINKED
    measures: Sequence[str] = ("p_ret",)
    file: str = ""

    @property
    def arms(self) -> list[str]:
        return [arm for arm in ARMS if arm in ("bm25", *self.others, *CONTROLS)]

    @property
    def answered(self) -> bool:
        return "kappa" in self.measures


_CHAIN: Final = ("p_ret", "chain_recovery")
_ANSWERED: Final = (*_CHAIN, "compliance", "kappa")
_SHORT: Final = ("budget=absolute", "budget.tokens=600")
_OF_DEPTHS: Final = ("domain.depths=[1,2,3,4]", "domain.tasks_per_history=5")
SETTINGS: Final = (
    Setting(name="codebase_moderate", overrides=("domain=codebase", "n_cases=42",
            "budget=moderate"), measures=_CHAIN),
    Setting(name="codebase_600", overrides=("domain=codebase", "n_cases=42", *_SHORT),
            measures=_CHAIN),
    Setting(name="codebase_development_600", overrides=("domain=codebase", "n_cases=42", *_SHORT,
            "domain.forms=development"), measures=_ANSWERED),
    Setting(name="governance_2000", overrides=("domain=governance", "n_cases=160",
            "budget=absolute", "budget.tokens=2000"), measures=_ANSWERED),
    Setting(name="governance_12800", overrides=("domain=governance", *_OF_DEPTHS, "n_cases=60",
            "budget=absolute", "budget.tokens=12800"), measures=_ANSWERED),
    Setting(name="precedents_moderate", overrides=("domain=precedents", "n_cases=240",
            "domain.forms=development", "budget=moderate"), measures=_ANSWERED),
    *(
        Setting(name=f"{domain}_{budget}", overrides=(f"domain={domain}", "n_cases=100",
                f"budget={budget}"), others=("typed_graph", "by_kind"))
        for domain in ("loan", "claims", "prior_authorization")
        for budget in ("moderate", "loose")
    ),
    Setting(name="longmemeval_12_moderate", overrides=("domain=longmemeval", "n_cases=null",
            "budget=moderate"), others=("typed_graph", "graph_ppr"),
            file="longmemeval/snapshot.json"),
    Setting(name="airline_fees_moderate", overrides=("domain=airline_fees", "n_cases=null",
            "budget=moderate"), others=("typed_graph", "graph_ppr"),
            measures=("retained_critical",), file="rulearena/airline"),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=DATA, type=Path)
    parser.add_argument("--only", help="settings, separated by commas")
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    chosen = [one for one in SETTINGS if not asked.only or one.name in asked.only.split(",")]
    missing = [one for one in chosen if one.file and not (asked.data / one.file).exists()]
    found = {one: measured(one, asked.data) for one in chosen if one not in missing}
    parts = [table(found)]
    if missing:
        parts.append(f"Not here, and left out: {', '.join(one.name for one in missing)}.")
    print_or_put("\n\n".join(parts), asked.into)
    return 0


def measured(setting: Setting, data: Path) -> dict[str, Mapping[str, Any]]:
    """The summaries of a setting by arm; its sweep is run, or gone on with."""
    directory = ROOT / RUNS / "controls" / setting.name
    if not directory.exists():
        words = [*setting.overrides, f"arch={','.join(setting.arms)}", "baseline=bm25"]
        words += [f"domain.path={data / setting.file}"] if setting.file else []
        words += [] if setting.answered else ["protocol=retrieve"]
        place = f"hydra.sweep.dir={directory}"
        call("run.py", "-m", *words, "tracking=none", "report=false", place)
    elif not (directory / "sweep.json").exists():
        call("run.py", f"resume={directory}")
    runs = finished_runs([directory])
    names = printed_names(run.summary for run in runs)
    labels = [(str(run.summary["run"]["arch"]), run.summary) for run in runs]
    return {names.get(label, label): summary for label, summary in labels}


def table(found: Mapping[Setting, Mapping[str, Mapping[str, Any]]]) -> str:
    """The measures of each setting by arm, in Markdown."""
    arms = [arm for arm in ARMS if any(arm in of for of in found.values())]
    lines = [
        f"| cases | measure | n | {' | '.join(arms)} |",
        f"| --- | --- | --- |{' --- |' * len(arms)}",
    ]
    for setting, of in found.items():
        for measure in setting.measures:
            values = {arm: summary["axes"][measure] for arm, summary in of.items()}
            mark = "†" if measure in ("compliance", "kappa") else ""
            n = max(value["n"] for value in values.values())
            cells = [_told(values[arm]) if arm in values else "" for arm in arms]
            lines.append(f"| {setting.name} | {measure}{mark} | {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _told(axis: Mapping[str, Any]) -> str:
    """A mean with its limits, where there are enough clusters for them."""
    if axis["mean"] is None:
        return "–"
    mean = f"{axis['mean']:.2f}"
    if axis["ci_low"] is None:
        return mean
    return f"{mean} {axis['ci_low']:.2f}–{axis['ci_high']:.2f}".replace(" 0.", " .").replace(
        "–0.", "–."
    )


if __name__ == "__main__":
    raise SystemExit(main())
