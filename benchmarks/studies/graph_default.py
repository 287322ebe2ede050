"""Which typed graph retains most where records carry edges: what the default is judged by.

    python -m benchmarks.studies.graph_default [--data DIR] [--only NAME,...] [--into FILE#NAME]

Retrieval alone, no model: `typed_graph`, the pruned one and the paper's own store on the same cases
at three budgets. The rule that picks a default is decision 0027, written before the table; its last
lines say what the rule finds. A setting whose files are not in DIR is left out, and named. A run
that was cut off is resumed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.results import ROOT, RUNS, call
from benchmarks.studies.order_of_arms import Setting, words
from framework.analysis.evidence import printed_names
from framework.reporting.format import short_limits
from framework.reporting.markdown import print_or_put
from framework.statistics.comparison import ComparisonRow, comparison_table
from framework.store.directory import SWEEP
from framework.store.state import read_run

DEFAULT: Final = "typed_graph"
CANDIDATES: Final = ("typed_graph_pruned", "brief_graph_3hop")
"""The first differs from the default in fewer settings."""
BUDGETS: Final = ("tight", "moderate", "loose")
AXIS: Final = "retained_critical"
SEED: Final = 7
_LEAST: Final = 0.001

Rows = list[dict[str, Any]]
Cells = Mapping[tuple[str, str], Sequence[ComparisonRow]]


def _generated(name: str, *overrides: str) -> Setting:
    return Setting(name=name, made="generated", overrides=overrides)


def _outside(name: str, file: str, *overrides: str, importer: str = "") -> Setting:
    over = (*overrides, "n_cases=null")
    return Setting(name=name, made="outside", overrides=over, file=file, importer=importer)


_PEPS: Final = "peps/peps_rst.tar.xz"
SETTINGS: Final = (
    *(
        _generated(f"governance, depth {d}", "domain=governance", f"domain.depths=[{d}]",
                   "domain.tasks_per_history=6", "n_cases=120")
        for d in (1, 2, 3, 4)
    ),
    *(_generated(d, f"domain={d}", "n_cases=200") for d in ("loan", "claims")),
    _generated("prior_authorization", "domain=prior_authorization", "n_cases=200"),
    _generated("office", "domain=office", "n_cases=320"),
    _generated("codebase", "domain=codebase", "n_cases=42"),
    _generated("precedents", "domain=precedents", "n_cases=240"),
    *(
        _outside(f"PEPs, {task}", _PEPS, "domain=decision_corpus", f"domain.task={task}",
                 importer="peps")
        for task in ("governs_now", "requires")
    ),
    _outside("Regulation B", "regulation_b/regulation_b_1002.tar.xz", "domain=regulation_updates"),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=Path)
    parser.add_argument("--only", help="settings, separated by semicolons")
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    chosen = [one for one in SETTINGS if not asked.only or one.name in asked.only.split(";")]
    missing = [one for one in chosen if one.file and not (asked.data / one.file).exists()]
    rows = [row for one in chosen if one not in missing for row in measured(one, asked.data)]
    parts = told(compared(rows))
    if missing:
        parts.append(f"Not here, and left out: {', '.join(one.name for one in missing)}.")
    print_or_put("\n\n".join(parts), asked.into)
    return 0


def measured(setting: Setting, data: Path) -> Rows:
    """The rows of a setting, as `comparison_table` takes them; its sweep is run, or gone on with.

    Its cases and clusters bear its name, and its budgets too: one table then holds all settings.
    """
    directory = ROOT / RUNS / "graph_default" / setting.name.replace(", ", "_").replace(" ", "_")
    if not directory.exists():
        over = [f"arch={','.join((DEFAULT, *CANDIDATES))}", f"budget={','.join(BUDGETS)}"]
        over += [f"baseline={DEFAULT}", "embedder=hashing", f"seed={SEED}", "protocol=retrieve"]
        place = f"hydra.sweep.dir={directory}"
        call("run.py", "-m", *words(setting, data), *over, "tracking=none", "report=false", place)
    elif not (directory / SWEEP).exists():
        call("run.py", f"resume={directory}")
    found: Rows = []
    for job in sorted(path.parent for path in directory.glob("*/summary.json")):
        run = read_run(job)
        label, budget = str(run.summary["run"]["arch"]), str(run.summary["run"]["budget"])
        arm = printed_names([run.summary]).get(label, label).partition("(")[0]
        found += [
            {
                "case_id": f"{setting.name}: {row.case_id}",
                "cluster": f"{setting.name}: {row.cluster or row.case_id}",
                "budget": f"{setting.name}: {budget}",
                "arm": arm,
                "axes": {AXIS: row.axes.get(AXIS)},
            }
            for row in run.rows
        ]
    return found


def compared(rows: Rows) -> Cells:
    """By setting and budget both candidates against the default: one family for Holm."""
    table = comparison_table(rows, seed=SEED, baseline=DEFAULT, axes=[AXIS])
    cells: dict[tuple[str, str], list[ComparisonRow]] = {}
    for setting in dict.fromkeys(str(row["budget"]).rpartition(": ")[0] for row in rows):
        for budget in BUDGETS:
            own = [row for row in table if row.budget == f"{setting}: {budget}"]
            cells[setting, budget] = own
    return cells


def told(cells: Cells) -> list[str]:
    """The table, and what the rule finds in it."""
    head = ["cases", "budget", "n", "clusters", DEFAULT]
    head += [word for arm in CANDIDATES for word in (arm, "less the default", "and so")]
    lines = [head, ["---"] * len(head)]
    for (setting, budget), rows in cells.items():
        by_arm = {row.arm_a: row for row in rows}
        first = by_arm[CANDIDATES[0]]
        line = [setting, budget, str(first.n), str(first.n_clusters or first.n)]
        line.append(_mean(first.mean_b))
        for arm in CANDIDATES:
            row = by_arm[arm]
            line += [_mean(row.mean_a), _difference(row), _verdict(row)]
        lines.append(line)
    return ["\n".join(f"| {' | '.join(cells)} |" for cells in lines), "\n".join(_rule(cells))]


def _rule(cells: Cells) -> Iterator[str]:
    """What decision 0027 asks of each candidate, counted, and what it then finds."""
    better = []
    for arm in CANDIDATES:
        own = [row for rows in cells.values() for row in rows if row.arm_a == arm]
        counts = {word: sum(_verdict(row) == word for row in own) for word in ("better", "worse")}
        differ = [row.delta for row in own if row.delta]
        higher = sum(delta > 0 for delta in differ)
        yield (
            f"- `{arm}`: better in {counts['better']} of {len(own)} cells, worse in "
            f"{counts['worse']}; the means differ in {len(differ)}, and its own is higher in "
            f"{higher} of these."
        )
        if counts["better"] and not counts["worse"] and 2 * higher > len(differ):
            better.append(arm)
    yield (
        f"- By the rule `{better[0]}` is the better default."
        if better
        else f"- By the rule no candidate is better than `{DEFAULT}`."
    )


def _verdict(row: ComparisonRow) -> str:
    return {"a better": "better", "b better": "worse"}.get(row.conclusion, row.conclusion)


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _difference(row: ComparisonRow) -> str:
    """With the decision bounds, which hold where few pairs differ, and p by Holm."""
    if row.delta is None:
        return "–"
    said = f"{row.delta:+.2f}"
    if row.bound_low is not None and row.bound_high is not None:
        said += f" {' to '.join(short_limits(row.bound_low, row.bound_high, '+'))}"
    if row.holm_p is None:
        return said
    return f"{said}, p < .001" if row.holm_p < _LEAST else f"{said}, p = {row.holm_p:.3f}"


if __name__ == "__main__":
    raise SystemExit(main())
