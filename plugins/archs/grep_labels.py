"""Labels found by exact search: the control for cases that a label in the task gives away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from framework.contracts import Arch, Query
from framework.records import Event, Item, TaskCard
from framework.registry import register
from framework.text.reading import read_json
from plugins.archs._bm25 import BM25Index, BM25Settings
from plugins.archs._items import event_item


@register("arch", "grep_labels")
class GrepLabels(Arch[BM25Settings]):
    """Events that contain a label of the task, ranked by the words of the ticket. A control.

    A control: no edges, no structure. Labels are those of a change plan's proposed settings; of a
    task without a plan, those of its fields. The ticket is the task's material of that name, else
    what the arm is asked with; the order is by BM25, ties in order of arrival. Events without a
    label are not recalled. A claim about an arm is a claim beside this one (validity.md section 2).
    """

    sees_task = True
    Settings = BM25Settings

    def ingest(self, events: Iterable[Event]) -> None:
        self._events = tuple(events)
        self._texts = [event.text.casefold() for event in self._events]
        self._index = BM25Index(self._texts, self.settings)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        labels = [] if query.task is None else labels_of(query.task)
        material = {} if query.task is None else query.task.material
        ticket = material.get("ticket", query.text)
        held = [i for i, text in enumerate(self._texts) if any(label in text for label in labels)]
        scores = self._index.scores(ticket)
        ranked = enumerate(sorted(held, key=lambda i: -scores[i])[: max(0, k)], start=1)
        return [
            event_item(self._events[i], {"bm25": float(scores[i]), "rank": rank})
            for rank, i in ranked
        ]


def labels_of(task: TaskCard) -> list[str]:
    """Labels of what the task leaves open, in lower case."""
    if "change_plan" not in task.material:
        return [field.label.casefold() for field in task.fields]
    plan: Any = read_json(task.material["change_plan"])
    return [s["label"].casefold() for s in plan["settings"] if s["status"] == "proposed"]
