"""Notices of an adverse decision that meet the standard, and such as do not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from framework.contracts import Client, Judge, Verdict, answer_by_rule, maybe_await
from framework.contracts.calibration import CalibrationSet, Known
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.operations.decide import Decide, DecideResponse
from framework.records import Answer, Case, Gold, Standard
from framework.registry import register
from plugins.calibrations._cases import cases_of, domain_of

_BEFORE: Final = "Thank you for your patience while we looked into this matter with care.\n\n"
_AFTER: Final = "\n\nPlease keep this letter with your papers. We remain, with kind regards, yours."


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesSettings:
    """Settings of the set `notices`.

    domain : `plugin`, a domain whose adverse decisions call for a notice, and that plugin's
    settings. n_cases : its first so many cases. seed : of the cases.
    """

    domain: Mapping[str, Any] = field(default_factory=lambda: {"plugin": "regulated"})
    n_cases: int = 200
    seed: int = 7

    def __post_init__(self) -> None:
        if self.n_cases < 1:
            raise ValueError(f"n_cases: {self.n_cases} given, 1 or more expected")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNotice(Known):
    """Whether a notice meets every item of the checklist that the axis `crr` asks for."""

    decision: str
    rationale: str
    notice: str
    standard: Standard

    @property
    def call(self) -> Hashable:
        return self.decision, self.rationale, self.notice, self.standard

    async def ask(self, judge: Judge[Any], client: Client) -> Sequence[Verdict]:
        given = Answer(decision=self.decision, rationale=self.rationale, notice=self.notice)
        return await maybe_await(judge.audit(given, self.standard, client))

    def met(self, verdicts: Sequence[Verdict]) -> bool:
        asked = {item.id for item in self.standard.items if (item.axis or "crr") == "crr"}
        return all(verdict.met for verdict in verdicts if verdict.id in asked)


@register("calibration", "notices")
class Notices(CalibrationSet[NoticesSettings]):
    """The standard's public form letter rightly filled in, and letters that lack what it demands.

    The rule-based model fills it in from the whole history; cases that it decides otherwise than
    the gold are left out. Right is that letter, alone and between other words. Wrong are the letter
    without its reasons, with a reason of the policy that was not one of the decision's, with the
    lender's internal standards for a reason, cut off after the reasons, the bare reasons, and no
    letter. The rationale is that of the model, as in a run.
    """

    demand: ClassVar[str] = "audit"

    def answers(self) -> Iterator[KnownNotice]:
        own, none = self.settings, True
        domain = domain_of(own.domain)
        for case in cases_of(domain, own.n_cases, own.seed, lambda g: g.standard, "notices"):
            text = "\n".join(event.text for event in domain.history(case.history_id))
            told = answer_by_rule(Decide(), AnswerRequest(task=case.task, view=text))
            if _as_gold(told, case.gold):
                none = False
                yield from _of(case, told)
        if none:
            raise UserError(f"calibration.domain.plugin: no notice of {domain.name} can be written")


def _as_gold(told: DecideResponse, gold: Gold) -> bool:
    """Whether the letter is of the gold's decision and reasons."""
    same = {*told.reasons} == {*gold.principal_reasons}
    return bool(told.notice) and told.decision == gold.decision and same


def _of(case: Case, told: DecideResponse) -> Iterator[KnownNotice]:
    assert case.gold.standard is not None
    reasons = "; ".join(told.reasons)
    letter, end = told.notice, told.notice.find(reasons) + len(reasons)
    right = {"right": letter, "right, between other words": f"{_BEFORE}{letter}{_AFTER}"}
    verb = case.task.verbs.get(told.decision, told.decision)
    wrong = {
        "wrong: without reasons": letter.replace(reasons, "as stated in our records"),
        "wrong: internal standards": letter.replace(reasons, "our internal standards"),
        "wrong: cut off after the reasons": letter[:end],
        "wrong: the bare reasons": f"We decided to {verb} your request. Reasons: {reasons}.",
        "wrong: no letter": "",
    }
    others = [reason for reason in case.gold.all_reasons if reason not in told.reasons]
    if others:
        wrong["wrong: another reason"] = letter.replace(reasons, others[0])
    for letters, is_right in ((right, True), (wrong, False)):
        for sort, notice in letters.items():
            yield KnownNotice(
                right=is_right,
                sort=sort,
                decision=told.decision,
                rationale=told.rationale,
                notice=notice,
                standard=case.gold.standard,
            )
