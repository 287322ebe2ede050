"""The axes of one case, with what they rest on and what the judge said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from framework.contracts import Axis, Scored, maybe_await
from framework.models.client import track_usage_as
from framework.pipeline.recording_judge import RecordingJudge
from framework.records import AxisScore


@dataclass(slots=True, kw_only=True)
class Measured:
    """The axes of one case: values, evidence by axis, the judge's verdicts and what a row says.

    of_others : by further view, the verdicts on the answer from it, where it was asked about.
    """

    values: dict[str, float | None] = field(default_factory=dict)
    evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    of_others: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
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


def scored_together(
    axes: Sequence[type[Axis[Any]]], names: Collection[str], success_axis: str
) -> list[str]:
    """Of axes these names, and all that rest on one verdict with them: which answers are right.

    These are, where a judge fills the domain's `success_axis`, the axis that has it and those that
    have columns `of_success`.
    """
    judged = any(success_axis in axis.judged for axis in axes)
    bound = {a.name for a in axes if judged and (a.of_success or success_axis in a.judged)}
    wanted = {*names, *(bound if bound & set(names) else ())}
    return [*(a.name for a in axes if a.name in wanted), *(wanted - {a.name for a in axes})]


async def score_axes(axes: Iterable[Axis[Any]], scored: Scored) -> Measured:
    """The axes of one case; without an answer, those that need none. Call inside `track_usage`.

    An axis that uses the embedder gets it, and books on the phase `measure`. The verdict on which
    answers are right comes first, of answers from other views too.
    """
    recorder = None if scored.judge is None else RecordingJudge(scored.judge)
    given = replace(scored, judge=recorder)
    measured = Measured()
    says = scored.domain.success_axis
    for axis in sorted(axes, key=lambda axis: says not in axis.judged):
        if scored.answer is not None or not axis.needs_answer:
            score = await _score(axis, given)
            measured.values.update(score.values)
            measured.evidence[axis.name] = score.evidence
            measured.verdicts += _told(axis, recorder)
            if says in axis.judged:
                given = replace(given, success=score.values[says])
                others = {}
                async for name, other in _judged_others(axis, given):
                    others[name] = other
                    if verdicts := _told(axis, recorder):
                        measured.of_others[name] = verdicts
                given = replace(given, others=others)
    measured.outcome = outcome_of(scored, measured.values)
    return measured


async def _judged_others(axis: Axis[Any], scored: Scored) -> AsyncIterator[tuple[str, Scored]]:
    """The case from each other view with what the judge makes of its answer, asked about once."""
    known = [(scored.answer, scored.success)]
    for name, other in scored.others.items():
        found = [success for answer, success in known if answer == other.answer]
        if not found:
            asked = replace(other, judge=scored.judge)
            found = [(await _score(axis, asked)).values[scored.domain.success_axis]]
            known.append((other.answer, found[0]))
        yield name, replace(other, success=found[0])


def _told(axis: Axis[Any], recorder: RecordingJudge | None) -> list[dict[str, Any]]:
    """The verdicts since it was last asked for them."""
    if recorder is None:
        return []
    told = [{"axis": axis.name, **verdict} for verdict in recorder.verdicts]
    recorder.verdicts.clear()
    return told


async def _score(axis: Axis[Any], scored: Scored) -> AxisScore:
    if not axis.uses_embedder:
        return filled(axis, await maybe_await(axis.score(replace(scored, embedder=None))))
    with track_usage_as("measure"):
        return filled(axis, await maybe_await(axis.score(scored)))


def filled(axis: Axis[Any], score: AxisScore) -> AxisScore:
    """The score, where it fills the axis's columns and no others with finite numbers or None.

    Raises TypeError or ValueError naming the axis and the column.
    """
    if not isinstance(score, AxisScore):
        raise TypeError(f"{_named(axis)}: score gives {type(score).__name__}, not AxisScore")
    values: Mapping[str, Any] = score.values
    if values.keys() != set(axis.names):
        differing = ", ".join(sorted(map(str, set(values) ^ set(axis.names))))
        raise ValueError(f"{_named(axis)}: columns filled and declared differ: {differing}")
    for name, value in values.items():
        if value is None:
            continue
        if not isinstance(value, (float, int)) or isinstance(value, bool):
            raise TypeError(f"{_named(axis)}: {name} is {value!r}: float or None expected")
        if not isfinite(value):
            raise ValueError(f"{_named(axis)}: {name} is {value}")
    return score


def _named(axis: Axis[Any]) -> str:
    return f"axis {getattr(axis, 'name', type(axis).__qualname__)}"
