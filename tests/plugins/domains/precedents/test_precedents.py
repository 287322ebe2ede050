"""A series of precedents builds on itself, is corrected, and gives nothing away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import mean
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.studies.leaks.precedents import ORDERS, Order, as_planned, holding
from framework.contracts import Interactive, Scored, answer_by_rule
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.operations.propose_edit import ProposeEdit
from framework.records import Answer, Case, Event, MemoryView
from framework.registry import find, settings_of
from framework.testing.domain_conformance import check_domain
from framework.text.tokens import count_tokens
from plugins.domains.precedents.axis import Correction
from plugins.domains.precedents.domain import RECORD_TOKENS, Precedents
from plugins.domains.precedents.series import PrecedentsSettings
from plugins.protocols.sessions.linked import Linked
from plugins.protocols.sessions.session import Limits, Session
from plugins.protocols.sessions.watched import Watched

SHAPES: tuple[dict[str, Any], ...] = (
    {"records": 20, "between": 1},
    {"length": 10, "records": 10, "between": 0, "labels": 10, "forms": "held_out"},
    {"length": 13, "records": 12, "labels": 24, "between": 2, "forms": "development"},
)


@cache
def domain(**settings: Any) -> Precedents:
    return Precedents(PrecedentsSettings(**settings))


@cache
def cases(n: int, seed: int = 23) -> tuple[Case, ...]:
    return tuple(domain().cases(n, seed))


def there(case: Case) -> dict[str, Event]:
    """The events of a case's history by id, in order of arrival."""
    return {event.id: event for event in domain().history(case.history_id)}


