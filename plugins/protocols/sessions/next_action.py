"""What to do next in a session: answer again, ask memory, call a tool, or give up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.contracts import Profile, Rule
from framework.operations.prompted import PromptedOperation
from framework.registry import register

ANSWER: Final = "answer"
SEARCH: Final = "search_memory"
GIVE_UP: Final = "give_up"
ALWAYS: Final[Mapping[str, str]] = {
    ANSWER: "answer the task again, with what you know now; takes nothing",
    SEARCH: "ask memory; the argument is the query, what it finds is shown from the next turn on",
    GIVE_UP: "end the session without a solution; takes nothing",
}
"""The actions of every session, and what each does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One turn that is over.

    action, argument : what was done. said : what was answered, as text, where it was an answer.
    rests_on : what that answer gives as its ground. reply : what came back. settled : whether that
    answer settled the task.
    """

    action: str
    argument: str = ""
    said: str = ""
    rests_on: str = ""
    reply: str = ""
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NextActionRequest:
    """The public task, the turns so far, what may be done, and how many turns are left."""

    instruction: str
    ticket: str
    turns: tuple[Exchange, ...]
    actions: Mapping[str, str]
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NextActionResponse:
    """An action by its name, and what it is given."""

    action: str
    argument: str


class NextAction(PromptedOperation[NextActionRequest, NextActionResponse]):
    """Choose what to do next in a session.

    It is asked under this protocol alone, whose identity holds its prompts: registered, it would be
    a part of every run's.
    """

    name = "next_action"
    prompts: ClassVar[Path] = Path(__file__).with_name("prompts")
    response = NextActionResponse
    slots = frozenset({"instruction", "ticket", "turns", "left", "actions"})
    shared = frozenset({"instruction"})

    def fill(self, request: NextActionRequest) -> Mapping[str, str]:
        return {
            "instruction": request.instruction,
            "ticket": request.ticket,
            "turns": told(request.turns),
            "left": str(request.left),
            "actions": "\n".join(f"{name}: {does}" for name, does in request.actions.items()),
        }

    def schema(self, request: NextActionRequest) -> Mapping[str, Any] | None:
        schema: Any = super().schema(request)
        schema["properties"]["action"] = {"type": "string", "enum": list(request.actions)}
        return schema  # type: ignore[no-any-return]

    def parse(self, text: str, request: NextActionRequest) -> NextActionResponse:
        found = super().parse(text, request)
        if found.action not in request.actions:
            raise ValueError(f"action: one of {', '.join(request.actions)} expected")
        return found


@register("rule", "next_action")
class NextActionRule(Rule[NextActionRequest, NextActionResponse]):
    """Queries memory with the feedback, answers again; gives up when answers stop changing.

    After an answer that settled nothing, memory is asked with the words of the reply, unless it was
    asked that already. After anything else the task is answered again. Of two same answers in a
    row the second is the last.
    """

    def answer(self, request: NextActionRequest, profile: Profile) -> NextActionResponse:
        last = request.turns[-1]
        if last.action != ANSWER:
            return NextActionResponse(action=ANSWER, argument="")
        answers = [turn.said for turn in request.turns if turn.action == ANSWER]
        if len(answers) > 1 and answers[-1] in answers[:-1]:
            return NextActionResponse(action=GIVE_UP, argument="")
        query = " ".join(last.reply.split())[:300]
        asked = {turn.argument for turn in request.turns if turn.action == SEARCH}
        if query in asked:
            return NextActionResponse(action=ANSWER, argument="")
        return NextActionResponse(action=SEARCH, argument=query)


def told(turns: tuple[Exchange, ...]) -> str:
    """The turns as text, one after the other."""
    return "\n".join(f"{number}. {_told(turn)}" for number, turn in enumerate(turns, start=1))


def _told(turn: Exchange) -> str:
    does = f"{turn.action} {turn.argument}".rstrip()
    said = f"\n   you said: {turn.said[:_SAID]}" if turn.said else ""
    return f"{does}{said}\n   what came back: {turn.reply[:_SAID]}"


_SAID: Final = 600
"""Characters of an answer or a reply that later turns are told."""
