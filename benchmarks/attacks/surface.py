"""Words, order, structure, and a policy without the facts it is applied to.

Each tries to tell a case's label from what is left when the facts are taken
out. Its figure is the AUC, the mean over labels of one against the rest, of the
better of logistic regression and boosting, cross-validated by cluster; chance
is .5. Allowed is .55; over fewer than 2,000 cases, what chance stays within in
999 of 1,000 runs. The label of which most is told stands below, only shown: the
highest of several. Words are those of the history, its question and values left
out. Best: the whole history in view, rule-based model, in the forms it reads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from typing import Any, Final

from benchmarks.attacks import Earned
from benchmarks.attacks._told import CASES, CHANCE, RARE, Row, Told, told
from benchmarks.attacks.answers import read_whole
from framework.records import ABSTAIN, Answer, Case, Event, Gold
from plugins.domains.longmemeval.structures import STRUCTURES
from plugins.domains.longmemeval.synthetic import (
    LongMemEvalSynthetic,
    LongMemEvalSyntheticSettings,
)
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.settings import RegulatedSettings

REGULATED: Final = (
    *("loan", "claims", "prior_authorization"),
    *("change_release", "lab_results", "voucher_hearing"),
)
SYNTHETIC: Final = "longmemeval_synthetic"
DOMAINS: Final = (*REGULATED, SYNTHETIC)
POLICY: Final = "policy without facts"
_BINS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """Cases of a domain with their histories, labels and clusters, and what masks their values.

    sampled : of a regulated domain, what each case is before it is worded.
    answered : the label that an answer gives.
    """

    domain: Any
    cases: tuple[Case, ...]
    histories: tuple[tuple[Event, ...], ...]
    labels: tuple[str, ...]
    sampled: tuple[Any, ...]
    mask: Callable[[str], str]
    answered: Callable[[Answer], str]

    @property
    def clusters(self) -> list[str]:
        """By case, what it must not be parted from."""
        return [case.cluster or case.id for case in self.cases]


def drawn(option: str, n: int, seed: int) -> Drawn:
    """The first `n` cases of a seed."""
    domain: Any
    mask: Callable[[str], str]
    if option == SYNTHETIC:
        answerable = {name: one.share for name, one in STRUCTURES.items() if one.absences}
        settings = LongMemEvalSyntheticSettings(shares=answerable, abstention=0.5)
        domain = LongMemEvalSynthetic(settings)
        mask, label = str, _unanswerable
    else:
        domain = Regulated(RegulatedSettings(spec=option))
        mask, label = _mask(domain), _decision
    cases: list[Case] = []
    histories: list[tuple[Event, ...]] = []
    labels: list[str] = []
    sampled: list[Any] = []
    for case in domain.cases(n, seed):
        cases.append(case)
        # At once, as a domain keeps what it drew of a few hundred cases only.
        histories.append(tuple(domain.history(case.history_id)))
        labels.append(label(case.gold))
        if option != SYNTHETIC:
            sampled.append(domain.sampled(*domain._parse(case.history_id)[:2]))
    return Drawn(
        domain=domain,
        cases=tuple(cases),
        histories=tuple(histories),
        labels=tuple(labels),
        sampled=tuple(sampled),
        mask=mask,
        answered=label,
    )


def _unanswerable(said: Gold | Answer) -> str:
    return "ABSTAIN" if said.decision == ABSTAIN else "answerable"


def _decision(said: Gold | Answer) -> str:
    return str(said.decision)


def _mask(domain: Regulated) -> Callable[[str], str]:
    facts = domain.spec.facts.values()
    known = sorted({word for fact in facts for word in fact.vocabulary}, key=len, reverse=True)
    # In small letters, as words are counted: without regard to case the search takes three times.
    category = re.compile("|".join(re.escape(word.lower()) for word in known))
    return lambda text: re.sub(r"\d+", "0", category.sub("category", text.lower()))


def words(one: Drawn) -> list[str]:
    """The texts of the histories in one, with values and categories masked."""
    return [one.mask("\n".join(event.text for event in events)) for events in one.histories]


def order(one: Drawn) -> list[Row]:
    """Where kinds and titles lie, and how long events are and what days pass, place by place."""
    return [_order(events) for events in one.histories]


def _order(events: Sequence[Event]) -> Row:
    n = len(events)
    places: dict[str, list[float]] = {}
    row: dict[str, float | str] = {"first": _called(events[0]), "last": _called(events[-1])}
    for i, event in enumerate(events):
        for name in {event.kind, _called(event)}:
            places.setdefault(name, []).append(i / n)
    for name, found in places.items():
        row[f"mean {name}"], row[f"first {name}"] = fmean(found), found[0]
    days = [date.fromisoformat(event.time[:10]).toordinal() for event in events]
    for k in range(min(_BINS, n)):
        part = slice(k * n // _BINS, max((k + 1) * n // _BINS, k * n // _BINS + 1))
        row[f"length {k}"] = fmean(len(event.text) for event in events[part])
        row[f"days {k}"] = fmean(days[part]) - days[0]
    return row


def structure(one: Drawn) -> list[Row]:
    """Events by kind and title, edges by relation, degrees, lengths."""
    return [_structure(events) for events in one.histories]


def _structure(events: Sequence[Event]) -> Row:
    counts = Counter(f"kind {event.kind}" for event in events)
    counts.update(f"title {_called(event)}" for event in events)
    counts.update(f"edge {relation}" for event in events for relation, _ in event.edges)
    met = Counter(target for event in events for _, target in event.edges)
    out = [len(event.edges) for event in events]
    sizes = [len(event.text) for event in events]
    policy = sum(len(event.text) for event in events if event.kind == "policy")
    return {
        **{name: float(count) for name, count in counts.items()},
        "events": len(events),
        "most met": max(met.values(), default=0),
        "met": len(met),
        "most edges": max(out),
        "longest": max(sizes),
        "shortest": min(sizes),
        "length": sum(sizes),
        "policy": policy,
    }


def _called(event: Event) -> str:
    """The event's title without what differs from case to case."""
    return event.metadata.get("title", event.kind).split(",")[0]


