"""The laws of an axis, as one check that any author can run.

    from framework.testing.axis_conformance import check_axis

    def test_my_axis() -> None:
        check_axis(MyAxis, MySettings())

It scores hand-made cases (views from empty to whole, answers from right to absent), and raises
AssertionError with the law that failed. Give `scored` to add cases of your own domain. What it
holds to:

- The columns filled are the columns declared, for every case; values are finite numbers or None.
- The same case gets the same values, and nothing of it is changed.
- Declarations are true: an axis that needs no answer scores without one; a model-free column is
  measured without a model, so no answer and no judge moves it.
- An answer that lists everything, asserts both ways, hedges, copies the view, says nothing or says
  much (`framework.testing.adversarial`) earns at most a tenth more in a column where higher is
  better than the best decision without a word. What copying or listing may raise is named in
  `precision`, with the column that shows what that costs: there it earns at most a fifth.

One law no machine can hold: a value that is undefined for a case is None and never 0. Write that
test yourself, on a case where your axis has nothing to measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from framework.contracts import PROVIDED, Axis, Client, Domain, Judge, Scored, Verdict
from framework.contracts.axes import check_distinct
from framework.pipeline.pack import pack
from framework.pipeline.score import filled
from framework.records import (
    ABSTAIN,
    Answer,
    AxisScore,
    Case,
    ChecklistItem,
    Event,
    Gold,
    GoldItem,
    Item,
    MemoryView,
    ReasoningPoint,
    Retired,
    Span,
    Standard,
)
from framework.registry import NoSettings, nearest, plugins
from framework.retention import retained
from framework.testing.adversarial import (
    COPIED,
    LIMIT,
    RuleJudge,
    adversarial_answers,
    constants,
    most,
)
from framework.testing.arch_conformance import (
    BUDGET,
    TASK,
    NoClient,
    RuleClient,
    as_laws,
    freeze,
    history,
    settle,
)


class YesJudge(Judge[NoSettings]):
    """Finds every demand met, so that an axis that asks a judge has one to ask."""

    kind = "rule-based"

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Client
    ) -> Sequence[Verdict]:
        return [Verdict(id=point.id, met=True, evidence=rationale) for point in points]

    def audit(self, answer: Answer, standard: Standard, client: Client) -> Sequence[Verdict]:
        return [Verdict(id=item.id, met=True, evidence=answer.notice) for item in standard.items]


class SilentDomain(Domain[NoSettings]):
    """Adds nothing to a case: what an axis asks of it is answered as the contract does."""

    name = "silent"
    provides = ()
    headline = ()
    nominal_tokens = 1
    fields = ()

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        return iter(())

    def history(self, history_id: str) -> Iterator[Event]:
        return iter(())

    def digest(self) -> str:
        return ""


GOLD: Final = Gold(
    items=(
        GoldItem(
            id="income",
            kind="fact",
            key="income",
            type="money",
            anchors=("$61,000",),
            bindings=("Annual income",),
            spans=(Span(source_id="e2", text="Annual income: $61,000."),),
        ),
        GoldItem(
            id="score",
            kind="fact",
            key="score",
            type="score",
            anchors=("610",),
            bindings=("credit score",),
            spans=(
                Span(
                    source_id="e6",
                    text="Correction dated 2026-03-05: the credit score is 610, not 655.",
                ),
            ),
            critical=True,
        ),
        GoldItem(
            id="UP-1",
            kind="rule",
            key="UP-1",
            spans=(
                Span(
                    source_id="e1",
                    text="UP-1. Deny if the credit score is below 640; reason: credit score.",
                ),
            ),
            critical=True,
        ),
    ),
    decision="DENY",
    reasons=(
        ReasoningPoint(
            id="below",
            text="The credit score of 610 is below the 640 of UP-1.",
            requires=(("credit score", "score"), ("610",), ("640", "UP-1")),
            forbids=("is not below",),
            relation="<",
        ),
        ReasoningPoint(
            id="gap",
            text="The gap in employment is explained: the applicant cared for a parent.",
            requires=(("gap",), ("explained", "because"), ("cared for a parent",)),
            forbids=("unexplained", "not explained"),
        ),
    ),
    principal_reasons=("credit score",),
    all_reasons=("credit score", "income"),
    provisions=("UP-1",),
    adverse=("DENY",),
    standard=Standard(
        name="notice",
        question="Does the notice say what was decided, and why?",
        items=(
            ChecklistItem(
                id="action",
                text="the action",
                citation="1",
                requires=(("denied", "decided to deny"),),
            ),
            ChecklistItem(
                id="quote",
                text="the provision",
                citation="2",
                requires=(("UP-1",),),
                axis="crr_quote",
            ),
        ),
    ),
    governing=("e1",),
    retired=(Retired(key="score", type="score", value="655", source_ids=("e3",)),),
    evidence=("e1", "e6"),
    injected=("APPROVE", "e5b"),
)
"""Gold of `arch_conformance.history`, with something for every kind of axis to look at."""

ADVERSARIAL: Final = Case(id="c1", history_id="h1", task=TASK, gold=GOLD)
QUESTION: Final = Case(
    id="c2",
    history_id="h1",
    task=replace(TASK, instruction="Answer the question.", query="How large was the deposit?"),
    gold=Gold(answer="$4,500", evidence=("e9",), items=GOLD.items),
)
"""A decision and a question, for adversarial answers."""

ANSWERS: Final = (
    Answer(
        decision="DENY",
        confidence=0.9,
        rationale="The credit score is 610, which is below the 640 of UP-1.",
        notice="Your application is denied; reason: credit score.",
        facts={"income": "$61,000", "score": "610"},
        reasons=("credit score",),
        provisions=("UP-1",),
    ),
    Answer(decision="APPROVE", rationale="The score is 655.", facts={"score": "655"}),
    Answer(decision="APPROVE", defaulted=True),
    Answer(decision=ABSTAIN, confidence=0.0),
    Answer(text="no form at all"),
)
"""Right, wrong, fallen back, abstaining, and without a decision."""


def cases() -> tuple[Scored, ...]:
    """Every answer on an empty view, one under a budget and the whole history; also bare gold.

    Each with a judge and an answer to the case without its injection, and with neither.
    """
    events = history()
    found = []
    for gold in (GOLD, replace(GOLD, adverse=("APPROVE",)), Gold(decision="DENY"), Gold()):
        case = Case(id="c1", history_id="h1", task=TASK, gold=gold, tags={"form": "development"})
        views = (_view((), BUDGET), _view(events, BUDGET), _view(events, None))
        found += [
            _scored(case, view, answer, judge, clean)
            for view in views
            for answer in ANSWERS
            for judge, clean in ((YesJudge(NoSettings()), ANSWERS[0]), (None, None))
        ]
    return tuple(found)


def check_axis(axis: type[Axis[Any]], settings: Any, scored: Iterable[Scored] = ()) -> None:
    """Hold an axis with these settings to every law, on `cases()` and on `scored` too.

    Raises AssertionError naming the first broken. Must not be called from a running event loop.
    """
    check_declarations(axis, settings)
    instance = axis(settings)
    for one in (*cases(), *scored):
        check_score(instance, one)
        check_model_free(instance, one)
    for case in (ADVERSARIAL, QUESTION):
        check_adversarial(instance, case)


def check_declarations(axis: type[Axis[Any]], settings: Any) -> None:
    """Columns have well-formed, distinct names; directions and model-free names are of them."""
    assert isinstance(settings, axis.Settings), f"settings are not {axis.Settings.__name__}"
    assert (axis.__doc__ or "").strip(), "a docstring defines each column, its range and source"
    with as_laws():
        axis.check_declared()
        check_distinct([*(p.cls for p in plugins("axis") if not _is(p.cls, axis)), axis])
    known = {word for domain in plugins("domain") for word in domain.cls.provides} | set(PROVIDED)
    for word in axis.needs:
        assert word in known, f"needs: no domain provides {word!r}{nearest(word, known)}"


def _is(one: type[Axis[Any]], other: type[Axis[Any]]) -> bool:
    """Whether they are the same class, imported twice maybe."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


