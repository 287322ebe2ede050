"""How sessions end and what they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register


@register("axis", "session_outcome")
class SessionFigures(Axis[NoSettings]):
    """How a session ended, after how many turns and tokens; only for protocol=sessions.

    resolved : 1 if the environment settled the task. Higher is better.
    given_up : 1 if the agent gave up; with `resolved`, `out_of_turns` and `out_of_tokens` it sums
        to 1. Lower is better.
    out_of_turns : 1 if the session ended at its limit of turns. Lower is better.
    out_of_tokens : 1 if the session ended at its limit of tokens. Lower is better.
    resolved_first : 1 if the first answer settled the task. Higher is better.
    turns : turns taken, resolved or not. No better direction: fewer are better only if the task is
        resolved, and a session that gives up at once has few. The same holds for the columns below.
    session_tokens : tokens in and out of models over all turns, without the ingest of the history.
    shown_tokens : tokens of the views of all turns together.
    answers : number of turns that answered the task.
    searches : number of turns that asked memory again.
    """

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {
        "resolved": True,
        "given_up": False,
        "out_of_turns": False,
        "out_of_tokens": False,
        "resolved_first": True,
        "turns": None,
        "session_tokens": None,
        "shown_tokens": None,
        "answers": None,
        "searches": None,
    }
    amounts: ClassVar[frozenset[str]] = frozenset(
        {"turns", "session_tokens", "shown_tokens", "answers", "searches"}
    )

    def score(self, scored: Scored) -> AxisScore:
        found = scored.session
        return AxisScore(
            values={name: found.get(name) for name in self.names},
            evidence=tuple(f"{name}: {found[name]:g}" for name in found if found[name]),
        )
