"""Authors after published self-improvement methods, by rules: baselines of the loop.

GRASP, DSPy and Reflexion as Regimes section 2 describes them. Each edits the reader's prompt alone
and words its drafts with the clauses of the target's library, so that they differ in how they
search and in nothing that they know. No language model drafts here, and none of their code is
used: the names say `style`. Every draft meets the gates that any other meets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Assignment, Author, Client
from framework.contracts.improve import Tried
from framework.registry import register
from framework.text.canonical import canonical_json

_SEAM: Final = "reader_prompt"
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_DRAWS: Final = 200
"""How often a draft that was tried already is drawn again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraspSettings(Bounded):
    """Settings of `author=grasp_style`. skills : most that may be installed at once."""

    skills: Annotated[int, at_least(1)] = 6


@register("author", "grasp_style")
class GraspStyle(Author[GraspSettings]):
    """Bounded library of skills: adds one guarded clause per draft, for words of failed questions.

    A skill is `If the question contains "WORD", CLAUSE`: the word drawn by how many failed
    questions have it, the clause evenly. A clause whose skill lost cases is drawn only where no
    other is left, until the next promotion. The library is full at `skills`; what it no longer
    needs, `protocol.consolidate` removes.
    """

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        installed = sum(t.seam == _SEAM and t.reason == "installed" for t in assignment.tried)
        asked = [sorted(_words(f.question)) for f in assignment.failures]
        words = Counter(word for found in asked for word in found if len(word) > 3)
        clauses = [c for c in clauses_of(assignment) if not c.startswith("If ")]
        if installed >= self.settings.skills or not words:
            return None
        lost = {line for t in assignment.tried if "loss" in t.reason for line in _lines(t)}
        safe = [c for c in clauses if not any(line.endswith(_after_if(c)) for line in lost)]

        def skill(draw: Random) -> Sequence[str]:
            word = draw.choices(list(words), list(words.values()))[0]
            return [f'If the question contains "{word}", {_after_if(draw.choice(safe or clauses))}']

        return _new("grasp_style", assignment, skill) if clauses else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DspySettings(Bounded):
    """Settings of `author=dspy_style`. clauses : most in one instruction."""

    clauses: Annotated[int, at_least(1)] = 4


@register("author", "dspy_style")
class DspyStyle(Author[DspySettings]):
    """Random search over instructions: draws several clauses at once, whatever failed.

    With `routing=prompt routing.drafts=N` a round compares N of them on OPTIMIZE, its development
    set, and the best goes on to the held-out cases. It draws no examples for the prompt: the
    rule-based reader of sessions follows none.
    """

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        clauses = clauses_of(assignment)

        def instruction(draw: Random) -> Sequence[str]:
            most = min(self.settings.clauses, len(clauses))
            return draw.sample(clauses, draw.randint(1, most))

        return _new("dspy_style", assignment, instruction) if clauses else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflexionSettings(Bounded):
    """Settings of `author=reflexion_style`. memory : reflections that a draft carries, at most."""

    memory: Annotated[int, at_least(1)] = 3


@register("author", "reflexion_style")
class ReflexionStyle(Author[ReflexionSettings]):
    """Reflects on one failure at a time and keeps its latest reflections in the draft.

    A reflection is the clause that shares most words with the failed question and is not in memory,
    drawn among equals. The memory is the last draft's; a promotion, which installs it, empties it.
    """

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        if not assignment.failures:
            return None
        clauses, failures = clauses_of(assignment), assignment.failures
        asked = _words(failures[assignment.attempt % len(failures)].question)
        earlier = [t for t in assignment.tried if t.seam == _SEAM and t.reason != "installed"]
        memory = _lines(earlier[-1]) if earlier else []
        left = [c for c in clauses if c not in memory]

        def reflection(draw: Random) -> Sequence[str]:
            # Of clauses that were reflected on with this memory before, the next best is left.
            ranked = sorted(left, key=lambda c: (-len(asked & _words(c)), draw.random()))
            tried = {tuple(_lines(t)) for t in assignment.tried}
            found = ([*memory, clause][-self.settings.memory :] for clause in ranked)
            return next((lines for lines in found if tuple(lines) not in tried), memory)

        return _new("reflexion_style", assignment, reflection) if left else None


def clauses_of(assignment: Assignment) -> list[str]:
    """Every sentence of the library's prompts, once, in its order."""
    texts = [
        text
        for patch in assignment.library
        if patch.seam == _SEAM
        for text in patch.payload["fragments"].values()
    ]
    lines = (line.strip().removeprefix("- ") for text in texts for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if line))


def _new(name: str, assignment: Assignment, lines: Callable[[Random], Sequence[str]]) -> str | None:
    """A draft of lines that no earlier draft had; None where it may not or can't be had."""
    if _SEAM not in assignment.seams:
        return None
    draw = Random(f"{name}:{assignment.seed}:{assignment.attempt}")
    tried = {frozenset(_lines(t)) for t in assignment.tried}
    fragment = next(iter(assignment.fragments))
    for drawn in _drawn(draw, lines):
        if frozenset(drawn) not in tried:
            text = "\n".join(f"- {line}" for line in drawn)
            return canonical_json({"seam": _SEAM, "fragments": {fragment: text}, "why": name})
    return None


def _drawn(draw: Random, lines: Callable[[Random], Sequence[str]]) -> Iterator[Sequence[str]]:
    for _ in range(_DRAWS):
        yield lines(draw)


def _lines(tried: Tried) -> list[str]:
    texts = tried.payload.get("fragments", {}).values()
    return [line.removeprefix("- ") for text in texts for line in text.splitlines()]


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _after_if(clause: str) -> str:
    return clause[:1].lower() + clause[1:]
