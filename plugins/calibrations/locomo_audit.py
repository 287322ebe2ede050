"""LoCoMo's questions with deliberately wrong answers and a published judge's verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from framework.contracts.calibration import CalibrationSet, KnownAnswer
from framework.errors import DataError, UserError
from framework.registry import register
from framework.store.former import read_json

T = TypeVar("T")
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
    """Wrong answers of two sorts with three verdicts each of a published judge, and right ones.

    Wrong answers are the published ones; `recorded` is the majority of the three verdicts. Right
    answers are those of the key, but for questions whose key the audit found in error. Source:
    github.com/dial481/locomo-audit, CC BY-NC 4.0.
    """

    def answers(self) -> Iterator[KnownAnswer]:
        doubted = set(self._read("errors", lambda entry: str(entry["question_id"])))
        for version, sort in _WRONG.items():
            yield from self._read(f"wrong_answers_{version}", partial(_judged, sort=sort))
        for question, known in self._read("wrong_answers_v1", _right):
            if question not in doubted:
                yield known

    def _read(self, name: str, made: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """What is made of each entry of a file. Raises DataError naming the entry it fails for."""
        folder = Path(self.settings.path).expanduser()
        found = sorted(folder.glob(f"{name}*.json"))
        if not found:
            raise UserError(f"calibration.path: {folder} holds no {name}*.json")
        try:
            content = read_json(found[0].read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise UserError(f"{found[0]}: can't be read: {error.strerror}") from None
        except ValueError as error:
            raise DataError(found[0], None, f"not JSON: {error}") from None
        if not isinstance(content, list):
            raise DataError(found[0], None, "a list of answers expected")
        for number, entry in enumerate(content, start=1):
            try:
                yield made(entry)
            except (AttributeError, KeyError, TypeError) as error:
                raise DataError(found[0], None, f"entry {number}: {error!r}") from None


def _judged(entry: dict[str, Any], sort: str) -> KnownAnswer:
    verdicts = list(entry["llm_judgments"].values())
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        raise TypeError("llm_judgments: true or false expected")
    passed = sum(verdicts) * 2 > len(verdicts)
    return _known(entry, entry["generated_answer"], sort, recorded=passed)


def _right(entry: dict[str, Any]) -> tuple[str, KnownAnswer]:
    known = _known(entry, entry["golden_answer"], "right: the key's own words")
    return str(entry["question_id"]), known


def _known(
    entry: dict[str, Any], given: Any, sort: str, recorded: bool | None = None
) -> KnownAnswer:
    return KnownAnswer(
        question=str(entry["question"]),
        expected=str(entry["golden_answer"]),
        given=str(given),
        right=recorded is None,
        sort=sort,
        kind=_KINDS[str(entry["category"])],
        recorded=recorded,
    )
