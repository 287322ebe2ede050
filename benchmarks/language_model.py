"""A language model on board, measured: `make lm`, or `make lm REPLAY=1` from recorded answers.

`make lm-all` asks the same model about more: the other arms' views with the gold put in and taken
out, loans at the moderate budget, governed tasks, questions about chats and over passages, and an
arm that writes with the model. That takes hours.

The sweeps are +experiment=language_model without the intervention, and with it for two arms; both
share what the model answered. Without --replay it asks the model in the process, goes on
where it was cut off, and says at the end how many answers are those that were recorded. With
--replay it takes every answer and vector from the shipped files, needs neither model nor encoder,
and gives the same rows on every machine.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.results import table as table_of_sweep
from framework.analysis.evidence import Job
from framework.errors import UserError
from framework.reporting.cells import entry_cell
from framework.reporting.format import mark_of
from framework.reporting.markdown import put_between_markers
from framework.statistics.intervals import mean_interval
from framework.store.answers import answer_records
from framework.store.directory import ANSWERS
from framework.store.state import FinishedRun, read_run
from framework.text.reading import read_json
from plugins.models.local.model import PACKAGED
from plugins.sections.confidence import reliability_of

ROOT: Final = Path(__file__).resolve().parent.parent
RECORDED: Final = ROOT / "benchmarks" / "recorded" / "language_model"
FILES: Final = ("responses.sqlite", "vectors.sqlite")
"""Where a sweep's answers and vectors are kept; shipped ones of the first are packed by xz."""
SHORT: Final = (
    "arm", "does not fit", "unreadable", "success", "p_ret", "kappa", "effect of the gold",
    "commonest decision",
)  # fmt: skip
"""The columns of the front page's table."""
CASES: Final = 20
ARMS: Final = ("none", "bm25", "dense", "typed_graph", "dpm", "oracle")
INTERVENED: Final = ("bm25", "typed_graph")
"""The arms of `make lm` whose views are read with the gold put in and taken out, too."""
_LEVEL: Final = 0.05
_AT_QUERIES: Final = ("calls at queries", "unreadable at queries")
HASHED: Final = "embedder=hashing"
"""Of a sweep without an encoder, which then has no vectors to keep."""
_ORDER: Final = {
    "locomo": ("domain.order=mixed",),
    "regulation_updates": ("domain.order=in_turns",),
}
"""Of a set whose first questions are not of every kind."""
_CORPUS: Final = (
    "domain=governance",
    "domain.depths=[1,2,3,4]",
    "domain.items=60",
    "domain.tasks_per_history=3",
    "protocol=retrieve",
)
"""Of memories that the model writes: one corpus, three tasks."""
FURTHER: Final[Mapping[str, Sequence[str]]] = {
    "hotpotqa": (
        "domain=hotpotqa",
        "budget=absolute",
        "budget.tokens=1000",
        "arch=none,bm25,dense,oracle",
    ),
    "longmemeval": (
        "domain=longmemeval_synthetic",
        "budget=absolute",
        "budget.tokens=1000",
        "arch=none,bm25,dense,oracle",
    ),
    "governance": (
        "domain=governance",
        "domain.depths=[1,2,3,4]",
        "domain.items=200",
        "budget=absolute",
        "budget.tokens=1000",
        "arch=none,bm25,dense,typed_graph,oracle",
    ),
    "interventions": (),
    "loan_moderate": ("budget=moderate",),
    "summ_only": ("arch=summ_only", "baseline=null", "model.max_tokens_of={summarize:600}"),
    "sessions": (
        "domain=codebase",
        "protocol=sessions",
        "protocol.turns=2",
        "arch=none,bm25,typed_graph,full_context,consolidate",
        "baseline=typed_graph",
        HASHED,
    ),
    "extraction": (
        "domain=governance",
        "domain.naming=explicit",
        "domain.depth=3",
        "domain.items=200",
        "protocol=evaluate",
        "budget=absolute",
        "budget.tokens=2000",
        "arch=none,bm25,typed_graph_pruned,oracle",
        "extractor=rules,model",
        "extractor.candidates=4",
        HASHED,
    ),
    "longhorizon": (
        "domain.tokens=2000",
        "protocol=evaluate",
        "reader=commit,verified",
        "arch=none,summ_only,retr_only_fifo,typed_routing,typed_routing_full,misrouted,dpm,oracle,"
        "full_context",
        "baseline=summ_only",
        "model.max_tokens_of={summarize:600,project:600}",
        HASHED,
    ),
    "memories": (
        *_CORPUS,
        "budget=tight,moderate,loose",
        "arch=none,consolidate,linked_notes,raptor",
        "baseline=none",
        "model.max_tokens=300",
        "model.max_tokens_of={take_note:600}",
        HASHED,
    ),
    "triples": (
        *_CORPUS,
        "budget=tight,moderate,loose",
        "arch=graph_ppr",
        "arch.phrases=model",
        "baseline=null",
        "model.max_tokens=600",
        HASHED,
    ),
    "paged": (
        *_CORPUS,
        "budget=tight",
        "arch=paged",
        "arch.searches=3",
        "baseline=null",
        "model.max_tokens=300",
        "model.max_tokens_of={summarize:600}",
        HASHED,
    ),
    **{
        f"answers_{domain}": (
            f"domain={domain}",
            "protocol=evaluate",
            "budget=absolute",
            "budget.tokens=500",
            "arch=none,bm25,dense,hybrid_rrf,oracle",
            *_ORDER.get(domain, ()),
        )
        for domain in ("airline_fees", "regulation_updates", "veterans", "locomo", "hotpotqa")
    },
}
"""The sweeps of `make lm-all`, by name: what each overrides of the experiment.

The last five are answers to cases whose gold others gave: an arm's view, and no intervention.
"""
FURTHER_CASES: Final = 4
"""Of each of these sweeps: one for each depth of the governed tasks."""
ANSWERED_CASES: Final = 24
"""Of each of the sweeps named `answers_`."""
OWN: Final[Mapping[str, int]] = {
    "sessions": 10, "extraction": 10, "summ_only": 5, "memories": 3, "triples": 3,
    "paged": 3, "longhorizon": 2, "interventions": CASES,
}  # fmt: skip
"""Of those that have a number of their own: tasks, or cases."""
OF_SESSIONS: Final[Mapping[str, list[str]]] = {
    "sessions/resolution": ["Turns to"],
    "sessions/table14": ["Mean tokens"],
    "sessions/F065": ["Win rate of"],
}
"""By recipe, the tables of sessions; what has seconds in it is never the same twice."""
_FIRST: Final = ("interventions", "loan_moderate")
"""Those whose cases are of `make lm`: their answers are recorded beside its own."""
_MAY_BE_EMPTY: Final = ("amount", "confidence", "decisions", "notice", "provisions", "reasons")
"""Keys that prompts let a model leave empty or null, where a case has nothing for them."""
NEED_FILES: Final = ("hotpotqa", *(name for name in FURTHER if name.startswith("answers_")))
"""The sweeps that are left out without --path."""
NEED_ENCODER: Final = ("answers_veterans", "answers_locomo")
"""Those whose vectors are too many to be shipped: a replay of them needs the encoder."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or replay, and print the table. The status."""
    parser = argparse.ArgumentParser(prog="make lm", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="sweeps of --all; all without one")
    parser.add_argument("--replay", action="store_true", help="from the recorded answers alone")
    parser.add_argument("--cases", type=int, help=f"how many: {CASES}, with --all {FURTHER_CASES}")
    parser.add_argument(
        "--into", action="append", default=[], metavar="PATH#NAME",
        help="write the table there; where NAME ends in -short, its columns that tell most",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="more of it: hours")
    parser.add_argument("--path", help="of --all, for one NAME: the file of its domain")
    args = parser.parse_args(arguments)
    if args.all:
        return further(args)
    name = f"language_model_{args.cases or CASES}" + ("_replayed" if args.replay else "")
    words = [f"n_cases={args.cases or CASES}"]
    also = [*words, f"arch={','.join(INTERVENED)}"]
    made = measured(name, [*words, "protocol=evaluate"], args.replay, RECORDED, also=also)
    for place in args.into:
        put_between_markers(place, short(made) if place.endswith("-short") else made)
    return 0


