"""Results as tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.analysis.cost import MEASURES, RETURN
from framework.analysis.counterfactual import ALL
from framework.analysis.prereg.results import judgement_lines
from framework.analysis.strata import natural
from framework.analysis.summary import SETTING, setting_of
from framework.reporting.comparisons import (
    comparison_tables,
    compat_table,
    in_order,
    model_table,
)
from framework.reporting.format import (
    DAGGER,
    amount,
    declared_inputs,
    entry_cell,
    interval,
    limits,
    nowhere,
    number,
    terminal,
    warned,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def print_run(summary: Mapping[str, Any]) -> None:
    """Print a run's axes with their intervals, its gate and its errors."""
    console = terminal()
    console.print(run_table(summary))
    console.print(_caption(summary))
    for table in stratum_tables([summary]):
        console.print(table)
    _print_corpus(console, [summary])
    _print_extraction(console, [summary])
    _print_treatment(console, [summary])
    _print_warnings(console, [summary])
    _print_gate(console, summary)
    _print_errors(console, summary["run"]["arch"], summary["errors"])


def print_sweep(summary: Mapping[str, Any]) -> None:
    """Print a sweep: one table a setting and budget, arms in rows, headline axes in columns."""
    console = terminal()
    jobs: Sequence[Mapping[str, Any]] = summary["jobs"]
    settings = dict.fromkeys(_table_of(job) for job in jobs)
    differs = differing(jobs)
    for setting in settings:
        members = [job for job in jobs if _table_of(job) == setting]
        also = "".join(f"  {key} {members[0]['run'][key]}" for key in differs)
        console.print(arms_table(members, also))
        console.print(max((_caption(m) for m in members), key=len))
        for table in stratum_tables(members, also):
            console.print(table)
        costs = economy_table(
            members, [row for row in summary.get("economy", ()) if _place_of(row) == setting], also
        )
        if costs is not None:
            console.print(costs)
    for flag in summary["fairness_flags"]:
        console.print(f"fairness: {flag}")
    order = {arm: i for i, arm in enumerate(dict.fromkeys(job["run"]["arch"] for job in jobs))}
    for table in comparison_tables(in_order(summary["comparisons"], order)):
        console.print(table)
    if summary.get("compat"):
        console.print(compat_table(summary["compat"]))
    for entry in summary["reader_agreement"]:
        n, of = len(entry["surviving"]), entry["ordered_pairs"]
        console.print(
            f"{entry['budget']} {entry['axis']}: the order of {n} of {of} pairs of arms survives "
            f"all readers ({', '.join(entry['models'])})"
        )
    _print_corpus(console, jobs)
    _print_extraction(console, jobs)
    if summary["model_agreement"]:
        console.print(model_table(summary["model_agreement"]))
    _print_treatment(console, jobs)
    if summary.get("prereg"):
        console.print("pre-registration ", end="")
        for line in judgement_lines(summary["prereg"]):
            console.print(line, markup=False, highlight=False)
    _print_warnings(console, jobs)
    for job in jobs:
        _print_gate(console, job)
        _print_errors(console, job["run"]["arch"], job["errors"])


def _print_corpus(console: Console, jobs: Sequence[Mapping[str, Any]]) -> None:
    """What a domain measured of its corpus, once for each domain that did."""
    reports = {job["run"]["domain"]: job["corpus"] for job in jobs if job.get("corpus")}
    for domain, report in reports.items():
        values = ", ".join(f"{name} {value:.4g}" for name, value in report.items())
        console.print(f"corpus of {domain}: {values}", highlight=False)


def _print_extraction(console: Console, jobs: Sequence[Mapping[str, Any]]) -> None:
    """What the extractor of an arm found of the given nodes and edges, by type."""
    for job in jobs:
        for what, types in job.get("extraction", {}).items():
            told = ", ".join(
                f"{type_} precision {number(of['precision'])} of {of['found']} "
                f"recall {number(of['recall'])} of {of['given']}"
                for type_, of in types.items()
            )
            arch = job["run"]["arch"]
            console.print(f"extracted {what} of {arch}: {told}", markup=False, highlight=False)


