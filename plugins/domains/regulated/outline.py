"""What a case's records state, and on which days the documents that are bound to others fall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, NamedTuple

from plugins.domains.regulated.calendar import bound_days, sample_day
from plugins.domains.regulated.chains import Entry, chains_of
from plugins.domains.regulated.policy import Value
from plugins.domains.regulated.sampled import Revision, Sampled
from plugins.domains.regulated.spec import DocumentSpec, Spec
from plugins.domains.regulated.wording import codes_in_order

CURRENT: Final = "current"
RETIRED: Final = "retired"
CONFLICTING: Final = "conflicting"

REQUEST: Final = "point/request"
REPLY: Final = "point/reply"

_SECOND_COPY: Final = 0.35
_REMENTIONED: Final = 0.5
_LATE: Final = 0.5
_FACTS_AN_EVENT: Final = 4


class Statement(NamedTuple):
    """What a record says of a fact; `role` is one of the three above."""

    key: str
    value: Value
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The records by name, the facts mentioned again or stated late, days from intake by name.

    `late` : facts of which an older record arrives after the correction, on day `arrival/KEY`.
    """

    records: Mapping[str, tuple[DocumentSpec, tuple[Statement, ...]]]
    rementioned: frozenset[str]
    late: frozenset[str]
    days: Mapping[str, int]


def make_outline(spec: Spec, sampled: Sampled, rng: Random) -> Outline:
    """The outline of a case, drawn with no regard to its label."""
    records = _records(spec, sampled, rng)
    rementioned = {r.key for r in sampled.revisions if rng.random() < _REMENTIONED}
    late = {r.key for r in sampled.revisions if not r.rescinded and rng.random() < _LATE}
    after = {REPLY: {REQUEST}}
    for i, amendment in enumerate(sampled.amendments):
        after[f"amendment/{i}"] = {f"policy/{_part_of(sampled, amendment.old.id)}"}
    for revision in sampled.revisions:
        key = revision.key
        first, *steps = _chain(revision)
        after[first] = {
            name
            for name, (_, statements) in records.items()
            if any(statement.key == key for statement in statements)
        }
        last = first
        for name in steps:
            after[name], last = {last}, name
        if key in rementioned:
            after[f"remention/{key}"] = {last}
        if key in late:
            after[first].add(f"late/{key}")
            after[f"arrival/{key}"] = {last}
    return Outline(
        records=records,
        rementioned=frozenset(rementioned),
        late=frozenset(late),
        days={**bound_days(after, rng), **_entry_days(spec, records, rng)},
    )


def _entry_days(spec: Spec, records: Iterable[str], rng: Random) -> dict[str, int]:
    """Days of the documents of entries: those of one figure in the order of the entries."""
    names = {name.partition("#")[2].partition("/")[0]: name for name in records if "#" in name}
    found: dict[str, int] = {}
    for entries in chains_of(spec).values():
        days = sorted(sample_day(rng) for _ in entries)
        found.update((names[key], day) for key, day in zip(entries, days, strict=True))
    return found


def _records(
    spec: Spec, sampled: Sampled, rng: Random
) -> dict[str, tuple[DocumentSpec, tuple[Statement, ...]]]:
    """Every stated fact in one record, some in a second; a conflicting value in another."""
    planned: dict[str, list[Statement]] = {}
    for key in spec.facts:
        if key not in sampled.stated:
            continue
        for where, statement in _copies(spec, sampled, key, rng):
            planned.setdefault(where, []).append(statement)
    return {
        f"record/{where}/{n}": (
            spec.documents[where.partition("#")[0]],
            tuple(planned[where][n : n + _FACTS_AN_EVENT]),
        )
        for where in sorted(planned)
        for n in range(0, len(planned[where]), _FACTS_AN_EVENT)
    }


def _copies(spec: Spec, sampled: Sampled, key: str, rng: Random) -> list[tuple[str, Statement]]:
    """(record, statement) of a fact before any correction."""
    places = list(spec.facts[key].documents) or [d.id for d in spec.used("record")]
    rng.shuffle(places)
    if isinstance(spec.facts[key], Entry):  # once, and in a document of its own
        return [(f"{places[0]}#{key}", Statement(key, sampled.facts[key], CURRENT))]
    if len(places) == 1:
        places.append(f"{places[0]}#second")
    value, role = sampled.facts[key], CURRENT
    for revision in sampled.revisions:
        if revision.key == key and not revision.rescinded:
            value, role = revision.retired[0], RETIRED
    if sampled.gap is not None and sampled.gap.key == key and sampled.gap.other is not None:
        pair = [value, sampled.gap.other]
        rng.shuffle(pair)
        return [(places[i], Statement(key, pair[i], CONFLICTING)) for i in range(2)]
    second = rng.random() < _SECOND_COPY
    return [(place, Statement(key, value, role)) for place in places[: 1 + second]]


def _part_of(sampled: Sampled, rule_id: str) -> int:
    """The part of the policy, 1 or 2, that holds a rule."""
    rules = [rule.id for rule in codes_in_order(sampled.policy.rules)]
    return 1 + (rules.index(rule_id) >= (len(rules) + 1) // 2)


def _chain(revision: Revision) -> list[str]:
    """Names of the documents that revise a fact, in order of date."""
    n = 1 if revision.rescinded else len(revision.retired)
    names = [f"correction/{revision.key}/{i + 1}" for i in range(n)]
    return [*names, f"rescission/{revision.key}"] if revision.rescinded else names
