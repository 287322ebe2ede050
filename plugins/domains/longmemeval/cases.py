"""Cases and histories of questions over sessions, and when an answer is a success."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from framework.contracts import answer_by_rule
from framework.operations.answer_from_sessions import QUESTION_DATE
from framework.operations.equivalent import Equivalent, EquivalentRequest
from framework.records import ABSTAIN, Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.text.sessions import date_of, header
from plugins.domains.longmemeval.records import Question, Session, Turn

Granularity = Literal["turn", "session"]

INSTRUCTION: Final = (
    "Answer the question from what was said in the sessions. Be as short as the question allows."
)
PROVIDES: Final = ("answer", "evidence", "items", "success")
HEADLINE: Final = ("answer_correct", "abstained_right", "p_ret", "recall_at_5", "ndcg_at_10")

_EQUIVALENT: Final = Equivalent()


def events_of(question: Question, granularity: Granularity) -> Iterator[Event]:
    """The sessions in the file's order: an event a turn, or one a session.

    Ids and metadata count sessions and turns by their place. The ids of the file are not shown:
    those of the sessions that hold the answer begin with `answer`.
    """
    for place, session in enumerate(question.sessions):
        texts = [_text(session, turn) for turn in session.turns if turn.content.strip()]
        if granularity == "session":
            if texts:
                yield _event(session, _id(place), place, "\n".join(texts), "session")
            continue
        kept = [(n, turn) for n, turn in enumerate(session.turns) if turn.content.strip()]
        for (number, turn), text in zip(kept, texts, strict=True):
            yield _event(session, _id(place, number), place, text, turn.role)


def case_of(question: Question, history_id: str, granularity: Granularity) -> Case:
    """The case of a question.

    Gold: a `passage` for each turn that has the answer, critical; where a gold session marks no
    turn, its first one stands for none, so retention is undefined as it is in the benchmark.
    Evidence is the events with such a turn (at session granularity also every gold session), and
    empty for a question that must be abstained from, which the benchmark leaves out of retrieval.
    """
    items, evidence = [], []
    for place, session in enumerate(question.sessions):
        marked = [
            (number, turn)
            for number, turn in enumerate(session.turns)
            if turn.has_answer and turn.content.strip()
        ]
        for number, turn in marked:
            source = _id(place) if granularity == "session" else _id(place, number)
            span = Span(source_id=source, text=turn.content.strip())
            key = _id(place, number)
            items.append(
                GoldItem(id=f"turn:{key}", kind="passage", key=key, spans=(span,), critical=True)
            )
            evidence.append(source)
        if granularity == "session" and session.is_gold and not marked:
            evidence.append(_id(place))
    gold = Gold(
        items=tuple(items),
        decision=ABSTAIN if question.abstains else "",
        evidence=() if question.abstains else tuple(dict.fromkeys(evidence)),
        answer=question.answer,
        answer_kind="abstention" if question.abstains else question.type,
    )
    task = TaskCard(
        instruction=INSTRUCTION,
        query=question.text,
        operation="answer_from_sessions",
        material={QUESTION_DATE: question.date},
    )
    tags = {"type": question.type, "abstention": "yes" if question.abstains else "no"}
    if question.structure:
        tags |= {"structure": question.structure, "form": question.form}
    return Case(
        id=question.id,
        history_id=history_id,
        task=task,
        gold=gold,
        stratum=question.type,
        tags=tags,
    )


def with_evidence(question: Question, places: Sequence[str]) -> Question:
    """The question with the turns at these places marked as what its answer rests on, and no other.

    places : `s3.5` is turn 5 of session 3. Raises ValueError for a place without a text.
    """
    known = {
        _id(place, number)
        for place, session in enumerate(question.sessions)
        for number, turn in enumerate(session.turns)
        if turn.content.strip()
    }
    strangers = [place for place in places if place not in known]
    if strangers:
        raise ValueError(
            f"evidence {strangers[0][:80]!r} is no turn of it (turn 5 of session 3: s3.5)"
        )
    sessions = []
    for place, session in enumerate(question.sessions):
        turns = tuple(
            replace(turn, has_answer=_id(place, number) in places)
            for number, turn in enumerate(session.turns)
        )
        gold = any(turn.has_answer for turn in turns)
        sessions.append(replace(session, turns=turns, is_gold=gold))
    return replace(question, sessions=tuple(sessions))


def is_success(answer: Answer, gold: Gold) -> bool:
    """Whether the answer is right by the rule for its kind, compared without a model.

    A question that has no answer wants an abstention, any other a commitment.
    """
    if answer.decision == ABSTAIN:
        return gold.decision == ABSTAIN
    request = EquivalentRequest(
        question="", expected=gold.answer, given=answer.text, kind=gold.answer_kind
    )
    return answer_by_rule(_EQUIVALENT, request).met


def _id(session: int, turn: int | None = None) -> str:
    return f"s{session + 1}" if turn is None else f"s{session + 1}.{turn + 1}"


def _text(session: Session, turn: Turn) -> str:
    return f"{header(session.date, turn.role)}\n{turn.content.strip()}"


def _event(session: Session, id_: str, place: int, text: str, kind: str) -> Event:
    day = date_of(session.date)
    return Event(
        id=id_,
        text=text,
        time=day.isoformat() if day else "",
        kind=kind,
        metadata={"session": _id(place), "role": kind},
    )
