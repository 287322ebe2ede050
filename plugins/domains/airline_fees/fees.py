"""What a passenger pays, and by which rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from framework.records import GoldItem, Span
from plugins.domains.airline_fees.flights import PLACES
from plugins.domains.airline_fees.rules import CABINS, FeeRule, Rules
from plugins.domains.data_file import BadRecordError, kind_of, list_in, text_in

HOME: Final = "U.S."
"""One end of every flight."""

MAIN_PLUS: Final = "Main Plus"
_FREE_OF_MAIN_PLUS: Final = 2
_FAR: Final = frozenset({"Australia", "New Zealand"})
"""Where complimentary bags may be heavier in every cabin."""

Order = Literal["published", "cheapest"]


@dataclass(frozen=True, slots=True)
class Bag:
    """size : length + width + height in inches. weight : pounds."""

    size: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trip:
    """A passenger's flight, one way, with the bags to check; `price` is the ticket's, dollars."""

    origin: str
    destination: str
    cabin: str
    price: int
    bags: tuple[Bag, ...]

    @property
    def flight(self) -> tuple[str, str, str]:
        """From where, to where, and the cabin whose fees apply."""
        cabin = "Main Cabin" if self.cabin == MAIN_PLUS else self.cabin
        return self.origin, self.destination, cabin

    @classmethod
    def read(cls, info: Mapping[str, Any]) -> Trip:
        """Of the field `info` of a published problem. Raises BadRecordError.

        The first of its bags is carried on, as its publisher counts (`compute_answer`).
        """
        cabin, place = text_in(info, "customer_class"), text_in(info, "routine")
        if cabin not in (*CABINS, MAIN_PLUS):
            raise BadRecordError(f"customer_class: {cabin!r} is no cabin of the rules")
        if place not in PLACES:
            raise BadRecordError(f"routine: {place!r} is no place of the rules")
        direction = info.get("direction")
        if type(direction) is not int or direction not in (0, 1):
            raise BadRecordError(f"direction: 0 or 1 expected, {kind_of(direction)} found")
        bags = list_in(info, "bag_list")
        if not bags:
            raise BadRecordError("bag_list: no bags")
        return cls(
            origin=place if direction else HOME,
            destination=HOME if direction else place,
            cabin=cabin,
            price=int(_number(info, "base_price", whole=True)),
            bags=tuple(_bag(record) for record in bags)[1:],
        )


def _bag(record: object) -> Bag:
    if not isinstance(record, dict):
        raise BadRecordError(f"bag_list: an object expected, {kind_of(record)} found")
    sides = list_in(record, "size")
    if len(sides) != 3:
        raise BadRecordError(f"size: three lengths expected, {len(sides)} found")
    lengths = [_number({"size": side}, "size") for side in sides]
    return Bag(size=sum(lengths), weight=_number(record, "weight"))


def _number(record: Mapping[str, Any], key: str, *, whole: bool = False) -> float:
    value = record.get(key)
    if type(value) is not int and (whole or type(value) is not float):
        raise BadRecordError(f"{key}: a number expected, {kind_of(value)} found")
    if not 0 <= value < 1e6:
        raise BadRecordError(f"{key}: a number from 0 to a million expected")
    return value


@dataclass(frozen=True, slots=True)
class Bill:
    """What is to be paid in all, dollars, and the rules that say so, each once."""

    total: int
    items: tuple[GoldItem, ...]


def bill(trip: Trip, rules: Rules, order: Order) -> Bill:
    """The ticket and for each bag the fee of its place and the higher of those for weight and size.

    order : which bag is the first. `published`, as RuleArena counts: bags within the weight of a
        complimentary bag before heavier ones, of the former the heaviest first; else as listed.
        `cheapest`, what costs the passenger least. The rules do not say.
    Raises BadRecordError where the rules do not say what a bag costs, or do not accept it.
    """
    places = [_place_fee(trip, rules, number) for number in range(1, len(trip.bags) + 1)]
    costs = [cost for cost, _ in places]
    bags = _ordered(trip, rules, [cost == 0 for cost in costs], order)
    said = _Said()
    said.prose(rules, "carry_on")
    total = trip.price
    for (cost, how), bag in zip(places, bags, strict=True):
        for rule in how:
            said.rule(rule)
        if trip.cabin == MAIN_PLUS and cost == 0:
            said.prose(rules, "main_plus")
        more, applied = _excess(trip, rules, bag, complimentary=cost == 0)
        total += cost + more
        for one in applied:
            said.prose(rules, one) if isinstance(one, str) else said.rule(one)
    return Bill(total, tuple(said.items.values()))


class _Said:
    """The rules that applied, as gold items, each once."""

    def __init__(self) -> None:
        self.items: dict[str, GoldItem] = {}

    def prose(self, rules: Rules, name: str) -> None:
        self._add(name, rules.prose[name])

    def rule(self, rule: FeeRule) -> None:
        self._add(f"{rule.kind}:{rule.low + (rule.kind == 'bag')}", rule.span)

    def _add(self, name: str, span: Span) -> None:
        self.items.setdefault(
            name, GoldItem(id=name, kind="rule", key=name, spans=(span,), critical=True)
        )


def _fee_of(rule: FeeRule) -> int:
    if rule.fee is None:
        raise BadRecordError(f"a bag that is not accepted: {rule.span.text}")
    return rule.fee


def _place_fee(trip: Trip, rules: Rules, number: int) -> tuple[int, list[FeeRule]]:
    """What the bag of this place costs, and the lines of its cabin that say so."""
    own = rules.bag_fee(number, *trip.flight)
    if trip.cabin != MAIN_PLUS:
        return _fee_of(own), [own]
    allowed = 0
    while allowed < _FREE_OF_MAIN_PLUS and rules.bag_fee(allowed + 1, *trip.flight).fee == 0:
        allowed += 1
    if number > min(_FREE_OF_MAIN_PLUS, allowed + 1):
        return _fee_of(own), [own]
    # The first line says what Main Cabin is allowed; the lines after it are overridden.
    return 0, [own] if number == 1 else []


def _excess(
    trip: Trip, rules: Rules, bag: Bag, *, complimentary: bool
) -> tuple[int, list[FeeRule | str]]:
    """The higher of the fees for weight and size of one bag, and the rules that say so."""
    applied: list[FeeRule | str] = []
    far = bool(_FAR & {trip.origin, trip.destination})
    heavier = complimentary and (far or trip.cabin in ("Business", "First"))
    weight = rules.fee("weight", bag.weight, *trip.flight)
    if weight is not None and heavier and bag.weight <= rules.free_weight:
        applied.append("allowance_far" if far else "allowance")
        weight = None
    size = rules.fee("size", bag.size, *trip.flight)
    found = [rule for rule in (weight, size) if rule is not None]
    if len(found) == 2:
        applied.append("higher_fee")
    return max(map(_fee_of, found), default=0), [*applied, *found]


def _ordered(trip: Trip, rules: Rules, free: Sequence[bool], order: Order) -> list[Bag]:
    if order == "published":
        light = [bag for bag in trip.bags if bag.weight <= rules.free_weight]
        heavy = [bag for bag in trip.bags if bag.weight > rules.free_weight]
        return [*sorted(light, key=lambda bag: -bag.weight), *heavy]

    def saved(bag: Bag) -> int:
        paid, as_gift = (_excess(trip, rules, bag, complimentary=gift)[0] for gift in (False, True))
        return paid - as_gift

    best = sorted(trip.bags, key=saved, reverse=True)
    gifts, rest = best[: sum(free)], best[sum(free) :]
    return [gifts.pop(0) if gift else rest.pop(0) for gift in free]
