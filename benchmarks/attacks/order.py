"""Where in a history the gold lies, and what its beginning or its end alone earns.

`place of gold`: the AUC by which an event's place in its history, or the date
that it bears, tells gold from the rest; .5 is chance, and what lies as far
below tells as much. The kind of case (`structure`) whose gold is told best
stands below, only shown: what happened lately lies at the end by nature.
`gold above`: the AUC of rare words and of short events (`rare_first`,
`shortest_first`), which is only shown: both stay (docs/decisions/0018).
`gold held`: the share of the critical items in a view of 15% of the history,
beside as many events drawn at random. Allowed is .55, and what chance stays
within in 999 of 1,000 runs. Best: bm25, and typed_graph where links govern.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Final, cast

from benchmarks.attacks import Earned
from benchmarks.attacks._told import CHANCE, RARE
from framework.contracts import ArchContext, Client, Domain, Query
from framework.engine.compose import compose_plan, composer
from framework.pipeline.pack import pack
from framework.records import Case, Event
from framework.registry import find, settings_of
from framework.retention import retained
from framework.text.tokens import count_tokens

HELD: Final = (
    *("loan", "claims", "prior_authorization"),
    *("change_release", "lab_results", "voucher_hearing"),
)
"""Domains of which every case has a history of its own, with facts and a policy as its gold."""
DOMAINS: Final = (*HELD, *("longmemeval_synthetic", "governance", "codebase"))
WORDS: Final = ("rare_first", "shortest_first")
ARMS: Final = {"oldest_first": "oldest_first", "newest_first": "chat_log"}
BEST: Final = "bm25"
LINKED: Final = ("governance", "codebase")
KIND: Final = "structure"
"""The tag that tells kinds of cases apart, where a domain has it."""
SHARE: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An AUC, with its 95% interval over clusters, and the shares of gold in thirds."""

    auc: float
    low: float
    high: float
    clusters: int
    thirds: tuple[float, float, float]

    @property
    def at_chance(self) -> bool:
        """Within .45 to .55, or not told from .5."""
        return CHANCE[0] <= self.auc <= CHANCE[1] or self.low <= 0.5 <= self.high

    def __str__(self) -> str:
        thirds = " ".join(f"{share:.2f}" for share in self.thirds)
        return (
            f"AUC {self.auc:.3f} [{self.low:.3f}, {self.high:.3f}], width "
            f"{self.high - self.low:.3f}, {self.clusters} clusters, thirds {thirds}"
        )


def opened(option: str) -> Domain[Any]:
    """The domain at its defaults."""
    with composer():
        domain: Domain[Any] = compose_plan([f"domain={option}"]).parts["domain"].create()
    return domain


class Known:
    """The first cases of a domain with their histories, each made once, right after its case."""

    def __init__(self, domain: Domain[Any], n: int, seed: int) -> None:
        self.cases: list[Case] = []
        self._histories: dict[str, list[Event]] = {}
        for case in domain.cases(n, seed):
            self.cases.append(case)
            if case.history_id not in self._histories:
                self._histories[case.history_id] = list(domain.history(case.history_id))
            _ = case.gold  # made with the history, as a domain keeps few cases that it drew

    def history(self, history_id: str) -> list[Event]:
        """The events in order of arrival."""
        return self._histories[history_id]


