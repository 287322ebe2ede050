"""Governed decisions, generated: tickets whose answer a decision fixes that they do not name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from statistics import fmean, median
from typing import ClassVar, Final

from framework.contracts import Provenance
from framework.errors import UserError
from framework.records import Case, Event
from framework.registry import register
from plugins.domains.governance.corpus import (
    Corpus,
    case_of,
    corpus_of,
    events_of,
    ids_of,
    word_drift,
)
from plugins.domains.governance.lexicon import best_blind, chances, decision_bits
from plugins.domains.governance.measured import Drift, nearest_neighbours
from plugins.domains.governance.plans import ChangePlans, digest_of
from plugins.domains.governance.settings import GovernanceSettings
from plugins.domains.late import late_case

RECORD_TOKENS: Final = {"alias": 128, "explicit": 113}
"""Mean tokens of a record that is not scattered, by naming, as measured in the tests."""
_ID: Final = re.compile(r"governance-s(-?\d+)-(\d{5,})")


@register("domain", "governance")
class Governance(ChangePlans[GovernanceSettings]):
    """Tickets governed by a decision a few typed links away, in corpora of decision records.

    A case is a ticket and a change plan for one component. The record that the component is built
    under leads, over `depth` links, to the record that fixes one of the plan's settings; ticket and
    governing record share few words, the fewer the more links and the lower `rho`. The answer is a
    structured edit, checked by executing the case's invariant on it. `tasks_per_history` cases
    share a corpus of `items` records, whatever their depths, and are one cluster. Stratum: the
    depth, `d1` to `d8`. Tags: `form` of the chain's wording, `leaks` (`leaks.py`), `edges` (whether
    every link of the chain is an edge as stated).

    Knobs are documented with `GovernanceSettings`. Source: Depth (paper), sections 6, 8 to 10 and
    table 3, without its confounds: governance.md.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="Depth, Not Length, sections 6 and 8 to 10",
    )
    provides: ClassVar[tuple[str, ...]] = (
        "chain",
        "edit",
        "evidence",
        "items",
        "success",
        "geometry",
    )
    version: ClassVar[str] = "3"
    success_axis: ClassVar[str] = "compliance"
    headline: ClassVar[tuple[str, ...]] = (
        "recall",
        "chain_recovery",
        "ndcg_at_10",
        "mrr",
        "compliance",
        "merge_ready",
        "kappa",
        "leak",
    )
    by_stratum: ClassVar[tuple[str, ...]] = (
        "recall",
        "compliance",
        "kappa",
        "successes_per_1000_tokens",
    )

    @staticmethod
    def blind_success() -> float:
        """The greatest compliance that whoever sees the task alone can expect, with one version."""
        return best_blind()

    @staticmethod
    def decision_bits() -> float:
        """The entropy of what a decision fixes its setting at, in bits."""
        return decision_bits()

    @staticmethod
    def decision_values() -> int:
        """How many values there are that a decision may fix its setting at."""
        return len(chances())

    @property
    def nominal_tokens(self) -> int:
        return RECORD_TOKENS[self.settings.naming] * self.settings.items

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases of a seed, lazily. Raises UserError for None: they never end."""
        if n is None:
            raise UserError("n_cases: governance cases are generated without end; give a number")
        for index in range(n):
            ids = ids_of(self.settings, seed, index)
            yield late_case(*ids, partial(self.case, seed, index))

    def case(self, seed: int, index: int) -> Case:
        """The case of a seed and index, whatever came before it."""
        return case_of(self.settings, seed, index)

    def history(self, history_id: str) -> Iterator[Event]:
        """The events in order of arrival. Raises UserError for an id that is not of this domain."""
        yield from events_of(self.settings, *self._parse(history_id))

    def digest(self) -> str:
        """Digest of the words that corpora are made from, and of one that the defaults make."""
        return _generated()

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """What the run's cases are like, as made: how alike their tickets, how far what governs.

        nearest_ticket : greatest Jaccard similarity of a ticket's words to another's, by the median
        task and the most alike. achieved_rho : mean over tasks, by shared words. leaking_tasks :
        those that the naive edit complies with (see `leaks`).
        """
        drawn = list(cases)
        if not drawn:
            return {}
        nearest = nearest_neighbours(drawn).values()
        kept = [rho for case in drawn if (rho := self.drift(case).rho) is not None]
        return {
            "tasks": float(len(drawn)),
            "corpora": float(len({case.history_id for case in drawn})),
            "records_a_corpus": float(self.settings.items),
            "events_a_corpus": float(sum(1 for _ in self.history(drawn[0].history_id))),
            "mean_depth": fmean(float(case.stratum.removeprefix("d")) for case in drawn),
            "nearest_ticket_median": median(nearest),
            "nearest_ticket_most": max(nearest),
            "leaking_tasks": float(sum(case.tags["leaks"] == "yes" for case in drawn)),
            **({"achieved_rho": fmean(kept)} if kept else {}),
        }

    def geometry(self, case: Case) -> Mapping[str, float | None]:
        """Depth, scatter and, by shared words, the drift achieved on the case's chain."""
        found = self.drift(case)
        return {
            "depth": float(len(found.hops)),
            "achieved_rho": found.rho,
            "entry_similarity": found.surface[0],
            "governing_similarity": found.surface[-1],
            "scatter": float(len(case.gold.governing)),
        }

    def chain_texts(self, case: Case) -> Sequence[str]:
        """The records from the entry to the decision in its first version, whole if scattered."""
        seed, block, task = self._place(case)
        return self.corpus(seed, block).texts(task)

    def drift(self, case: Case) -> Drift:
        """The similarity of ticket and records along the case's chain; see `measured`."""
        return word_drift(self.settings, *self._place(case))

    def corpus(self, seed: int, block: int) -> Corpus:
        """A corpus before it is events: for tests and for studies of the generator itself."""
        return corpus_of(self.settings, seed, block)

    def _place(self, case: Case) -> tuple[int, int, int]:
        """Seed, block and task of a case. Raises UserError for one that is not of this domain."""
        seed, block = self._parse(case.history_id)
        return seed, block, int(case.id.rpartition("-")[2])

    def _parse(self, history_id: str) -> tuple[int, int]:
        match = _ID.fullmatch(history_id)
        if match is None:
            raise UserError(f"no history {history_id!r} in governance")
        return int(match[1]), int(match[2])


@lru_cache(maxsize=1)
def _generated() -> str:
    made = Governance(GovernanceSettings())
    cases = list(made.cases(made.settings.tasks_per_history, 0))
    return digest_of(made.history(cases[0].history_id), cases)
