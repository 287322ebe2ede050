"""Corpora as wholes: their events and cases, kept for the arms that come after."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import lru_cache
from typing import Final

from framework.records import Case, Event, Gold
from plugins.domains.governance.content import Contents
from plugins.domains.governance.layout import Chain, Layout
from plugins.domains.governance.leaks import leaks
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.measured import Drift, drift
from plugins.domains.governance.recorder import Recorder, lost
from plugins.domains.governance.render import Writer
from plugins.domains.governance.settings import GovernanceSettings
from plugins.domains.governance.tasks import card_of, gold_of, ticket_of


class Corpus:
    """One corpus: its layout, contents, the writer of what was decided and of what was captured."""

    def __init__(self, settings: GovernanceSettings, seed: int, block: int) -> None:
        self.layout = Layout(settings, lexicon(), seed, block)
        self.contents = Contents(self.layout)
        self.writer = Writer(self.layout, self.contents)
        self.recorder = Recorder(self.layout, self.contents)

    def gold_chain(self, task: int) -> Chain:
        """The chain that governs the task."""
        return self.layout.chains[task]

    def events(self) -> list[Event]:
        """All events in order of arrival, which is that of their dates."""
        records = range(self.layout.settings.items)
        events = [event for record in records for event in self.recorder.events(record)]
        events.sort(key=lambda event: (event.time, event.id))
        return events

    def intact(self, chain: Chain) -> bool:
        """Whether every link of the chain, replacements included, is an edge as it is stated."""
        stated = [self.writer.tie(chain.start + k) for k in range(chain.depth)]
        stated += [
            (record, "older") for record in range(chain.head - chain.versions + 2, chain.head + 1)
        ]
        return all(
            self.writer.links(record)[what] in self.recorder.edges(record)
            for record, what in stated
        )

    def edges(self, chain: Chain) -> str:
        """Whether the chain's links are edges as stated: `intact`, `broken`, or `none` at all."""
        if self.layout.settings.capture != "linked":
            return "none"
        return "intact" if self.intact(chain) else "broken"

    def case(self, history_id: str, task: int) -> Case:
        """The case of one of its tasks."""
        chain = self.gold_chain(task)
        case = Case(
            id=case_id(history_id, task),
            history_id=history_id,
            task=card_of(self.layout, self.contents, chain),
            gold=gold_of(self.layout, self.contents, self.writer, chain),
            stratum=f"d{chain.depth}",
            depth=chain.depth,
            cluster=history_id,
        )
        tags = {
            "form": "held_out" if self.contents.of(chain).held_out else "development",
            "leaks": "yes" if leaks(case) else "no",
            "edges": self.edges(chain),
        }
        if self.layout.settings.is_noisy:
            tags["captured"] = self.captured(chain, case.gold)
        return replace(case, tags=tags)

    def captured(self, chain: Chain, gold: Gold) -> str:
        """What of the chain was captured as decided: `all`, `no path`, or else `no decision`.

        Where the decision itself is not, whether the path is does not matter.
        """
        records = range(chain.start, chain.head + 1)
        gone = lost(gold, [e for record in records for e in self.recorder.events(record)])
        if not gone:
            return "all"
        required = {item.id for item in gold.required}
        return "no path" if required.isdisjoint(gone) else "no decision"

    def texts(self, task: int) -> list[str]:
        """The records of a task's chain, entry first, the decision in its first version."""
        chain = self.gold_chain(task)
        records = range(chain.start, chain.start + chain.depth + 1)
        return [" ".join(self.writer.write(record).parts) for record in records]


@lru_cache(maxsize=64)
def corpus_of(settings: GovernanceSettings, seed: int, block: int) -> Corpus:
    """A corpus, kept for the arms that come after."""
    return Corpus(settings, seed, block)


@lru_cache(maxsize=4096)
def case_of(settings: GovernanceSettings, seed: int, index: int) -> Case:
    """A case, kept for the arms that come after."""
    _, history_id = ids_of(settings, seed, index)
    block, task = divmod(index, settings.tasks_per_history)
    return corpus_of(settings, seed, block).case(history_id, task)


def ids_of(settings: GovernanceSettings, seed: int, index: int) -> tuple[str, str]:
    """The ids of a case and of its history."""
    block, task = divmod(index, settings.tasks_per_history)
    history_id = f"governance-s{seed}-{block:05d}"
    return case_id(history_id, task), history_id


def case_id(history_id: str, task: int) -> str:
    """The id of a task's case."""
    return f"{history_id}-{task:04d}"


@lru_cache(maxsize=4096)
def word_drift(settings: GovernanceSettings, seed: int, block: int, task: int) -> Drift:
    """The drift of a task's chain by shared words."""
    corpus = corpus_of(settings, seed, block)
    ticket = ticket_of(card_of(corpus.layout, corpus.contents, corpus.gold_chain(task)))
    return drift(ticket, corpus.texts(task))


class _Histories:
    """Events of corpora made before, the last used of them, up to a number of events in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[GovernanceSettings, int, int], list[Event]] = OrderedDict()

    def of(self, settings: GovernanceSettings, seed: int, block: int) -> list[Event]:
        """The events of a corpus."""
        key = (settings, seed, block)
        if key not in self._kept:
            self._kept[key] = corpus_of(*key).events()
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


_HISTORIES: Final = _Histories(most=120_000)


def events_of(settings: GovernanceSettings, seed: int, block: int) -> list[Event]:
    """The events of a corpus, the last used kept for the arms that come after."""
    return _HISTORIES.of(settings, seed, block)
