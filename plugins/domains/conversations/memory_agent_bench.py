"""MemoryAgentBench: one long text told in pieces, many questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.registry import register
from framework.text.counting import counted
from plugins.domains.conversations.shape import Asked, Chat, Conversation, UnmarkedConversations
from plugins.domains.data_file import BadRecordError, kind_of, list_in, object_in, text_in
from plugins.domains.longmemeval.records import Session, Turn


@register("domain", "memory_agent_bench")
class MemoryAgentBench(UnmarkedConversations):
    """A text given in parts, then asked about (MemoryAgentBench; Hu, Wang, McAuley, ICLR 2026).

    A record's context is one session; a turn is a piece of it, whole lines up to the size of the
    card's. Of the accepted answers the first is the gold. Stratum: the source of the record.
    """

    @classmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        about = object_in(record, "metadata")
        source = text_in(about, "source")
        id_ = f"{source}_{number}"
        fields = cls.card.fields
        pieces = tuple(_pieces(text_in(record, "context"), int(fields["piece"])))
        turns = tuple(Turn(role="user", content=piece) for piece in pieces)
        questions, answers = list_in(record, "questions"), list_in(record, "answers")
        if len(questions) != len(answers):
            said = f"{counted(len(questions), 'question')} and {counted(len(answers), 'answer')}"
            raise BadRecordError(f"{said}, as many of each expected")
        asked = [
            Asked(
                id=f"{id_}_{n}",
                chat=id_,
                text=text_in({"questions": question}, "questions"),
                answer=_first(answers[n]),
                type=source,
            )
            for n, question in enumerate(questions)
        ]
        session = Session(id=id_, date=fields["day"], turns=turns)
        return id_, Chat(sessions=(session,)), asked


def _first(accepted: object) -> str:
    value = accepted[0] if isinstance(accepted, list) and accepted else accepted
    if not isinstance(value, str) or not value.strip():
        raise BadRecordError(f"answers: a text or a list of texts expected, {kind_of(value)} found")
    return value


def _pieces(text: str, size: int) -> list[str]:
    """The text in pieces of whole lines, each of at most `size` characters where a line allows."""
    pieces = [""]
    for line in text.splitlines(keepends=True):
        if pieces[-1] and len(pieces[-1]) + len(line) > size:
            pieces.append("")
        pieces[-1] += line
    return [piece for piece in pieces if piece.strip()]
