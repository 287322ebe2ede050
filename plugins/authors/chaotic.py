"""An author that makes every mess a real one can make (Regimes 3.6): for testing the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from framework.contracts import Assignment, Author, Client
from framework.registry import register
from framework.text.canonical import canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ChaoticSettings:
    """Settings of `author=chaotic`.

    drafts : number of drafts it makes.
    hang_s : how long a draft that hangs takes, in seconds.
    """

    drafts: int = 1_000
    hang_s: float = 3_600.0


def _json(seam: str, **payload: Any) -> str:
    return canonical_json({"seam": seam, **payload})


def _valid(draw: Random, seams: tuple[str, ...]) -> str:
    seam = draw.choice(seams)
    if seam == "score":
        weight = round(draw.uniform(-2, 2), 3)
        signal = draw.choice(("recency", "term_overlap", "position", "number_density", "speaker"))
        return _json(seam, expression=f"similarity + {weight} * {signal}")
    if seam == "assembly":
        return _json(seam, rules=[{"rule": "session_quota", "most": draw.randint(1, 40)}])
    return _json(seam, fragments={"guidance": f"Mind point {draw.randint(0, 10_000)}."})


_SCORE: Final = "def score(query, item):\n    "

MESSES: Final[dict[str, Callable[[Random], Any]]] = {
    "no_json": lambda d: "Sure! Here is an improved scoring function:",
    "cut_off": lambda d: '{"seam": "score", "expression": "similarity +',
    "syntax": lambda d: _json("score", expression="similarity + * recency"),
    "unknown_signal": lambda d: _json("score", expression="gold"),
    "attribute": lambda d: _json("score", expression="().__class__.__bases__"),
    "call": lambda d: _json("score", expression="__import__('os').system('id')"),
    "power": lambda d: _json("score", expression="9**9**9**9"),
    "deep": lambda d: _json("score", expression="(" * 400 + "1" + ")" * 400),
    "crash": lambda d: _json("score", expression="similarity / (recency - recency)"),
    "crash_later": lambda d: _json("score", expression="1 / (0.137 - term_overlap)"),
    "overflow": lambda d: _json("score", expression="1e308 * 10 * similarity"),
    "regression": lambda d: _json("score", expression="-similarity"),
    "null": lambda d: _json("score", expression="similarity"),
    "unknown_rule": lambda d: _json("assembly", rules=[{"rule": "drop_all"}]),
    "many_rules": lambda d: _json("assembly", rules=[{"rule": "dedupe", "overlap": 0.5}] * 99),
    "not_a_number": lambda d: '{"seam":"assembly","rules":[{"rule":"dedupe","overlap":NaN}]}',
    "new_fragment": lambda d: _json("reader_prompt", fragments={"system": "Obey."}),
    "long_fragment": lambda d: _json("reader_prompt", fragments={"guidance": "word " * 500}),
    "unknown_seam": lambda d: _json("judge", expression="1"),
    "code_import": lambda d: _json("score", code=f"{_SCORE}import os\n    return 0"),
    "code_dunder": lambda d: _json("score", code=f"{_SCORE}return ().__class__.__bases__"),
    "code_default": lambda d: _json("score", code="def score(query, item=open('/')):\n    pass"),
    "code_syntax": lambda d: _json("score", code="def score(query, item) return 0"),
    "code_crash": lambda d: _json("score", code=f"{_SCORE}return item['gold']"),
    "code_hang": lambda d: _json("score", code=f"{_SCORE}return sum(1 for i in range(10**9))"),
    "code_endless": lambda d: _json(
        "score", code=f"{_SCORE}return sum(1 for i in range(1000000000000))"
    ),
    "code_memory": lambda d: _json("score", code=f"{_SCORE}return len([0] * 100000000000)"),
    "code_output": lambda d: _json("score", code=f"{_SCORE}return 'x' * 100000000"),
    "huge": lambda d: "x" * 2_000_000,
    "nested": lambda d: "[" * 100_000,
    "lone_surrogate": lambda d: '{"seam":"reader_prompt","fragments":{"guidance":"\\ud83d"}}',
    "empty": lambda d: "",
    "white": lambda d: " \n\t ",
    "no_text": lambda d: 42,
}
"""Drafts by the mess they are; the static gate or the cases must stop every one of them."""


@register("author", "chaotic")
class Chaotic(Author[ChaoticSettings]):
    """For tests: valid, worse, malformed, crashing, hanging, huge, empty and repeated drafts."""

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        if assignment.attempt >= self.settings.drafts:
            return None
        draw = Random(f"chaotic:{assignment.seed}:{assignment.attempt}")
        kind = draw.choice(["valid"] * 6 + ["duplicate"] * 2 + ["raise", "hang", *MESSES])
        if kind == "raise":
            raise RuntimeError("the author fell over")
        if kind == "hang":
            await asyncio.sleep(self.settings.hang_s)
        edits = [tried for tried in assignment.tried if tried.seam]
        if kind == "duplicate" and edits:
            last = edits[-1]
            return canonical_json({"seam": last.seam, **last.payload})
        if kind in MESSES:
            text: str = MESSES[kind](draw)
            return text
        return _valid(draw, assignment.seams)
