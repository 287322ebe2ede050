"""Strict reading of a model's JSON: every key of the form, no other, each of its type."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar, get_args

from framework.errors import UserError
from framework.records import FactField
from framework.registry import hints_of, instance_of

T = TypeVar("T")

_FIGURES: Final = frozenset({"count", "date", "money", "percent", "score"})
_OF_A_FIGURE: Final = 32
_OF_A_TEXT: Final = 120


def read_as(cls: type[T], data: Any) -> T:
    """An object as a dataclass: exactly its fields that are asked for, each of its type.

    A field may hold a list of such dataclasses; of an object of texts the nulls are left out.
    Raises ValueError for anything else.
    """
    hints = {name: hints_of(cls)[name] for name in asked(cls)}  # type: ignore[arg-type]  # a class
    if not isinstance(data, Mapping):
        raise ValueError(f"an object expected, got {data!r}")
    missing = [key for key in hints if key not in data]
    unknown = sorted(data.keys() - set(hints))
    if missing or unknown:
        raise ValueError(f"missing keys {missing}, unknown keys {unknown}")
    try:
        return instance_of(cls, {key: _plain(data[key], hint) for key, hint in hints.items()})
    except UserError as error:
        raise ValueError(str(error)) from None


def asked(response: Any) -> list[str]:
    """The fields of a response, or of its class, that a model is asked for.

    One with `metadata={"measured": True}` holds what is known of the answer besides its text.
    """
    return [f.name for f in fields(response) if "measured" not in f.metadata]


def _plain(value: Any, hint: Any) -> Any:
    inner: Any = next(iter(get_args(hint)), None)
    if isinstance(value, list) and isinstance(inner, type) and is_dataclass(inner):
        return [read_as(inner, entry) for entry in value]
    if isinstance(value, dict):
        return {name: entry for name, entry in value.items() if entry is not None}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no finite number")
    return value


def check_number(number: int, least: int, most: int) -> None:
    """Raise ValueError for a number out of a range."""
    if not least <= number <= most:
        raise ValueError(f"number: {least} to {most} expected, got {number}")


def check_probability(value: float | None) -> None:
    """Raise ValueError for a confidence that is no probability; None is none given."""
    if value is not None and not 0 <= value <= 1:
        raise ValueError(f"confidence {value} is not in [0, 1]")


def longest_text(tokens: int) -> int:
    """Characters that a text of so many tokens of our counter surely does not exceed in a schema.

    A token has some four characters; the limit itself is told in the prompt and enforced after it.
    """
    return 8 * tokens + 200


def nullable_texts(fields: Mapping[str, FactField]) -> dict[str, Any]:
    """The part of a schema that says: an object of exactly these keys, each a text or null.

    A figure's text is held to fewer characters than another's: a weak model runs on in digits.
    """
    texts = {
        key: {
            "type": ["string", "null"],
            "maxLength": _OF_A_FIGURE if field.type in _FIGURES else _OF_A_TEXT,
        }
        for key, field in fields.items()
    }
    return {"properties": texts, "required": list(texts), "additionalProperties": False}
