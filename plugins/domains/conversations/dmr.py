"""DMR: one question on five sessions of Multi-Session Chat, from MemGPT's paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.registry import register
from plugins.domains.conversations.shape import (
    Asked,
    Chat,
    Conversation,
    UnmarkedConversations,
    ago_in,
)
from plugins.domains.data_file import object_in, objects_in, text_in
from plugins.domains.longmemeval.records import Session, Turn


@register("domain", "dmr")
class Dmr(UnmarkedConversations):
    """Deep memory retrieval (Packer et al., 2023): questions about earlier chat sessions.

    The sessions before the current one are the history; personas and summaries hold the answers and
    are not read. Speakers alternate, the first is the user. The file says how long ago a session
    was: days are counted back from a day of the card's.
    """

    @classmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        sessions = tuple(
            Session(
                id=f"{n}",
                date=ago_in(one, "time_back", cls.card.fields["day"]),
                turns=tuple(
                    Turn(role=("user", "assistant")[place % 2], content=text_in(turn, "text"))
                    for place, turn in enumerate(objects_in(one, "dialog"))
                ),
            )
            for n, one in enumerate(objects_in(record, "previous_dialogs"))
        )
        said = object_in(record, "self_instruct")
        asked = Asked(
            id=f"dmr_{number}",
            chat=f"{number}",
            text=text_in(said, "B"),
            answer=text_in(said, "A"),
            date=cls.card.fields["day"],
        )
        return f"{number}", Chat(sessions=sessions), [asked]
