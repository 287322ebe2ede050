"""Of `regulation_updates`: what a bag of the words of a question tells."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from benchmarks.studies.leaks.measures import (
    Table,
    by_words,
    commonest,
    short,
)
from framework.contracts import Domain
from framework.records import Case


def regulation(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By kind of question, what a bag of its words tells with whole units held out."""
    rows: Table = [("kind", "bag of words", "by chance", "most frequent answer")]
    for kind, asked in (
        ("text", "`text`: in force at all?"),
        ("change", "`change`"),
        ("in_force", "`in_force`"),
    ):
        own = [case for case in cases if case.stratum == kind]
        answers = [case.gold.answer for case in own]
        frequent = commonest(answers) / len(own)
        chance = 1 / len(set(labels(own)))
        rows.append((asked, short(of_words(own)), short(chance), short(frequent)))
    return rows


def labels(cases: Sequence[Case]) -> list[Hashable]:
    """What is to be told of questions of one kind: of a text, whether there is one in force."""
    return [
        case.gold.answer == "not in force" if case.stratum == "text" else case.gold.answer
        for case in cases
    ]


def of_words(cases: Sequence[Case]) -> float:
    """What the words of questions of one kind tell, the units that they are on held out."""
    units = [case.id.split("-", 1)[1].rsplit("-", 3)[0] for case in cases]
    return by_words([case.task.query for case in cases], labels(cases), units)
