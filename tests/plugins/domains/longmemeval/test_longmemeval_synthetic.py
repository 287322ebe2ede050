from __future__ import annotations

import json
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from framework.errors import UserError
from framework.records import ABSTAIN
from framework.testing.domain_conformance import check_domain
from framework.text.sessions import date_of
from framework.text.tokens import count_tokens
from plugins.domains.longmemeval.domain import LongMemEval, LongMemEvalSettings
from plugins.domains.longmemeval.generate import draw
from plugins.domains.longmemeval.records import Question, published
from plugins.domains.longmemeval.structures import STRUCTURES
from plugins.domains.longmemeval.synthetic import (
    LongMemEvalSynthetic,
    LongMemEvalSyntheticSettings,
)


def opened(**settings: Any) -> LongMemEvalSynthetic:
    return LongMemEvalSynthetic(LongMemEvalSyntheticSettings(**settings))


def drawn(n: int, **settings: Any) -> list[Question]:
    domain = opened(**settings)
    return [domain.question(case.id) for case in domain.cases(n, seed=3)]


def auc(positive: list[float], negative: list[float]) -> float:
    """Probability that one of the positives is the greater, ties half."""
    wins = sum((p > q) + (p == q) / 2 for p in positive for q in negative)
    return wins / (len(positive) * len(negative))


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_the_laws_hold_of_every_structure(structure: str) -> None:
    check_domain(
        LongMemEvalSynthetic,
        LongMemEvalSyntheticSettings(shares={structure: 1.0}, abstention=0.3, sessions=8),
        n=8,
    )


def test_written_as_the_published_file_it_reads_the_same(tmp_path: Path) -> None:
    domain = opened()
    cases = list(domain.cases(60, seed=3))
    file = tmp_path / "drawn.json"
    records = [published(domain.question(case.id)) for case in cases]
    file.write_text(json.dumps({"provenance": {"source": "drawn"}, "questions": records}))
    read = LongMemEval(LongMemEvalSettings(path=str(file)))
    for case, again in zip(cases, read.cases(None, seed=0), strict=True):
        assert again.gold == case.gold
        assert again.task == case.task
        assert list(read.history(again.history_id)) == list(domain.history(case.history_id))


def test_sessions_are_dated_in_order_before_the_question() -> None:
    for question in drawn(50):
        days = [date_of(session.date) or date.max for session in question.sessions]
        assert all(a <= b for a, b in pairwise(days))
        assert days[-1] < (date_of(question.date) or date.min)


def test_a_question_does_not_hang_on_what_was_drawn_before() -> None:
    settings: dict[str, Any] = {
        "shares": {"count": 1.0},
        "abstention": 0.2,
        "held_out": 0.5,
        "sessions": 9,
    }
    assert draw(1, 5, **settings) == draw(1, 5, **settings)
    assert draw(1, 5, **settings) != draw(2, 5, **settings)
    first = [c.id for c in opened().cases(10, seed=1)]
    assert first == [c.id for c in opened().cases(20, seed=1)][:10]


def test_shares_abstention_and_forms_are_as_set() -> None:
    questions = drawn(
        600, shares={"count": 3.0, "update": 1.0}, abstention=0.4, held_out=0.25, sessions=6
    )
    kinds = Counter(q.structure.partition(":")[0] for q in questions)
    assert kinds.keys() == {"count", "update"}
    assert 0.69 < kinds["count"] / 600 < 0.81
    assert 0.34 < sum(q.abstains for q in questions) / 600 < 0.46
    assert 0.20 < sum(q.form == "held_out" for q in questions) / 600 < 0.30
    whys = {q.structure.partition(":")[2] for q in questions if q.abstains}
    assert whys == {"absent", "misleading", "stale", "contradictory"}


def test_the_types_are_those_of_the_benchmark_in_about_its_shares() -> None:
    shares = Counter[str]()
    for structure in STRUCTURES.values():
        shares[structure.type] += structure.share * 100
    assert sum(shares.values()) == pytest.approx(100)
    published_counts = {
        "single-session-user": 70,
        "single-session-assistant": 56,
        "single-session-preference": 30,
        "multi-session": 133,
        "knowledge-update": 78,
        "temporal-reasoning": 133,
    }
    for type_, n in published_counts.items():
        assert shares[type_] == pytest.approx(n / 5, abs=1.5)


