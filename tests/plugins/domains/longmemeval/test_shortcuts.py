"""The words of a history alone do not tell whether the question about it has an answer.

On 2,000 cases of all structures: tests/benchmarks/test_surface.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.attacks._told import CHANCE, told
from framework.records import ABSTAIN
from plugins.domains.longmemeval.synthetic import (
    LongMemEvalSynthetic,
    LongMemEvalSyntheticSettings,
)

SEED = 11


def drawn(n: int, **settings: Any) -> tuple[list[str], npt.NDArray[np.bool_]]:
    """Histories without their question, and whether it has no answer; a case is its own cluster."""
    domain = LongMemEvalSynthetic(LongMemEvalSyntheticSettings(**settings))
    found = list(domain.cases(n, SEED))
    texts = ["\n".join(e.text for e in domain.history(case.history_id)) for case in found]
    return texts, np.array([case.gold.decision == ABSTAIN for case in found])


def auc(texts: list[str], labels: npt.NDArray[np.bool_]) -> float:
    """The better of L2 logistic regression and gradient boosting, cross-validated."""
    found = told(texts, list(labels))
    assert found is not None
    print(found)
    return found.auc


@pytest.mark.slow
def test_a_count_s_history_does_not_tell_whether_there_was_anything_to_count() -> None:
    texts, labels = drawn(500, shares={"count": 1.0}, abstention=0.5)
    assert 0.4 < labels.mean() < 0.6
    # The half-width of an interval over 500 cases is .05.
    assert auc(texts, labels) < CHANCE[1] + 0.05


@pytest.mark.slow
def test_the_same_test_finds_a_planted_shortcut() -> None:
    """A word in 30% of the histories of one label and 10% of the others: an AUC of .60."""
    texts, labels = drawn(2_000, abstention=0.5)
    rng = np.random.default_rng(0)
    marked = rng.random(len(labels)) < np.where(labels, 0.3, 0.1)
    planted = [
        f"{text} heliotrope" if mark else text for text, mark in zip(texts, marked, strict=True)
    ]
    assert auc(planted, labels) > CHANCE[1]


def test_what_is_asked_does_not_change_the_history() -> None:
    """The same seed and index, asked with and without an answer, have one history in words."""
    domains = [
        LongMemEvalSynthetic(LongMemEvalSyntheticSettings(shares={"count": 1.0}, abstention=share))
        for share in (0.0, 1.0)
    ]
    for index in range(20):
        told = [[e.text for e in domain.history(f"{SEED}-{index}")] for domain in domains]
        assert told[0] == told[1]
