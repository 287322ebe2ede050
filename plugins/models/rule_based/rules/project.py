"""How a log is projected: sentences by their words, as many as fit."""

from __future__ import annotations

from framework.contracts import Profile, Rule
from framework.operations.project import ProjectRequest, ProjectResponse
from framework.registry import register
from plugins.models.rule_based.dated import statements
from plugins.models.rule_based.memory.filling import pick
from plugins.models.rule_based.memory.lexical import lines_of
from plugins.models.rule_based.noise import is_missed


@register("rule", "project")
class ProjectRule(Rule[ProjectRequest, ProjectResponse]):
    """Sentences by signal per token: lexical, and conditioned on the task.

    The signals are typed values, words of the card's fields and query, wording of policies, of
    comparisons and of corrections, and how late a sentence is among those on the same field
    (`memory.lexical.lines_of`). It fills the limit by that rank and prints in order of arrival,
    verbatim, dated where a correction matters. It parses no rule, resolves no figure, judges no
    instruction, and leaves nothing out but repetition and what does not fit. A noisy profile
    makes it miss sentences, drawn apart from those that the reader misses; the rest of the
    profile does not bear on it.
    """

    def answer(self, request: ProjectRequest, profile: Profile) -> ProjectResponse:
        found = [s for text in request.events for s in statements(text)]
        told = [s for s in found if not is_missed(f"{self.name}: {s.text}", profile)]
        lines = lines_of(told, request.task.fields, request.task.query)
        ranked = [((-line.density,), line.text) for line in lines]
        return ProjectResponse(view="\n".join(pick(ranked, request.limit_tokens)))
