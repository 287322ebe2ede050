"""MLflow GenAI: each answered case as a trace, and the cases as an evaluation dataset."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from framework.analysis.forms import model_free
from framework.config import stored_plan
from framework.contracts import RowKey
from framework.contracts.exporter import Exporter
from framework.engine.prepare import data_of
from framework.errors import UserError
from framework.records import Case, Gold, Row
from framework.registry import register
from framework.rows import cases_of
from framework.store import JOURNAL, read
from framework.store.answers import answer_records
from framework.store.state import State, data_differ, load_finished, read_summary

_LAST: Final = "control_and_score"
_PHASES: Final = ("ingest", "recall", "answer", _LAST)
"""What of a row's timing a trace is laid out by, in the order of the path."""
_SECOND: Final = 1_000_000_000
_SEARCHED: Final = 10_000
"""Cases of a domain among which those of a run are looked for."""
_BY_THREADS: Final = "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"


@register("exporter", "mlflow")
class MlflowGenAI(Exporter):
    """An SQLite file for `mlflow ui`, with one experiment named after the run.

    A trace is the path of one row: what memory recalled (documents with their ids), each request to
    a model with its response, and the answer. Its tags are the row's key and what its numbers rest
    on: `model_kind`, `answered_by`, `form_read`, `domain_version`. Its feedback is the run's
    headline axes and success, computed from code, and of a case in a form of wording that the model
    does not read only what needs no model; its expectations are what the right answer is. A span
    ends where the next begins: the phases' seconds are measured, their order is that of the path.
    The dataset has one record a case: task and view as inputs, the right answer as expectation, so
    that `mlflow.genai.evaluate` can ask another model about the same views.
    """

    opens = "mlflow ui --backend-store-uri sqlite:///{}"
    counts = "trace"
    of_cases = True

    def write(self, run: Path, path: Path, cases: Collection[str]) -> int:
        state = load_finished(run)
        rows = {row.key: row for row in state.rows if not cases or row.case_id in cases}
        if unknown := set(cases) - {row.case_id for row in rows.values()}:
            raise UserError(f"{run} has no case {min(unknown)!r}{cases_of(state.rows)}")
        if not rows:
            raise UserError(f"{run} holds no case")
        asked = _cases(state, {row.case_id for row in rows.values()})
        summary = read_summary(run)
        headline = [name for name in summary["headline"] if isinstance(name, str)]
        free = model_free(state.rows)
        records: dict[str, dict[str, Any]] = {}
        traces: dict[str, RowKey] = {}
        with _experiment(path, run.name) as experiment:
            for key, record, ended in _answered(state, rows):
                row, case = rows[key], asked[rows[key].case_id]
                traces[_trace(experiment, row, record, case, ended, summary["run"])] = key
                records[row.case_id] = _record(record, case)
            for trace, key in traces.items():
                row = rows[key]
                scores = {"success": row.success} | {name: row.axes.get(name) for name in headline}
                told = scores if row.form_read else {n: scores[n] for n in free & scores.keys()}
                _assess(trace, told, asked[row.case_id].gold)
            _dataset(run.name, experiment, list(records.values()))
        return len(rows)


def _cases(state: State, wanted: AbstractSet[str]) -> Mapping[str, Case]:
    """By id, the run's cases of these ids, made or read again by its domain."""
    top, domain = (plan := stored_plan(state)).top, plan.parts["domain"].create()
    if changed := data_differ(state.started.get("data"), data_of(domain)):
        raise UserError(f"{state.path} was made of other data than the domain now has: {changed}")
    found: dict[str, Case] = {}
    for n in (top.n_cases, _SEARCHED):  # a protocol may draw more than are asked for
        for case in domain.cases(n, top.seed):
            if wanted <= found.keys():
                break
            if case.id in wanted:
                found[case.id] = case
    if missing := wanted - found.keys():
        raise UserError(f"{state.path}: its domain has no case {min(missing)!r} any more")
    return found


def _answered(
    state: State, rows: Mapping[RowKey, Row]
) -> Iterator[tuple[RowKey, Mapping[str, Any], int]]:
    """Of each of the rows its stored answer and when it was finished, in nanoseconds."""
    ended: dict[RowKey, int] = {}
    for event in read(state.path / JOURNAL):
        if event.type == "case.finished":
            kept = event.payload["row"]
            key = tuple(kept[name] for name in ("case_id", "arm", "trial", "repeat"))
            ended[(*key, kept.get("turn", 0))] = round(_seconds(event.time) * 1000) * 1_000_000
    records: dict[RowKey, Mapping[str, Any]] = {}
    for record in answer_records(state.path):
        records[tuple(record["key"])] = record  # of a case that was run again the last one counts
    for key in rows:
        yield key, records[key], ended[key]


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


