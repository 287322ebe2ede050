"""What every section of a spec is: a dataclass that is read field by field and checks itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, cast, get_type_hints

from framework.bounds import Bounded


@dataclass(frozen=True, slots=True)
class Least:
    """How long a list must be; of a mapping, each of its lists."""

    length: int


class Section(Bounded):
    """A section whose texts are not blank where one is required, and whose lists are long enough.

    A list of two numbers is a range, the first not above the second.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        least = _least(cast(Any, type(self)))
        for f in fields(self):  # type: ignore[arg-type]  # of a dataclass
            value = getattr(self, f.name)
            if value != f.default or f.default is MISSING:
                check_length(f.metadata.get("alias", f.name), value, least[f.name])


@cache
def _least(cls: Any) -> Mapping[str, int]:
    """By field, the least length."""
    hints = get_type_hints(cls, include_extras=True)
    return {
        name: sum(m.length for m in getattr(hint, "__metadata__", ()) if isinstance(m, Least))
        for name, hint in hints.items()
    }


def check_length(name: str, value: object, least: int) -> None:
    """Raise ValueError for a list that is too short, a blank text, a range that is none."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            check_length(f"{name}.{key}", each, least)
    elif isinstance(value, str) and not value:
        raise ValueError(f"{name}: {value!r} given, a text expected")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name}: {value} given, a finite number expected")
    elif isinstance(value, tuple):
        if len(value) < least:
            raise ValueError(f"{name}: {len(value)} given, at least {least} expected")
        if value and isinstance(value[0], (int, float)) and not value[0] <= value[1]:
            raise ValueError(f"{name}: {list(value)} given, a range [low, high] expected")
        for i, each in enumerate(value):
            if each == ():
                raise ValueError(f"{name}.{i}: an empty list given, a list of texts expected")
            check_length(f"{name}.{i}", each, 0)
