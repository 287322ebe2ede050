"""Questions over drawn chat histories, in LongMemEval's schema: as many as are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import Annotated, ClassVar, Final

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import Answer, Case, Event, Gold
from framework.registry import nearest, register
from framework.text.canonical import digest_tree
from framework.text.tokens import count_tokens
from plugins.domains.longmemeval import generate
from plugins.domains.longmemeval.cases import (
    HEADLINE,
    PROVIDES,
    Granularity,
    case_of,
    events_of,
    is_success,
)
from plugins.domains.longmemeval.records import ABSTENTION, Question
from plugins.domains.longmemeval.scene import EXCHANGES
from plugins.domains.longmemeval.structures import STRUCTURES

LEAST_SESSIONS: Final = 6
_SIZED: Final = 40
_LEAST_SIZED: Final = 4
"""Questions from which the nominal length is taken, and of long histories."""
_RENDERING: Final = "~"
"""Between a history's id and the number of its rendering, where it has one."""


def _shares() -> dict[str, float]:
    return {name: structure.share for name, structure in STRUCTURES.items()}


@dataclass(frozen=True, kw_only=True)
class LongMemEvalSyntheticSettings(Bounded):
    """What is asked, in which shares and wordings, over how long a history.

    sessions : of a history, at least 6 and at most 100.
    exchanges : of a session, at least; one with more to tell has more. `sessions=48 exchanges=37`
        is the size of the published LongMemEval_S, 115,000 tokens.
    shares : weights of the structures (what a question really needs); one left out has none.
    abstention : share of the questions that the sessions do not answer, in [0, 1], among the
        structures that can be left unanswered: nothing is said of it, something like it is said of
        another, what was said holds no more, or two values are said of it on one day.
    held_out : share of the questions in held-out wordings, in [0, 1].
    granularity : an event is a `turn` or a whole `session`.
    """

    sessions: Annotated[int, at_least(LEAST_SESSIONS, most=100)] = 14
    exchanges: Annotated[int, at_least(EXCHANGES, most=200)] = EXCHANGES
    shares: Annotated[Mapping[str, float], at_least(0)] = field(default_factory=_shares)
    abstention: Annotated[float, at_least(0, most=1)] = 0.12
    held_out: Annotated[float, at_least(0, most=1)] = 0.5
    granularity: Granularity = "turn"

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        for name in self.shares:
            if name not in STRUCTURES:
                raise ValueError(f"shares: no structure {name!r}{nearest(name, STRUCTURES)}")
        if not sum(self.shares.values()):
            raise ValueError("shares: no structure has any")


@register("domain", "longmemeval_synthetic")
class LongMemEvalSynthetic(Domain[LongMemEvalSyntheticSettings]):
    """Drawn chat histories with questions of LongMemEval's six types and abstention, without end.

    Dated sessions of everyday talk; in their asides the user states facts, changes them, tells
    what happened and when, what is planned and what others did. The same record and the same
    cases as of `longmemeval`. Every history holds a question that it answers and one of the same
    structure that it does not: which is asked is no part of it. What misleads is drawn
    independently of the answer, and what is told beside the question comes from the same
    wordings, so that no surface tells the gold.
    Case i of
    seed s depends on the settings, s and i alone. Stratum: the question's type; tags `structure`
    (with the absence after a colon) and `form`.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="the digest of the generator is recorded",
        licence="MIT",
        citation=(
            "The schema is that of Wu et al., LongMemEval, ICLR 2025; the texts are our own. "
            "Absent, misleading, stale and contradictory evidence: Regimes (Nakajima 2026), 8.1."
        ),
    )
    provides: ClassVar[tuple[str, ...]] = PROVIDES
    success_axis: ClassVar[str] = "answer_correct"
    version: ClassVar[str] = "3"
    headline: ClassVar[tuple[str, ...]] = HEADLINE

    def __init__(self, settings: LongMemEvalSyntheticSettings) -> None:
        super().__init__(settings)
        # Of the published size a question takes megabytes.
        self._question = lru_cache(maxsize=max(16, 1024 // settings.exchanges))(self._draw)

    @cached_property
    def nominal_tokens(self) -> int:
        """Mean tokens of the first histories of seed 0."""
        # Long histories differ less from each other, and take longer to draw.
        sized = max(_LEAST_SIZED, _SIZED * EXCHANGES // self.settings.exchanges)
        sizes = [
            sum(count_tokens(event.text) for event in events_of(self._question(0, i, 0), "session"))
            for i in range(sized)
        ]
        return round(sum(sizes) / sized)

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        if n is None:
            raise UserError("n_cases: domain=longmemeval_synthetic has no end, give a number")
        for index in count():
            if index >= n:
                return
            yield self._case(f"{seed}-{index}")

    def history(self, history_id: str) -> Iterator[Event]:
        yield from events_of(self.question(history_id), self.settings.granularity)

    def question(self, id_: str) -> Question:
        """The record of a history's or a case's id."""
        first, _, rendering = id_.removesuffix(ABSTENTION).partition(_RENDERING)
        seed, _, index = first.rpartition("-")
        return self._question(int(seed), int(index), int(rendering or 0))

    def rerendered(self, case: Case, rendering: int) -> Case:
        """The same case in other talk, with other remarks in between and days told otherwise.

        The question, what is told and the turn in which it is told stay, and so does the form.
        """
        return self._case(f"{case.history_id.partition(_RENDERING)[0]}{_RENDERING}{rendering}")

    def digest(self) -> str:
        """Digest of the generator's own files: they are what the cases are made from."""
        return digest_tree(Path(generate.__file__).parent)

    def success(self, answer: Answer, gold: Gold) -> bool:
        return is_success(answer, gold)

    def _case(self, history_id: str) -> Case:
        return case_of(self.question(history_id), history_id, self.settings.granularity)

    def _draw(self, seed: int, index: int, rendering: int = 0) -> Question:
        s = self.settings
        return generate.draw(
            seed,
            index,
            shares=s.shares,
            abstention=s.abstention,
            held_out=s.held_out,
            sessions=s.sessions,
            exchanges=s.exchanges,
            rendering=rendering,
        )
