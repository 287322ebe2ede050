"""Which flights a phrase of the airline's rules names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PARTS: Final[Mapping[str, frozenset[str]]] = {
    "Caribbean": frozenset({"Caribbean", "Cuba", "Haiti"}),
    "Central America": frozenset({"Central America", "Honduras", "Panama"}),
    "South America": frozenset(
        {"South America", "Colombia", "Ecuador", "Guyana", "Peru", "Suriname"}
    ),
}
"""Regions that rules name as a whole and in part; under its own name the rest of a region."""

PLACES: Final = frozenset(
    {
        *(place for parts in PARTS.values() for place in parts),
        "U.S.",
        "Puerto Rico",
        "U.S. Virgin Islands",
        "Canada",
        "Mexico",
        "Europe",
        "Israel",
        "Qatar",
        "India",
        "China",
        "Japan",
        "South Korea",
        "Hong Kong",
        "Australia",
        "New Zealand",
    }
)
"""Every place that a flight may leave from or go to, in the words of the rules."""

_NAME: Final = "|".join(re.escape(name) for name in sorted(PLACES, key=len, reverse=True))
_NAMED: Final = re.compile(rf"({_NAME}|all regions)(?: \(([^)]*)\))?")
_LEFT_OUT: Final = re.compile(r"(?:excluding|except) (.*?)(?:, including|$)")


@dataclass(frozen=True, slots=True)
class _Flights:
    """Flights from one set of places to another, either way round where `both`."""

    one: frozenset[str]
    other: frozenset[str]
    both: bool = True

    def hold(self, origin: str, destination: str) -> bool:
        there = origin in self.one and destination in self.other
        return there or (self.both and destination in self.one and origin in self.other)


def places(text: str) -> frozenset[str]:
    """The places of a list such as `Mexico, Caribbean (excluding Cuba/Haiti)`."""
    found: set[str] = set()
    for name, condition in _NAMED.findall(text):
        named = PLACES if name == "all regions" else PARTS.get(name, frozenset({name}))
        without = _LEFT_OUT.search(condition)
        found |= named - (frozenset(re.findall(_NAME, without[1])) if without else frozenset())
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that says for which flights a rule holds: alternatives, any of which may.

    `Within and between A`, `Between A and U.S., B` (with no `and U.S.`: within A), `From A to B`,
    `To or from A`. Raises ValueError for a phrase of another form.
    """

    alternatives: tuple[_Flights, ...]

    @classmethod
    def parse(cls, text: str) -> Phrase:
        bare = text.replace(" or connecting via Europe to another destination", "")
        return cls(tuple(map(_flights, re.split(r";\s*or |\s+or (?=between )", bare))))

    def holds(self, origin: str, destination: str) -> bool:
        """Whether a flight from here to there is one of them."""
        return any(flights.hold(origin, destination) for flights in self.alternatives)


def _flights(text: str) -> _Flights:
    form, _, rest = text.strip().partition(" ")
    match form.casefold(), rest:
        case "within", _:
            return _checked(text, _Flights(places(rest), places(rest)))
        case "between", _:
            one, apart, other = rest.partition(" and U.S.")
            sides = (one, f"U.S.{other}") if apart else (rest, rest)
            return _checked(text, _Flights(places(sides[0]), places(sides[1])))
        case "from", _ if " to " in rest:
            one, _, other = rest.partition(" to ")
            return _checked(text, _Flights(places(one), places(other), both=False))
        case "to", _ if re.match(r"(?:or|/) from ", rest, re.IGNORECASE):
            return _checked(text, _Flights(places(rest), PLACES))
    raise ValueError(f"flights of no known form: {text!r}")


def _checked(text: str, flights: _Flights) -> _Flights:
    if not flights.one or not flights.other:
        raise ValueError(f"flights of no known place: {text!r}")
    return flights
