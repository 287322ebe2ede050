"""Abstains where there is no evidence, and nowhere else (Regimes 8.3)."""

from __future__ import annotations

from typing import ClassVar

from framework.contracts import Client, Operator
from framework.records import ABSTAIN, Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register
from plugins.models.rule_based.operators.scene import OPERATION, Scene, in_place_of, scene_of
from plugins.models.rule_based.sessions.matching import USUAL
from plugins.models.rule_based.sessions.recollect import MISSING, Recollection
from plugins.models.rule_based.sessions.turns import names, stems


@register("operator", "verify_evidence_absence_before_abstention")
class VerifyEvidenceAbsenceBeforeAbstention(Operator[NoSettings]):
    """Takes back an abstention for which there is evidence, and makes one for which there is none.

    Evidence is absent when a name in the question is in no statement that bears on it, or no
    statement of the user about the user has a fair share of its words. Detector: absence and the
    reader's abstention do not agree.
    """

    operation: ClassVar[str] = OPERATION

    def detects(self, task: TaskCard, view: MemoryView, answer: Answer) -> bool:
        return _absent(scene_of(task, view)) != (answer.decision == ABSTAIN)

    def act(self, task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        if answer.decision == ABSTAIN:
            return in_place_of(answer, scene_of(task, view).answered("trust"))
        return in_place_of(answer, Recollection(answer=MISSING, abstains=True))


def _absent(scene: Scene) -> bool:
    if max((match.share for match in scene.near), default=0.0) < USUAL:
        return True
    said: frozenset[str] = frozenset().union(*(m.statement.stems for m in scene.found.topical))
    return any(not stems(name) <= said for name in names(scene.question.text))
