"""Whether an answer to a question is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from framework.contracts import Axis, Judge, Scored, maybe_await
from framework.records import ABSTAIN, AxisScore
from framework.registry import NoSettings, register
from plugins.axes._answers import HIGHER

_WORD: Final = re.compile(r"[^\W_]+")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@register("axis", "answer")
class AnswerAxis(Axis[NoSettings]):
    """Correctness of an answer to a question, by the judge and by its words.

    Each value lies in [0, 1], higher is better. A case without an expected answer has no value. Of
    several right answers (`Gold.accepted`) the one that an answer is nearest to counts: the first
    that the judge finds in it, and by words the one of the highest F1.

    answer_correct : 1 if the judge finds that the answer says what is expected, by the rule for its
        kind (`Gold.answer_kind`), which may be that there is no answer. Abstaining from a question
        that has an answer is 0.
    answer_correct_corrected : answer_correct (the share that the judge passed) corrected for the
        judge's error on answers of known truth: (passed - wrong passed) / (right passed - wrong
        passed). The interval covers the cases and both calibration samples (Rogan and Gladen 1978).
        None if the judge has no calibration.
    abstained_right : 1 if the answer abstains exactly when it should.
    answer_f1 : overlap of words with the expected answer, as the harmonic mean of precision and
        recall, in lower case without articles (SQuAD, Rajpurkar et al., EMNLP 2016, 6.1); None if
        an abstention is expected.
    answer_precision : the precision of answer_f1 alone, which shows the cost of copying.
    answer_exact : 1 if the words are the same; None if an abstention is expected.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "answer_correct": HIGHER,
        "abstained_right": HIGHER,
        "answer_f1": HIGHER,
        "answer_precision": HIGHER,
        "answer_exact": HIGHER,
    }
    precision: ClassVar[Mapping[str, str]] = {"answer_f1": "answer_precision"}
    needs: ClassVar[tuple[str, ...]] = ("answer",)
    judged: ClassVar[frozenset[str]] = frozenset({"answer_correct"})
    corrected: ClassVar[Mapping[str, str]] = {"answer_correct_corrected": "answer_correct"}

    async def score(self, scored: Scored) -> AxisScore:
        gold, answer = scored.case.gold, scored.answer
        if answer is None or not gold.answer:
            return self.undefined()
        should, does = gold.decision == ABSTAIN, answer.decision == ABSTAIN
        correct: float | None = None
        why = "abstained, which is no answer"
        if does and not should:
            correct = 0.0
        elif scored.judge is not None:
            correct, why = await _judged(scored, scored.judge, answer.text)
        given = _words(answer.text)
        wanted = max(map(_words, gold.accepted), key=lambda one: (_f1(given, one), given == one))
        values = {
            "answer_correct": correct,
            "abstained_right": float(should == does),
            "answer_f1": None if should else _f1(given, wanted),
            "answer_precision": None
            if should or not given
            else _shared(given, wanted) / len(given),
            "answer_exact": None if should else float(given == wanted),
        }
        evidence = (
            f"expected: {' | '.join(gold.accepted)}",
            f"given: {answer.text or 'nothing'}",
            why,
        )
        return AxisScore(values=values, evidence=tuple(filter(None, evidence)))


async def _judged(scored: Scored, judge: Judge[Any], said: str) -> tuple[float, str]:
    """Whether the judge finds one of the right answers in what was said, and its words."""
    question, gold = scored.case.task.query, scored.case.gold
    for expected in gold.accepted:
        asked = judge.equivalent(question, expected, said, gold.answer_kind, scored.client)
        verdict = await maybe_await(asked)
        if verdict.met:
            break
    return float(verdict.met), verdict.evidence


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _ARTICLES]


def _shared(given: list[str], wanted: list[str]) -> int:
    return sum((Counter(given) & Counter(wanted)).values())


def _f1(given: list[str], wanted: list[str]) -> float:
    shared = _shared(given, wanted)
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0