def places(domain: Any, cases: Sequence[Case], *, dates: bool = False) -> Place | None:
    """How well the place of an event, by arrival or by date, tells that it holds critical items.

    The later of a gold and another event of one case is the gold in .5 of the pairs by chance; ties
    count half. None over fewer than two clusters.

    domain : what has the histories of the cases.
    """
    from scipy.stats import t

    found: dict[str, list[float]] = {}
    thirds = [0, 0, 0]
    for case in cases:
        events = list(domain.history(case.history_id))
        at: list[Any] = [event.time for event in events] if dates else list(range(len(events)))
        mine, won = _won(case, events, at)
        for i in mine:
            thirds[3 * i // len(events)] += 1
        if won is not None:
            found.setdefault(case.cluster or case.history_id, []).append(won)
    means = [fmean(values) for values in found.values()]
    if len(means) < 2:
        return None
    reach = float(t.ppf(0.975, len(means) - 1)) * stdev(means) / math.sqrt(len(means))
    auc, n = fmean(means), sum(thirds)
    return Place(
        auc=auc,
        low=auc - reach,
        high=auc + reach,
        clusters=len(means),
        thirds=(thirds[0] / n, thirds[1] / n, thirds[2] / n),
    )


def _won(case: Case, events: Sequence[Event], at: Sequence[Any]) -> tuple[list[int], float | None]:
    """The gold events, and in which share of pairs with others they lie higher; ties are half."""
    gold = {s for i in case.gold.items if i.critical for s in i.source_ids}
    mine = [i for i, event in enumerate(events) if event.id in gold]
    others = [i for i, event in enumerate(events) if event.id not in gold]
    won = [(at[i] > at[j]) + (at[i] == at[j]) / 2 for i in mine for j in others]
    return mine, fmean(won) if won else None


def ranked(domain: Any, cases: Sequence[Case], arm: str) -> float:
    """The same AUC of an arm's ranking; what it does not recall is last."""
    found: list[float] = []
    last, events, memory = "", list[Event](), cast(Any, None)
    for case in cases:
        if case.history_id != last:
            last, events = case.history_id, list(domain.history(case.history_id))
            memory = _memory(arm, events, None)
        items = memory.recall(Query(text=case.task.query), len(events))
        rank = {item.id: -i for i, item in enumerate(items)}
        _, won = _won(case, events, [rank.get(event.id, -len(events)) for event in events])
        if won is not None:
            found.append(won)
    return fmean(found)


def _memory(arm: str, events: Sequence[Event], budget: int | None) -> Any:
    plugin = find("arch", ARMS.get(arm, arm))
    context = ArchContext(budget_tokens=budget, client=cast(Client, None))
    memory: Any = plugin.cls(settings_of(plugin, {}), context)
    memory.ingest(events)
    return memory


def held(arm: str, case: Case, events: Sequence[Event]) -> tuple[float, float]:
    """The share of critical items that the arm's view holds, and the share of events in it."""
    budget = round(SHARE * sum(count_tokens(event.text) for event in events))
    items = _memory(arm, events, budget).recall(Query(text=case.task.query), 100)
    view = pack(items, budget, "truncate")
    kept = retained(case.gold, view)
    critical = [kept[item.id] for item in case.gold.items if item.critical]
    return fmean(critical), len(view.items) / len(events)


def _tells(place: Place | None) -> float | None:
    return None if place is None else 0.5 + abs(place.auc - 0.5)


def attempts(n: int, seed: int) -> Iterator[Earned]:
    """The place of the gold in each domain, and both ends of histories against the best arm."""
    for option in DOMAINS:
        domain = Known(opened(option), n, seed)
        cases = domain.cases
        best = ranked(domain, cases, "typed_graph" if option in LINKED else BEST)
        for attack, dates in (("arrival", False), ("date", True)):
            place = places(domain, cases, dates=dates)
            room = CHANCE[1] - 0.5
            if place is not None:
                room = max(room, RARE * (place.high - place.low) / 2)
            yield Earned(
                domain=option,
                attack=attack,
                figure="place of gold",
                value=_tells(place),
                best=best,
                allowed=0.5 + room,
                n=n,
            )
            kinds = {kind for case in cases if (kind := case.tags.get(KIND))}
            if kinds:
                of = {kind: [c for c in cases if c.tags[KIND] == kind] for kind in sorted(kinds)}
                told = {k: _tells(places(domain, own, dates=dates)) or 0.5 for k, own in of.items()}
                most = max(told, key=lambda kind: told[kind])
                yield Earned(domain=option, attack=attack, figure=f"place, {most}",
                             value=told[most], best=ranked(domain, of[most], BEST), allowed=None,
                             n=len(of[most]))  # fmt: skip
        for name in WORDS:
            yield Earned(domain=option, attack=name, figure="gold above",
                         value=ranked(domain, cases, name), best=best, allowed=None,
                         n=n)  # fmt: skip
        if option not in HELD:
            continue
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*ARMS, BEST)}
        for case in cases:
            events = list(domain.history(case.history_id))
            for name, kept in found.items():
                kept.append(held(name, case, events))
        for name in ARMS:
            over = [a - b for a, b in found[name]]
            chance = fmean(b for _, b in found[name])
            yield Earned(
                domain=option,
                attack=name,
                figure="gold held",
                value=fmean(a for a, _ in found[name]),
                best=fmean(a for a, _ in found[BEST]),
                allowed=chance + 3.1 * stdev(over) / math.sqrt(len(over)),
                n=n,
            )
