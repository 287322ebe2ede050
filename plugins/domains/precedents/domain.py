"""Precedents, generated: plans whose answer an earlier decision of the same series fixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import ClassVar, Final

from framework.contracts import Provenance
from framework.errors import UserError
from framework.records import Answer, Case, Event
from framework.registry import register
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.plans import ChangePlans, digest_of
from plugins.domains.precedents.axis import TRIED, uses_retired
from plugins.domains.precedents.series import PrecedentsSettings, Series
from plugins.domains.precedents.tasks import card_of, gold_of
from plugins.domains.precedents.texts import written

RECORD_TOKENS: Final = 148
"""Mean tokens of a record, as measured in the tests."""
_ID: Final = re.compile(r"precedents-s(-?\d+)-(\d{5,})-(\d{2})")


@register("domain", "precedents")
class Precedents(ChangePlans[PrecedentsSettings]):
    """Series of change plans, each governed by a precedent, mostly from the same series.

    A case is a plan for one component. The decision that the component is built under, or one that
    this is derived from, fixes one of the plan's settings. What the plan asks for becomes a
    precedent when it is decided, under which later components are built. After half of a series
    one of its rulings is corrected: another value holds for whatever it governs.

    The history of a case holds the standing records and what earlier cases of its series left, as
    if each had been decided rightly and recorded. In a session it holds the standing records alone;
    what comes in with each case that is over is written to memory where the session writes
    (`left_by`), and is nowhere else.

    Stratum: `standing` (a standing record governs), `precedent` (a ruling of the series) or
    `corrected` (the ruling that was corrected before). Tags: `form` of the wording; `half`, before
    or after the correction; `thread`, whether the ruling that is corrected at any time governs. A
    series is one cluster. Knobs are documented with `PrecedentsSettings`.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="Depth, Not Length, section 18: sessions whose decisions build on each other",
    )
    provides: ClassVar[tuple[str, ...]] = (
        "chain",
        "edit",
        "correction",
        "evidence",
        "items",
        "success",
    )
    version: ClassVar[str] = "1"
    success_axis: ClassVar[str] = "compliance"
    headline: ClassVar[tuple[str, ...]] = (
        "recall",
        "chain_recovery",
        "compliance",
        "merge_ready",
        "correction_honoured",
        "honoured_at_once",
        "retired_used",
        "kappa",
        "leak",
    )
    by_stratum: ClassVar[tuple[str, ...]] = ("recall", "compliance")

    @property
    def nominal_tokens(self) -> int:
        """Of a history half way through its series."""
        made = self.settings
        return RECORD_TOKENS * (made.records + made.half * (1 + made.between))

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases of a seed, lazily, one series after the other.

        Raises UserError for None: they never end.
        """
        if n is None:
            raise UserError("n_cases: precedents cases are generated without end; give a number")
        for index in range(n):
            number, place = divmod(index, self.settings.length)
            yield _case(_series(self.settings, seed, number), place)

    def history(self, history_id: str) -> Iterator[Event]:
        """What is there when a case is decided. Raises UserError for an id of another domain."""
        series, place = self._parse(history_id)
        return (written(series, record).event for record in series.before(place))

    def digest(self) -> str:
        """Digest of the words that series are made from, and of one that the defaults make."""
        return _generated()

    def series(self, case: Case) -> str:
        """The series of a case, which is its cluster too."""
        return case.cluster

    def opened(self, case: Case) -> str:
        """Id of the history before the first case of a case's series: the standing records."""
        self._parse(case.history_id)
        return f"{case.history_id.rpartition('-')[0]}-00"

    def left_by(self, case: Case) -> Sequence[Event]:
        """What comes in once a case is over: its ruling, records of others, maybe the correction.

        The ruling is the right one: what a session could not decide somebody else did.
        """
        series, place = self._parse(case.id)
        return [written(series, record).event for record in series.left_by(place)]

    def watched(self, case: Case, answer: Answer) -> Mapping[str, float]:
        """Whether an answer to a case whose precedent was corrected sets what it fixed before."""
        return {TRIED: uses_retired(answer, case.gold)} if case.gold.retired else {}

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """What the run's cases are like: how many of each stratum, and how far what governs."""
        drawn = list(cases)
        if not drawn:
            return {}
        return {
            "series": float(len({case.cluster for case in drawn})),
            **{
                f"share_{name}": sum(case.stratum == name for case in drawn) / len(drawn)
                for name in ("standing", "precedent", "corrected")
            },
            "mean_depth": sum(case.depth or 0 for case in drawn) / len(drawn),
        }

    def _parse(self, name: str) -> tuple[Series, int]:
        match = _ID.fullmatch(name)
        if match is None or int(match[3]) >= self.settings.length:
            raise UserError(f"no history {name!r} in precedents")
        return _series(self.settings, int(match[1]), int(match[2])), int(match[3])


def _case(series: Series, place: int) -> Case:
    task = series.tasks[place]
    cluster = f"precedents-s{series.seed}-{series.number:05d}"
    own = f"{cluster}-{place:02d}"
    stands = task.governing < series.settings.records
    stratum = "corrected" if task.corrected else ("standing" if stands else "precedent")
    return Case(
        id=own,
        history_id=own,
        task=card_of(series, task),
        gold=gold_of(series, task),
        stratum=stratum,
        cluster=cluster,
        tags={
            "form": "held_out" if series.held_out else "development",
            "half": "before" if place < series.settings.half else "after",
            "thread": "corrected" if task.path[-1] == series.wrong else "other",
        },
        depth=len(task.path) - 1,
    )


@lru_cache(maxsize=64)
def _series(settings: PrecedentsSettings, seed: int, number: int) -> Series:
    return Series(settings, lexicon(), seed, number)


@lru_cache(maxsize=1)
def _generated() -> str:
    made = Precedents(PrecedentsSettings())
    cases = list(made.cases(made.settings.length, 0))
    return digest_of(made.history(cases[-1].history_id), cases)