def policy(one: Drawn) -> list[Row]:
    """Rules in force, their comparators and thresholds, those replaced, precedence."""
    rows: list[Row] = []
    for sampled in one.sampled:
        made = sampled.policy
        row: dict[str, float | str] = {"precedence": " > ".join(made.precedence)}
        olds = [(f"old {a.old.id}", a.old) for a in sampled.amendments]
        for name, rule in [*((rule.id, rule) for rule in made.rules), *olds]:
            for i, condition in enumerate(rule.conditions):
                bound = condition.threshold
                row[f"{name} {i} comparator"] = condition.comparator
                if isinstance(bound, tuple):
                    row.update({f"{name} {i} {word}": 1.0 for word in bound})
                elif isinstance(bound, date):
                    row[f"{name} {i}"] = (sampled.plan.intake - bound).days
                else:
                    row[f"{name} {i}"] = bound
        rows.append(row)
    return rows


CONTROLS: Final[Mapping[str, Callable[[Drawn], list[Row] | list[str]]]] = {
    "words": words,
    "order": order,
    "structure": structure,
    POLICY: policy,
}


def controls(option: str) -> list[str]:
    """The controls that concern a domain."""
    return [name for name in CONTROLS if option in REGULATED or name != POLICY]


def tells(name: str, one: Drawn) -> Told | None:
    """What a control tells of the labels."""
    return told(CONTROLS[name](one), one.labels, one.clusters)


def attempts(n: int, seed: int) -> Iterator[Earned]:
    """Every control on every domain that draws its cases."""
    for option in DOMAINS:
        one = drawn(option, n, seed)
        read = by_reading(one)
        for name in controls(option):
            found = tells(name, one)
            yield Earned(
                domain=option,
                attack=name,
                figure="AUC, mean of labels",
                value=None if found is None else found.auc,
                best=fmean(read.values()),
                allowed=CHANCE[1] if found is None else _allowed(found),
                n=n,
            )
            if found is not None:
                label, value = found.most
                yield Earned(domain=option, attack=name, figure=f"AUC, {label}", value=value,
                             best=read.get(label), allowed=None, n=n)  # fmt: skip


def by_reading(one: Drawn) -> dict[str, float]:
    """By label, the AUC of it against the rest of who reads the whole history and answers.

    Of an answer without a score it is the mean of its hits and its right refusals. Labels that no
    case that is read has, or every one, are left out.
    """
    read = [
        (label, one.answered(read_whole(case, events)[1]))
        for case, events, label in zip(one.cases, one.histories, one.labels, strict=True)
        if case.tags["form"] == "development"
    ]
    found = {}
    for label in sorted({label for label, _ in read}):
        hits = [said == label for true, said in read if true == label]
        others = [said != label for true, said in read if true != label]
        if others:
            found[label] = (fmean(hits) + fmean(others)) / 2
    return found


def _allowed(found: Told) -> float:
    """What is not told from chance."""
    room = 0.0 if found.cases >= CASES else RARE * (found.auc - found.low)
    return max(CHANCE[1], 0.5 + room)
