"""Questions over the sessions of conversations, whatever file they are published in."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Literal

from framework.errors import DataError
from framework.records import EMPTY, Answer, Case, Event, Gold
from framework.text.tokens import count_tokens
from plugins.domains.cards import Benchmark
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    check_sha256,
    kind_of,
    listed,
    read_file,
    text_in,
)
from plugins.domains.errata import check_cases, read_errata
from plugins.domains.longmemeval.cases import Granularity, case_of, events_of, is_success
from plugins.domains.longmemeval.records import Question, Session, Turn
from plugins.domains.ordering import in_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSettings:
    """Where the file is, what an event is, and what is known of the answer key.

    path : the published file.
    granularity : what an event, and so a retrieved unit, is: a `turn` or a whole `session`.
    order : order of the cases: that of the `file`, or `mixed`: question types in turns, and within
        a type the conversations in turns, so that any part of the cases has some of each.
    errata : a JSON file of corrections by case id, which are applied; the answer key's ceiling is
        then reported.
    unknown_file : also read a file that is not a published one and does not say what it is.
    sha256 : if given, the digest that the file must have.
    """

    path: str = ""
    granularity: Granularity = "turn"
    order: Literal["file", "mixed"] = field(default="file", metadata={"later": True})
    errata: str = ""
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A conversation. `places`: by the file's id of a turn, its session's place and its own."""

    sessions: tuple[Session, ...]
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question of a conversation.

    evidence : ids of turns, as in `Chat.places`. type : the stratum. kind : the judge's rule.
    date : of the question; empty for that of the last session. cluster : what questions share;
    empty for their conversation.
    """

    id: str
    chat: str
    text: str
    answer: str
    type: str = "all"
    kind: str = "answer"
    evidence: Sequence[str] = ()
    date: str = ""
    unanswerable: bool = False
    cluster: str = ""
    tags: Mapping[str, str] = EMPTY


Conversation = tuple[str, Chat, Sequence[Asked]]
"""Its id, what was said, and what is asked of it."""


class Conversations(Benchmark[ConversationSettings]):
    """A benchmark of this shape: a card, and how its file is read.

    A history is a conversation, an event a turn under a line with its session's date and its
    speaker. Gold are the turns that the file names as evidence; a question without an answer wants
    an abstention and has no evidence. Cases are the questions in file order, or mixed (`order`),
    clustered by conversation; the seed plays no part.
    """

    provides: ClassVar[tuple[str, ...]] = ("answer", "evidence", "items", "success", "sessions")
    success_axis: ClassVar[str] = "answer_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "answer_correct",
        "abstained_right",
        "answer_f1",
        "p_ret",
        "recall_at_5",
        "session_recall_at_5",
        "ndcg_at_10",
    )

    def __init__(self, settings: ConversationSettings) -> None:
        super().__init__(settings)
        data, digest = read_file(
            settings.path, settings.sha256, domain=self.name, where=self.card.where
        )
        self._chats, asked, stated = self.read(settings.path, data)
        self.recognise(settings.path, digest, stated)
        self._errata = read_errata(settings.errata, domain=self.name, audit=self.card.errata)
        check_cases(settings.errata, self._errata, (one.id for one in asked))
        self._asked = [one for one in asked if self._errata.keep(one.id)]
        if not self._asked:
            raise DataError(settings.path, None, "no questions")
        if settings.order == "mixed":
            self._asked = _mixed(self._asked)
        self._digest = self.digest_with_others(self._errata.digest_with(digest))
        first = self._question(self._asked[0])
        self._nominal_tokens = sum(count_tokens(e.text) for e in events_of(first, "session"))

    def read(
        self, path: str, data: bytes
    ) -> tuple[Mapping[str, Chat], list[Asked], Mapping[str, Any] | None]:
        """The conversations by id, their questions, and what the file says of itself.

        Raises DataError naming file and record.
        """
        records, stated = self.records(path, data)
        chats: dict[str, Chat] = {}
        asked: dict[str, Asked] = {}
        faults = Faults(path)
        for number, record in enumerate(records):
            with faults.of(f"record {number + 1}"):
                if not isinstance(record, dict):
                    raise BadRecordError(f"an object expected, {kind_of(record)} found")
                id_, chat, found = self.conversation(number, record)
                if not any(session.turns for session in chat.sessions):
                    raise BadRecordError("a conversation without a turn")
                if id_ in chats:
                    raise BadRecordError(f"a second conversation {id_!r}")
                chats[id_] = chat
                for one in found:
                    if one.id in asked:
                        raise BadRecordError(f"a second question {one.id!r}")
                    asked[one.id] = one
        faults.check()
        return chats, list(asked.values()), stated

    def records(self, path: str, data: bytes) -> tuple[Sequence[Any], Mapping[str, Any] | None]:
        """The records of the file, and what it says of itself. Raises DataError."""
        return listed(path, data)

    @classmethod
    @abstractmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        """A record's conversation, its id first, and its questions. Raises BadRecordError.

        number : the place of the record in the file, from 0.
        """

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the first question's conversation."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for one in self._asked[:n]:
            case = case_of(self._question(one), one.chat, self.settings.granularity)
            gold = replace(case.gold, answer_kind=one.kind)
            tags = {**case.tags, **one.tags}
            cluster = one.cluster or one.chat
            yield self._errata.answered(replace(case, gold=gold, tags=tags, cluster=cluster))

    def history(self, history_id: str) -> Iterator[Event]:
        chat = self._chats[history_id]
        nothing = Question(id="", type="", text="", answer="", date="", sessions=chat.sessions)
        yield from events_of(nothing, self.settings.granularity)

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        return is_success(answer, gold)

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """Places named as evidence that are nowhere, and the key's ceiling where it is known."""
        found = [case.id for case in cases]
        lost = sum(
            place not in self._chats[one.chat].places
            for one in self._asked
            for place in self._places(one)
        )
        return {"evidence_unresolved": float(lost), **self._errata.report(found)}

    def _places(self, one: Asked) -> Sequence[str]:
        corrected = self._errata.corrections.get(one.id)
        if corrected is None or corrected.evidence is None:
            return one.evidence
        return corrected.evidence

    def _question(self, one: Asked) -> Question:
        """The question with the turns of its conversation that it is answered from marked."""
        chat = self._chats[one.chat]
        wanted: dict[int, set[int]] = {}
        for id_ in () if one.unanswerable else self._places(one):
            if id_ in chat.places:
                session, turn = chat.places[id_]
                wanted.setdefault(session, set()).add(turn)
        return Question(
            id=one.id,
            type=one.type,
            text=one.text,
            answer=one.answer,
            date=one.date or chat.sessions[-1].date,
            unanswerable=one.unanswerable,
            sessions=tuple(
                _marked(session, wanted[place]) if place in wanted else session
                for place, session in enumerate(chat.sessions)
            ),
        )