def further(args: argparse.Namespace) -> int:
    """The sweeps of `make lm-all`, one after the other. The status."""
    for option in ("into", "path"):
        if getattr(args, option) and len(args.names) != 1:
            raise UserError(f"--{option}: for one table; name one sweep of --all")
    unknown = set(args.names) - FURTHER.keys()
    if unknown:
        raise UserError(f"no sweep {', '.join(sorted(unknown))}; there are {', '.join(FURTHER)}")
    for sweep_name in args.names or FURTHER:
        answers = sweep_name.startswith("answers_")
        cases = args.cases or (ANSWERED_CASES if answers else OWN.get(sweep_name, FURTHER_CASES))
        words = [f"n_cases={cases}", *FURTHER[sweep_name]]
        if sweep_name in NEED_FILES:
            if not args.path:
                print(f"{sweep_name}: left out without --path FILE", flush=True)
                continue
            words.append(f"domain.path={Path(args.path).absolute()}")
        name = f"lm_all_{cases}_{sweep_name}" + ("_replayed" if args.replay else "")
        recorded = RECORDED if sweep_name in _FIRST else RECORDED / "further"
        shipped = sweep_name not in NEED_ENCODER
        made = measured(name, words, args.replay, recorded, vectors=shipped)
        for place in args.into:
            put_between_markers(place, made)
    return 0