def run_table(summary: Mapping[str, Any]) -> Table:
    """Axes of one run: mean, 95% interval, n, method, kind."""
    from rich.table import Table

    run = summary["run"]
    title = f"{run['domain']}  {run['arch']}  {run['budget']}  n={run['n_cases']}"
    table = Table(title=title, title_justify="left")
    noisy = run["repeats"] > 1
    columns = (
        "axis",
        "mean",
        "95% interval",
        *(("noise",) if noisy else ()),
        "n",
        "method",
        "kind",
    )
    for column in columns:
        table.add_column(column, justify="right" if column in ("mean", "n") else "left")
    defined = [axis for axis, entry in summary["axes"].items() if entry["n"]]
    headline = [axis for axis in summary["headline"] if axis in summary["axes"]]
    rest = [axis for axis in defined if axis not in headline]
    table.caption = nowhere({a: e for a, e in summary["axes"].items() if a not in headline})[2:]
    table.caption_justify = "left"
    for i, axis in enumerate([*headline, *rest]):
        if i == len(headline):
            table.add_section()
        e = summary["axes"][axis]
        band = (_noise(e),) if noisy else ()
        table.add_row(
            axis, number(e["mean"]), interval(e), *band, str(e["n"]), e["method"], e["kind"]
        )
    return table


