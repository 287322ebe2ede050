"""Results as tables in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.reporting.predicted import judgement_lines
from framework.reporting.strata import stratum_tables
from framework.reporting.summary import SETTING, setting_of
from framework.reporting.twins import treatment_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


DAGGER: Final = "†"


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
    for setting in settings:
        members = [job for job in jobs if _table_of(job) == setting]
        console.print(arms_table(members))
        console.print(max((_caption(m) for m in members), key=len))
        for table in stratum_tables(members):
            console.print(table)
    for flag in summary["fairness_flags"]:
        console.print(f"fairness: {flag}")
    for table in comparison_tables(summary["comparisons"]):
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
    headline = [axis for axis in summary["headline"] if axis in summary["axes"]]
    rest = [axis for axis in summary["axes"] if axis not in headline]
    for i, axis in enumerate([*headline, *rest]):
        if i == len(headline):
            table.add_section()
        e = summary["axes"][axis]
        band = (_noise(e),) if noisy else ()
        table.add_row(
            axis, number(e["mean"]), interval(e), *band, str(e["n"]), e["method"], e["kind"]
        )
    return table


def arms_table(jobs: Sequence[Mapping[str, Any]]) -> Table:
    """Arms of one setting: headline axes with intervals, view tokens, what an arm was told."""
    from rich.table import Table

    run = jobs[0]["run"]
    asked = f"  reader {run['reader']}, model {run['model']}"
    reader = "" if run["protocol"] == "retrieve" else asked
    title = f"{run['domain']}  budget {run['budget']}  n={run['n_cases']}{reader}"
    table = Table(title=title, title_justify="left")
    headline = [a for a in jobs[0]["headline"] if any(a in job["axes"] for job in jobs)]
    table.add_column("arm", no_wrap=True)
    for axis in headline:
        table.add_column(axis.replace("_", " "), justify="center")
    table.add_column("view tokens", justify="right")
    table.add_column("told")
    for job in jobs:
        cells = [entry_cell(job["axes"].get(axis)) for axis in headline]
        tokens = job["fairness"].get("mean_view_tokens")
        view = "" if tokens is None else f"{tokens:.0f}"
        table.add_row(job["run"]["arch"], *cells, view, told(job["fairness"]))
    return table


def comparison_tables(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Paired comparisons: against one baseline as a table a setting and budget, else as a list."""
    baselines = {row["arm_b"] for row in rows}
    if not rows:
        return []
    if len(baselines) > 1:
        return [comparison_list(rows)]
    key = (*SETTING, "budget")
    groups = dict.fromkeys(tuple(row[k] for k in key) for row in rows)
    return [_against([r for r in rows if tuple(r[k] for k in key) == group]) for group in groups]


