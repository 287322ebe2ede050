"""Answers that earn something without deciding anything, for every axis and judge to be tried with.

    from framework.testing.adversarial import adversarial_answers

`adversarial_answers` makes them for any case from what an attacker could know at best: the words,
values, codes and reasons of the gold, though not which of them hold, and of an expected answer that
it is among the candidates. Whoever reads free text is held to
this: such an answer earns at most LIMIT more than the same decision without a word, and copied text
at most COPIED in the column that shows what copying costs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from framework.contracts import Client, Judge, Verdict, answer_by_rule
from framework.operations.audit import Audit, AuditRequest
from framework.operations.entail import Entail, EntailRequest
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.records import ABSTAIN, EMPTY, Answer, Case, Gold, ReasoningPoint, Standard, TaskCard
from framework.registry import NoSettings
from framework.text.values import find_values

LIMIT: Final = 0.1
"""The most that an adversarial answer may earn, over the same decision without a word."""
LISTS: Final = "list everything"
"""The attack whose notice may meet a checklist: that it states too much, only gold can tell."""
COPIED: Final = 0.2
"""The most that copied text may earn in a column that shows the cost of copying."""

_VERB: Final = re.compile(r"\b(is|are|was|were|has|have|does|did|can)\b(?!\s+not\b)")
_REPEATS: Final = 20


class RuleJudge(Judge[NoSettings]):
    """Judges as the rules for the operations `entail`, `audit` and `equivalent` do."""

    kind = "rule-based"

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        found = answer_by_rule(Entail(), EntailRequest(rationale=rationale, points=tuple(points)))
        return [Verdict(id=one.id, met=one.met, evidence=one.evidence) for one in found]

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        found = answer_by_rule(Audit(), AuditRequest.of(answer, standard))
        return [Verdict(id=one.id, met=one.met, evidence=one.evidence) for one in found]

    def equivalent(
        self, question: str, expected: str, given: str, kind: str, client: Client
    ) -> Verdict:
        found = answer_by_rule(
            Equivalent(),
            EquivalentRequest(question=question, expected=expected, given=given, kind=kind),
        )
        return Verdict(id="answer", met=found.met, evidence=found.why)


def decisions(task: TaskCard) -> tuple[str, ...]:
    """What one can always decide without looking: each decision, to abstain, and nothing."""
    return (*task.decisions, ABSTAIN, "")


def constants(task: TaskCard) -> tuple[Answer, ...]:
    """Each decision without a word: the best of them is what an answer is compared with."""
    return tuple(Answer(decision=decision) for decision in decisions(task))


def adversarial_answers(case: Case, view: str) -> Iterator[tuple[str, Answer]]:
    """(name of the attack, answer), for each attack with each decision.

    Every attack says the same as rationale, notice and text. `view` is what was there to copy.
    """
    gold, task = case.gold, case.task
    listed = listing(gold)
    values = " or ".join(dict.fromkeys(value.text for value in find_values(view)))
    reasons = "; ".join(gold.all_reasons)
    candidates = [value.text for value in find_values(view)]
    if gold.answer:
        candidates.insert(len(candidates) // 2, gold.answer)
    claims = [
        *(point.text for point in gold.reasons),
        *(f"The answer is {one}." for one in dict.fromkeys(candidates) if gold.answer),
    ]
    both = " ".join(f"{claim} {opposite(claim)}" for claim in claims)
    hedged = " ".join(_hedged(claim) for claim in claims)
    texts: Mapping[str, tuple[str, Mapping[str, str]]] = {
        "empty": ("", EMPTY),
        LISTS: (
            f"{', '.join(listed)}.\n{reasons}.\n{'; '.join(dict.fromkeys(candidates))}",
            {field.key: values for field in task.fields} if values else EMPTY,
        ),
        "assert both ways": (both, EMPTY),
        "hedge": (hedged, EMPTY),
        "copy the view": (view, EMPTY),
        "verbose": (f"{task.instruction} {task.query}\n{task.notice}\n" * _REPEATS, EMPTY),
    }
    for name, (text, facts) in texts.items():
        for decision in decisions(task):
            yield (
                name,
                Answer(
                    decision=decision,
                    rationale=text,
                    notice=_notice(name, decision, task, text, gold),
                    text=text,
                    facts=facts,
                    reasons=gold.all_reasons if name == LISTS else (),
                ),
            )


def listing(gold: Gold) -> list[str]:
    """What the reasons are made of, one by one: labels, values, thresholds, codes, phrases."""
    groups = (group for point in gold.reasons for group in point.requires)
    return list(dict.fromkeys(option for group in groups for option in group))


def opposite(claim: str) -> str:
    """The claim denied: its first verb with `not`, or without it."""
    for verb in ("is", "are", "was", "were"):
        if f" {verb} not " in claim:
            return claim.replace(f" {verb} not ", f" {verb} ", 1)
    if _VERB.search(claim):
        return _VERB.sub(r"\1 not", claim, count=1)
    return f"It is not true that {claim}"


def most(found: Iterable[float | None]) -> float:
    """The most that any of several answers earned; 0 where none has a value."""
    return max((value for value in found if value is not None), default=0.0)


def _hedged(claim: str) -> str:
    """The claim as a mere possibility."""
    said = _VERB.sub(r"\1 or \1 not", claim, count=1)
    return f"It may or may not be that {said[:1].lower()}{said[1:]}"


def _notice(name: str, decision: str, task: TaskCard, text: str, gold: Gold) -> str:
    """The attack as a notice: what the card says of notices comes first, as whoever copies has it.

    The action is stated as the attack states all else.
    """
    verb = task.verbs.get(decision, decision.lower()) or "decide"
    reasons = "; ".join(gold.all_reasons)
    action = {
        LISTS: f"We decided to {verb} your application.",
        "assert both ways": (
            f"We decided to {verb} your application. We decided not to {verb} your application. "
            f"It was {verb}. It was not {verb}. The reasons are {reasons}. "
            f"The reasons are not {reasons}."
        ),
        "hedge": (
            f"We may or may not have decided to {verb} your application. "
            f"Possibly the reasons are or are not {reasons}."
        ),
    }.get(name)
    return text if action is None else f"{task.notice}\n{action}\n{text}"