def differing(jobs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What of `SETTING` jobs differ in that a table's title does not say by itself."""
    return [
        key for key in SETTING if key not in _TITLED and len({job["run"][key] for job in jobs}) > 1
    ]


_TITLED: Final = ("domain", "n_cases", "reader", "model")


def arms_table(jobs: Sequence[Mapping[str, Any]], also: str = "") -> Table:
    """Arms of one setting: headline axes with intervals, view tokens, declared inputs.

    also : what else the title says, beginning with a space.
    """
    from rich.table import Table

    run = jobs[0]["run"]
    asked = f"  reader {run['reader']}, model {run['model']}"
    reader = "" if run["protocol"] == "retrieve" else asked
    title = f"{run['domain']}  budget {run['budget']}  n={run['n_cases']}{reader}{also}"
    table = Table(title=title, title_justify="left")
    headline = [a for a in jobs[0]["headline"] if any(a in job["axes"] for job in jobs)]
    table.add_column("arm", no_wrap=True)
    for axis in headline:
        table.add_column(axis.replace("_", " "), justify="center")
    table.add_column("view tokens", justify="right")
    table.add_column("declared inputs")
    for job in jobs:
        cells = [entry_cell(job["axes"].get(axis)) for axis in headline]
        tokens = job["fairness"].get("mean_view_tokens")
        view = "" if tokens is None else f"{tokens:.0f}"
        table.add_row(job["run"]["arch"], *cells, view, declared_inputs(job["fairness"]))
    return table


def _noise(entry: Mapping[str, Any]) -> str:
    """`+-.012`: two standard deviations of the mean over repeats, the cases as they are."""
    sd = entry.get("noise_sd")
    return "-" if sd is None else f"±{2 * sd:.3f}"


def _caption(summary: Mapping[str, Any]) -> str:
    run = summary["run"]
    if all(entry["kind"] != "instrument check" for entry in summary["axes"].values()):
        return ""
    if run["model_kind"] != "rule-based":
        return (
            f"{DAGGER} went through a rule-based judge ({run['judge']}): an instrument check of "
            "what the model answered."
        )
    return (
        f"{DAGGER} went through a rule-based model ({run['model']}): an instrument check, not "
        "evidence about LLMs. The rest are findings: no model had a hand in them."
    )


def _print_warnings(console: Console, summaries: Sequence[Mapping[str, Any]]) -> None:
    for text in warned(summaries):
        console.print(f"warning: {text}", highlight=False)


def _print_treatment(console: Console, jobs: Sequence[Mapping[str, Any]]) -> None:
    table = treatment_table(jobs)
    if table is not None:
        console.print(table)


def _print_gate(console: Console, summary: Mapping[str, Any]) -> None:
    gate = summary["gate"]
    if gate["passed"] is None:
        return
    word = "passed" if gate["passed"] else "FAILED"
    run = summary["run"]
    console.print(
        f"gate {gate['name']} for {run['arch']} {run['budget']}: {word}. {gate['reason']}"
    )
    for finding in gate["findings"]:
        console.print("  " + "  ".join(f"{k} {_plain(v)}" for k, v in finding.items()))


def _print_errors(console: Console, arm: str, errors: Mapping[str, Any]) -> None:
    if errors["n"]:
        kinds = ", ".join(f"{n} {kind}" for kind, n in errors["kinds"].items())
        console.print(f"errors in {arm}: {errors['n']} rows ({kinds})")


def _plain(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _table_of(job: Mapping[str, Any]) -> tuple[Any, ...]:
    return _place_of(job["run"])


def _place_of(run: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*setting_of(run), run["budget"])


def economy_table(
    jobs: Sequence[Mapping[str, Any]],
    found: Sequence[Mapping[str, Any]] = (),
    also: str = "",
) -> Table | None:
    """The measures by arm, of jobs of one setting and budget; None where no success was counted.

    found : their `differences`; shown where all are from one arm, the baseline. also : what else
        the title says, beginning with a space.
    """
    from rich.table import Table

    names = [n for n in MEASURES if any(n in job["axes"] for job in jobs)]
    if not names:
        return None
    run = jobs[0]["run"]
    baselines = {row["arm_b"] for row in found}
    table = Table(
        title=f"what being right costs  {run['domain']}  budget {run['budget']}{also}",
        caption=(
            "Successes per 1,000 tokens of recall and answer; tokens, or dollars, per success; a "
            "history's ingest spread over its questions. Differences are described, not tested."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("arm", no_wrap=True)
    for name in names:
        table.add_column(name.replace("_", " "), justify="center")
    if len(baselines) == 1:
        table.add_column(f"return minus {next(iter(baselines))}", justify="center")
    deltas = {row["arm_a"]: row for row in found}
    for job in jobs:
        cells = [_shown(name, job["axes"].get(name)) for name in names]
        if len(baselines) == 1:
            row = deltas.get(job["run"]["arch"])
            cells.append("-" if row is None else _shown(RETURN, {**row, "mean": row["delta"]}, "+"))
        table.add_row(job["run"]["arch"], *cells)
    return table


def _shown(name: str, entry: Mapping[str, Any] | None, sign: str = "") -> str:
    if entry is None or entry["mean"] is None:
        return "-"
    mark = DAGGER if entry.get("kind") == "instrument check" else ""
    lines = (amount(name, entry["mean"], sign) + mark, limits(name, entry, sign))
    return "\n".join(filter(None, lines))


def stratum_tables(jobs: Sequence[Mapping[str, Any]], also: str = "") -> list[Table]:
    """For every axis that the domain shows by stratum, a table: arms in rows, strata in columns.

    also : what else the titles say, beginning with a space.
    """
    from rich.table import Table

    axes = dict.fromkeys(axis for job in jobs for axis in job.get("by_stratum") or ())
    tables = []
    for axis in axes:
        found = [(job["run"]["arch"], (job.get("by_stratum") or {}).get(axis, {})) for job in jobs]
        strata = sorted({name for _, entries in found for name in entries}, key=natural)
        if len(strata) < 2:
            continue
        run = jobs[0]["run"]
        title = (
            f"{axis.replace('_', ' ')} by stratum  {run['domain']}  budget {run['budget']}{also}"
        )
        table = Table(title=title, title_justify="left")
        table.add_column("arm", no_wrap=True)
        for name in strata:
            table.add_column(name, justify="center")
        for arm, entries in found:
            table.add_row(arm, *(entry_cell(entries.get(name)) for name in strata))
        tables.append(table)
    return tables


def treatment_table(jobs: Sequence[Mapping[str, Any]]) -> Table | None:
    """Treatment by arm and attribute, of summaries or jobs of a sweep; None where none has twins.

    Of a sweep's arms only the figures over all attributes are shown; the rest is in sweep.json.
    """
    from rich.table import Table

    shown = [job for job in jobs if job.get("treatment")]
    if not shown:
        return None
    table = Table(
        title="protected-attribute twins: protected minus reference group",
        caption=(
            "95% limits, unadjusted. Differences found are the arm's or chance; none found is not "
            "fairness, and the impact ratio says adverse impact only where its interval does."
        ),
        title_justify="left",
        caption_justify="left",
    )
    for column in ("arm", "budget", "attribute", "pairs", "favourable", "decided differently",
                   "other reasons", "retained", "impact ratio", "adverse impact"):  # fmt: skip
        table.add_column(column)
    for job in shown:
        attributes = job["treatment"]["attributes"]
        for name in attributes if len(jobs) == 1 else [ALL]:
            entry = attributes[name]
            table.add_row(
                job["run"]["arch"],
                job["run"]["budget"],
                name.replace("_", " "),
                str(entry["n"]),
                _limited(entry["decisions"], "delta", "+"),
                _limited(entry["decisions_changed"], "mean"),
                _limited(entry["reasons_changed"], "mean"),
                _limited(entry["retention"], "delta", "+"),
                _limited(entry["impact_ratio"], "value"),
                entry["adverse_impact"],
            )
    return table


def _limited(entry: Mapping[str, Any], key: str, sign: str = "") -> str:
    if entry[key] is None:
        return "-"
    first = f"{entry[key]:{sign}.3f}"
    if entry["ci_low"] is None:
        return first
    return f"{first} [{entry['ci_low']:{sign}.3f}, {entry['ci_high']:{sign}.3f}]"
