"""The laws of a judge, as one check that any author can run.

    from framework.testing.judge_conformance import check_judge

    def test_my_judge() -> None:
        check_judge(MyJudge, MySettings())

It asks about hand-made rationales and notices, with a model that answers by rule, and raises
AssertionError with the law that failed. What it holds to:

- One verdict for each demand, in the order asked, yes or no, with its words; none for none asked.
- The same question gets the same verdicts, whatever was asked before.
- A rule-based judge asks no model, and its verdict on one demand does not hang on the others.
- A judge can't see whose answer it judges: its methods take what the contract says and no more.
- An answer that lists everything, asserts both ways, hedges, copies the record, says nothing or
  says much (`framework.testing.adversarial`) entails no point and gives no expected answer; its
  notice does not meet the standard, where it does more than state too much.

Whether the verdicts are right is for a test of your own, on rationales labelled by people.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from framework.contracts import Client, Judge, Verdict
from framework.errors import UserError
from framework.models.client import Ledger, track_usage
from framework.records import Answer, Case, ChecklistItem, ReasoningPoint, Standard
from framework.testing.adversarial import LISTS, adversarial_answers
from framework.testing.arch_conformance import (
    NoClient,
    RuleClient,
    as_laws,
    freeze,
    history,
    settle,
)
from framework.testing.axis_conformance import ADVERSARIAL, QUESTION

POINTS: Final = (
    ReasoningPoint(
        id="p2",
        text="The score is below the threshold.",
        requires=(("credit score",), ("610",), ("below",)),
        forbids=("not below",),
    ),
    ReasoningPoint(id="p1", text="The policy is UP-1.", requires=(("UP-1",),)),
    ReasoningPoint(
        id="p3", text="The income suffices.", requires=(("income",), ("enough", "suffices"))
    ),
)
RATIONALES: Final = (
    "",
    "The credit score is 610, which is below the 640 of UP-1. Decision: DENY.",
    "The credit score of 610 is not below the threshold. The income suffices.",
    "Nothing to the point.",
)
STANDARD: Final = Standard(
    name="notice",
    question="Does the notice say what was decided, and why?",
    items=(
        ChecklistItem(id="why", text="the reason", citation="2", requires=(("credit score",),)),
        ChecklistItem(
            id="action",
            text="the action taken",
            citation="1",
            requires=(("denied", "declined"),),
            forbids=("internal standards",),
        ),
    ),
)
ANSWERS: Final = (
    Answer(),
    Answer(
        decision="DENY",
        rationale=RATIONALES[1],
        notice="Your application is denied; reason: credit score.",
        reasons=("credit score",),
        provisions=("UP-1",),
    ),
    Answer(decision="DENY", notice="Denied under our internal standards."),
)


def check_judge(judge: type[Judge[Any]], settings: Any) -> None:
    """Hold a judge with these settings to every law. Raises AssertionError naming the first broken.

    Asks nothing of quality. Must not be called from a running event loop.
    """
    check_declarations(judge, settings)
    check_blind(judge)
    for rationale in RATIONALES:
        check_entail(judge, settings, rationale, POINTS)
    for answer in ANSWERS:
        check_audit(judge, settings, answer, STANDARD)
    check_memory(judge, settings)
    check_adversarial(judge, settings, ADVERSARIAL)
    check_adversarial(judge, settings, QUESTION)


def check_declarations(judge: type[Judge[Any]], settings: Any) -> None:
    """Kind and settings are of their types."""
    assert isinstance(settings, judge.Settings), f"settings are not {judge.Settings.__name__}"
    assert (judge.__doc__ or "").strip(), "a docstring says how it judges, and after which source"
    with as_laws():
        judge.check_declared()


def check_blind(judge: type[Judge[Any]]) -> None:
    """The methods take what the contract says: there is no way in for an arm's name."""
    for name in ("entail", "audit", "equivalent"):
        given = tuple(inspect.signature(getattr(judge, name)).parameters)
        allowed = tuple(inspect.signature(getattr(Judge, name)).parameters)
        assert len(given) == len(allowed), (
            f"{name} takes {', '.join(given)}; the contract is {', '.join(allowed)}"
        )


