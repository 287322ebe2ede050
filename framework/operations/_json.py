"""Strict reading of a model's JSON: every key of the form, no other, each of its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def read_as(cls: Callable[..., T], data: Mapping[str, Any]) -> T:
    """An object as a dataclass: exactly its fields, each of its type.

    Fields are texts, truths, whole numbers, numbers or null, literals, lists of texts or whole
    numbers, objects of texts, and lists of dataclasses of such fields. Raises ValueError for
    anything else.
    """
    hints = _hints(cls)
    expect_keys(data, tuple(hints))
    return cls(**{key: _value(data, key, hint) for key, hint in hints.items()})


@cache
def _hints(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _value(data: Mapping[str, Any], key: str, hint: Any) -> Any:
    if hint in _READERS:
        return _READERS[hint](data, key)
    inner = get_args(hint)
    if get_origin(hint) is tuple:  # a list of dataclasses
        return tuple(read_as(inner[0], entry) for entry in objects(data, key))
    if data[key] not in inner:  # a literal
        raise ValueError(f"{key}: {data[key]!r} is none of {', '.join(inner)}")
    return data[key]


def expect_keys(data: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise ValueError unless `data` has exactly these keys."""
    missing = [key for key in keys if key not in data]
    unknown = sorted(data.keys() - set(keys))
    if missing or unknown:
        raise ValueError(f"missing keys {missing}, unknown keys {unknown}")


def text(data: Mapping[str, Any], key: str) -> str:
    """A text. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, str):
        raise ValueError(f"{key}: text expected, got {value!r}")
    return value


def texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ValueError(f"{key}: a list of texts expected, got {value!r}")
    return tuple(value)


def text_map(data: Mapping[str, Any], key: str) -> dict[str, str]:
    """An object of texts, its nulls left out. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, dict) or not all(isinstance(v, str | None) for v in value.values()):
        raise ValueError(f"{key}: an object of texts expected, got {value!r}")
    return {name: entry for name, entry in value.items() if entry is not None}


def number_or_none(data: Mapping[str, Any], key: str) -> float | None:
    """A finite number or null. Raises ValueError for anything else."""
    value = data[key]
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
        raise ValueError(f"{key}: a number or null expected, got {value!r}")
    return float(value)


def truth(data: Mapping[str, Any], key: str) -> bool:
    """True or false. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, bool):
        raise ValueError(f"{key}: true or false expected, got {value!r}")
    return value


def whole(data: Mapping[str, Any], key: str) -> int:
    """A whole number. Raises ValueError for anything else, true and false included."""
    value = data[key]
    if type(value) is not int:
        raise ValueError(f"{key}: a whole number expected, got {value!r}")
    return value


def wholes(data: Mapping[str, Any], key: str) -> tuple[int, ...]:
    """A list of whole numbers. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, list) or not all(type(entry) is int for entry in value):
        raise ValueError(f"{key}: a list of numbers expected, got {value!r}")
    return tuple(value)


def check_number(number: int, least: int, most: int) -> None:
    """Raise ValueError for a number out of a range."""
    if not least <= number <= most:
        raise ValueError(f"number: {least} to {most} expected, got {number}")


def check_probability(value: float | None) -> None:
    """Raise ValueError for a confidence that is no probability; None is none given."""
    if value is not None and not 0 <= value <= 1:
        raise ValueError(f"confidence {value} is not in [0, 1]")


def objects(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects. Raises ValueError for anything else."""
    value = data[key]
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError(f"{key}: a list of objects expected, got {value!r}")
    return value


def nullable_texts(keys: Sequence[str]) -> dict[str, Any]:
    """The part of a schema that says: an object of exactly these keys, each a text or null."""
    return {
        "properties": {key: {"type": ["string", "null"]} for key in keys},
        "required": list(keys),
        "additionalProperties": False,
    }


_READERS: Final[Mapping[Any, Callable[[Mapping[str, Any], str], Any]]] = {
    str: text,
    bool: truth,
    int: whole,
    float | None: number_or_none,
    tuple[str, ...]: texts,
    tuple[int, ...]: wholes,
    Mapping[str, str]: text_map,
}
