"""`protocol=lifecycle`: each case a script that the arm is taken through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Final

from framework.contracts import Pipeline, RowKey, RunProtocol
from framework.records import Case, Row
from framework.registry import NoSettings, register
from plugins.protocols.lifecycle.lifetime import TIMINGS, over_its_life
from plugins.protocols.lifecycle.script import read_id

CERTIFIED: Final = "deletion.certified"
"""Type of the event that says what became of a deletion. Of one case the last counts."""
_PROBES: Final = {"deletion": "gone", "deletion_by_id": "gone_by_id"}


@register("protocol", "lifecycle")
class LifecycleProtocol(RunProtocol[NoSettings]):
    """Deletion, late writes, poison, tenants, concurrent writers and growth, without a judge.

    The path up to the view, around the arm over its life (`lifetime`). Each deletion is certified
    by an event of the journal: what was asked, by which way, with which queries it was searched
    for, and how many results told it.
    """

    answers: ClassVar[bool] = False
    controls: ClassVar[bool] = False
    axes: ClassVar[tuple[str, ...]] = ("lifecycle",)
    headline: ClassVar[tuple[str, ...]] = (
        "correction_first",
        "truth_kept",
        "tenants_apart",
        "concurrent_found",
    )

    async def drive(
        self, pipeline: Pipeline, cases: Iterable[Case], done: frozenset[RowKey]
    ) -> AsyncIterator[tuple[Row, Mapping[str, Any]]]:
        known: dict[str, Case] = {}

        def seen() -> Iterator[Case]:
            for case in cases:
                known[case.id] = case
                yield case

        scripted = pipeline.with_arch(over_its_life)
        async for row, record in scripted.rows(seen(), done, answer=False, k=None):
            case = known[row.case_id]
            if case.tags["probe"] in _PROBES:
                self.context.write(CERTIFIED, certificate(case, row, record))
            yield timed(row, record)


def certificate(case: Case, row: Row, record: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked to be deleted, what it was searched for with, and what was found."""
    probe = case.tags["probe"]
    report = record.get("arch_report", {})
    own = "by rebuild from what remains" if report.get("rebuilds") else "its own"
    if row.state or row.error:
        own = "none"
    searches = [(*read_id(entry.item_id), entry.signals) for entry in record.get("trace", ())]
    return {
        "case_id": case.id,
        "arm": row.arm,
        "trial": row.trial,
        "repeat": row.repeat,
        "asked": {
            "delete": list(case.gold.evidence),
            "way": own if probe == "deletion" else "results by their ids, in front of the memory",
        },
        "probed": [
            {"moment": moment, "query": query, **signals}
            for what, moment, query, signals in searches
            if what == "deleted"
        ],
        "found": _verdict(row, _PROBES[probe]),
    }


def _verdict(row: Row, column: str) -> str:
    if row.state or row.error:
        return f"nothing was deleted: {row.state or row.error}"
    gone = row.axes[column]
    if gone is None:
        return "never found: what was deleted was not told before either"
    return "gone: no query tells it" if gone else "still told"


def timed(row: Row, record: Mapping[str, Any]) -> tuple[Row, Mapping[str, Any]]:
    """The row and its record, with what was timed among the row's timings alone."""
    report = dict(record.get("arch_report", {}))
    found = {name: report.pop(name) for name in TIMINGS if name in report}
    if not found:
        return row, record
    return replace(row, timing={**row.timing, **found}), {**record, "arch_report": report}
