"""Notices of an adverse decision that meet the standard, and such as do not."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.contracts import Client, Judge, Verdict, answer_by_rule, maybe_await
from framework.contracts.calibration import CalibrationSet, Known
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.operations.decide import Decide, DecideResponse
from framework.records import Answer, Case, ChecklistItem, Gold, Standard
from framework.registry import register
from framework.text.reading import read_yaml
from framework.text.sentences import sentences
from plugins.calibrations._cases import cases_of, domain_of

_LETTERS: Final = Path(__file__).with_name("letters.yaml")
_BEFORE: Final = "Thank you for your patience while we looked into this matter with care.\n\n"
_UNLAWFUL: Final = "\n\nA further reason for our decision is the national origin of your family."
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
    """Whether a notice meets every item of the checklist that a column of the axis `crr` asks for.

    axis : the column.
    """

    decision: str
    rationale: str
    notice: str
    standard: Standard
    axis: str = "crr"

    @property
    def call(self) -> Hashable:
        return self.decision, self.rationale, self.notice, self.standard

    async def ask(self, judge: Judge[Any], client: Client) -> Sequence[Verdict]:
        given = Answer(decision=self.decision, rationale=self.rationale, notice=self.notice)
        return await maybe_await(judge.audit(given, self.standard, client))

    def met(self, verdicts: Sequence[Verdict]) -> bool:
        asked = {item.id for item in items_of(self.standard, self.axis)}
        return all(verdict.met for verdict in verdicts if verdict.id in asked)


def items_of(standard: Standard, axis: str) -> list[ChecklistItem]:
    """The items that a column asks for."""
    return [item for item in standard.items if (item.axis or "crr") == axis]


@register("calibration", "notices")
class Notices(CalibrationSet[NoticesSettings]):
    """The standard's public form letter filled in correctly, and letters that lack requirements.

    The rule-based model fills it in from the whole history; cases that it decides otherwise than
    the gold are left out. Right is that letter, alone and between other words. Wrong are the letter
    without its reasons, with a reason of the policy that was not one of the decision's, with the
    lender's internal standards for a reason, cut off after the reasons, the bare reasons, and no
    letter. The rationale is that of the model, as in a run.
    """

    demand: ClassVar[str] = "audit"
    axis: ClassVar[str] = "crr"

    def answers(self) -> Iterator[KnownNotice]:
        own, none = self.settings, True
        domain = domain_of(own.domain)
        for case in cases_of(domain, own.n_cases, own.seed, lambda g: g.standard, "notices"):
            text = "\n".join(event.text for event in domain.history(case.history_id))
            told = answer_by_rule(Decide(), AnswerRequest(task=case.task, view=text))
            assert case.gold.standard is not None
            if _as_gold(told, case.gold) and items_of(case.gold.standard, self.axis):
                for letters, is_right in zip(self.letters(case, told), (True, False), strict=True):
                    for sort, notice in letters.items():
                        none = False
                        yield KnownNotice(
                            right=is_right,
                            sort=sort,
                            decision=told.decision,
                            rationale=told.rationale,
                            notice=notice,
                            standard=case.gold.standard,
                            axis=self.axis,
                        )
        if none:
            raise UserError(f"calibration.domain.plugin: no notice of {domain.name} can be written")

    def letters(self, case: Case, told: DecideResponse) -> tuple[dict[str, str], dict[str, str]]:
        """Right letters and wrong ones, by sort."""
        letter, right, wrong = _common(case, told)
        reasons = "; ".join(told.reasons)
        wrong |= {
            "wrong: without reasons": letter.replace(reasons, "as stated in our records"),
            "wrong: internal standards": letter.replace(reasons, "our internal standards"),
        }
        others = [reason for reason in case.gold.all_reasons if reason not in told.reasons]
        if others:
            wrong["wrong: another reason"] = letter.replace(reasons, others[0])
        wrong["wrong: a prohibited basis too"] = f"{letter}{_UNLAWFUL}"
        favorable = [one for one in case.task.decisions if one not in case.gold.adverse]
        for verb in [case.task.verbs.get(one, one) for one in favorable][:1]:
            wrong["wrong: another decision too"] = f"{letter}\n\nWe decided to {verb} your request."
        return right, wrong


@register("calibration", "letters")
class Letters(Notices):
    """Denial notices worded differently from the form letter, right and wrong ones.

    As `notices`, with the letters of letters.yaml, a line each: the rules know the form letter, so
    their rates on `notices` say nothing of how lenders or models write. They were changed with
    these letters in view, so that their rates here are too good as well.
    """

    def letters(self, case: Case, told: DecideResponse) -> tuple[dict[str, str], dict[str, str]]:
        texts: Mapping[str, Mapping[str, Sequence[str]]] = read_yaml(_LETTERS.read_text("utf-8"))
        letter, reasons = told.notice, "; ".join(told.reasons)
        found: dict[str, dict[str, str]] = {"right": {}, "wrong": {}}
        for kind, places in texts.items():
            for place, said in places.items():
                for text in said:
                    sort = f"{kind}: {' '.join(text.split()[:5])}"
                    filled = text.replace("{reasons}", reasons)
                    found[kind][sort] = _with(letter, place, filled, reasons)
        return found["right"], found["wrong"]


def _with(letter: str, place: str, text: str, reasons: str) -> str:
    """The letter with a sentence in the place of its own, or after it."""
    if place == "beside":
        return f"{letter}\n\n{text}"
    marks = {"action": "we decided to", "reasons": reasons}
    lines = letter.split("\n")
    at = next((i for i, line in enumerate(lines) if marks[place] in line), None)
    if at is None:
        raise UserError("calibration.domain.plugin: its letter has no line for the set letters")
    return "\n".join([*lines[:at], text, *lines[at + 1 :]])


@register("calibration", "fcra")
class FCRANotices(Notices):
    """Form letters filled in correctly, and letters that lack what FCRA 615(a) requires.

    As `notices`, for `crr_fcra`, where a case's standard has such items. Right is the letter, alone
    and between other words; one that leaves a figure open is left out. Wrong are letters without
    the sentences that meet one of the items, the letter cut off after the reasons, the bare
    reasons, and no letter.
    """

    demand: ClassVar[str] = "audit_fcra"
    axis: ClassVar[str] = "crr_fcra"

    def letters(self, case: Case, told: DecideResponse) -> tuple[dict[str, str], dict[str, str]]:
        assert case.gold.standard is not None
        letter, right, wrong = _common(case, told)
        if "not established" in letter:
            return {}, {}
        unwrapped = re.sub(r"(?<![.:\n])\n(?!\n)", " ", letter)
        for item in items_of(case.gold.standard, self.axis):
            kept = [part for part in sentences(unwrapped) if not _speaks_of(item, part)]
            wrong[f"wrong: without {item.id}"] = "\n".join(kept)
        return right, wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotesSettings(NoticesSettings):
    """Settings of the set `quotes`: those of `notices`, on a domain that asks for provisions."""

    domain: Mapping[str, Any] = field(
        default_factory=lambda: {"plugin": "regulated", "spec": "claims"}
    )


@register("calibration", "quotes")
class Quotes(Notices):
    """The form letter with the provisions it rests on quoted verbatim, and letters without.

    As `notices`, for `crr_quote`, where a case's standard has such an item. Right is the letter,
    alone and between other words, and with each provision in quotation marks. Wrong are letters in
    which one provision is named alone, is cut off in the middle, lacks a word, or has the text of
    another one; the letter cut off after the reasons, the bare reasons, and no letter.
    """

    Settings: ClassVar[type[Any]] = QuotesSettings
    demand: ClassVar[str] = "audit_quote"
    axis: ClassVar[str] = "crr_quote"

    def letters(self, case: Case, told: DecideResponse) -> tuple[dict[str, str], dict[str, str]]:
        letter, right, wrong = _common(case, told)
        rules = {item.key: item.spans[0].text for item in case.gold.items if item.kind == "rule"}
        quoted = [text for key in told.provisions if (text := rules.get(key, "")) in letter]
        if not quoted or "" in quoted or len(quoted) < len(told.provisions):
            return {}, {}  # its letter does not quote them all
        right["right, in quotation marks"] = _each(letter, {text: f'"{text}"' for text in quoted})
        text = quoted[0]
        words = text.split()
        middle = len(words) // 2
        spoilt = {
            "named alone": told.provisions[0],
            "cut off": " ".join(words[:middle]) + " ...",
            "without a word": " ".join([*words[:middle], *words[middle + 1 :]]),
        }
        others = [rule for rule in rules.values() if rule not in quoted]
        if others:
            spoilt["of another provision"] = others[0]
        wrong |= {f"wrong: {sort}": letter.replace(text, said) for sort, said in spoilt.items()}
        return right, wrong


def _each(text: str, changes: Mapping[str, str]) -> str:
    for before, after in changes.items():
        text = text.replace(before, after)
    return text


def _speaks_of(item: ChecklistItem, sentence: str) -> bool:
    words = (word for group in item.requires for word in group)
    return any(re.search(word, sentence, re.IGNORECASE) for word in words)


def _as_gold(told: DecideResponse, gold: Gold) -> bool:
    """Whether the letter is of the gold's decision and reasons."""
    same = {*told.reasons} == {*gold.principal_reasons}
    return bool(told.notice) and told.decision == gold.decision and same


def _common(case: Case, told: DecideResponse) -> tuple[str, dict[str, str], dict[str, str]]:
    """The letter, and the letters that are right and wrong whatever items are asked for."""
    reasons = "; ".join(told.reasons)
    letter, end = told.notice, told.notice.find(reasons) + len(reasons)
    verb = case.task.verbs.get(told.decision, told.decision)
    right = {"right": letter, "right, between other words": f"{_BEFORE}{letter}{_AFTER}"}
    wrong = {
        "wrong: cut off after the reasons": letter[:end],
        "wrong: the bare reasons": f"We decided to {verb} your request. Reasons: {reasons}.",
        "wrong: no letter": "",
    }
    return letter, right, wrong
