"""LoCoMo's questions with deliberately wrong answers and a published judge's verdicts on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from framework.contracts.calibration import CalibrationSet, KnownAnswer
from framework.errors import DataError, UserError
from framework.registry import register
from framework.text.reading import read_json

T = TypeVar("T")
_KEY: Final = "question_id"
_KINDS: Final = {
    "1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial",
}  # fmt: skip
_WRONG: Final = {"v1": "wrong: a specific answer", "v2": "wrong: a vague answer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocomoAuditSettings:
    """Settings of the set `locomo_audit`.

    path : the folder of the published files: `wrong_answers_v1*.json`, `wrong_answers_v2*.json` and
        `errors*.json`.
    """

    path: str


@register("calibration", "locomo_audit")
class LocomoAudit(CalibrationSet[LocomoAuditSettings]):
    """Two kinds of wrong answers, each with three verdicts of a published judge; and right ones.

    Wrong answers are the published ones; `recorded` is the majority of the three verdicts. Right
    answers are those of the key, but for questions whose key the audit found in error. Source:
    github.com/dial481/locomo-audit, CC BY-NC 4.0.
    """

    def answers(self) -> Iterator[KnownAnswer]:
        doubted = set(self._read("errors", lambda entry: _text(entry, _KEY)))
        for version, sort in _WRONG.items():
            yield from self._read(f"wrong_answers_{version}", _once(partial(_judged, sort=sort)))
        for question, known in self._read("wrong_answers_v1", _once(_right)):
            if question not in doubted:
                yield known

    def _read(self, name: str, made: Callable[[Mapping[str, Any]], T]) -> Iterator[T]:
        """What is made of each entry of a file. Raises DataError naming the entry it fails for."""
        folder = Path(self.settings.path).expanduser()
        found = sorted(folder.glob(f"{name}*.json"))
        if not found:
            raise UserError(f"calibration.path: {folder} holds no {name}*.json")
        try:
            content = read_json(found[0].read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UserError(f"{found[0]}: can't be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise DataError(found[0], None, "not UTF-8 text") from None
        except ValueError as error:
            raise DataError(found[0], None, f"not JSON: {error}") from None
        if not isinstance(content, list):
            raise DataError(found[0], None, "a list of answers expected")
        for number, entry in enumerate(content, start=1):
            try:
                if not isinstance(entry, dict):
                    raise ValueError("an object expected")
                one = made(entry)
            except ValueError as error:
                raise DataError(found[0], None, f"entry {number}: {error}") from None
            yield one


def _once(made: Callable[[Mapping[str, Any]], T]) -> Callable[[Mapping[str, Any]], T]:
    """`made` of entries each of which has another id. Raises ValueError for a second of one id."""
    met = set[str]()

    def checked(entry: Mapping[str, Any]) -> T:
        id_ = _text(entry, _KEY)
        if id_ in met:
            raise ValueError(f"a second answer with this {_KEY}, {id_[:80]!r}")
        met.add(id_)
        return made(entry)

    return checked


def _judged(entry: Mapping[str, Any], sort: str) -> KnownAnswer:
    given = entry.get("llm_judgments")
    verdicts = list(given.values()) if isinstance(given, dict) else []
    if not verdicts or not all(isinstance(verdict, bool) for verdict in verdicts):
        raise ValueError("llm_judgments: an object of true or false expected")
    passed = sum(verdicts) * 2 > len(verdicts)
    return _known(entry, "generated_answer", sort, recorded=passed)


def _right(entry: Mapping[str, Any]) -> tuple[str, KnownAnswer]:
    known = _known(entry, "golden_answer", "right: the key's own words")
    return _text(entry, _KEY), known


def _known(
    entry: Mapping[str, Any], given: str, sort: str, recorded: bool | None = None
) -> KnownAnswer:
    category = _text(entry, "category")
    if category not in _KINDS:
        raise ValueError(f"category: {category[:80]!r} is none of {', '.join(_KINDS)}")
    return KnownAnswer(
        question=_text(entry, "question"),
        expected=_text(entry, "golden_answer"),
        given=_text(entry, given),
        right=recorded is None,
        sort=sort,
        kind=_KINDS[category],
        recorded=recorded,
    )


def _text(entry: Mapping[str, Any], key: str) -> str:
    """A text that is not blank, or a number as one. Raises ValueError."""
    value = entry.get(key)
    is_number = type(value) is int or (type(value) is float and math.isfinite(value))
    text = str(value) if is_number else value
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{key}: a text expected")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{key}: half of a character") from None
    return text