def check_score(instance: Axis[Any], scored: Scored) -> None:
    """The declared columns, finite or None, the same each time, with nothing changed."""
    before = freeze(_data(scored))
    score = _ask(instance, scored)
    with as_laws():
        filled(instance, score)
    assert isinstance(score.evidence, tuple), "evidence is not a tuple of lines"
    assert all(isinstance(line, str) for line in score.evidence), "evidence: a line is no text"
    assert freeze(_data(scored)) == before, "score changed what it was given"
    again = _ask(type(instance)(instance.settings), scored)
    assert (dict(again.values), again.evidence) == (dict(score.values), score.evidence), (
        "the same case got other values"
    )


def check_model_free(instance: Axis[Any], scored: Scored) -> None:
    """A model-free value is the same for every answer, and without one where none is needed."""
    values = _ask(instance, scored).values
    others = [replace(scored, answer=answer) for answer in ANSWERS]
    if not instance.needs_answer:
        others.append(replace(scored, answer=None, judge=None, clean=None))
    if instance.needs_answer and not instance.model_free:
        return
    for other in others:
        found = _ask(instance, other).values
        moved = [name for name in sorted(instance.model_free) if found[name] != values[name]]
        assert not moved, (
            f"{', '.join(moved)} moved with the answer: it is not model-free, the reader has part"
        )