def plan(case: Case) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(case.task.material["change_plan"])["settings"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_keeps_the_contract_of_a_domain(shape: dict[str, Any]) -> None:
    check_domain(Precedents, PrecedentsSettings(**shape), 14)


def test_it_answers_back_and_its_cases_follow_each_other() -> None:
    assert isinstance(domain(), Interactive)
    assert isinstance(domain(), Linked)


@pytest.mark.parametrize(
    "wrong", [{"length": 9}, {"length": 61}, {"records": 9}, {"labels": 9}, {"between": -1}]
)
def test_settings_out_of_bounds_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PrecedentsSettings(**wrong)  # type: ignore[arg-type]


def test_what_is_of_no_series_is_refused() -> None:
    for name in ("governance-s7-00000", "precedents-s7-00000-20"):
        with pytest.raises(UserError, match="no history"):
            domain().history(name)
    with pytest.raises(UserError, match="n_cases"):
        list(domain().cases(None, 1))


def test_a_history_is_what_was_there_and_what_every_case_left() -> None:
    made = domain()
    own = cases(20)
    before = list(made.history(made.opened(own[13])))
    assert len(before) == made.settings.records
    for case in own:
        assert list(made.history(case.history_id)) == before
        before += made.left_by(case)
    assert len(before) == made.settings.records + 20 * (1 + made.settings.between) + 1


def test_precedents_are_nowhere_but_in_what_earlier_cases_left() -> None:
    made = domain()
    for case in cases(60):
        standing = {event.id for event in made.history(made.opened(case))}
        (governing,) = case.gold.governing
        assert governing in there(case)
        assert (governing in standing) is (case.stratum == "standing")
        # Where a component is built under a ruling, not even the first link is there before.
        if case.stratum != "standing":
            assert not standing >= set(case.gold.chain)


def test_half_of_the_cases_after_the_correction_are_under_it() -> None:
    for start in range(0, 200, 20):
        own = cases(200)[start : start + 20]
        assert {case.cluster for case in own} == {own[0].cluster}
        halves = [case.tags["half"] for case in own]
        assert halves == ["before"] * 10 + ["after"] * 10
        thread = [case for case in own if case.tags["thread"] == "corrected"]
        after = [case for case in thread if case.tags["half"] == "after"]
        assert len(after) == 5
        assert len(thread) - len(after) >= 2
        assert [case.stratum == "corrected" for case in thread] == [c in after for c in thread]
        (head,) = {case.gold.governing for case in after}
        (old,) = {case.gold.governing for case in thread if case not in after}
        for case in after:
            (retired,) = case.gold.retired
            assert retired.source_ids == old
            assert ("supersedes", old[0]) in there(case)[head[0]].edges
            (right,) = json.loads(case.gold.invariant)["require"].values()
            assert str(right["low"]) != retired.value
        assert not any(case.gold.retired for case in own if case not in after)


def test_which_of_the_first_rulings_is_corrected_is_open() -> None:
    made, places = domain(), []
    for start in range(0, 800, 20):
        own = cases(800)[start : start + 20]
        thread = next(case for case in own if case.stratum == "corrected")
        (old,) = thread.gold.retired[0].source_ids
        left = [{event.id for event in made.left_by(case)} for case in own[:3]]
        places.append(next(n for n, events in enumerate(left) if old in events))
    assert all(places.count(place) >= 6 for place in range(3))


def test_the_proposed_value_never_does_and_the_card_names_nothing() -> None:
    made = domain()
    for case in cases(200):
        assert not made.success(as_planned(case), case.gold)
        assert made.success(Answer(edit=case.gold.answer), case.gold)
        shown = "\n".join((case.task.instruction, case.task.query, *case.task.material.values()))
        assert not any(name in shown for name in case.gold.provisions)


@pytest.mark.slow
@pytest.mark.parametrize("stratum", ["standing", "precedent", "corrected"])
def test_no_shortcut_finds_what_governs(stratum: str) -> None:
    """By place, by length, by name, and the newest record that speaks of an open setting."""

    def newest_open(case: Case, events: Sequence[Event]) -> list[Event]:
        labels = [one["label"] for one in plan(case) if one["status"] == "proposed"]
        return [e for e in reversed(events) if any(label in e.text for label in labels)]

    own = [case for case in cases(800) if case.stratum == stratum]

    def share(order: Order) -> float:
        return holding(order, domain(), own, 1)

    assert share(ORDERS["newest first"]) <= 0.12
    assert share(ORDERS["oldest first"]) <= 0.06
    assert share(ORDERS["longest first"]) <= 0.15
    assert share(ORDERS["shortest first"]) <= 0.06
    assert share(ORDERS["by id"]) <= 0.06
    assert share(newest_open) <= 0.2


def test_a_value_says_nothing_of_what_comes_next() -> None:
    values = [next(iter(json.loads(c.gold.invariant)["require"].values())) for c in cases(800)]
    assert max(map([v["low"] for v in values].count, range(1, 61))) / len(values) < 0.05


def test_a_review_says_what_is_wrong_and_not_how() -> None:
    made, case = domain(), cases(20)[-1]
    settled, told = made.reply(case, Answer(edit="[]"))
    assert not settled
    edit = [dict(entry) for entry in json.loads(case.gold.answer)]
    (key,) = json.loads(case.gold.invariant)["require"]
    for entry in edit:
        if entry["setting"] == key:
            entry["value"] = str(int(entry["value"]) % 60 + 1)
    settled, told = made.reply(case, Answer(edit=json.dumps(edit)))
    assert not settled
    assert "does not honour the decision" in told
    assert not any(character.isdigit() for character in told)
    assert made.reply(case, Answer(edit=case.gold.answer)) == (True, "Merged.")


def read(case: Case, texts: Sequence[str]) -> Answer:
    """What the rule-based model answers from these texts."""
    operation = ProposeEdit()
    profile = find("model", "rule_based").cls(settings_of(find("model", "rule_based"), {})).profile
    request = AnswerRequest(task=case.task, view="\n".join(texts))
    return operation.answer_of(answer_by_rule(operation, request, profile), case.task)


def test_who_has_the_chain_is_right_and_who_lacks_the_correction_keeps_the_old() -> None:
    made = domain(forms="development")
    seen = set()
    for case in made.cases(40, 7):
        events = {event.id: event.text for event in made.history(case.history_id)}
        chain = [events[one] for one in case.gold.chain]
        assert made.success(read(case, chain), case.gold), case.id
        assert not made.success(read(case, ()), case.gold)
        seen.add(case.stratum)
        if case.stratum == "corrected":
            answer = read(case, chain[:-1])
            values = score(case, made, answer)
            assert values == {
                "correction_honoured": 0.0,
                "honoured_at_once": 0.0,
                "retired_used": 1.0,
                "retired_tried": 1.0,
            }
            assert score(case, made, read(case, chain))["retired_used"] == 0.0
            assert score(case, made, read(case, chain))["honoured_at_once"] == 1.0
        else:
            assert set(score(case, made, Answer()).values()) == {None}
    assert seen == {"standing", "precedent", "corrected"}


def score(
    case: Case, made: Precedents, answer: Answer, session: Mapping[str, float | None] | None = None
) -> dict[str, float | None]:
    axis = Correction(settings_of(find("axis", "correction"), {}))
    scored = Scored(
        case=case,
        domain=made,
        view=MemoryView(items=(), tokens=0, budget_tokens=None),
        answer=answer,
        retained={},
        judge=None,
        client=None,  # type: ignore[arg-type]
        embedder=None,
        session=session or {},
    )
    return dict(axis.score(scored).values)


def test_a_record_is_as_long_as_said() -> None:
    made = domain()
    texts = [event.text for event in made.history(cases(20)[-1].history_id)]
    assert mean(map(count_tokens, texts)) == pytest.approx(RECORD_TOKENS, rel=0.03)
    assert made.nominal_tokens == RECORD_TOKENS * (60 + 10 * 5)


def test_the_retired_value_counts_in_any_answer_of_a_session() -> None:
    made = domain(forms="development")
    assert isinstance(made, Watched)
    case = next(case for case in made.cases(40, 7) if case.stratum == "corrected")
    (retired,) = case.gold.retired
    component = json.loads(case.gold.invariant)["component"]
    old = Answer(edit=json.dumps([edit_of(component, retired.key, retired.value)]))
    right = Answer(edit=case.gold.answer)
    session = Session(
        case=case,
        domain=made,
        reader=cast(Any, SimpleNamespace(answer=lambda task, view, client: old)),
        agent="model",
        limits=Limits(turns=1, tokens=None, shown=None),
        writes=False,
    )
    view = MemoryView(items=(), tokens=0, budget_tokens=None)
    assert asyncio.run(session.answer(case.task, view, cast(Any, None))) == old
    figures = session.close({})
    assert figures is not None
    assert figures["retired_tried"] == 1.0
    assert score(case, made, right, figures)["retired_tried"] == 1.0
    assert score(case, made, right, figures)["retired_used"] == 0.0
    # Of a session of before there is no account.
    assert score(case, made, right, {"turns": 2.0})["retired_tried"] is None
    other = next(case for case in made.cases(40, 7) if case.stratum != "corrected")
    assert made.watched(other, old) == {}


def edit_of(component: str, setting: str, value: str) -> dict[str, str]:
    return {"component": component, "setting": setting, "value": value}
