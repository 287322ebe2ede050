"""What a view of gold spans could hold at best: is a budget feasible for a case at all?

Views are made of verbatim spans here. A memory that words a fact more briefly than every document
does can beat them, so this is the ceiling of selection, not of compression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from framework.records import Gold, GoldItem
from framework.retention.items import closure, facts, intact
from framework.text.tokens import count_tokens

EXACT_UP_TO: Final = 14
"""Most spans to choose among for which the best choice is searched for exhaustively."""


def gold_tokens(gold: Gold) -> int:
    """Tokens of a view that holds every gold item: the shortest span of each, repeats once.

    Items that follow from others take no room. A case is feasible when this is within the budget.
    """
    return sum(map(count_tokens, _shortest(gold.items)))


def budget_ceiling(gold: Gold, budget_tokens: int | None) -> float | None:
    """Share of the facts that the best view of gold spans within the budget holds.

    In [0, 1]; 1 minus it is what no selection of spans can avoid losing. None without facts.
    `budget_tokens` is None for an arm without a budget.
    """
    asked = facts(gold)
    if not asked:
        return None
    held = best_subset(gold, budget_tokens)
    return sum(item.id in held for item in asked) / len(asked)


def best_subset(gold: Gold, budget_tokens: int | None) -> frozenset[str]:
    """Ids of the items held by a view of gold spans that holds the most facts in the budget.

    Exact when at most `EXACT_UP_TO` spans are worth choosing among, else greedy by facts gained a
    token, which is a lower bound. Closure is counted.
    """
    return _best(gold.items, budget_tokens)


@dataclass(frozen=True, slots=True)
class _Choice:
    cost: int
    ids: frozenset[str]


@lru_cache(maxsize=512)
def _best(items: tuple[GoldItem, ...], budget: int | None) -> frozenset[str]:
    whole = _shortest(items)
    if budget is None or sum(map(count_tokens, whole)) <= budget:
        spanned = frozenset(item.id for item in items if item.spans)
        return closure(items, spanned)
    wanted = frozenset(i.id for i in items if i.kind == "fact" and i.anchors)
    choices = _choices(items, wanted, budget)
    search = _exact if len(choices) <= EXACT_UP_TO else _greedy
    return closure(items, search(items, choices, wanted, budget))


def _shortest(items: Sequence[GoldItem]) -> frozenset[str]:
    """The shortest spans of the items that do not follow from others."""
    given = frozenset(item.id for item in items if item.spans)
    derivable = closure(items, frozenset(i.id for i in items if i.spans and not i.derived_from))
    needed = [i for i in items if i.id in given and not (i.derived_from and i.id in derivable)]
    return frozenset(min((s.text for s in i.spans), key=count_tokens) for i in needed)


def _choices(items: Sequence[GoldItem], wanted: frozenset[str], budget: int) -> list[_Choice]:
    """Spans that fit, by cost: the cheapest of those that hold the same facts and sources."""
    by_id = {item.id: item for item in items}
    useful = set(wanted)
    queue = list(wanted)
    while queue:
        sources = set(by_id[queue.pop()].derived_from) & by_id.keys() - useful
        useful |= sources
        queue.extend(sources)
    members = [item for item in items if item.id in useful]
    cheapest: dict[frozenset[str], int] = {}
    for text in {span.text for item in members for span in item.spans}:
        cost = count_tokens(text)
        if cost > budget:
            continue
        ids = frozenset(i.id for i in members if any(intact(s.text, text) for s in i.spans))
        cheapest[ids] = min(cost, cheapest.get(ids, cost))
    ordered = sorted(cheapest.items(), key=lambda pair: (pair[1], sorted(pair[0])))
    return [_Choice(cost, ids) for ids, cost in ordered]


def _exact(
    items: Sequence[GoldItem], choices: Sequence[_Choice], wanted: frozenset[str], budget: int
) -> frozenset[str]:
    # Sets of ids are whole numbers here, a bit an item: the innermost loop of a tight budget.
    bits = {item.id: 1 << at for at, item in enumerate(items)}

    def bits_of(names: Iterable[str]) -> int:
        return sum({bits[name] for name in names})

    asked, spans = bits_of(wanted), [bits_of(choice.ids) for choice in choices]
    given = [i for i in items if i.derived_from and bits.keys() >= set(i.derived_from)]
    derived = [(bits[item.id], bits_of(item.derived_from)) for item in given]
    after = [0]
    for span in reversed(spans):
        after.append(after[-1] | span)
    after.reverse()

    @cache
    def count(held: int) -> int:
        known, before = held, -1
        while known != before:
            before = known
            for bit, sources in derived:
                if known & sources == sources:
                    known |= bit
        return (known & asked).bit_count()

    best = 0
    left_to_try = [(0, 0, budget)]
    while left_to_try:
        index, held, left = left_to_try.pop()
        if count(held) > count(best):
            best = held
        if index == len(spans) or count(held | after[index]) <= count(best):
            continue
        if choices[index].cost > left:  # by cost, so nothing after it fits either
            continue
        left_to_try.append((index + 1, held, left))
        if spans[index] & ~held:
            left_to_try.append((index + 1, held | spans[index], left - choices[index].cost))
    return frozenset(name for name, bit in bits.items() if best & bit)


def _greedy(
    items: Sequence[GoldItem], choices: Sequence[_Choice], wanted: frozenset[str], budget: int
) -> frozenset[str]:
    by_id = {item.id: item for item in items}
    held: frozenset[str] = frozenset()
    left = budget
    while True:
        now = closure(items, held)
        options = []
        for target in sorted(wanted - now):
            bundle = _bundle(by_id, choices, target, now)
            cost = sum(choice.cost for choice in bundle)
            if bundle and cost <= left:
                ids = frozenset().union(*(choice.ids for choice in bundle))
                gain = len(closure(items, held | ids) & wanted) - len(now & wanted)
                options.append((-gain / cost, target, ids, cost))
        if not options:
            return held
        _, _, ids, cost = min(options, key=lambda option: option[:2])
        held, left = held | ids, left - cost


def _bundle(
    by_id: Mapping[str, GoldItem], choices: Sequence[_Choice], target: str, known: frozenset[str]
) -> frozenset[_Choice]:
    """The cheapest spans that give `target`: its own, or those of all that it is derived from."""
    own = next((choice for choice in choices if target in choice.ids), None)
    sources = by_id[target].derived_from
    parts = [
        _bundle(by_id, choices, source, known)
        for source in sources
        if source in by_id and source not in known
    ]
    complete = bool(sources) and all(parts) and all(s in by_id or s in known for s in sources)
    options = [frozenset({own})] if own is not None else []
    if complete and parts:
        options.append(frozenset().union(*parts))
    return min(options, key=lambda o: sum(choice.cost for choice in o), default=frozenset())
