"""The airline's rules: their text as documents, and the fees that its lines state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from framework.errors import DataError
from framework.records import Event, Span
from framework.text.canonical import digest
from plugins.domains.airline_fees.flights import Phrase
from plugins.domains.data_file import BadRecordError, Faults

IN_FORCE: Final = "2024-02-20"
"""The date that the rules bear: for tickets issued on or after it."""

CABINS: Final = ("Basic Economy", "Main Cabin", "Premium Economy", "Business", "First")
"""Cabins that fee lines name. `Main Plus` has Main Cabin's fees and one more free bag."""

PROSE: Final[Mapping[str, tuple[str, str]]] = {
    "carry_on": ("Carry-on bags", "You're allowed"),
    "main_plus": ("First Bag", "^Main Plus includes 1 extra free checked bag"),
    "allowance": ("Weight and Size", "For all regions, except"),
    "allowance_far": ("Weight and Size", "For all confirmed customers on flights to / from"),
    "higher_fee": ("Overweight Bags", "More than one fee may apply"),
}
"""Rules that state no fee: by name, the heading they stand under and how they begin."""

_HEADING: Final = re.compile(r"(#+)\s+(.+?)\s*$")
_ORDINALS: Final = ("First", "Second", "Third", "Fourth")
_BAG: Final = re.compile(rf"({'|'.join(_ORDINALS)}) Bag(?: \+)?$")
_WEIGHT: Final = re.compile(r"Over (\d+) lbs.* to (\d+) lbs")
_SIZE: Final = re.compile(r"AND the bag size is Over (\d+) in.*?– (\d+) in")
_FLIGHT: Final = re.compile(r"your flight is (.+?)(?= AND |$)")
_CABIN: Final = re.compile(r"you are an? (.+?)\^? class passenger", re.IGNORECASE)
_FEE: Final = re.compile(r", the (?:fee|bag) should be (?:\$(\d{1,6})|Not accepted)\.?$")
_IF: Final = "* If "
_FREE_WEIGHT: Final = re.compile(r"(\d+) lbs / \d+ ?kgs for complimentary")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeRule:
    """One line that states a fee.

    kind : `bag`, by the bag's place (`low`, 1 to 4, the last for all after it); `weight` and
        `size`, for more than `low` up to `high` pounds, inches of length + width + height.
    flights, cabin : for which flights, in which cabin; None for all.
    fee : dollars; None where such a bag is not accepted.
    """

    kind: Literal["bag", "weight", "size"]
    low: int
    high: int
    flights: Phrase | None
    cabin: str | None
    fee: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph or list under its headings."""

    path: tuple[str, ...]
    lines: tuple[str, ...]


class Rules:
    """The rules of a text in Markdown, and the events that it is split in.

    An event is a line that states a fee, or else a paragraph with its list; its text begins with
    the headings above it. Raises DataError naming file and line.
    """

    def __init__(self, path: str, text: str) -> None:
        self.events: dict[str, Event] = {}
        self.fees: list[FeeRule] = []
        self.prose: dict[str, Span] = {}
        faults = Faults(path)
        for number, block in _blocks(text):
            heading, body = " > ".join(block.path), "\n".join(block.lines)
            fee = body.startswith(_IF)
            # A fee's line means another thing under another heading: it is one with its heading.
            said = f"{heading}: {body.removeprefix('* ')}" if fee else f"{heading}\n{body}".strip()
            name = f"rule-{digest(said)[7:15]}"
            kind = "fee" if fee else "text"
            self.events[name] = Event(id=name, text=said, time=IN_FORCE, kind=kind)
            if fee:
                with faults.of(number):
                    span = Span(source_id=name, text=said)
                    self.fees.append(_fee_rule(block.path, body, span))
            for rule, (under, begins) in PROSE.items():
                if block.path[-1:] == (under,) and body.startswith(begins):
                    self.prose[rule] = Span(source_id=name, text=body)
        faults.check()
        for rule, (under, begins) in PROSE.items():
            if rule not in self.prose:
                raise DataError(path, None, f"no rule under {under!r} that begins {begins!r}")
        found = [
            weight.group(1)
            for rule in ("allowance", "allowance_far")
            for weight in [_FREE_WEIGHT.search(self.prose[rule].text)]
            if weight
        ]
        if len(found) != 2 or len(set(found)) != 1:
            problem = "the two allowances do not name one weight of complimentary bags"
            raise DataError(path, None, problem)
        self.free_weight = int(found[0])

    def bag_fee(self, place: int, origin: str, destination: str, cabin: str) -> FeeRule:
        """The rule for the bag of this place, from 1. Raises BadRecordError where there is none."""
        return self._first("bag", place, origin, destination, cabin)

    def fee(
        self, kind: str, value: float, origin: str, destination: str, cabin: str
    ) -> FeeRule | None:
        """The rule for a bag of this weight or size; None for one within the limits.

        cabin : one of `CABINS`. Raises BadRecordError for what is beyond every limit, and where
        the rules that there are do not say.
        """
        if not any(rule.kind == kind and rule.low < value for rule in self.fees):
            return None
        return self._first(kind, value, origin, destination, cabin)

    def _first(self, kind: str, value: float, origin: str, destination: str, cabin: str) -> FeeRule:
        for rule in self.fees:
            within = rule.kind == kind and rule.low < value <= rule.high
            named = within and rule.cabin in (None, cabin)
            if named and (rule.flights is None or rule.flights.holds(origin, destination)):
                return rule
        flight = f"{cabin} from {origin} to {destination}"
        raise BadRecordError(f"no rule for a {kind} of {value:g}, {flight}")


def _blocks(text: str) -> Iterator[tuple[int, _Block]]:
    """The blocks of a Markdown text, each with the number of its first line, from 1."""
    path: list[str] = []
    levels: list[int] = []
    lines = [(number, line.rstrip()) for number, line in enumerate(text.splitlines(), start=1)]
    for solid, group in groupby(lines, key=lambda pair: bool(pair[1])):
        if not solid:
            continue
        body: list[tuple[int, str]] = []
        for number, line in group:
            heading = _HEADING.match(line)
            if not heading:
                body.append((number, line))
                continue
            yield from _split(path, body)
            body = []
            while levels and levels[-1] >= len(heading[1]):
                levels.pop()
                path.pop()
            levels.append(len(heading[1]))
            path.append(heading[2])
        yield from _split(path, body)


def _split(path: Sequence[str], body: Sequence[tuple[int, str]]) -> Iterator[tuple[int, _Block]]:
    """The lines of one block, each line that states a fee apart from the rest."""
    under = tuple(path[1:])
    for states_fee, group in groupby(body, key=lambda pair: pair[1].startswith(_IF)):
        numbered = list(group)
        for part in [[line] for line in numbered] if states_fee else [numbered]:
            yield part[0][0], _Block(under, tuple(line for _, line in part))


def _fee_rule(path: Sequence[str], line: str, span: Span) -> FeeRule:
    heading = path[-1] if path else ""
    bag, weight, size = _BAG.match(heading), _WEIGHT.match(heading), _SIZE.search(line)
    fee, flight, cabin = _FEE.search(line), _FLIGHT.search(line), _CABIN.search(line)
    if not fee:
        raise BadRecordError("no fee of the form 'the fee should be $40'")
    kind: Literal["bag", "weight", "size"]
    if bag:
        place = _ORDINALS.index(bag[1])
        # Places count from 1: more than 0 and up to 1 is the first bag; the fourth has no end.
        kind, low, high = "bag", place, place + 1 if place < 3 else 10**6
    elif weight:
        kind, low, high = "weight", int(weight[1]), int(weight[2])
    elif size:
        kind, low, high = "size", int(size[1]), int(size[2])
    else:
        raise BadRecordError(f"a fee under {heading!r}, which is no fee of a bag, weight or size")
    if kind != "size" and (not cabin or cabin[1] not in CABINS):
        raise BadRecordError(f"no cabin of {', '.join(CABINS)}")
    try:
        flights = Phrase.parse(flight[1]) if flight else None
    except ValueError as error:
        raise BadRecordError(str(error)) from None
    return FeeRule(
        kind=kind,
        low=low,
        high=high,
        flights=flights,
        cabin=cabin[1] if cabin else None,
        fee=int(fee[1]) if fee[1] else None,
        span=span,
    )