def measured(
    name: str,
    overrides: Sequence[str],
    replay: bool,
    recorded: Path,
    *,
    vectors: bool = True,
    also: Sequence[str] = (),
) -> str:
    """Make or replay a sweep, print its table and give it. Raises UserError where it fails.

    name : of its directory under `runs` and of its answers' under `.cache`.
    recorded : the directory of the answers and vectors that are shipped. vectors : whether those of
        the sweep are among them; else a replay asks the encoder. also : overrides of a second
        sweep, whose runs stand in the table in place of the first's of the same arms.
    """
    kept = Path(".cache") / name
    sweeps = {Path("runs") / name: overrides}
    if also:
        sweeps[Path("runs") / f"{name}_intervened"] = also
    if replay and not packed(recorded).is_file():
        raise UserError(f"{name}: its answers are not recorded")
    shared = replaying(kept, recorded, vectors=vectors) if replay else _kept_in(kept)
    for directory, words in sweeps.items():
        if replay:
            shutil.rmtree(directory, ignore_errors=True)
        own = [*words, *shared]
        if HASHED in own:
            own = [word for word in own if not word.startswith("embedder.")]
        sweep(directory, own)
    made = table(*sweeps)
    print(made, end="\n\n", flush=True)
    if not replay:
        with tempfile.TemporaryDirectory() as scratch:
            there = unpacked(recorded, Path(scratch) / FILES[0])
            print(agreement(kept / FILES[0], there), flush=True)
    return made


