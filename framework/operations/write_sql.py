"""Write a query that answers a question, from the schema and what is known of the database."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.operations.prompted import PromptedAnswering
from framework.records import Answer, TaskCard
from framework.registry import register

SCHEMA: Final = "schema"
"""Key of `TaskCard.material` under which the statements that made the tables stand."""

_FENCE: Final = re.compile(r"^\s*```(?:sql)?\s*|\s*```\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSQLRequest:
    """The question, the schema, how to answer, and the notes that the view holds."""

    question: str
    schema: str
    instruction: str
    view: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSQLResponse:
    """One query; empty where none could be written."""

    sql: str


@register("operation", "write_sql")
class WriteSQL(PromptedAnswering[WriteSQLRequest, WriteSQLResponse]):
    """Write one query for sqlite that answers a question."""

    response = WriteSQLResponse
    slots = frozenset({"instruction", "schema", "record", "question"})

    def request_of(self, task: TaskCard, view: str) -> WriteSQLRequest:
        return WriteSQLRequest(
            question=task.query,
            schema=task.material.get(SCHEMA, ""),
            instruction=task.instruction,
            view=view,
        )

    def answer_of(self, response: WriteSQLResponse, task: TaskCard) -> Answer:
        return Answer(text=response.sql)

    def fill(self, request: WriteSQLRequest) -> Mapping[str, str]:
        return {
            "instruction": request.instruction,
            "schema": request.schema,
            "record": request.view,
            "question": request.question,
        }

    def parse(self, text: str, request: WriteSQLRequest) -> WriteSQLResponse:
        sql = _FENCE.sub("", super().parse(text, request).sql).strip()
        return WriteSQLResponse(sql=sql.removesuffix(";").strip())
