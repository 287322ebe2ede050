"""BEAM: conversations of up to a million tokens, with questions on ten abilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.registry import register
from plugins.domains.conversations.shape import (
    Asked,
    Chat,
    Conversation,
    Conversations,
    stamp_in,
    turn_in,
)
from plugins.domains.data_file import BadRecordError, list_in, literal_in, nested_in, scalar_in
from plugins.domains.longmemeval.records import Session, Turn


@register("domain", "beam")
class Beam(Conversations):
    """Questions on ten abilities over long conversations (BEAM; Tavakoli et al., 2025).

    A session is a batch, dated by the `time_anchor` of its first message that has one, else as the
    batch before. Stratum: the ability. Its messages' numbers are the places of evidence. A question
    on abstention is to be abstained from.
    """

    @classmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        id_ = scalar_in(record, "conversation_id")
        sessions, places, date = list[Session](), dict[str, tuple[int, int]](), ""
        for batch in list_in(record, "chat"):
            turns = list[Turn]()
            # Of the repository a batch is an object of groups, of the download the messages alone.
            for one in nested_in(batch if isinstance(batch, dict) else {"turns": batch}, "turns"):
                if one.get("time_anchor") is not None:
                    date = stamp_in(one, "time_anchor", cls.card.fields["date"])
                places[scalar_in(one, "id")] = (len(sessions), len(turns))
                turns.append(turn_in(one))
            if not date:
                raise BadRecordError("chat: the first batch has no time_anchor")
            sessions.append(Session(id=f"{len(sessions)}", date=date, turns=tuple(turns)))
        asked = [
            cls._read(f"{id_}_{ability}_{n}", id_, ability, one)
            for ability, probes in literal_in(record, "probing_questions").items()
            for n, one in enumerate(nested_in({ability: probes}, ability))
        ]
        return id_, Chat(sessions=tuple(sessions), places=places), asked

    @classmethod
    def _read(cls, id_: str, chat: str, ability: str, one: Mapping[str, Any]) -> Asked:
        names = cls.card.fields["answers"].split()
        answer = next((name for name in names if name in one), names[0])
        return Asked(
            id=id_,
            chat=chat,
            **cls.card.parts(one),
            answer=scalar_in(one, answer),
            type=ability,
            kind=cls.card.kinds.get(ability, "answer"),
            evidence=tuple(_numbers(one.get("source_chat_ids"))),
            unanswerable=ability in cls.card.kinds,
        )


def _numbers(value: object) -> list[str]:
    """Numbers of messages, in a list or under names."""
    if isinstance(value, Mapping | list):
        parts = value.values() if isinstance(value, Mapping) else value
        return [number for part in parts for number in _numbers(part)]
    return [] if value is None else [str(value)]
