"""Exact search, counts, order, length, rarity where a decision governs by links.

Each orders a corpus's records by what a memory sees; it earns the share of
cases whose governing decision is then in a view of 2,000 tokens, and
`commoner_label` the share whose governed setting more records fix than the
plan's other open one. Allowed is what chance stays within in 999 of 1,000 runs:
as many records drawn at random, or a coin. Best: typed_graph with prune=true,
and of the label, a coin where it does not hold what governs.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, cast

from benchmarks.attacks import Earned
from framework.contracts import ArchContext, Client, Query
from framework.pipeline.pack import pack
from framework.records import Case, Event, Item
from framework.registry import find, settings_of
from framework.retention import retained
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.settings import GovernanceSettings

TOKENS: Final = 2_000
ARMS: Final = {
    "grep_names": "grep_names",
    "grep_labels": "grep_labels",
    "oldest_first": "oldest_first",
    "newest_first": "chat_log",
    "rare_first": "rare_first",
}
BEST: Final = "typed_graph"
COMMONER: Final = "commoner_label"
_CALLED: Final = re.compile(r"called after the (\S+ [^\s.]+)")


@dataclass(slots=True)
class Found:
    """By corpus and case, what a shortcut earned and what chance would have."""

    earned: dict[str, list[float]] = field(default_factory=dict)
    chance: dict[str, list[float]] = field(default_factory=dict)

    def add(self, case: Case, earned: float, chance: float) -> None:
        """Note a case."""
        self.earned.setdefault(case.history_id, []).append(earned)
        self.chance.setdefault(case.history_id, []).append(chance)

    def over_chance(self) -> tuple[float, float, float]:
        """What it earned over chance, with its 95% t interval over corpora."""
        from scipy.stats import t

        over = [fmean(v) - fmean(self.chance[k]) for k, v in self.earned.items()]
        mean, n = fmean(over), len(over)
        error = math.sqrt(sum((x - mean) ** 2 for x in over) / (n - 1) / n)
        reach = float(t.ppf(0.975, n - 1)) * error
        return mean, mean - reach, mean + reach


def by_alias(case: Case, events: Sequence[Event]) -> list[Event]:
    """Descriptions in the place of names: from the plan's component, what shares one with it."""
    component = json.loads(case.task.material["change_plan"])["component"]
    reached = {e.id: e for e in events if component in e.text}
    said = {e.id: set(_CALLED.findall(e.text)) for e in events}
    while True:
        known = set().union(*(said[name] for name in reached))
        level = {e.id: e for e in events if e.id not in reached and said[e.id] & known}
        if not level:
            return list(reached.values())
        reached |= level


ORDERS: Final[Mapping[str, Callable[[Case, Sequence[Event]], list[Event]]]] = {
    "grep_aliases": by_alias,
    "longest": lambda case, events: sorted(events, key=lambda e: -len(e.text)),
    "shortest": lambda case, events: sorted(events, key=lambda e: len(e.text)),
    "by_id": lambda case, events: sorted(events, key=lambda e: e.id),
}
SHORTCUTS: Final = (*ARMS, *ORDERS, COMMONER)

Histories = Callable[[Governance, str], list[Event]]


def as_made(made: Governance, history_id: str) -> list[Event]:
    """The events of a corpus as the domain makes them."""
    return list(made.history(history_id))


def tried(
    n: int, seed: int, made: Governance, names: Sequence[str], history: Histories = as_made
) -> dict[str, Found]:
    """What the shortcuts (or `BEST`) earn on the first cases of a seed."""
    found = {name: Found() for name in names}
    last, events, arms = "", list[Event](), dict[str, Any]()
    for case in made.cases(n, seed):
        if case.history_id != last:
            last, events, arms = case.history_id, history(made, case.history_id), {}
        for name in names:
            if name == COMMONER:
                found[name].add(case, _commoner(case, events), 0.5)
                continue
            if name in ORDERS:
                ranked = ORDERS[name](case, events)
                items = [Item(id=e.id, text=e.text, source_ids=(e.id,)) for e in ranked]
            else:
                items = _recalled(name, case, events, arms)
            view = pack(items[:100], TOKENS, "truncate")
            kept = float(retained(case.gold, view)["decision"])
            found[name].add(case, kept, len(view.items) / len(events))
    return found


def attempts(n: int, seed: int) -> Iterator[Earned]:
    """Every shortcut on the domain's default, where texts call records by aliases."""
    from scipy.stats import binom

    found = tried(n, seed, Governance(GovernanceSettings()), (*SHORTCUTS, BEST))
    means = {
        name: (fmean(x for v in one.earned.values() for x in v),
               fmean(x for v in one.chance.values() for x in v))
        for name, one in found.items()
    }  # fmt: skip
    best = means.pop(BEST)[0]
    for name, (value, chance) in means.items():
        yield Earned(
            domain="governance",
            attack=name,
            figure="cases" if name == COMMONER else "recall",
            value=value,
            best=(1 + best) / 2 if name == COMMONER else best,
            allowed=float(binom.ppf(0.999, n, chance)) / n,
            n=n,
        )


def _recalled(name: str, case: Case, events: Sequence[Event], arms: dict[str, Any]) -> list[Item]:
    plugin = find("arch", ARMS.get(name, name))
    if name not in arms:
        context = ArchContext(budget_tokens=TOKENS, client=cast(Client, None))
        settings = settings_of(plugin, {"prune": True} if name == BEST else {})
        arms[name] = plugin.cls(settings, context)
        arms[name].ingest(events)
    task = case.task if plugin.cls.sees_task else None
    return list(arms[name].recall(Query(text=case.task.query, task=task), 100))


def _commoner(case: Case, events: Sequence[Event]) -> float:
    """Whether more records fix the governed setting than the other open one; .5 where as many."""
    (governed,) = json.loads(case.gold.invariant)["require"]
    plan = json.loads(case.task.material["change_plan"])["settings"]
    counts = {}
    for setting in (lexicon().settings[s["setting"]] for s in plan if s["status"] == "proposed"):
        said = (setting.label, setting.alias)
        counts[setting.key] = sum(any(f"the {x}" in e.text for x in said) for e in events)
    mine = counts.pop(governed)
    (other,) = counts.values()
    return 0.5 if mine == other else float(mine > other)