def test_an_absent_answer_is_nowhere_and_a_misleading_one_is_marked() -> None:
    questions = drawn(400, abstention=1.0)
    absent = [q for q in questions if q.structure.endswith(":absent")]
    misleading = [q for q in questions if q.structure.endswith(":misleading")]
    assert len(absent) > 100
    assert len(misleading) > 100
    marked = [any(t.has_answer for s in q.sessions for t in s.turns) for q in misleading]
    assert sum(marked) / len(marked) > 0.95
    for case in opened(abstention=1.0).cases(50, seed=3):
        if case.tags["abstention"] == "yes":
            assert case.gold.decision == ABSTAIN


@pytest.mark.slow
def test_neither_length_nor_wording_of_the_question_tells_that_it_has_no_answer() -> None:
    shares = {name: 1.0 for name, s in STRUCTURES.items() if len(s.absences) > 1}
    questions = drawn(900, shares=shares, abstention=0.5)
    sizes: dict[bool, list[float]] = {True: [], False: []}
    words: dict[bool, list[float]] = {True: [], False: []}
    for q in questions:
        text = " ".join(t.content for s in q.sessions for t in s.turns)
        sizes[q.abstains].append(count_tokens(text))
        words[q.abstains].append(len(q.text.split()))
    assert 0.35 < auc(sizes[True], sizes[False]) < 0.65
    assert 0.4 < auc(words[True], words[False]) < 0.6


def test_the_place_of_a_fact_in_the_history_tells_nothing() -> None:
    places = [
        place / (len(q.sessions) - 1)
        for q in drawn(500, shares={"fact": 1.0}, abstention=0.0)
        for place, s in enumerate(q.sessions)
        if s.is_gold
    ]
    assert 0.45 < sum(places) / len(places) < 0.55


def test_the_latest_statement_is_right_for_an_update_and_wrong_for_an_original() -> None:
    for structure, at in (("update", -1), ("original", 0)):
        for q in drawn(40, shares={structure: 1.0}, abstention=0.0):
            gold = [t.content for s in q.sessions for t in s.turns if t.has_answer]
            assert q.answer in gold[at]


def test_mistakes_of_the_user() -> None:
    with pytest.raises(UserError, match="has no end"):
        list(opened().cases(None, seed=0))
    for settings, says in (
        ({"sessions": 3}, "6 to 100 expected"),
        ({"abstention": 1.5}, "0 to 1 expected"),
        ({"shares": {"counts": 1.0}}, "no structure 'counts'; did you mean 'count'"),
        ({"shares": {"count": -1.0}}, "0 or more expected"),
        ({"shares": {"count": 0.0}}, "no structure has any"),
    ):
        with pytest.raises(ValueError, match=says):
            LongMemEvalSyntheticSettings(**settings)  # type: ignore[arg-type]


def test_in_other_words_the_same_is_told_in_the_same_turns() -> None:
    domain = opened()
    told_alike = evidence = 0
    for case in domain.cases(150, seed=3):
        first, second = (domain.rerendered(case, n) for n in (1, 2))
        assert (first.id, first.tags, first.task) == (case.id, case.tags, case.task)
        assert len({case.history_id, first.history_id, second.history_id}) == 3
        assert domain.rerendered(second, 1) == first
        one, other = domain.question(case.history_id), domain.question(first.history_id)
        assert (one.answer, one.date, one.text) == (other.answer, other.date, other.text)
        assert first.gold.evidence == case.gold.evidence
        for mine, its in zip(one.sessions, other.sessions, strict=True):
            assert (mine.date, mine.is_gold) == (its.date, its.is_gold)
            for turn, again in zip(mine.turns, its.turns, strict=True):
                assert (turn.role, turn.has_answer) == (again.role, again.has_answer)
                evidence += turn.has_answer
                told_alike += turn.has_answer and turn.content == again.content
        # A history of more than fifty turns can not come out alike by chance.
        texts = {
            "\n".join(event.text for event in domain.history(id_))
            for id_ in (case.history_id, first.history_id, second.history_id)
        }
        assert len(texts) == 3
    assert evidence > 200
    assert told_alike < 0.1 * evidence


def test_a_history_can_have_the_published_size() -> None:
    small = LongMemEvalSynthetic(LongMemEvalSyntheticSettings())
    large = LongMemEvalSynthetic(LongMemEvalSyntheticSettings(sessions=48, exchanges=37))
    assert 1_700 < small.nominal_tokens < 2_000
    assert 110_000 < large.nominal_tokens < 120_000
    (case,) = large.cases(1, 3)
    turns = list(large.history(case.history_id))
    assert len(turns) >= 48 * 37 * 2
    texts = {event.id: event.text for event in turns}
    assert all(s.text in texts[s.source_id] for item in case.gold.items for s in item.spans)
    by_session = Counter(event.id.partition(".")[0] for event in turns)
    assert max(by_session.values()) <= 2 * 38, "what is told makes no session longer"
