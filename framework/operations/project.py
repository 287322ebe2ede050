"""Project a whole event log to a view for one task (LongHorizon 5, DPM)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import card_text
from framework.operations.prompted import PromptedOperation
from framework.operations.reading import Reading, Understood, make_out, understand
from framework.operations.reading.claims import Claim
from framework.operations.reading.policy import Rule
from framework.operations.reading.salience import Salience, pick, salience_of, tokens_of, written
from framework.operations.reading.text import statements
from framework.records import TaskCard
from framework.registry import register

__all__ = ["Project", "ProjectRequest", "ProjectResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRequest:
    """The task card, the texts of all events in order of arrival, and the limit in tokens."""

    task: TaskCard
    events: tuple[str, ...]
    limit_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectResponse:
    """The view: what of the log bears on the task."""

    view: str


@register("operation", "project")
class Project(PromptedOperation[ProjectRequest, ProjectResponse]):
    """Project the whole log to a task-conditioned view, at temperature 0 and without state.

    The rule-based answer keeps the sentences that bear on the card: rules and other parts of the
    policy first, then figures that the rules compare, then other fields, then by general salience.
    Of a rule the amended wording is kept, of a field the figures that hold.
    """

    slots = frozenset({"task", "query", "log", "limit"})
    shared = frozenset({"task", "query", "log"})

    def fill(self, request: ProjectRequest) -> Mapping[str, str]:
        return {
            "task": card_text(request.task),
            "query": request.task.query,
            "log": "\n\n".join(request.events),
            "limit": str(request.limit_tokens),
        }

    def parse(self, text: str, request: ProjectRequest) -> ProjectResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("view",))
        return ProjectResponse(view=_json.text(data, "view"))

    def offline(self, request: ProjectRequest, profile: Profile) -> ProjectResponse:
        found = [statement for text in request.events for statement in statements(text)]
        understood = understand(found, request.task, profile)
        reading = make_out(understood, request.task, profile)
        ranks = _ranks(understood, reading, gullible=profile.gullible)
        lines = [
            (
                (rank, tokens_of(one.statement.text)),
                written(one.statement, dated=_is_later(one, reading)),
            )
            for one, rank in zip(understood, ranks, strict=True)
            if rank is not None
        ]
        return ProjectResponse(view="\n".join(pick(lines, request.limit_tokens)))


_RULES, _COMPARED, _FIELDS, _REST = range(4)


def _ranks(
    understood: Sequence[Understood], reading: Reading, *, gullible: bool
) -> list[int | None]:
    """How much each statement bears on the task, 0 the most; None for one that is left out."""
    compared = _compared(reading)
    rules = {rule.text for rule in reading.policy.rules}
    said: set[object] = set()
    ranks: list[int | None] = []
    for statement, says in understood:
        rank: int | None = None
        content: object = statement.text
        if says.injected:
            rank = _RULES if gullible else None
        elif says.part is not None:
            # A wording that an amendment replaced, or that is not in force, bears on nothing.
            rank = None if isinstance(says.part, Rule) and says.part.text not in rules else _RULES
        elif says.claims:
            kept = [claim for claim in says.claims if _bears(claim, reading)]
            if kept:
                known = [claim for claim in kept if not claim.key.startswith("~")]
                keys = {claim.key for claim in known}
                rank = _COMPARED if keys & compared else _FIELDS if keys else _REST
                content = frozenset(_content(claim) for claim in known) or statement.text
        elif salience_of(statement.text) > Salience.FILLER:
            rank = _REST + Salience.RULE - salience_of(statement.text)
        if content in said:
            rank = None
        if rank is not None:
            said.add(content)
        ranks.append(rank)
    return ranks


def _is_later(one: Understood, reading: Reading) -> bool:
    """Whether a plain figure holds beside a correction, which only its later date tells."""
    known = (reading.facts.known.get(c.key) for c in one.says.claims if c.status == "current")
    return any(facts is not None and facts.corrected for facts in known)


def _content(claim: Claim) -> tuple[str, str, str, str]:
    return (claim.key, claim.status, claim.value.canonical if claim.value else "", claim.dated)


def _compared(reading: Reading) -> set[str]:
    """Keys that the rules compare, with what they are derived from."""
    keys: set[str] = set()
    pending = [
        key
        for rule in reading.policy.rules
        for condition in rule.conditions
        for key in (condition.left, condition.right)
    ]
    while pending:
        key = pending.pop()
        if key and key not in keys:
            keys.add(key)
            pending.extend(reading.facts.inputs(key))
    return keys


def _bears(claim: Claim, reading: Reading) -> bool:
    """Whether a claim is part of what is known now: it states a figure that holds.

    A stale derived figure, a retired one and one that a correction replaced do not; nor does a
    correction that was taken back, whose rescission states what holds.
    """
    if claim.value is None or claim.status == "retired":
        return False
    if claim.key.startswith("~"):
        return True
    holding = {value.canonical for value in reading.facts.stated(claim.key)}
    return claim.value.canonical in holding