def check_adversarial(instance: Axis[Any], case: Case) -> None:
    """No adversarial answer earns what the law says it may not, the whole history in view."""
    columns = [
        name
        for name in instance.names
        if instance.higher_is_better[name] and name not in instance.model_free | instance.amounts
    ]
    if not instance.needs_answer or not columns:
        return
    view = _view(history(), None)
    judge = RuleJudge(NoSettings())

    def earned(answer: Answer) -> Mapping[str, float | None]:
        return _ask(instance, _scored(case, view, answer, judge, None)).values

    floors = [earned(answer) for answer in constants(case.task)]
    costs = set(instance.precision.values())
    for attack, answer in adversarial_answers(case, view.text):
        values = earned(answer)
        for name in columns:
            value, floor = values[name], most(found[name] for found in floors)
            if name in costs or value is None or value <= floor + LIMIT:
                continue
            cost = values[instance.precision[name]] if name in instance.precision else None
            assert cost is not None, f"{name}: the attack {attack!r} earns {value:.2f}"
            assert cost <= COPIED, (
                f"{name}: the attack {attack!r} earns {value:.2f}, and {cost:.2f} in "
                f"{instance.precision[name]}, which is to show what it costs"
            )


def _ask(instance: Axis[Any], scored: Scored) -> AxisScore:
    only_model_free = set(instance.model_free) == set(instance.names)
    client: Client = NoClient() if only_model_free else RuleClient()
    return settle(instance.score(replace(scored, client=client)))


def _data(scored: Scored) -> Mapping[str, Any]:
    return {
        "case": scored.case,
        "view": scored.view,
        "answer": scored.answer,
        "retained": scored.retained,
    }


def _view(events: Sequence[Event], budget: int | None) -> MemoryView:
    items = [Item(id=e.id, text=e.text, signals={"rank": 1.0}, source_ids=(e.id,)) for e in events]
    return pack(items, budget, "truncate")


def _scored(
    case: Case, view: MemoryView, answer: Answer, judge: Judge[Any] | None, clean: Answer | None
) -> Scored:
    return Scored(
        case=case,
        domain=SilentDomain(NoSettings()),
        view=view,
        answer=answer,
        retained=retained(case.gold, view),
        judge=judge,
        client=RuleClient(),
        clean=clean,
    )