def _mixed(asked: Sequence[Asked]) -> list[Asked]:
    kinds: dict[str, dict[str, list[Asked]]] = {}
    for one in asked:
        kinds.setdefault(one.type, {}).setdefault(one.chat, []).append(one)
    return in_turns([in_turns(chats.values()) for chats in kinds.values()])


def _marked(session: Session, wanted: set[int]) -> Session:
    turns: list[Turn] = [
        replace(turn, has_answer=True) if place in wanted else turn
        for place, turn in enumerate(session.turns)
    ]
    return replace(session, turns=tuple(turns), is_gold=True)


def stamp_in(record: Mapping[str, Any], key: str, form: str) -> str:
    """A date of the file's `form` (of `strptime`) as `2023/05/08 (Mon) 13:56`.

    Raises BadRecordError.
    """
    told = text_in(record, key)
    try:
        return f"{datetime.strptime(told, form):%Y/%m/%d (%a) %H:%M}"
    except ValueError:
        raise BadRecordError(f"{key}: no date in {told[:80]!r}") from None


class UnmarkedConversations(Conversations):
    """A benchmark whose file names no evidence: only answers can be measured of it."""

    provides: ClassVar[tuple[str, ...]] = ("answer", "success")
    headline: ClassVar[tuple[str, ...]] = ("answer_correct", "answer_f1")
    protocols: ClassVar[tuple[str, ...]] = ("evaluate",)


_AGO: Final = re.compile(r"(\d{1,4})\s+(hour|day|week|month|year)s?")
_DAYS: Final = {"hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}


def ago_in(record: Mapping[str, Any], key: str, day: str) -> str:
    """`7 days 8 hours ago` as the date (2023/05/08) that lies so long before `day`.

    Raises BadRecordError.
    """
    told = text_in(record, key)
    found = _AGO.findall(told)
    if not found:
        raise BadRecordError(f"{key}: no span of time in {told[:80]!r}")
    days = sum(int(number) * _DAYS[unit] for number, unit in found)
    return f"{datetime.strptime(day, '%Y/%m/%d') - timedelta(days=days):%Y/%m/%d}"


def turn_in(record: Mapping[str, Any]) -> Turn:
    """What the `role`, `user` or `assistant`, says in `content`. Raises BadRecordError."""
    role = record.get("role")
    if role not in ("user", "assistant"):
        raise BadRecordError(f"role: user or assistant expected, {kind_of(role)} found")
    return Turn(role=role, content=text_in(record, "content"))
