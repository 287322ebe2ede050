"""Whether an answer's wording tells which arm it is of: a judge that can guess is not blind.

The classifier is multinomial naive Bayes on words and word pairs, digits masked, with add-one
smoothing: simple, deterministic, and its few lines need no library. Failing to guess with it does
not prove that nothing could.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from framework.statistics.intervals import mean_interval
from framework.store.answers import answered
from framework.store.state import read_summary
from framework.text.counting import counted

_WORD: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_FOLDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """How often the arm was guessed right, from answers to cases that were not learned from.

    accuracy : mean over cases of the share of their answers guessed right, with its 95% interval
        over cases. chance : mean over cases of 1 / (number of answers), which is what any guess
        earns that the wording does not help, as every arm answers every case once.
    above_chance : the interval lies above chance; None where there is no interval.
    """

    accuracy: float
    ci_low: float | None
    ci_high: float | None
    chance: float
    n_answers: int
    n_cases: int
    above_chance: bool | None


def answers_of(runs: Sequence[Path]) -> dict[str, list[tuple[str, str, str]]]:
    """By budget, (case, arm, all that a judge sees of the answer); first trial and repeat only."""
    answers: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for path in runs:
        budget = read_summary(path)["run"]["budget"]
        for record in answered(path):
            (case, arm, trial, repeat, turn), answer = record["key"], record.get("answer")
            if answer is not None and trial == repeat == turn == 0:
                seen = (answer["decision"], answer["rationale"], answer["notice"], answer["text"])
                answers[budget].append((case, arm, "\n".join(seen)))
    return dict(answers)


def guess_arms(answers: Sequence[tuple[str, str, str]], seed: int) -> Guess:
    """Guess arms by wording, cross-validated in 5 folds of cases.

    Args:
        answers: (case, arm, text) of each; a case that not every arm answered is left out.
        seed: of the folds.

    Raises:
        ValueError: fewer than two arms, or fewer cases answered by all of them than folds.
    """
    arms = sorted({arm for _, arm, _ in answers})
    by_case: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for case, arm, text in answers:
        by_case[case].append((arm, text))
    cases = sorted(c for c, given in by_case.items() if sorted(a for a, _ in given) == arms)
    if len(arms) < 2 or len(cases) < _FOLDS:
        raise ValueError(
            f"{counted(len(arms), 'arm')} and {counted(len(cases), 'case')} that each of them "
            f"answered once: at least 2 and {_FOLDS} expected"
        )
    random.Random(seed).shuffle(cases)
    shares: dict[str, float] = {}
    for fold in range(_FOLDS):
        held = cases[fold::_FOLDS]
        kept = [case for case in cases if case not in set(held)]
        model = _learn([pair for case in kept for pair in by_case[case]], arms)
        for case in held:
            rights = [_right(model, text, arm) for arm, text in by_case[case]]
            shares[case] = sum(rights) / len(rights)
    interval = mean_interval([shares[case] for case in sorted(shares)], seed=seed)
    chance = 1 / len(arms)
    return Guess(
        accuracy=sum(shares.values()) / len(shares),
        ci_low=interval.low,
        ci_high=interval.high,
        chance=chance,
        n_answers=len(cases) * len(arms),
        n_cases=len(cases),
        above_chance=None if interval.low is None else interval.low > chance,
    )


@dataclass(frozen=True, slots=True)
class _Model:
    counts: Mapping[str, Counter[str]]
    totals: Mapping[str, int]
    vocabulary: int


def _learn(pairs: Sequence[tuple[str, str]], arms: Sequence[str]) -> _Model:
    counts: dict[str, Counter[str]] = {arm: Counter() for arm in arms}
    for arm, text in pairs:
        counts[arm].update(_features(text))
    vocabulary = len({feature for counter in counts.values() for feature in counter})
    totals = {arm: counter.total() for arm, counter in counts.items()}
    return _Model(counts, totals, vocabulary)


def _right(model: _Model, text: str, arm: str) -> float:
    """1 for the arm guessed alone, a share where several are guessed alike."""
    features = Counter(_features(text))
    scores = {}
    for candidate, counter in model.counts.items():
        total = math.log(model.totals[candidate] + model.vocabulary + 1)
        scores[candidate] = math.fsum(
            n * (math.log(counter[feature] + 1) - total) for feature, n in features.items()
        )
    best = max(scores.values())
    guessed = [candidate for candidate, score in scores.items() if math.isclose(score, best)]
    return (arm in guessed) / len(guessed)


def _features(text: str) -> list[str]:
    """Words and pairs of neighbours, lower case, every number as `#`, and a mark of the length."""
    words = ["#" if word[0].isdigit() else word for word in _WORD.findall(text.casefold())]
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    return [*words, *pairs, f"length {len(words).bit_length()}"]
