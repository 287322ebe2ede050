"""The tables of `make memories`: arms of others beside ours, and how far they are apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.analysis.evidence import Group, Job, printed_names
from framework.analysis.verdict import suspects
from framework.reporting.cells import entry_cell
from framework.reporting.format import declared_inputs, short_limits
from framework.statistics.paired import compare
from framework.text.counting import counted
from plugins.models.local.model import PACKAGED

ARMS: Final = ("none", "bm25", "dense", "typed_graph", "full_context", "oracle")
ALSO: Final = ("bm25_content",)
"""Arms of ours that stand in some settings alone."""
LIKE: Final = ("consolidate", "paged", "linked_notes", "graph_ppr", "raptor")
"""Arms of ours in the manner of published systems."""
NEAREST: Final = {
    "autogen_chroma": "dense",
    "langmem": "dense",
    "mcp_memory_service": "dense",
    "mem0_raw": "dense",
    "txtai": "dense",
    "reme": "bm25",
}
"""By system the arm of ours that ranks the same texts by the same mechanism, and by it alone."""
BUDGETS: Final = ("tight", "moderate", "loose")
DEPTHS_AT: Final = "moderate"
"""The budget of the table by depth: the one that LongHorizon takes first."""


def table(
    name: str,
    jobs: Sequence[Job],
    versions: Mapping[str, str],
    found: Mapping[str, Any],
    canaries: Mapping[str, Sequence[str]],
) -> str:
    """The arms of a setting in Markdown: what they retained, then how they did and what it cost.

    versions : by name, of third-party systems.
    """
    group = Group(index=0, differs="", jobs=jobs, comparisons=[])
    printed = printed_names(job.summary for job in jobs)
    suspected: dict[str, bool] = {}  # whether something of it is a fault that ours have not
    for job, told in suspects(group):
        suspected[job.arm] = suspected.get(job.arm, False) or not all(told.values())
    retained = [["arm", "what it is, and was told", *(f"P_ret {b}" for b in BUDGETS)]]
    retained[0] += ["gist share", "remarks"]
    did = [["arm", *(f"success {b}" for b in BUDGETS), "ingest tokens", "dollars"]]
    did[0].append("p95 of recall, ms")
    for arm in sorted(group.arms, key=_place):
        own = [kept for b in BUDGETS if (kept := group.job(arm, b)) is not None]
        first = own[0].summary
        use, ledger = first["budget_use"], first["ledger"]
        option = option_of(arm)
        kind = f"version {versions[option]}" if option in versions else "ours"
        if option in LIKE:
            kind = "ours, in the manner of others"
        errors = sum(job.summary["errors"]["n"] for job in own)
        whole = sum(len(job.rows) for job in own)
        remarks = [f"{errors} of {whole} rows failed"] if errors else []
        if arm in suspected:
            remarks.append(
                "suspected adapter fault" if suspected[arm] else "below `none`, as arms of ours are"
            )
        if failing := canaries.get(option):
            remarks.append(f"fails the {_canaries(failing)}")
        elif option in versions and option not in canaries:
            remarks.append("no canaries run")
        dollars = ledger["total"].get("cost_usd", 0.0)  # without a row that did not fail
        ingest = ledger.get("ingest", {})
        shown = printed.get(arm, arm)
        retained.append(
            [
                shown,
                ", ".join(filter(None, [kind, declared_inputs(use)])),
                *(_cell(job, "p_ret") for job in own),
                _gist(own[-1]),
                ", ".join(remarks),
            ]
        )
        did.append(
            [
                shown,
                *(_cell(job, str(job.summary["success_axis"])) for job in own),
                f"{ingest.get('tokens_in', 0) + ingest.get('tokens_out', 0):,}",
                "–" if dollars is None else f"{dollars:.2f}",
                "–" if found[arm]["p95_ms"] is None else f"{found[arm]['p95_ms']:,.1f}",
            ]
        )
    tokens = {j.budget: j.summary["budget_use"].get("budget_tokens") for j in group.jobs}
    size = ", ".join(f"{b} {tokens[b]:,}" for b in BUDGETS if tokens.get(b))
    n = jobs[0].summary["run"]["n_cases"]
    histories = len({row.history_id for row in jobs[0].rows})
    of = f"{counted(n, 'case')} on {histories} histor{'y' if histories == 1 else 'ies'}"
    caption = f"**{name}: {of}; budgets in tokens: {size}**"
    return f"{caption}\n\n{_caution(jobs)}\n\n{_table(retained)}\n\n{_table(did)}"


def _table(lines: Sequence[Sequence[str]]) -> str:
    """The first line is the heading."""
    whole = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in whole)


def _caution(jobs: Sequence[Job]) -> str:
    """What answered and wrote, and that no number here is one of a product."""
    models = sorted({_model(job.summary["run"]) for job in jobs})
    encoders = {str(job.summary["budget_use"].get("embedder") or "") for job in jobs} - {""}
    by = f"By {' and '.join(models)}"
    by += f", vectors by {' and '.join(sorted(encoders))}" if encoders else ""
    return (
        f"*{by}: made for none of these systems, so that no statement about a product follows. By "
        "a model on a server, with an encoder: `make memories ARGS='--model \"model=openai "
        "model.base_url=... model.name=... embedder=e5\"'`.*"
    )


def _model(run: Mapping[str, Any]) -> str:
    """What a run asked, in words: also where memory alone asked it."""
    if run["model_kind"] == "rule-based":
        return "rules (†)"
    packaged = str(run["model"]).partition("(")[0] == "local" and "path=" not in run["model"]
    return str(run["answered_by"] or (PACKAGED.described if packaged else run["model"]))


def _canaries(failing: Sequence[str]) -> str:
    return f"canar{'y' if len(failing) == 1 else 'ies'} {', '.join(failing)}"


def differences_head() -> list[str]:
    head = ["cases", "system", "ours", *(f"difference, {budget}" for budget in BUDGETS)]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head))]


def differences(setting: str, jobs: Sequence[Job]) -> list[str]:
    """The lines of a setting: each system's retention less that of ours (`NEAREST`), by case."""
    named = {(option_of(job.arm), job.budget): job for job in jobs}
    lines = []
    for system, ours in NEAREST.items():
        both = [(named.get((system, b)), named.get((ours, b))) for b in BUDGETS]
        if any(theirs is not None for theirs, _ in both):
            cells = [_difference(*pair) for pair in both]
            lines.append(f"| {' | '.join([setting, system, ours, *cells])} |")
    return lines


