"""Of `bank_support`: what a scenario names, what popularity earns, where arguments stand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from benchmarks.studies.leaks.measures import (
    HEADER,
    NOTHING,
    Table,
    of,
    placed,
    short,
)
from framework.contracts import Domain
from framework.records import Case
from framework.text.canonical import canonical_json
from framework.text.tokens import count_tokens
from plugins.domains.bank_support.actions import parsed
from plugins.domains.bank_support.operation import CUSTOMER


def support(domain: Domain[Any], cases: Sequence[Case]) -> Table:
    """What a scenario names, what popularity earns, and where arguments stand."""
    policies = {event.id: event.text for event in domain.history(cases[0].history_id)}
    both = popularity(cases, list(policies), own_cluster=True)
    apart = popularity(cases, list(policies), own_cluster=False)
    held = standing(cases, policies)
    others = standing(cases, policies, of_others=True)
    files = [case.task.material[CUSTOMER] for case in cases if CUSTOMER in case.task.material]
    handed = f"{len(files)} tasks, {fmean(map(count_tokens, files)):,.0f} tokens in the mean"
    where = (
        "in the scenario",
        "in it or in the policies required",
        f"there, in the instruction or in what is on file of the customer ({handed})",
    )
    earned = [
        (f"{short(both[i])}; without the tasks of its cluster {short(apart[i])}", short(chance))
        for i, chance in enumerate(at_random(cases, len(policies)))
    ]
    total = held.total
    return [
        HEADER,
        (
            "Does a scenario name a title or an id of what it requires?",
            of(sum(names_policy(case, policies) for case in cases), len(cases)),
            NOTHING,
        ),
        (
            "Does it name a tool that its policies name and it must call?",
            of(sum(names_tool(case) for case in cases), len(cases)),
            NOTHING,
        ),
        *(
            (f"What {name} has popularity alone, what other tasks require most often first?", *on)
            for name, on in zip(("`recall_at_5`", "`ndcg_at_10`"), earned, strict=True)
        ),
        *(
            (
                f"How many values of the arguments stand {place}?",
                f"{100 * own / total:.0f}% of {total:,}",
                f"those of the next task: {100 * other / others.total:.0f}%",
            )
            for place, own, other in zip(where, held.counts, others.counts, strict=True)
        ),
        *(
            (
                f"If the policies stood in the order of their texts' digests, what {what}?",
                placed(rule, domain, cases),
                short(0.1),
            )
            for rule, what in (
                ("first", "of what a task requires would the first tenth hold"),
                ("neighbours", "of the others would the nearest tenth of a required one hold"),
            )
        ),
    ]


def names_policy(case: Case, policies: Mapping[str, str]) -> bool:
    """Whether a scenario has the title or the id of a policy that it requires."""
    query = case.task.query.casefold()
    titles = (policies[name].partition("\n")[0].casefold() for name in case.gold.evidence)
    return any(name in query for name in (*titles, *case.gold.evidence))


def names_tool(case: Case) -> bool:
    """Whether a scenario has the name of an expected tool that a policy names."""
    tools = {one.name for one in parsed(case.gold.answer) or () if one.name[-4:].isdigit()}
    return any(name in case.task.query.casefold() for name in tools)


def popularity(
    cases: Sequence[Case], documents: Sequence[str], *, own_cluster: bool
) -> tuple[float, float]:
    """Recall at 5 and nDCG at 10 of what other tasks require most often, ties in the file's order.

    own_cluster : the other tasks of its cluster count too.
    """
    recalls, gains = list[float](), list[float]()
    for case in cases:
        others = (
            o for o in cases if o.id != case.id and (own_cluster or o.cluster != case.cluster)
        )
        count = Counter(i for other in others for i in other.gold.evidence)
        ranked = sorted(documents, key=lambda i: -count[i])
        gold = set(case.gold.evidence)
        recalls.append(len(gold.intersection(ranked[:5])) / len(gold))
        gain = sum(d for d, i in zip(_DISCOUNTS, ranked, strict=False) if i in gold)
        gains.append(gain / sum(_DISCOUNTS[: len(gold)]))
    return fmean(recalls), fmean(gains)


def at_random(cases: Sequence[Case], documents: int) -> tuple[float, float]:
    """What an order drawn at random is expected to earn of the same two."""
    sizes = [len(set(case.gold.evidence)) for case in cases]
    drawn = sum(_DISCOUNTS) / documents
    return 5 / documents, fmean(drawn * size / sum(_DISCOUNTS[:size]) for size in sizes)


_DISCOUNTS: Final = [1 / math.log2(place + 2) for place in range(10)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Of so many values, how many stand in the scenario, there or in policies, or anywhere."""

    total: int
    counts: tuple[int, int, int]


def standing(
    cases: Sequence[Case], policies: Mapping[str, str], *, of_others: bool = False
) -> Standing:
    """How many values of the arguments of a task's expected actions stand in what it is handed.

    As whole words, case aside; numbers as in JSON. of_others : those of the next task of another
    cluster instead of its own.
    """
    total, counts = 0, [0, 0, 0]
    for number, case in enumerate(cases):
        texts = [
            case.task.query,
            "\n".join(policies[name] for name in case.gold.evidence),
            f"{case.task.instruction}\n{case.task.material.get(CUSTOMER, '')}",
        ]
        folded = [text.casefold() for text in texts]
        later = (*cases[number + 1 :], *cases[:number])
        whose = next(o for o in later if o.cluster != case.cluster) if of_others else case
        for value in _values(whose):
            first = next((i for i, text in enumerate(folded) if _holds(text, value)), len(folded))
            total += 1
            counts = [count + (first <= place) for place, count in enumerate(counts)]
    return Standing(total=total, counts=(counts[0], counts[1], counts[2]))


def _holds(text: str, value: object) -> bool:
    said = (value if isinstance(value, str) else canonical_json(value)).casefold()
    if not said or said not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text) is not None


def _values(case: Case) -> Iterator[object]:
    for action in parsed(case.gold.answer) or ():
        yield from _leaves(action.arguments)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    else:
        yield value