def replaying(kept: Path, recorded: Path, *, vectors: bool = True) -> list[str]:
    """Copy recorded answers and vectors to `kept`, and give what makes a sweep take all of them."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    unpacked(recorded, kept / FILES[0])
    shutil.copy(recorded / FILES[1], kept / FILES[1])
    return [*_kept_in(kept), "model.replay=true", *(["embedder.replay=true"] if vectors else [])]


def packed(recorded: Path) -> Path:
    return recorded / f"{FILES[0]}.xz"


def unpacked(recorded: Path, target: Path) -> Path:
    """Unpack the recorded answers, if there are any, and give the target."""
    if packed(recorded).is_file():
        with lzma.open(packed(recorded)) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file)
    return target


def _kept_in(kept: Path) -> list[str]:
    return [f"model.cache={kept / FILES[0]}", f"embedder.cache={kept / FILES[1]}"]


def sweep(directory: Path, overrides: Sequence[str]) -> None:
    """Run the sweep under these overrides, or go on with it. Raises UserError where it fails."""
    words = [f"resume={directory}"]
    if not directory.exists():
        words = [
            "-m",
            "+experiment=language_model",
            "tracking=none",
            "report=false",
            f"hydra.sweep.dir={directory}",
            *overrides,
        ]
    done = subprocess.run([sys.executable, str(ROOT / "run.py"), *words], stdout=subprocess.DEVNULL)
    if done.returncode:
        raise UserError(f"the sweep ended with status {done.returncode}; {directory} has its rows")


def table(directory: Path, also: Path | None = None) -> str:
    """What the runs of a sweep show of the model, by arm, in Markdown; an arm's of `also` first."""
    runs = _runs(directory)
    if also is not None:
        others = {run.summary["run"]["arch"]: run for run in _runs(also)}
        runs = [others.get(run.summary["run"]["arch"], run) for run in runs]
    first = runs[0].summary
    said = next((name for run in runs if (name := run.summary["run"]["answered_by"])), "")
    n = first["run"]["n_cases"]
    under = f"{first['run']['domain']}, budget {first['run']['budget']}"
    caption = f"**{under}, {n} cases{said and f', {said}'}**"
    if str(first["run"]["protocol"]).startswith("sessions"):
        tables = table_of_sweep(directory.absolute(), dict(OF_SESSIONS))  # it runs elsewhere
        return "\n\n".join([caption, tables, *_not_asked(runs), _readable(runs) + _filled(runs)])
    if any(run.summary.get("extraction") for run in runs):
        caption = f"**{under}, {n} cases, edges and answers by {PACKAGED.described}**"
        return "\n\n".join([caption, _extraction(runs), _readable(runs) + _filled(runs)])
    if first["run"]["protocol"] == "retrieve":
        caption = f"**{first['run']['domain']}, {n} cases, memories by {PACKAGED.described}**"
        return f"{caption}\n\n{_memories(runs)}"
    columns = (
        "arm", "rows", "does not fit", "unreadable", "empty fields", "success", "p_ret", "kappa",
        "gold put in", "leak", "gold taken out", "effect of the gold", "commonest decision",
        "mean confidence", "calibration error (by chance)", "seconds a call",
    )  # fmt: skip
    body = _table(columns, map(_line, sorted(runs, key=_order)))
    below = f"{_constants(first)} {_smallest(n)} {_readable(runs)}{_filled(runs)}"
    return f"{caption}\n\n{body}\n\n{below}"


def _runs(directory: Path) -> list[FinishedRun]:
    return [read_run(path.parent) for path in sorted(directory.glob(f"*/{ANSWERS}"))]


def short(made: str) -> str:
    """A table that `table` made, of the columns `SHORT` alone."""
    lines = made.splitlines()
    cells = [line.strip("| ").split(" | ") if line.startswith("|") else [] for line in lines]
    head = next(filter(None, cells))
    kept = [head.index(name) for name in SHORT]
    return "\n".join(
        f"| {' | '.join(of[place] for place in kept)} |" if of else line
        for line, of in zip(lines, cells, strict=True)
    )


def _extraction(runs: Sequence[FinishedRun]) -> str:
    """What an extractor found, by kind and relation, and what its arm then shows and leads to."""
    lines = []
    for run in sorted(runs, key=lambda run: str(run.summary["run"]["arch"])):
        summary = run.summary
        asked = summary["ledger"].get("ingest", {})
        shown = ("p_ret", summary["success_axis"], "kappa")
        cells = [entry_cell(summary["axes"].get(name)) for name in shown]
        lines.append([
            str(summary["run"]["arch"]), *(cell.brief or cell.text for cell in cells),
            *(str(asked.get(name, 0)) for name in ("calls", "unreadable")),
            f"{asked['seconds'] / asked['calls']:.0f}" if asked.get("calls") else "–",
        ])  # fmt: skip
    arms = (
        "arm", "p_ret", "success", "kappa", "documents asked about", "unreadable", "seconds a call",
    )  # fmt: skip
    edges = ("relation or kind", "given", "found", "right", "precision", "recall")
    parts = [_table(arms, lines)]
    for run in runs:
        if found := run.summary.get("extraction"):
            counts = [
                [type_, *(f"{c[side]:,}" for side in ("given", "found", "right")),
                 _two_digits(c["precision"]), _two_digits(c["recall"])]
                for types in found.values()
                for type_, c in types.items()
            ]  # fmt: skip
            parts.append(f"*{run.summary['run']['arch']}*\n\n{_table(edges, counts)}")
    return "\n\n".join(parts)


