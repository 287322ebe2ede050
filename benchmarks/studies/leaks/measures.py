"""What any domain is looked at for: words of its questions, answers in them, places by digest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from benchmarks.attacks._told import Told
from benchmarks.studies.places import RULES, lying, share
from framework.contracts import Domain
from framework.records import Case, Event
from plugins.domains.ordering import by_digest
from plugins.domains.passages.shape import normalise_answer

Table = list[tuple[str, ...]]
"""The header, then the rows."""
HEADER: Final = ("question", "found", "by chance, or by one answer to all")
NOTHING: Final = "–"


def short(value: float) -> str:
    """A share of at most 1, without the zero before its point."""
    return f"{value:.2f}".removeprefix("0")


def shorter(text: str) -> str:
    return re.sub(r"\b0(?=\.)", "", text)


def of(count: int, total: int) -> str:
    return f"{count:,} of {total:,}"


def commonest(answers: Sequence[Hashable]) -> int:
    """How often the most frequent one is there."""
    return max(Counter(answers).values())


def nearest(texts: Sequence[str]) -> list[int]:
    """By text the place of the other one most like it by its words (tf-idf), numbers masked."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer().fit_transform(re.sub(r"\d+", "#", text) for text in texts)
    like = (words @ words.T).toarray()
    np.fill_diagonal(like, -1)
    return [int(place) for place in like.argmax(axis=1)]


def agreeing(texts: Sequence[str], answers: Sequence[Hashable]) -> int:
    """How many texts have the answer of the one most like them."""
    return sum(answers[own] == answers[other] for own, other in enumerate(nearest(texts)))


def by_words(asked: Sequence[str], labels: Sequence[Hashable], groups: Sequence[Hashable]) -> float:
    """Balanced accuracy of a bag of words by logistic regression, whole groups held out."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000))
    names = [str(label) for label in labels]
    said = cross_val_predict(model, asked, names, cv=GroupKFold(5), groups=groups)
    return float(balanced_accuracy_score(names, said))


def stands_in(part: str, whole: str) -> bool:
    """Whether the words of a part stand in the whole, punctuation, case and articles aside."""
    return f" {normalise_answer(part)} " in f" {normalise_answer(whole)} "


def answered(cases: Sequence[Case]) -> int:
    """How many questions hold their answer."""
    return sum(stands_in(case.gold.answer, case.task.query) for case in cases)


def answers_row(cases: Sequence[Case]) -> tuple[str, str, str]:
    """The row on that, with the answers of the next questions beside it."""
    answers = [case.gold.answer for case in cases]
    shifted = [*answers[1:], *answers[:1]]
    others = sum(stands_in(answer, c.task.query) for answer, c in zip(shifted, cases, strict=True))
    return (
        "Do the words of the answer stand in the question?",
        of(answered(cases), len(cases)),
        f"those of the next one's: {of(others, len(cases))}",
    )


def auc(found: Told | None) -> str:
    """An AUC and its limits, which resampling may put outside of 0 to 1."""
    if found is None:
        return NOTHING
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    return shorter(f"{found.auc:.2f} [{low:.2f}, {high:.2f}]")


class _ByDigest:
    """The domain with the events of a history in the order of their texts' digests."""

    def __init__(self, domain: Domain[Any]) -> None:
        self._domain = domain

    def history(self, history_id: str) -> Iterator[Event]:
        return iter(by_digest(self._domain.history(history_id)))


def placed(rule: str, domain: Domain[Any], cases: Sequence[Case]) -> str:
    reordered: Any = _ByDigest(domain)
    return shorter(str(share(RULES[rule], lying(reordered, cases))))