def check_entail(
    judge: type[Judge[Any]], settings: Any, rationale: str, points: Sequence[ReasoningPoint]
) -> None:
    """One verdict a point, in order; the same again; for rules, each point by itself."""
    instance = judge(settings)

    def ask(asked: Sequence[ReasoningPoint]) -> list[Verdict]:
        with track_usage(Ledger(), "judge", 0):
            return list(settle(instance.entail(rationale, asked, _client(judge))))

    before = freeze(points)
    verdicts = ask(points)
    _check_verdicts(verdicts, [point.id for point in points])
    assert freeze(points) == before, "entail changed the points"
    assert ask(points) == verdicts, "entail differs when asked again"
    assert ask(()) == [], "verdicts without points"
    turned = ask(tuple(reversed(points)))
    _check_verdicts(turned, [point.id for point in reversed(points)])
    if judge.kind == "rule-based":
        assert turned[::-1] == verdicts, "a verdict depends on the order of the points"
        alone = [verdict for point in points for verdict in ask([point])]
        assert alone == verdicts, "a verdict depends on the other points"


def check_audit(judge: type[Judge[Any]], settings: Any, answer: Answer, standard: Standard) -> None:
    """One verdict an item of the checklist, in order; the same again; for rules, each by itself."""
    instance = judge(settings)

    def ask(items: Sequence[ChecklistItem]) -> list[Verdict]:
        asked = replace(standard, items=tuple(items))
        with track_usage(Ledger(), "judge", 0):
            return list(settle(instance.audit(answer, asked, _client(judge))))

    before = freeze((answer, standard))
    verdicts = ask(standard.items)
    _check_verdicts(verdicts, [item.id for item in standard.items])
    assert freeze((answer, standard)) == before, "audit changed what it was given"
    assert ask(standard.items) == verdicts, "audit differs when asked again"
    assert ask(()) == [], "verdicts without a checklist"
    if judge.kind == "rule-based":
        alone = [verdict for item in standard.items for verdict in ask([item])]
        assert alone == verdicts, "a verdict depends on the other items"


def check_memory(judge: type[Judge[Any]], settings: Any) -> None:
    """One instance judges a whole run: what it judged before has no effect."""
    used = judge(settings)
    with track_usage(Ledger(), "judge", 0):
        for rationale in RATIONALES:
            settle(used.entail(rationale, POINTS, _client(judge)))
        for answer in ANSWERS:
            settle(used.audit(answer, STANDARD, _client(judge)))
        for rationale in RATIONALES:
            fresh = list(settle(judge(settings).entail(rationale, POINTS, _client(judge))))
            later = list(settle(used.entail(rationale, POINTS, _client(judge))))
            assert later == fresh, "a verdict depends on what was judged before"


def check_adversarial(judge: type[Judge[Any]], settings: Any, case: Case) -> None:
    """No adversarial answer to the case gets a point, and none that hedges or copies a notice."""
    instance, gold = judge(settings), case.gold
    record = "\n\n".join(event.text for event in history())
    for attack, answer in adversarial_answers(case, record):
        with track_usage(Ledger(), "judge", 0):
            # What an axis takes out as copied is not shown to the judge.
            rationale = "" if answer.rationale == record else answer.rationale
            for verdict in settle(instance.entail(rationale, gold.reasons, _client(judge))):
                assert not verdict.met, f"{attack!r} entails {verdict.id}: {verdict.evidence}"
            if gold.standard is not None and attack != LISTS:
                notice = settle(instance.audit(answer, gold.standard, _client(judge)))
                assert not all(v.met for v in notice), f"{attack!r} passes as a notice"
            if gold.answer:
                asked = (case.task.query, gold.answer, answer.text, "answer", _client(judge))
                try:
                    found = settle(instance.equivalent(*asked))
                except UserError:  # it does not judge answers to questions
                    continue
                assert not found.met, f"{attack!r} passes as an answer: {found.evidence}"


def _check_verdicts(verdicts: Sequence[Verdict], ids: Sequence[str]) -> None:
    assert all(isinstance(verdict, Verdict) for verdict in verdicts), "a verdict is not a Verdict"
    given = [verdict.id for verdict in verdicts]
    assert given == list(ids), f"verdicts on {given}, asked in this order: {list(ids)}"
    for verdict in verdicts:
        assert type(verdict.met) is bool, f"the verdict on {verdict.id} is {verdict.met!r}"
        assert isinstance(verdict.evidence, str), f"the evidence on {verdict.id} is no text"


def _client(judge: type[Judge[Any]]) -> Client:
    return NoClient() if judge.kind == "rule-based" else RuleClient()
