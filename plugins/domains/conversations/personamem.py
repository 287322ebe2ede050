"""PersonaMem: which of four replies fits what a user has said of themselves over many sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from framework.records import ABSTAIN, Answer, Gold
from framework.registry import register
from plugins.domains.conversations.shape import (
    Asked,
    Chat,
    Conversation,
    ConversationSettings,
    UnmarkedConversations,
    turn_in,
)
from plugins.domains.data_file import BadRecordError, csv_rows, objects_in, text_in
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
    """Dynamic user profiles: which of four replies fits the user (Jiang et al., COLM 2025).

    A history is a shared context up to the message before which the question stands. A system
    message, which tells of the persona, begins a session, as the user's, after `[System]:`. An
    answer is right when it names the right letter and no other, as in the publisher's code.
    Stratum: the question's type; cluster: the persona.
    """

    Settings: ClassVar[type[Any]] = PersonaMemSettings

    def records(self, path: str, data: bytes) -> tuple[Sequence[Any], None]:
        """For each context and place in it, the messages so far and the questions asked there."""
        of = {k: one for one in self.another("contexts") if isinstance(one, dict) for k in one}
        found = dict[tuple[Any, Any], dict[str, Any]]()
        for row in csv_rows(path, data):
            place = row.get("shared_context_id"), row.get("end_index_in_shared_context")
            new = {"place": place, "context": of.get(place[0]), "asked": list[Any]()}
            found.setdefault(place, new)["asked"].append(row)
        return list(found.values()), None

    @classmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        (shared, told), day = record["place"], cls.card.fields["day"]
        if record["context"] is None:
            raise BadRecordError(f"shared_context_id: no context {shared!r}")
        messages = objects_in(record["context"], shared)
        if not re.fullmatch(r"\d{1,9}", told or "") or not 0 < int(told) <= len(messages):
            raise BadRecordError(f"end_index_in_shared_context: {told!r} of {len(messages)}")
        begun = list[list[Turn]]()
        for message in messages[: int(told)]:
            system = message.get("role") == "system"
            if system or not begun:
                begun.append([])
            said = turn_in({**message, "role": "user"} if system else message)
            begun[-1].append(replace(said, content=f"[System]: {said.content}") if system else said)
        sessions = (Session(id=f"{n}", date=day, turns=tuple(s)) for n, s in enumerate(begun))
        id_ = f"{shared}:{told}"
        return id_, Chat(sessions=tuple(sessions)), [cls._read(id_, one) for one in record["asked"]]

    @classmethod
    def _read(cls, chat: str, row: Mapping[str, Any]) -> Asked:
        letter = text_in(row, "correct_answer", form=r"\s*\([a-dA-D]\)\s*").strip().lower()
        told, tags = cls.card.parts(row), {"topic": text_in(row, "topic")}
        told["text"] += f"\n\n{cls.card.fields['asked']}\n\n{text_in(row, 'all_options')}"
        return Asked(**told, chat=chat, answer=letter, tags=tags)

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Whether the answer names the right letter and no other, as `extract_answer` there."""
        named = (set(letters.findall(answer.text.lower())) for letters in _LETTERS)
        found = next(filter(None, named), set())
        return answer.decision != ABSTAIN and found == set(_LETTERS[0].findall(gold.answer))