def _memories(runs: Sequence[FinishedRun]) -> str:
    """What memories that the model wrote retain at each budget, and what they took of it.

    Where one asks the model at a query too, that is told in two columns more.
    """
    by_arm: dict[str, dict[str, FinishedRun]] = {}
    for run in runs:
        by_arm.setdefault(str(run.summary["run"]["arch"]), {})[run.summary["run"]["budget"]] = run
    budgets = sorted(next(iter(by_arm.values())), key=("tight", "moderate", "loose").index)
    asks = any("recall" in run.summary["ledger"] for run in runs)
    lines = []
    for arm, of in sorted(by_arm.items()):
        kept = [entry_cell(of[budget].summary["axes"]["p_ret"]) for budget in budgets]
        ledger = of[budgets[0]].summary["ledger"]  # the same at each budget
        usage, queries = ledger.get("ingest", {}), ledger.get("recall", {})
        calls, unreadable, seconds = (usage.get(n, 0) for n in ("calls", "unreadable", "seconds"))
        lines.append([
            arm,
            *(cell.brief or cell.text for cell in kept),
            str(calls),
            str(unreadable),
            f"{seconds / calls:.0f}" if calls else "–",
            *(str(queries.get(name, 0)) for name in ("calls", "unreadable") if asks),
        ])  # fmt: skip
    columns = ("arm", *(f"p_ret {budget}" for budget in budgets))
    own = ("calls", "unreadable", "seconds a call", *(_AT_QUERIES if asks else ()))
    return _table((*columns, *own), lines)


