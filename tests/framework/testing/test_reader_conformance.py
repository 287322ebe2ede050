"""The conformance suite finds a reader that breaks a law: one broken reader per law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Client, Reader
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.registry import NoSettings
from framework.testing.reader_conformance import check_reader


class Good(Reader[NoSettings]):
    """Denies what speaks of a credit score. Broken readers differ from it in one thing."""

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        if not view.items:
            return Answer(decision=task.default_decision, defaulted=True)
        return Answer(decision="DENY" if "credit score" in view.text else ABSTAIN)


def answering(change: Callable[[Answer, MemoryView], Any]) -> type[Good]:
    """`Good` with its answer changed."""

    class Broken(Good):
        """Broken."""

        def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
            changed: Answer = change(super().answer(task, view, client), view)
            return changed

    return Broken


def with_answer(**changed: Any) -> type[Good]:
    return answering(lambda answer, view: replace(answer, **changed))


class Remembers(Good):
    """Answers as it last did when it has nothing to go by."""

    last: Answer | None = None

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        if not view.items and self.last is not None:
            return self.last
        self.last = super().answer(task, view, client)
        return self.last


class Forgets(Good):
    """Answers otherwise each time."""

    asked = 0

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        Forgets.asked += 1
        return replace(super().answer(task, view, client), text=str(Forgets.asked))


BROKEN: list[tuple[type[Reader[Any]], str]] = [
    (type("Broken", (Good,), {"__doc__": ""}), "docstring"),
    (answering(lambda answer, view: answer.decision), "str given, Answer expected"),
    (with_answer(decision="PERHAPS", defaulted=False), "'PERHAPS' is none of"),
    (with_answer(decision="", defaulted=False), "'' is none of"),
    (with_answer(decision="ABSTAIN", defaulted=True), "'ABSTAIN' is no decision of the card"),
    (with_answer(confidence=90.0), r"confidence 90.0 is not in \[0, 1\]"),
    (with_answer(amount=float("inf")), "amount is inf"),
    (with_answer(facts={"colour": "red"}), "'colour'"),
    (with_answer(facts={"income": 61000}), "a fact is no text"),
    (with_answer(reasons=["credit score"]), "reasons is no tuple"),
    (with_answer(notice=None), "notice is no text"),
    (answering(lambda answer, view: replace(answer, text=view.items[0].id)), "list index|tuple"),
    (
        answering(lambda answer, view: replace(answer, text="".join(i.id for i in view.items))),
        "which arm it reads",
    ),
    (
        answering(lambda answer, view: replace(answer, confidence=float(bool(view.trace)))),
        "which arm it reads",
    ),
    (Remembers, "answered before"),
    (Forgets, "got another answer"),
]


def test_a_good_reader_passes() -> None:
    check_reader(Good, NoSettings())


@pytest.mark.parametrize(("reader", "law"), BROKEN)
def test_a_broken_reader_is_found(reader: type[Reader[Any]], law: str) -> None:
    with pytest.raises((AssertionError, IndexError), match=law):
        check_reader(reader, NoSettings())
