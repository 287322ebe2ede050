"""Governed decisions, generated: tickets whose answer a decision fixes that they do not name."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import Answer, Case, Event, FactField, Gold
from framework.registry import register
from plugins.domains._governance.content import Contents
from plugins.domains._governance.edges import noisy
from plugins.domains._governance.invariant import checks, complies
from plugins.domains._governance.layout import Chain, Layout
from plugins.domains._governance.leaks import leaks
from plugins.domains._governance.lexicon import lexicon
from plugins.domains._governance.measured import Drift, drift
from plugins.domains._governance.settings import GovernanceSettings
from plugins.domains._governance.tasks import card_of, gold_of
from plugins.domains._governance.writing import Writer

if TYPE_CHECKING:
    from plugins.domains._governance.measured import Embed

RECORD_TOKENS: Final = 113
"""Mean tokens of a record that is not scattered, as measured in the tests."""
_ID: Final = re.compile(r"governance-s(-?\d+)-(\d{5,})")


class Corpus:
    """One corpus: its layout, contents and writer."""

    def __init__(self, settings: GovernanceSettings, seed: int, block: int) -> None:
        self.layout = Layout(settings, lexicon(), seed, block)
        self.contents = Contents(self.layout)
        self.writer = Writer(self.layout, self.contents)

    def gold_chain(self, task: int) -> Chain:
        """The chain that governs the task."""
        return self.layout.chains[task]

    def events(self) -> list[Event]:
        """All events in order of arrival, which is that of their dates."""
        records = range(self.layout.settings.items)
        events = [event for record in records for event in self.writer.events(record)]
        events.sort(key=lambda event: (event.time, event.id))
        return events

    def intact(self, chain: Chain) -> bool:
        """Whether every link of the chain, replacements included, is an edge as it is stated."""
        stated = [self.writer.tie(chain.start + k) for k in range(chain.depth)]
        stated += [
            (record, "older") for record in range(chain.head - chain.versions + 2, chain.head + 1)
        ]
        return all(
            links[what] in noisy(self.layout, record, list(links.values()))
            for record, what in stated
            for links in (self.writer.links(record),)
        )


@lru_cache(maxsize=64)
def _corpus(settings: GovernanceSettings, seed: int, block: int) -> Corpus:
    """A corpus, kept for the arms that come after."""
    return Corpus(settings, seed, block)


class _Histories:
    """Events of corpora made before, the last used of them, up to a number of events in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[GovernanceSettings, int, int], list[Event]] = OrderedDict()

    def of(self, settings: GovernanceSettings, seed: int, block: int) -> list[Event]:
        """The events of a corpus."""
        key = (settings, seed, block)
        if key not in self._kept:
            self._kept[key] = _corpus(*key).events()
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


_HISTORIES: Final = _Histories(most=120_000)


@register("domain", "governance")
class Governance(Domain[GovernanceSettings]):
    """Tickets governed by a decision some typed links away, in corpora of decision records.

    A case is a ticket and a change plan for one component. The record that the component is built
    under leads, over `depth` links, to the record that fixes one of the plan's settings; ticket and
    governing record share few words, the fewer the more links and the lower `rho`. The answer is a
    structured edit, checked by executing the case's invariant on it. `tasks_per_history` cases
    share a corpus of `items` records, whatever their depths, and are one cluster. Stratum: the
    depth, `d1` to `d8`. Tags: `form` of the chain's wording, `leaks` (`leaks.py`), `edges` (whether
    every link of the chain is an edge as stated).

    Knobs are documented with `GovernanceSettings`. Source: Depth (paper), sections 6, 8 to 10 and
    table 3, without its confounds: docs/domains/governance.md.
    """

    provenance: ClassVar[Provenance] = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="Depth, Not Length, sections 6 and 8 to 10",
    )
    axes: ClassVar[tuple[str, ...]] = (
        "chain",
        "compliance",
        "ranking",
        "retention",
        "use",
        "geometry",
    )
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
    by_stratum: ClassVar[tuple[str, ...]] = ("recall", "compliance", "kappa")
    Settings: ClassVar[type[GovernanceSettings]] = GovernanceSettings

    @property
    def nominal_tokens(self) -> int:
        return RECORD_TOKENS * self.settings.items

    @property
    def fields(self) -> tuple[FactField, ...]:
        return ()

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases of a seed, lazily. Raises UserError for None: they never end."""
        if n is None:
            raise UserError("n_cases: governance cases are generated without end; give a number")
        for index in range(n):
            yield self.case(seed, index)

    def case(self, seed: int, index: int) -> Case:
        """The case of a seed and index, whatever came before it."""
        block, task = divmod(index, self.settings.tasks_per_history)
        corpus = self.corpus(seed, block)
        chain = corpus.gold_chain(task)
        layout, contents, writer = corpus.layout, corpus.contents, corpus.writer
        history = self.history_id(seed, block)
        case = Case(
            id=f"{history}-{task:04d}",
            history_id=history,
            task=card_of(layout, contents, chain),
            gold=gold_of(layout, contents, writer, chain),
            stratum=f"d{chain.depth}",
            cluster=history,
        )
        tags = {
            "form": "held_out" if contents.of(chain).held_out else "development",
            "leaks": "yes" if leaks(case) else "no",
            "edges": self._edges(corpus, chain),
        }
        return replace(case, tags=tags)

    def history_id(self, seed: int, block: int) -> str:
        """The id from which a corpus is made again."""
        return f"governance-s{seed}-{block:05d}"

    def history(self, history_id: str) -> Iterator[Event]:
        """The events in order of arrival. Raises UserError for an id that is not of this domain."""
        yield from _HISTORIES.of(self.settings, *self._parse(history_id))

    def digest(self) -> str:
        """Digest of the words that corpora are made from."""
        return lexicon().digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Compliance: the invariant holds on the edit."""
        return complies(answer.edit, gold.invariant)

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        said = f"{answer.rationale}\n{answer.text}"
        return checks(answer.edit, said, case.gold.invariant)

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

    def drift(self, case: Case, embed: Embed | None = None) -> Drift:
        """The likeness of ticket and records along the case's chain; see `measured`."""
        seed, block, task = self._place(case)
        corpus = self.corpus(seed, block)
        chain = corpus.gold_chain(task)
        records = range(chain.start, chain.start + chain.depth + 1)
        texts = [" ".join(corpus.writer.write(record).parts) for record in records]
        return drift(case.task.query, texts, embed)

    def corpus(self, seed: int, block: int) -> Corpus:
        """A corpus before it is events: for tests and for studies of the generator itself."""
        return _corpus(self.settings, seed, block)

    def _edges(self, corpus: Corpus, chain: Chain) -> str:
        if self.settings.capture != "linked":
            return "none"
        return "intact" if corpus.intact(chain) else "broken"

    def _place(self, case: Case) -> tuple[int, int, int]:
        """Seed, block and task of a case. Raises UserError for one that is not of this domain."""
        seed, block = self._parse(case.history_id)
        return seed, block, int(case.id.rpartition("-")[2])

    def _parse(self, history_id: str) -> tuple[int, int]:
        match = _ID.fullmatch(history_id)
        if match is None:
            raise UserError(f"no history {history_id!r} in governance")
        return int(match[1]), int(match[2])
