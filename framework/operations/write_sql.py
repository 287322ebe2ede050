"""Write a query that answers a question, from the schema and what is known of the database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register

SCHEMA: Final = "schema"
"""Key of `TaskCard.material` under which the statements that made the tables stand."""

_FENCE: Final = re.compile(r"^\s*```(?:sql)?\s*|\s*```\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSQLResponse:
    """One query; empty where none could be written."""

    sql: str
    confidence: float | None = field(default=None, metadata={"measured": True})


@register("operation", "write_sql")
class WriteSQL(PromptedAnswering[WriteSQLResponse]):
    """Write one SQLite query that answers a question."""

    response = WriteSQLResponse
    slots = frozenset({"instruction", "schema", "record", "question"})

    def answer_of(self, response: WriteSQLResponse, task: TaskCard) -> Answer:
        return Answer(text=response.sql, confidence=response.confidence)

    def fill(self, request: AnswerRequest) -> Mapping[str, str]:
        return {
            "instruction": request.task.instruction,
            "schema": request.task.material.get(SCHEMA, ""),
            "record": request.view,
            "question": request.task.query,
        }

    def parse(self, text: str, request: AnswerRequest) -> WriteSQLResponse:
        sql = _FENCE.sub("", super().parse(text, request).sql).strip()
        return WriteSQLResponse(sql=sql.removesuffix(";").strip())
