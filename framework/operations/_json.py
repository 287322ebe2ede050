"""Strict reading of a model's JSON: every key of the form, no other, each of its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard


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


def whole_within(value: object, least: int, most: int) -> TypeGuard[int]:
    """Whether it is a whole number of that range; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


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
