"""MuSiQue: questions composed of two to four single ones, each over a passage of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from framework.registry import register
from plugins.domains.data_file import BadRecordError, objects_in, text_in
from plugins.domains.errata import texts_in
from plugins.domains.passages.shape import Asked, Passages, PassageSettings, Pool


@register("domain", "musique")
class MuSiQue(Passages[PassageSettings]):
    """Multi-hop questions that resist shortcuts (MuSiQue-Ans; Trivedi et al., TACL 2022).

    Passages are marked whole, so that there are no `fact` items, and every supporting passage is
    needed. Stratum: the number of hops and their shape, as the id tells (`2hop`, `3hop1`, ...). An
    alias of the answer is as right as the answer, as in the publisher's evaluation.

    Raises UserError when no path is given, DataError naming file and record.
    """

    key: ClassVar[str] = "id"
    version: ClassVar[str] = "3"

    @classmethod
    def question(cls, record: Mapping[str, Any], pool: Pool) -> Asked:
        if record.get("answerable") is not True:
            raise BadRecordError("answerable: true expected, as in the files musique_ans_*")
        context: dict[str, bool] = {}
        for paragraph in objects_in(record, "paragraphs"):
            supports = paragraph.get("is_supporting")
            if not isinstance(supports, bool):
                raise BadRecordError("paragraphs: is_supporting: true or false expected")
            body = text_in(paragraph, "paragraph_text")
            event_id = pool.id_of(text_in(paragraph, "title"), [body])
            context[event_id] = context.get(event_id, False) or supports
        facts = {event_id: () for event_id, supports in context.items() if supports}
        if not facts:
            raise BadRecordError("paragraphs: none is_supporting")
        return Asked(
            id=text_in(record, "id"),
            text=text_in(record, "question"),
            answer=text_in(record, "answer"),
            type=text_in(record, "id").partition("__")[0],
            context=tuple(context),
            facts=facts,
            tags={"hops": str(len(objects_in(record, "question_decomposition")))},
            aliases=texts_in(record, "answer_aliases") if "answer_aliases" in record else (),
        )