def _against(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Each arm minus the baseline, by axis, with its interval; a star where Holm's p < .05."""
    from rich.table import Table

    axes = list(dict.fromkeys(row["axis"] for row in rows))
    first = rows[0]
    table = Table(
        title=(
            f"{first['domain']}  budget {first['budget']}  model {first['model']}  "
            f"minus {first['arm_b']}, paired by case"
        ),
        caption=(
            "* Holm-adjusted p < .05 over all comparisons composed. ! cannot conclude: too few "
            "cases to reach .05. = within the smallest effect declared. Every figure, the smallest "
            "p within reach too, is in comparison.csv."
        ),
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("arm", no_wrap=True)
    for axis in axes:
        table.add_column(axis.replace("_", " "), justify="center")
    for arm in dict.fromkeys(row["arm_a"] for row in rows):
        by_axis = {row["axis"]: row for row in rows if row["arm_a"] == arm}
        table.add_row(arm, *(_delta(by_axis.get(axis)) for axis in axes))
    return table


_MARKS: Final = {"a better": "*", "b better": "*", "cannot conclude": "!", "equivalent": "="}


def _delta(row: Mapping[str, Any] | None) -> str:
    if row is None or row["delta"] is None:
        return "-"
    mark = _MARKS.get(row["conclusion"], "")
    first = f"{row['delta']:+.2f}{mark}"
    if row["ci_low"] is None:
        return first
    return f"{first}\n{short(row['ci_low'], '+')} {short(row['ci_high'], '+')}"


def comparison_list(rows: Sequence[Mapping[str, Any]], limit: int = 40) -> Table:
    """Paired comparisons; the first `limit`, the rest is in comparison.csv.

    `least p` is the smallest Holm-adjusted p that this many cases could reach in this family.
    """
    from rich.table import Table

    more = f" (first {limit} of {len(rows)})" if len(rows) > limit else ""
    helpless = sum(row["conclusion"] == "cannot conclude" for row in rows)
    hint = (
        f"{helpless} of {len(rows)} comparisons cannot conclude: a smaller family can; declare "
        "baseline=ARM to compare with one arm"
    )
    table = Table(
        title=f"paired on the same cases{more}",
        caption=hint if helpless else None,
        title_justify="left",
        caption_justify="left",
    )
    columns = (
        "budget",
        "axis",
        "a",
        "b",
        "a - b",
        "95% interval",
        "p",
        "Holm p",
        "least p",
        "n",
        "conclusion",
    )
    for column in columns:
        table.add_column(column)
    for row in rows[:limit]:
        ci = {"ci_low": row["ci_low"], "ci_high": row["ci_high"]}
        table.add_row(
            row["budget"],
            row["axis"],
            row["arm_a"],
            row["arm_b"],
            signed(row["delta"]),
            interval(ci),
            p_value(row["permutation_p"]),
            p_value(row["holm_p"]),
            p_value(row["smallest_holm_p"]),
            str(row["n"]),
            row["conclusion"],
        )
    return table


def compat_table(compat: Mapping[str, Any], limit: int = 40) -> Table:
    """The comparisons of a published convention; the first `limit`, the rest is in sweep.json."""
    from rich.table import Table

    rows = compat["comparisons"]
    more = f" (first {limit} of {len(rows)})" if len(rows) > limit else ""
    table = Table(
        title=f"compat={compat['convention']}: the same pairs as published{more}",
        caption=(
            "To reproduce, not to conclude: a case at each budget is a unit of its own, graded "
            "values succeed from .5 up, p is count / N of one shared generator, nothing adjusted."
        ),
        title_justify="left",
        caption_justify="left",
    )
    for column in ("axis", "a", "b", "a - b", "percentile 95%", "p", "McNemar p", "h", "n"):
        table.add_column(column)
    for row in rows[:limit]:
        table.add_row(
            row["axis"],
            row["arm_a"],
            row["arm_b"],
            signed(row["delta"]),
            interval({"ci_low": row["low"], "ci_high": row["high"]}),
            p_value(row["permutation_p"]),
            p_value(row["mcnemar_p"]),
            signed(row["cohens_h"]),
            str(row["n"]),
        )
    return table


def model_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Arm means under two models: correlations over arms, largest difference, order."""
    from rich.table import Table

    table = Table(
        title="agreement between models, over the means of the arms",
        caption=(
            "same order: pairs of arms that both models tell apart and order alike. Arms that "
            "can't but fail or succeed hold up any correlation over so few points."
        ),
        title_justify="left",
        caption_justify="left",
    )
    for column in ("budget", "axis", "models", "arms", "Pearson r", "Spearman rho", "Kendall tau",
                   "mean |a - b|", "largest |a - b|", "same order"):  # fmt: skip
        table.add_column(column)
    for entry in entries:
        table.add_row(
            entry["budget"],
            entry["axis"],
            f"{entry['model_a']}, {entry['model_b']}",
            str(entry["n"]),
            *(number(entry[key]) for key in ("pearson", "spearman", "kendall", "mean_difference")),
            f"{entry['largest_difference']:.3f} ({entry['largest_arm']})",
            f"{entry['same_order']} of {entry['pairs']}",
        )
    return table


def told(fairness: Mapping[str, Any]) -> str:
    """What an arm was told beyond the events and the query, in words."""
    words = [
        name.replace("_", " ")
        for name in ("sees_task", "knows_schema", "gold_edges", "sees_gold", "exempt")
        if fairness.get(name)
    ]
    if fairness.get("query") == "none":
        words.append("no query")
    words += [f"{part} {fairness[part]}" for part in ("embedder", "extractor") if part in fairness]
    return ", ".join(words)


def number(value: float | None) -> str:
    """`0.834`, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """`+0.034`, or a dash where there is none."""
    return "-" if value is None else f"{value:+.3f}"


def p_value(value: float | None) -> str:
    """`.0063`, `<.0001`, or a dash where there is none."""
    if value is None:
        return "-"
    return "<.0001" if value < 1e-4 else f"{value:.4f}".lstrip("0") or "0"


def interval(entry: Mapping[str, Any]) -> str:
    """`[.750, .902]`, or a dash where none is claimed."""
    if entry["ci_low"] is None:
        return "-"
    return f"[{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]"


def _noise(entry: Mapping[str, Any]) -> str:
    """`+-.012`: two standard deviations of the mean over repeats, the cases as they are."""
    sd = entry.get("noise_sd")
    return "-" if sd is None else f"±{2 * sd:.3f}"


def entry_cell(entry: Mapping[str, Any] | None) -> str:
    """Mean over interval; a dagger marks what is no finding."""
    if entry is None or entry["mean"] is None:
        return "-"
    mark = DAGGER if entry["kind"] == "instrument check" else ""
    if entry["ci_low"] is None:
        return f"{entry['mean']:.2f}{mark}"
    return f"{entry['mean']:.2f}{mark}\n{short(entry['ci_low'])}-{short(entry['ci_high'])}"


def short(value: float, sign: str = "") -> str:
    """`.45`, `+.45`, `1.0`: two digits where that is all that is needed."""
    text = f"{value:{sign}.2f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text[:-1]


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
    for text in dict.fromkeys(
        text for summary in summaries for text in summary.get("warnings", ())
    ):
        console.print(f"warning: {text}")


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
    return (*setting_of(job["run"]), job["run"]["budget"])


def terminal() -> Console:
    """Where tables go; a reader that left raises BrokenPipeError."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process here, with a status of its own

    console = Piped()
    # Piped output has no width of its own: wide enough that a table's rows stay one line each.
    return console if console.is_terminal else Piped(width=200)
