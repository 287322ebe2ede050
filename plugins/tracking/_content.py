"""What of a finished run or sweep goes to MLflow, as plain data: nothing here knows MLflow.

Names. Parameters: `arch` is the label of results, `arch.k1` a setting that is not the plugin's
default, `declared_inputs` what the arm was told; every setting is in config.yaml. Metrics: see
`_metrics`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.analysis.evidence import of_run, of_sweep, printed_names
from framework.config import plan
from framework.errors import UserError
from framework.records import FIRST_VERSION
from framework.registry import Plugin, identity_of, settings_of
from framework.reporting.blocks import Block, Note, Text
from framework.reporting.format import declared_inputs
from framework.reporting.markdown import blocks_markdown
from framework.reporting.sections.conditions import budget_flags, gate_lines
from framework.reporting.sections.overview import axes_table, main_tables, notes
from framework.reporting.sections.verdict import verdict
from framework.store import FINISHED, JOURNAL, MANIFEST, JournalEvent
from framework.store.directory import (
    ANSWERS,
    COMPARISON,
    CONFIG,
    FIGURES,
    HTML,
    MARKDOWN,
    ROWS,
    SWEEP,
    SWEEP_PLAN,
)
from framework.store.former import read_json
from framework.store.segments import STATE, n_closed, names
from framework.store.state import SUMMARY, first_event, read_report, read_summary
from framework.text.canonical import canonical_json, digest_bytes
from plugins.tracking._glance import sweep_name
from plugins.tracking._metrics import Metrics, run_metrics, sweep_metrics, word

LONGEST_PARAM: Final = 6_000
"""Characters of a parameter's value that MLflow keeps; it cuts the rest without a word."""
LONGEST_DATA_DIGEST: Final = 36
LONGEST_DATA_NAME: Final = 500
LARGEST_ARTIFACT: Final = 100 * 2**20
"""Bytes of a file that is still uploaded."""
NOTE: Final = "mlflow.note.content"
"""The tag that the page of a run shows as its description, in Markdown."""
LONGEST_NOTE: Final = 7_000
"""Characters of a note: MLflow keeps 8,000 of a tag."""
CANDIDATE: Final = "candidate_key"
"""The tag by which a draft's run is found again: the loop's head hash and the draft's number."""


