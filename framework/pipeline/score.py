"""The axes of one case, with what they rest on and what the judge said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from framework.contracts import Axis, Scored, maybe_await
from framework.models.client import track_usage_as
from framework.pipeline.recording_judge import RecordingJudge


@dataclass(slots=True, kw_only=True)
class Measured:
    """The axes of one case: values, evidence by axis, the judge's verdicts and what a row says."""

    values: dict[str, float | None] = field(default_factory=dict)
    evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    outcome: dict[str, Any] = field(default_factory=dict)


def outcome_of(scored: Scored, values: Mapping[str, float | None]) -> dict[str, Any]:
    """What a row says of itself beside its axes, whose `values` these are; see `Row`."""
    gold, axis, answer = scored.case.gold, scored.domain.success_axis, scored.answer
    kept = all(scored.retained[item.id] for item in gold.required) if gold.items else None
    return {
        "success": values.get(axis) if axis else None,
        "sufficient": scored.sufficient,
        "all_retained": kept,
        "determined": None if answer is None else not answer.defaulted,
    }


async def score_axes(axes: Iterable[Axis[Any]], scored: Scored) -> Measured:
    """The axes of one case; without an answer, those that need none. Call inside `track_usage`.

    An axis that uses the embedder gets it, and books on the phase `measure`.
    """
    recorder = None if scored.judge is None else RecordingJudge(scored.judge)
    given = replace(scored, judge=recorder)
    without = replace(given, embedder=None)
    measured = Measured()
    for axis in axes:
        if scored.answer is not None or not axis.needs_answer:
            if axis.uses_embedder:
                with track_usage_as("measure"):
                    score = await maybe_await(axis.score(given))
            else:
                score = await maybe_await(axis.score(without))
            measured.values.update(score.values)
            measured.evidence[axis.name] = score.evidence
            if recorder is not None:
                measured.verdicts += [{"axis": axis.name, **v} for v in recorder.verdicts]
                recorder.verdicts.clear()
    measured.outcome = outcome_of(scored, measured.values)
    return measured
