"""LoCoMo: conversations of two people over months, with questions of five categories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.registry import register
from plugins.domains.conversations.shape import Asked, Chat, Conversation, Conversations, stamp_in
from plugins.domains.data_file import BadRecordError, object_in, objects_in, scalar_in, text_in
from plugins.domains.errata import texts_in
from plugins.domains.longmemeval.records import Session, Turn

_PLACE: Final = re.compile(r"D:?(\d+):(\d+)")


@register("domain", "locomo")
class LoCoMo(Conversations):
    """Very long conversations of two people (Maharana et al., ACL 2024), all five categories.

    The first speaker is the user, the other the assistant, and each turn begins with its speaker's
    name; a photo is told by its caption, as in the publisher's code. Adversarial questions ask for
    what nobody said: the right answer is to abstain. A case is `locomo_0_qa3`, question 3 of the
    first conversation, as the published audit counts them.
    """

    @classmethod
    def conversation(cls, number: int, record: Mapping[str, Any]) -> Conversation:
        id_, said = text_in(record, "sample_id"), object_in(record, "conversation")
        user = text_in(said, "speaker_a")
        numbers = sorted(int(key[8:]) for key in said if re.fullmatch(r"session_\d{1,4}", key))
        sessions, places = [], dict[str, tuple[int, int]]()
        for place, n in enumerate(numbers):
            turns = objects_in(said, f"session_{n}")
            found = tuple(_turn(turn, user) for turn in turns)
            date = stamp_in(said, f"session_{n}_date_time", cls.card.fields["date"])
            sessions.append(Session(id=f"{n}", date=date, turns=found))
            for turn, one in enumerate(turns):
                places |= dict.fromkeys(_places([text_in(one, "dia_id")]), (place, turn))
        asked = [
            cls._read(f"locomo_{number}_qa{n}", id_, one)
            for n, one in enumerate(objects_in(record, "qa"))
        ]
        return id_, Chat(sessions=tuple(sessions), places=places), asked

    @classmethod
    def _read(cls, id_: str, chat: str, one: Mapping[str, Any]) -> Asked:
        category = scalar_in(one, "category")
        if category not in cls.card.kinds:
            raise BadRecordError(f"qa: category {category} is none of {', '.join(cls.card.kinds)}")
        kind = cls.card.kinds[category]
        return Asked(
            id=id_,
            chat=chat,
            text=text_in(one, "question"),
            answer=cls.card.fields["none"] if category == "5" else scalar_in(one, "answer"),
            type=kind,
            kind=kind,
            evidence=_places(texts_in(one, "evidence")),
            unanswerable=category == "5",
        )


def _turn(turn: Mapping[str, Any], user: str) -> Turn:
    speaker, caption = text_in(turn, "speaker"), turn.get("blip_caption")
    photo = f" [shares {caption}]" if isinstance(caption, str) and caption.strip() else ""
    content = f"{speaker}: {scalar_in(turn, 'text')}{photo}"
    return Turn(role="user" if speaker == user else "assistant", content=content)


def _places(named: Sequence[str]) -> tuple[str, ...]:
    """Ids of turns in one form, from several in a text and with slips of the pen: `D30:05`."""
    found = list[str]()
    for text in named:
        places = _PLACE.findall(text)
        found += [f"D{int(session)}:{int(turn)}" for session, turn in places] or [text]
    return tuple(found)