_LOOP: Final = "improve"
"""The protocol whose drafts are runs of their own in MLflow."""
_OF_A_RUN: Final = (
    *(CONFIG, MANIFEST, SUMMARY, ROWS, JOURNAL, ANSWERS, HTML, MARKDOWN),
    f"{_LOOP}.json",
)
_OF_A_SWEEP: Final = (SWEEP, COMPARISON, SWEEP_PLAN, HTML, MARKDOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What the cases were made from: the domain's label, digest and provenance."""

    name: str
    digest: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One MLflow run: times are UTC in milliseconds, files are absolute paths.

    `pictures` go into a folder of their own. `whole` is False for a sweep with jobs that have no
    result yet.
    """

    name: str
    started: int
    finished: int
    params: Mapping[str, str]
    metrics: Metrics
    tags: Mapping[str, str]
    files: Sequence[Path]
    pictures: Sequence[Path] = ()
    data: Data | None = None
    whole: bool = True


def run_upload(directory: Path) -> Upload:
    """What of a finished run is uploaded. Raises UserError when the run is not finished."""
    started, finished = _ends(directory)
    summary = read_summary(directory)
    held = tuple(directory / name for name in (JOURNAL, ANSWERS, ROWS, STATE))
    closed = names(held, n_closed(directory / JOURNAL))
    files, left_out = _files(directory, (*_OF_A_RUN, *closed))
    run = summary["run"]
    tags = {
        "head_hash": finished["hash"],
        "identity": run["digest"],
        "model_kind": run["model_kind"],
        "judge_kind": run["judge_kind"],
        "answered_by": run.get("answered_by") or run["model"],
        "gate": _gate(summary["gate"]),
        "domain_version": started.payload["data"].get("version", FIRST_VERSION),
        "directory": directory.name,
        NOTE: _run_note(summary, left_out),
        **_listed(artifacts_left_out=left_out),
    }
    return Upload(
        name=f"{run['domain']} {_printed(summary)} {run['budget']}",
        started=_milliseconds(started.time),
        finished=_milliseconds(finished["time"]),
        params=_run_params(started.payload, summary),
        metrics=run_metrics(summary),
        tags=tags,
        files=files,
        pictures=_pictures(directory),
        data=_data(run["domain"], started.payload["data"]),
    )


def sweep_upload(directory: Path) -> Upload:
    """What of a sweep goes to its parent run. Raises UserError when it has no results yet."""
    try:
        sweep = read_json((directory / SWEEP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{directory} has no {SWEEP}: no job of it is finished") from None
    jobs: list[Mapping[str, Any]] = sweep["jobs"]
    ends = [_ends(directory / job["directory"]) for job in jobs]
    files, left_out = _files(directory, _OF_A_SWEEP)
    kinds = sorted({job["run"]["model_kind"] for job in jobs})
    tags = {
        "model_kind": ", ".join(kinds),
        "directory": directory.name,
        "budget_flags": str(len(sweep["budget_flags"])),
        "baseline": str(sweep["baseline"]),
        NOTE: _sweep_note(sweep),
        **_listed(artifacts_left_out=left_out),
    }
    if judged := sweep.get("prereg"):
        outcomes = (f"{v['hypothesis']['name']} {v['outcome']}" for v in judged["verdicts"])
        tags["prereg"] = f"{judged['plan']['name']}: {', '.join(outcomes) or 'not judged'}"
        tags["prereg_flags"] = str(len(judged["flags"]))
    return Upload(
        name=sweep_name(sweep),
        started=min(_milliseconds(first.time) for first, _ in ends),
        finished=max(_milliseconds(last["time"]) for _, last in ends),
        params=_common_params(jobs),
        metrics=sweep_metrics(sweep),
        tags=tags,
        files=files,
        pictures=_pictures(directory),
        data=_shared_data(jobs, ends[0][0].payload["data"]),
        whole=not sweep["unfinished"],
    )


def _listed(**lines: Sequence[str]) -> dict[str, str]:
    """The tags of which there is something to say."""
    return {tag: "; ".join(found) for tag, found in lines.items() if found}


def _ends(directory: Path) -> tuple[JournalEvent, dict[str, Any]]:
    """The first and the last event of a finished run's journal, whatever its length."""
    path = directory / JOURNAL
    first = first_event(directory)
    try:
        with path.open("rb") as file:
            size = block = file.seek(0, 2)
            tail = b""
            for block in (2**16, 2**22, size):
                file.seek(max(0, size - block))
                tail = file.read()
                if b"\n" in tail[:-1] or block >= size:
                    break
        last = read_json(tail.rstrip(b"\n").rpartition(b"\n")[2])
    except ValueError:
        last = {}
    if last.get("type") != FINISHED:
        raise UserError(f"{directory} is not finished; resume it with resume={directory}")
    return first, last


def _data(domain: str, data: Mapping[str, Any]) -> Data:
    provenance = {key: data[key] for key in ("source", "revision", "licence", "citation")}
    short = data["digest"].removeprefix("sha256:")[:LONGEST_DATA_DIGEST]
    return Data(name=domain[:LONGEST_DATA_NAME], digest=short, source=canonical_json(provenance))


def _printed(summary: Mapping[str, Any]) -> str:
    """The arm as results show it."""
    label = str(summary["run"]["arch"])
    return printed_names([summary]).get(label, label)


def _shared_data(jobs: Sequence[Mapping[str, Any]], data: Mapping[str, Any]) -> Data | None:
    """The data of a sweep over one domain: the list of runs shows it beside the name."""
    names = {job["run"]["domain"] for job in jobs}
    return _data(names.pop(), data) if len(names) == 1 else None


def _milliseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp() * 1000)


def _run_params(started: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, str]:
    """Labels, each setting that is not its plugin's default, and what the arm was told.

    MLflow compares runs by their first parameters that differ: settings that only follow from
    another arm's plugin would hide those that were chosen. config.yaml has them all.
    """
    plan_ = plan(started["config"], started["overrides"])
    params: dict[str, str] = {}
    for key, value in plan_.identity.items():
        if isinstance(value, Mapping):
            params[key] = _value(plan_.label(key))
            usual = _defaults(plan_.parts[key].plugin)
            params |= {
                f"{key}.{name}": _value(inner)
                for name, inner in value.items()
                if name != "plugin" and (name not in usual or usual[name] != inner)
            }
        else:
            params[key] = _value(value)
    if told := declared_inputs(summary["budget_use"]):
        params["declared_inputs"] = told
    return {"/".join(word(w) for w in key.split("/")): v for key, v in params.items()}


def _defaults(plugin: Plugin) -> Mapping[str, Any]:
    """A plugin's settings when nothing is given, as they stand in the identity of a run."""
    try:
        return identity_of(plugin, settings_of(plugin, {}))
    except UserError:  # one of them has to be given
        return {}


