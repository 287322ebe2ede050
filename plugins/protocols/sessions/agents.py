"""Who acts in a session: the run's model, and three scripts that show what the measure can do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from framework.contracts import Client, Guessable, Interactive, Reader, maybe_await
from framework.records import Answer, Case, Item, MemoryView, TaskCard
from framework.text.sentences import sentences
from plugins.protocols.sessions.next_action import ANSWER, Exchange, told

_STATED: Final = re.compile(r"The (?P<label>.+?) is (?P<value>.+?) under the (?P<name>.+?)\.?")
_AGAIN: Final = "What was done on this task before, and what came of it:"


async def answered(
    reader: Reader[Any],
    task: TaskCard,
    view: MemoryView,
    client: Client,
    turns: Sequence[Exchange],
) -> Answer:
    """The reader's answer, told what was tried before.

    A rule-based model reads no account of turns: statements that its own rejected answers followed
    are left out of what it reads (`passed_over`). A language model is told, and sees all.
    """
    if not turns:
        return await maybe_await(reader.answer(task, view, client))
    instruction = f"{task.instruction}\n\n{_AGAIN}\n{told(tuple(turns))}"
    if client.kind == "rule-based":
        view = passed_over(view, turns)
    return await maybe_await(reader.answer(replace(task, instruction=instruction), view, client))


def passed_over(view: MemoryView, turns: Sequence[Exchange]) -> MemoryView:
    """The view without the statements that rejected answers gave as their ground.

    A ground is a sentence of the view itself, or names a decision and what it fixes: then each
    sentence goes that has both. Of several grounds those go that the reply speaks of, if any.
    """
    grounds = [ground for turn in turns if turn.action == ANSWER for ground in _wrong(turn)]
    if not grounds:
        return view
    return replace(view, items=tuple(_without(item, grounds) for item in view.items))


def _wrong(turn: Exchange) -> list[str]:
    if turn.settled:
        return []
    grounds = sentences(turn.rests_on)
    spoken = [g for g in grounds if (m := _STATED.fullmatch(g)) and m["label"] in turn.reply]
    return spoken or grounds


def _without(item: Item, grounds: Sequence[str]) -> Item:
    lines = []
    for line in item.text.split("\n"):
        kept = line
        for sentence in sentences(line):
            if any(_rests_on(sentence, ground) for ground in grounds):
                kept = kept.replace(sentence, "", 1)
        lines.append(kept)
    return replace(item, text="\n".join(lines))


def _rests_on(sentence: str, ground: str) -> bool:
    if sentence == ground:
        return True
    stated = _STATED.fullmatch(ground)
    return stated is not None and all(stated[part] in sentence for part in ("name", "label"))


def scripted(agent: str, case: Case, domain: Interactive, replies: Sequence[str]) -> Answer:
    """The answer of a control.

    `oracle` knows the task's reference, `stubborn` says nothing, `guesses` sees the task and what
    was said to its answers before (`replies`), and no memory.

    Raises ValueError where the oracle has no reference to give.
    """
    if agent == "stubborn":
        return Answer(rationale="No.", edit="[]")
    if agent == "guesses":
        assert isinstance(domain, Guessable)  # checked before the run
        return domain.guess(case, replies)
    found = domain.reference(case)
    if found is None:
        raise ValueError(f"{case.id} has no reference answer to give")
    return found