@contextmanager
def _experiment(path: Path, name: str) -> Iterator[str]:
    """A new file with one experiment, which MLflow's own calls go to inside; yields its id.

    What they write is there when they return: written by threads, a trace's spans may come before
    the trace, which MLflow then says it could not send, and what is said of it needs it there.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    logging.getLogger("mlflow").setLevel(logging.WARNING)
    before, threads = mlflow.get_tracking_uri(), os.environ.get(_BY_THREADS)
    os.environ[_BY_THREADS] = "false"
    try:
        mlflow.set_tracking_uri(f"sqlite:///{path}")  # what sends traces is made anew with it
        # Spans are in the database; the place is what `mlflow ui` serves for what comes later.
        yield mlflow.create_experiment(name, artifact_location="mlflow-artifacts:/decisionbench")
    finally:
        del os.environ[_BY_THREADS]
        if threads is not None:
            os.environ[_BY_THREADS] = threads
        mlflow.set_tracking_uri(before)


def _trace(
    experiment: str,
    row: Row,
    record: Mapping[str, Any],
    case: Case,
    ended: int,
    run: Mapping[str, Any],
) -> str:
    """Write a row's trace; return its id. run : what the summary says of the whole."""
    import mlflow
    from mlflow.entities import Document, SpanStatusCode
    from mlflow.entities.span import NO_OP_SPAN_TRACE_ID

    lasted = [round(row.timing.get(f"{name}_s", 0.0) * _SECOND) for name in _PHASES]
    begun = ended - sum(lasted)
    starts = [begun + after for after in accumulate([0, *lasted])]
    during = {phase: (starts[i], starts[i + 1]) for i, phase in enumerate(_PHASES)}
    key = {"arm": row.arm, "trial": row.trial, "repeat": row.repeat, "turn": row.turn}
    rests_on = {
        "model_kind": run["model_kind"],
        "answered_by": row.model or run["model"],
        "form_read": row.form_read,
        "domain_version": row.domain_version,
    }
    root = mlflow.start_span_no_context(
        f"case {row.case_id}",
        span_type="AGENT",
        inputs=_task(case),
        tags={n: str(value) for n, value in {"case": row.case_id, **key, **rests_on}.items()},
        experiment_id=experiment,
        start_time_ns=begun,
    )
    if (
        root.trace_id == NO_OP_SPAN_TRACE_ID
    ):  # which MLflow gives for whatever went wrong, and only logs
        raise UserError(f"MLflow made no trace of case {row.case_id}; is tracing switched off?")

    def step(name: str, kind: str, inputs: Any, outputs: Any, phase: str) -> None:
        start, end = during.get(phase, during[_LAST])
        span = mlflow.start_span_no_context(
            name, span_type=kind, parent_span=root, inputs=inputs, start_time_ns=start
        )
        span.set_outputs(outputs)
        span.end(end_time_ns=end)

    query = {"query": record.get("query") or case.task.query}
    view = [
        Document(item["text"], {"doc_uri": ", ".join(item["source_ids"])}, id=item["id"])
        for item in record.get("view", ())
    ]
    step("recall", "RETRIEVER", query, view, "recall")
    for said in record.get("prompts", ()):
        messages = {name: said[name] for name in ("system", "user") if said.get(name)}
        kind = run["judge_kind" if said["phase"] == "judge" else "model_kind"]
        # Rules are no model to MLflow either, which counts and prices what it calls one.
        type_ = "TASK" if kind == "rule-based" else "CHAT_MODEL"
        step(said["operation"], type_, messages, said["response"], said["phase"])
    root.set_outputs({"error": row.error} if row.error else record.get("answer"))
    code = SpanStatusCode.ERROR if row.error else SpanStatusCode.OK
    root.set_status(code)
    root.end(end_time_ns=ended)
    trace: str = root.trace_id
    return trace


def _assess(trace: str, scores: Mapping[str, float | None], gold: Gold) -> None:
    """Say of a trace what was measured of its row, and what is right."""
    import mlflow
    from mlflow.entities import AssessmentSource

    source = AssessmentSource(source_type="CODE", source_id="decisionbench")
    for name, value in scores.items():
        if value is not None:
            mlflow.log_feedback(trace_id=trace, name=name, value=float(value), source=source)
    for name, expected in _expected(gold).items():
        mlflow.log_expectation(trace_id=trace, name=name, value=expected, source=source)


def _task(case: Case) -> dict[str, str]:
    return {"instruction": case.task.instruction, "query": case.task.query}


def _record(record: Mapping[str, Any], case: Case) -> dict[str, Any]:
    memory = [item["text"] for item in record.get("view", ())]
    return {
        "inputs": {"case": case.id, **_task(case), "memory": memory},
        "expectations": _expected(case.gold),
    }


def _expected(gold: Gold) -> dict[str, Any]:
    """What is right, under the names that MLflow's own scorers read; nothing that is empty."""
    sources = dict.fromkeys(id_ for item in gold.items for id_ in item.source_ids)
    said: dict[str, Any] = {
        "expected_response": gold.decision or gold.answer,
        "reasons": list(gold.principal_reasons),
        "evidence": list(sources or dict.fromkeys(gold.evidence)),
    }
    return {name: value for name, value in said.items() if value}


def _dataset(name: str, experiment: str, records: Sequence[dict[str, Any]]) -> None:
    from mlflow.genai.datasets import create_dataset

    create_dataset(name=name, experiment_id=[experiment]).merge_records(list(records))