def _common_params(jobs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the jobs of a sweep are made of: one value, or all that were compared."""
    params = {}
    for key in jobs[0]["run"]:
        if key != "digest":
            values = dict.fromkeys(_value(job["run"][key]) for job in jobs)
            params[key] = _cut(", ".join(values))
    return params


def _value(value: object) -> str:
    return _cut(value if isinstance(value, str) else canonical_json(value))


def _cut(text: str, whole: str = CONFIG) -> str:
    """The text, or where it is too long its digest: the whole is in an artifact."""
    if len(text) <= LONGEST_PARAM:
        return text
    return f"{digest_bytes(text.encode())} ({len(text)} characters, in full in {whole})"


def _files(directory: Path, names: Iterable[str]) -> tuple[list[Path], list[str]]:
    """The files that are there, and a line for each that is too large to go."""
    files, left_out = [], []
    for name in names:
        path = directory / name
        if not path.is_file() or path.is_symlink():  # a link may be to anything
            continue
        size = path.stat().st_size
        if size <= LARGEST_ARTIFACT:
            files.append(path.absolute())
        else:
            left_out.append(f"{name} ({size / 2**20:.0f} MiB) is in the run directory only")
    return files, left_out


def _pictures(directory: Path) -> list[Path]:
    """The figures of a report, in order."""
    found = (directory / FIGURES).glob("*.*g") if not (directory / FIGURES).is_symlink() else ()
    return sorted(path.absolute() for path in found if not path.is_symlink())


def _gate(gate: Mapping[str, Any]) -> str:
    if gate["passed"] is None:
        return f"{gate['name']}: {gate['reason'] or 'no verdict'}"[:500]
    return f"{gate['name']}: {'passed' if gate['passed'] else 'failed'}"


def _run_note(summary: Mapping[str, Any], left_out: Sequence[str]) -> str:
    """The headline with its intervals, and what kind of evidence each number is."""
    evidence = of_run(summary)
    (job,) = evidence.jobs
    return _note(
        [
            *verdict(evidence),
            *notes(evidence),
            axes_table(job, "headline", whole=False),
            *gate_lines(evidence),
            Text(f"Failed cases: {summary['errors']['n']}."),
            *(Note(f"Left out: {line}.") for line in left_out),
        ]
    )


def _sweep_note(sweep: Mapping[str, Any]) -> str:
    """The main tables; the paired comparisons are in comparison.csv."""
    evidence = of_sweep(sweep)
    said = f"The report: {HTML}. Paired comparisons on the same cases: {_concluded(sweep)}"
    blocks = [
        *verdict(evidence),
        *notes(evidence),
        Text(said),
        *budget_flags(evidence),
        *main_tables(evidence),
    ]
    return _note(blocks)


def _note(blocks: Iterable[Block]) -> str:
    """Blocks in Markdown, cut after a line where they are too long."""
    text = blocks_markdown(blocks, brief=True)
    if len(text) <= LONGEST_NOTE:
        return text
    return f"{text[:LONGEST_NOTE].rpartition(chr(10))[0]}\n\nMore in the report."


def _concluded(sweep: Mapping[str, Any]) -> str:
    """How many comparisons came out how, and where each stands."""
    rows = of_sweep(sweep).over_seeds.sweep["comparisons"]
    found = Counter(row["conclusion"] for row in rows)
    said = ", ".join(f"{n} {conclusion}" for conclusion, n in sorted(found.items()))
    return f"{said or 'none'}; each is in {COMPARISON}."


def draft_uploads(directory: Path, parent: Upload) -> list[Upload]:
    """One upload a draft, empty for a run that is no loop. Times are those of the whole loop."""
    results = read_report(directory, _LOOP)
    return [] if results is None else [_draft(entry, parent) for entry in results["candidates"]]


def _draft(entry: Mapping[str, Any], parent: Upload) -> Upload:
    params = {
        "seam": entry.get("seam"),
        "regime": entry["regime"],
        "stage": entry["stage"],
        "reason": entry["reason"],
        "candidate": entry.get("candidate"),
        "payload": canonical_json(entry["payload"]) if "payload" in entry else None,
    }
    metrics = Metrics()
    for split in ("optimize", "confirm"):
        for name in ("fixed", "broken", "net", "delta", "bound"):
            metrics.add([split, name], entry.get(split, {}).get(name))
    return Upload(
        name=f"draft {entry['number']}: {entry['outcome']}",
        started=parent.started,
        finished=parent.finished,
        params={k: _cut(str(v), f"{_LOOP}.json") for k, v in params.items() if v},
        metrics=metrics,
        tags={
            CANDIDATE: f"{parent.tags['head_hash']}:{entry['number']}",
            "outcome": entry["outcome"],
            "stage": entry["stage"],
        },
        files=(),
    )
