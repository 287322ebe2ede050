"""Cases that are made when they are looked at: a generator gives ids at once, and the rest late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from framework.records import Case

_FIELDS: Final = frozenset(field.name for field in fields(Case))


class _LateCase(Case):
    """Equal to the case that it becomes, and copied, changed and stored as that."""

    __slots__ = ("_make",)
    _make: Callable[[], Case]

    def __getattr__(self, name: str) -> Any:
        """Of a field that is not there yet: make the case."""
        if name not in _FIELDS:
            raise AttributeError(name)
        made = self._make()
        for field in _FIELDS:
            object.__setattr__(self, field, getattr(made, field))
        return getattr(made, name)

    def __repr__(self) -> str:
        return repr(Case(**{name: getattr(self, name) for name in _FIELDS}))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Case):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    __hash__ = Case.__hash__


def late_case(id_: str, history_id: str, make: Callable[[], Case]) -> Case:
    """The case that `make` gives, which has these ids; made when another field is asked for.

    So a run that goes on makes no case that it has measured, and a shard none of the others'.
    """
    case = _LateCase.__new__(_LateCase)
    for name, value in (("id", id_), ("history_id", history_id), ("_make", make)):
        object.__setattr__(case, name, value)
    return case
