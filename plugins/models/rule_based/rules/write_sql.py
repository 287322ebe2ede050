"""How a query is written: from the words of the question."""

from __future__ import annotations

import re

from framework.contracts import Profile
from framework.operations.answering import AnswerRequest
from framework.operations.write_sql import SCHEMA, WriteSQLResponse
from framework.registry import register
from plugins.models.rule_based.clauses import ClauseRule
from plugins.models.rule_based.noise import is_missed
from plugins.models.rule_based.querying.compose import compose
from plugins.models.rule_based.querying.schema import read_schema


@register("rule", "write_sql")
class WriteSQLRule(ClauseRule[AnswerRequest, WriteSQLResponse]):
    """A query composed from the words of the question (`querying.compose`).

    It follows the clauses of a closed grammar in the instruction and no other text of it.
    """

    def answer(self, request: AnswerRequest, profile: Profile) -> WriteSQLResponse:
        # An example is two lines, so that what is missed is an entry and not a line of it.
        entries = re.split(r"\n(?!SQL: )", request.view)
        view = "\n".join(entry for entry in entries if not is_missed(entry, profile))
        force = self.in_force(request.task.instruction, request.task.query)
        schema = read_schema(request.task.material.get(SCHEMA, ""))
        return WriteSQLResponse(sql=compose(request.task.query, schema, view, force))