def _difference(theirs: Job | None, ours: Job | None) -> str:
    """The mean paired difference with its interval, and how many of the cases differ."""
    if theirs is None or ours is None:
        return "–"
    a = theirs.means.column(theirs.budget, theirs.arm, "p_ret")
    b = ours.means.column(ours.budget, ours.arm, "p_ret")
    seed = int(ours.summary["run"]["seed"])
    found = compare(a, b, ours.means.clusters, seed=seed, names=[theirs.arm, ours.arm])
    differ = sum(value != b[case] for case, value in a.items())
    if found.delta is None:
        return "–"
    low, high = found.interval.low, found.interval.high
    between = "" if low is None or high is None else " " + " to ".join(short_limits(low, high, "+"))
    return f"{found.delta:+.2f}{between} ({differ} of {found.n} differ)"


def depths_head(depths: Sequence[int]) -> list[str]:
    """Of the table by depth."""
    head = ["cases", "arm", *(f"P_ret d={depth}" for depth in depths)]
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head))]


def by_depth(setting: str, jobs: Sequence[Job], depths: Sequence[int]) -> list[str]:
    """The lines of a setting: each arm's retention at each causal depth, at one budget."""
    own = [job for job in jobs if job.budget == DEPTHS_AT]
    printed = printed_names(job.summary for job in own)
    lines = []
    for job in sorted(own, key=lambda job: (_place(job.arm), job.arm)):
        strata = {d: name for name, d in job.summary["depths"].items()}
        entries = [job.summary["strata"][strata[d]] for d in depths if d in strata]
        if len(entries) == len(depths):
            kind = {"kind": job.summary["axes"]["p_ret"]["kind"]}
            cells = [_entry({**entry["p_ret"], **kind}) for entry in entries]
            lines.append(f"| {' | '.join([setting, printed.get(job.arm, job.arm), *cells])} |")
    return lines


def _place(arm: str) -> int:
    """Third-party systems first, then the references, then ours in their manner."""
    known, name = [*ARMS, *ALSO, *LIKE], option_of(arm)
    return known.index(name) if name in known else -1


def option_of(arm: str) -> str:
    """The name of an arm's option, without its settings or encoder."""
    return arm.partition("(")[0]


def _cell(job: Job, axis: str) -> str:
    """An axis of a job with its interval, and over how many cases it is."""
    return _entry(job.summary["axes"].get(axis))


def _entry(entry: Mapping[str, Any] | None) -> str:
    cell = entry_cell(entry)
    if entry is None or entry["mean"] is None:
        return "–"
    return f"{cell.brief or cell.text} (n {entry['n']})"


def _gist(job: Job) -> str:
    entry = job.summary["axes"].get("gist")
    if entry is None or entry["mean"] is None:
        return "–"
    return f"{entry['mean']:.2f} (n {entry['n']})"
