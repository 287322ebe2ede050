"""Of questions over passages and chats: answers and titles in them, and the words of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.attacks._told import Row, Told, told
from benchmarks.studies.leaks.measures import (
    HEADER,
    Table,
    answered,
    answers_row,
    auc,
    of,
    short,
    stands_in,
)
from framework.contracts import Domain
from framework.records import Case


def hops(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """By stratum, how many questions hold their answer, or name the passages that they need."""
    titles = {e.id: e.metadata["title"] for e in domain.history(cases[0].history_id)}
    names = sorted({case.stratum for case in cases})
    counts: dict[str, list[str]] = {}
    for name in names:
        own = [case for case in cases if case.stratum == name]
        named = [[stands_in(titles[i], c.task.query) for i in c.gold.evidence] for c in own]
        for look, count in (
            ("the answer stands in the question", answered(own)),
            ("the answer is yes or no", sum(c.gold.answer in ("yes", "no") for c in own)),
            ("it names a supporting passage by its title", sum(map(any, named))),
            ("it names all of them", sum(map(all, named))),
        ):
            counts.setdefault(look, []).append(of(count, len(own)))
    return [("look", *names), *((look, *found) for look, found in counts.items())]


def conversations(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """Whether a question is adversarial, by its words and their number; answers in questions."""
    answerable = [case for case in cases if case.stratum != "adversarial"]
    return [
        HEADER,
        (
            "Do the words of a question tell whether it is adversarial?",
            f"AUC {auc(adversarial(cases, str))}",
            short(0.5),
        ),
        (
            "Does the number of its words?",
            f"AUC {auc(adversarial(cases, _length))}",
            short(0.5),
        ),
        answers_row(answerable),
    ]


def _length(query: str) -> Row:
    return {"words": float(len(query.split()))}


def adversarial(cases: Sequence[Case], seen: Callable[[str], Any]) -> Told | None:
    """What is seen of a question tells of whether it is adversarial, conversations held out."""
    return told(
        [seen(case.task.query) for case in cases],
        [case.stratum == "adversarial" for case in cases],
        [case.cluster for case in cases],
    )


def sessions(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """Answers in questions."""
    return [HEADER, answers_row(cases)]
