"""How sessions end and what they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings, register


@register("axis", "session_outcome")
class SessionFigures(Axis[NoSettings]):
    """How a session ended, over how many turns, and for how many tokens; under sessions alone.

    resolved : the environment settled the task. Higher is better.
    given_up, out_of_turns, out_of_tokens : it ended so instead; with `resolved` they sum to 1.
        Lower is better.
    resolved_first : the first answer settled it. Higher is better.
    turns : turns taken, resolved or not: fewer are better of what is resolved, and a session that
        gives up at once has few. So it has no direction; nor have the others that follow.
    session_tokens : tokens in and out of models of all turns, the ingest of the history left out.
    shown_tokens : tokens of the views of all turns together.
    answers : turns that answered the task.
    searches : turns that asked memory again.
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
