"""PersonaMem: which of four replies fits what a user has said of themselves over many sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from framework.contracts import Provenance
from framework.errors import UserError
from framework.records import ABSTAIN, Answer, Gold
from framework.registry import register
from framework.text.canonical import digest as digest_values
from plugins.domains.cards import Card, card
from plugins.domains.conversations.shape import (
    Asked,
    Chat,
    ConversationSettings,
    UnmarkedConversations,
    role_in,
)
from plugins.domains.data_file import (
    BadRecordError,
    csv_rows,
    listed,
    objects_in,
    provenance_of,
    read_file,
    text_in,
)
from plugins.domains.longmemeval.records import Session, Turn

_LETTERS: Final = (re.compile(r"\(([a-d])\)"), re.compile(r"\b([a-d])\b"))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonaMemSettings(ConversationSettings):
    """Those of conversations; `path` is the CSV file of questions.

    contexts : JSON lines, each the messages of a shared context under its id.
    """

    contexts: str = ""


@register("domain", "personamem")
class PersonaMem(UnmarkedConversations):
    """Dynamic user profiles (Jiang et al., COLM 2025): which of four replies fits the user.

    A history is a shared context up to the message before which the question stands. A system
    message, which tells of the persona, begins a session, as the user's, after `[System]:`. An
    answer is right when it names the right letter and no other, as in the publisher's code.
    Stratum: the question's type; cluster: the persona.
    """

    Settings: ClassVar[type[Any]] = PersonaMemSettings
    settings: PersonaMemSettings
    card: ClassVar[Card] = card(__file__)
    provenance: Provenance = card.provenance

    def __init__(self, settings: PersonaMemSettings) -> None:
        if not settings.contexts:
            told = f"domain.contexts: no file given (domain={self.name}); {self.card.where}"
            raise UserError(told)
        super().__init__(settings)
        self._digest = digest_values([self._digest, self._of_contexts])

    def records(self, path: str, data: bytes) -> tuple[Sequence[Any], None]:
        """For each context and place in it, the messages so far and the questions asked there."""
        file, told = self.settings.contexts, self.settings.unknown_file
        lines, self._of_contexts = read_file(file, "", domain=self.name, where=self.card.where)
        provenance_of(file, self._of_contexts, type(self).provenance, None, told=told)
        contexts = {
            id_: (line, id_)
            for line in listed(file, lines)[0]
            if isinstance(line, dict)
            for id_ in line
        }
        found = dict[tuple[Any, Any], dict[str, Any]]()
        for row in csv_rows(path, data):
            place = row.get("shared_context_id"), row.get("end_index_in_shared_context")
            of: dict[str, Any] = {
                "context": contexts.get(place[0]),
                "place": place,
                "asked": [],
            }
            found.setdefault(place, of)["asked"].append(row)
        return list(found.values()), None

    @classmethod
    def conversation(
        cls, number: int, record: Mapping[str, Any]
    ) -> tuple[str, Chat, Sequence[Asked]]:
        (shared, told), day = record["place"], cls.card.fields["day"]
        if record["context"] is None:
            raise BadRecordError(f"shared_context_id: no context {shared!r}")
        messages = objects_in(*record["context"])
        if not re.fullmatch(r"\d{1,9}", told or "") or not 0 < int(told) <= len(messages):
            raise BadRecordError(f"end_index_in_shared_context: {told!r} of {len(messages)}")
        begun = list[list[Turn]]()
        for message in messages[: int(told)]:
            system, said = message.get("role") == "system", text_in(message, "content")
            if system or not begun:
                begun.append([])
            turn = Turn(role="user", content=f"[System]: {said}")
            begun[-1].append(turn if system else Turn(role=role_in(message), content=said))
        sessions = (Session(id=f"{n}", date=day, turns=tuple(s)) for n, s in enumerate(begun))
        id_ = f"{shared}:{told}"
        return id_, Chat(sessions=tuple(sessions)), [cls._read(id_, one) for one in record["asked"]]

    @classmethod
    def _read(cls, chat: str, row: Mapping[str, Any]) -> Asked:
        letter = text_in(row, "correct_answer").strip().lower()
        if not _LETTERS[0].fullmatch(letter):
            raise BadRecordError(f"correct_answer: a letter such as (a) expected, {letter!r} found")
        parts = text_in(row, "user_question_or_message"), cls.card.fields["asked"]
        return Asked(
            id=text_in(row, "question_id"),
            chat=chat,
            text="\n\n".join((*parts, text_in(row, "all_options"))),
            answer=letter,
            type=text_in(row, "question_type"),
            kind="answer",
            cluster=text_in(row, "persona_id"),
            tags={"topic": text_in(row, "topic")},
        )

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Whether the answer names the right letter and no other, as `extract_answer` there."""
        named = (set(letters.findall(answer.text.lower())) for letters in _LETTERS)
        found = next(filter(None, named), set())
        return answer.decision != ABSTAIN and found == set(_LETTERS[0].findall(gold.answer))