def _two_digits(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    cells = [columns, ("---",) * len(columns), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def _not_asked(runs: Sequence[FinishedRun]) -> Iterator[str]:
    """Of the arms that tables of sessions leave out, why: their prompts do not fit."""
    for run in runs:
        if states := [row.state for row in run.rows if row.state]:
            told = f"{len(states)} of {len(run.rows)} turns ({max(states)})"
            yield f"`{_arm(run.summary)}` was not asked in {told}."


def _place(arm: str) -> int:
    return ARMS.index(arm) if arm in ARMS else len(ARMS)


def _order(run: FinishedRun) -> tuple[int, str, str]:
    """Of rows: digests, which name directories, are others where the model is not installed."""
    of = run.summary["run"]
    return _place(_arm(run.summary)), str(of["arch"]), str(of["reader"])


def _arm(summary: Mapping[str, Any]) -> str:
    return str(summary["run"]["arch"]).partition("(")[0]


def _line(run: FinishedRun) -> tuple[str, ...]:
    path, summary, rows = run.path, run.summary, run.rows
    answered = [row for row in rows if not row.error and not row.state]
    axes, n = summary["axes"], len(rows)
    counts = Counter(row.decision for row in answered if row.decision)
    decisions = sorted(counts.items(), key=lambda of: (-of[1], of[0]))  # rows come as they are done
    answers = list(_answers(path))
    sure = [float(a["confidence"]) for a in answers if a["confidence"] is not None]
    said = list(_said(path, ("answer",)))
    empty = sum(not _is_filled(response) for response in said)
    unreadable = sum("unreadable" in row.error for row in rows)
    usage = summary["ledger"].get("answer", {})
    seconds = usage.get("seconds", 0.0) / usage["calls"] if usage.get("calls") else None
    states = [row.state for row in rows if row.state]
    shown = (summary["success_axis"], "p_ret", "kappa", "kappa_inserted", "leak", "leak_removed")
    cells = [entry_cell(axes.get(name)) for name in shown]
    reader = summary["run"]["reader"]
    return (
        str(summary["run"]["arch"]) + (f", {reader}" if reader != "commit" else ""),
        str(n),
        f"{len(states)} ({max(states)})" if states else "0",
        str(unreadable),
        f"{empty} of {len(said)}" if said else "–",
        *(cell.brief or cell.text for cell in cells),
        _difference(axes.get("use_effect")),
        f"{decisions[0][0]}, {decisions[0][1]} of {len(answered)}" if decisions else "–",
        f"{sum(sure) / len(sure):.2f}" if sure else "–",
        _calibration(run),
        f"{seconds:.0f}" if seconds else "–",
    )


def _difference(entry: Mapping[str, Any] | None) -> str:
    """A mean of differences within cases, with its limits where any are claimed."""
    if entry is None or entry["mean"] is None:
        return "–"
    shown = f"{entry['mean']:+.2f}{mark_of(entry)}"
    if entry["ci_low"] is None:
        return shown
    return f"{shown} {entry['ci_low']:+.2f} to {entry['ci_high']:+.2f}"


def _calibration(run: FinishedRun) -> str:
    """The expected calibration error, and that of as sure an arm that is calibrated."""
    found = reliability_of(
        Job(path=run.path, summary=run.summary, manifest=run.manifest, rows=run.rows)
    )
    if found is None or found.ece is None:
        return "–"
    chance = f" ({found.ece_by_chance:.2f})" if found.ece_by_chance is not None else ""
    return f"{found.ece:.2f}{chance}"


def _answers(path: Path) -> Iterable[Mapping[str, Any]]:
    for record in answer_records(path):
        if answer := record.get("answer"):
            yield answer


def _constants(summary: Mapping[str, Any]) -> str:
    shares = summary["constants"]
    if not shares:
        return "No constant decision is defined."
    best = next(iter(shares))
    return f"Always answering {best} would be right in {shares[best]:.2f} of the cases."


def _readable(runs: Sequence[FinishedRun]) -> str:
    """How many of all its answers could be read, at once or when asked for again.

    An answer that several cases have in common, as their prompts are the same, counts for each.
    """
    of = [run.summary["ledger"]["total"] for run in runs]
    asked = sum(usage["calls"] - usage["repairs"] for usage in of)
    if not asked:
        return "Nothing was asked of it."
    read = asked - sum(usage["unreadable"] for usage in of)
    return f"Readable: {_share(read, asked)}."


def _filled(runs: Sequence[FinishedRun]) -> str:
    """How many of the answers that were asked for, from every view, lack no required field."""
    said = [response for run in runs for response in _said(run.path, ("answer", "control"))]
    if not said:
        return ""
    return f" No required field empty: {_share(sum(map(_is_filled, said)), len(said))}."


def _said(path: Path, phases: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The model's answers to cases, key by key as it gave them: those that are objects of JSON."""
    for record in answer_records(path):
        for prompt in record.get("prompts", ()):
            if prompt["phase"] in phases:
                try:
                    said = read_json(prompt["response"])
                except ValueError:
                    continue  # it counts as unreadable
                if isinstance(said, Mapping):
                    yield said


def _is_filled(said: Mapping[str, Any]) -> bool:
    """Whether each key that its form requires says something, down to the values of an edit.

    A case without fields has none to fill; of those it has, one that is not null is enough.
    """
    return all(_says(value) for key, value in said.items() if key not in _MAY_BE_EMPTY)


def _says(value: Any) -> bool:
    if isinstance(value, Mapping):
        return not value or any(entry is not None and _says(entry) for entry in value.values())
    if isinstance(value, list):
        inner = (e.values() if isinstance(e, Mapping) else (e,) for e in value)
        return bool(value) and all(_says(text) for texts in inner for text in texts)
    return not isinstance(value, str) or bool(value.strip())


def _share(k: int, n: int) -> str:
    found = mean_interval([1.0] * k + [0.0] * (n - k), seed=0)
    return f"{k} of {n} answers, {found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"


def _smallest(n: int) -> str:
    """What a paired comparison of so many cases can show at best."""
    k = next(k for k in range(1, 64) if 2 * 0.5**k <= _LEVEL)
    if k > n:
        return f"{n} pairs of cases can't show any difference at {_LEVEL}."
    return (
        f"Two arms must differ in at least {k} cases, all in one direction ({k / n:.2f} of {n}), "
        f"for a two-sided paired test at {_LEVEL}."
    )


def agreement(made: Path, recorded: Path) -> str:
    """How many of the answers made here are those that were recorded, and as sure."""
    if not recorded.is_file():
        return "no recorded answers to compare with"
    here, there = _texts(made), _texts(recorded)
    both = here.keys() & there.keys()
    same = sum(here[key] == there[key] for key in both)
    share = f" ({1 - same / len(here):.3f} of all differ or are new)" if both else ""
    return (
        f"{same} of {len(both)} answers are those recorded{share}; {len(here) - len(both)} are new"
    )


def _texts(path: Path) -> dict[str, tuple[str, float | None]]:
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT key, response FROM responses").fetchall()
    answers = {key: json.loads(response) for key, response in rows}
    return {key: (answer["text"], answer["confidence"]) for key, answer in answers.items()}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"make lm: {error}")
