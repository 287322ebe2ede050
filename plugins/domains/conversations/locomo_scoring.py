"""LoCoMo's own scoring of answers, as its published evaluation has it."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final

from framework.contracts import Axis, Scored
from framework.errors import UserError
from framework.records import ABSTAIN, AxisScore
from framework.registry import NoSettings, register

_DROPPED: Final = re.compile(r"\b(a|an|the|and)\b")
_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_REFUSALS: Final = ("no information available", "not mentioned")
_KINDS: Final = frozenset({"multi-hop", "temporal", "open-domain", "single-hop", "adversarial"})


@register("axis", "locomo_published")
class LoCoMoPublished(Axis[NoSettings]):
    """The score of LoCoMo's published evaluation (task_eval/evaluation.py at 9228632).

    Each value lies in [0, 1], higher is better; None for a case that is of none of the five
    categories. It is measured only where a run names it in `extra_axes`. Answer and gold are
    compared by the stems of their words, in lower case without punctuation and without a, an, the
    and and (Porter 1980, as snowballstemmer has it: not in all words the stems of NLTK's stemmer,
    which the publisher uses).

    locomo_f1 : the harmonic mean of precision and recall over stems. For a multi-hop question both
        sides are split at commas, and the score is the mean, over the parts of the gold, of the
        best score of any part of the answer. For an open-domain question the gold ends at its first
        semicolon. For an adversarial question it is 1 if the answer says `no information available`
        or `not mentioned`, or abstains, which means the same; else 0.
    locomo_precision : the share of the answer's stems that are in the whole gold. It shows the cost
        of copying and of listing, since superfluous parts cost nothing in a multi-hop question's
        F1. Not a measure of the publisher. None for an adversarial question and for an answer
        without words.

    Raises UserError where the package snowballstemmer is absent.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "locomo_f1": True,
        "locomo_precision": True,
    }
    precision: ClassVar[Mapping[str, str]] = {"locomo_f1": "locomo_precision"}

    def __init__(self, settings: NoSettings) -> None:
        super().__init__(settings)
        self._stem = _stemmer()

    def score(self, scored: Scored) -> AxisScore:
        answer, gold = scored.answer, scored.case.gold
        if answer is None or gold.answer_kind not in _KINDS:
            return self.undefined()
        evidence = (f"expected: {gold.answer}", f"given: {answer.text or 'nothing'}")
        if gold.answer_kind == "adversarial":
            refused = any(words in answer.text.lower() for words in _REFUSALS)
            values = {
                "locomo_f1": float(refused or answer.decision == ABSTAIN),
                "locomo_precision": None,
            }
            return AxisScore(values=values, evidence=evidence)
        expected = gold.answer
        if gold.answer_kind == "open-domain":
            expected = expected.partition(";")[0].strip()
        given, wanted = self._stems(answer.text), self._stems(expected)
        if gold.answer_kind == "multi-hop":
            parts = [self._stems(part) for part in answer.text.split(",")]
            best = [
                max(_f1(part, self._stems(one)) for part in parts) for one in expected.split(",")
            ]
            f1 = sum(best) / len(best)
        else:
            f1 = _f1(given, wanted)
        values = {
            "locomo_f1": f1,
            "locomo_precision": _shared(given, wanted) / len(given) if given else None,
        }
        return AxisScore(values=values, evidence=evidence)

    def _stems(self, text: str) -> list[str]:
        bare = text.lower().translate(_NO_PUNCTUATION)
        return [self._stem(word) for word in _DROPPED.sub(" ", bare).split()]


def _stemmer() -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ImportError:
        raise UserError(
            "extra_axes: locomo_published needs the package snowballstemmer: "
            "pip install 'decisionbench[locomo]'"
        ) from None
    stem: Callable[[str], str] = snowballstemmer.stemmer("porter").stemWord
    return stem


def _shared(given: Sequence[str], wanted: Sequence[str]) -> int:
    return sum((Counter(given) & Counter(wanted)).values())


def _f1(given: Sequence[str], wanted: Sequence[str]) -> float:
    shared = _shared(given, wanted)
    return 2 * shared / (len(given) + len(wanted)) if shared else 0.0
