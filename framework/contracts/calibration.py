"""Answers of known truth, by which a judge's error is measured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework.contracts.configured import Configured, S
from framework.errors import UserError
from framework.text.canonical import digest
from framework.text.reading import read_json


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """An answer to a question, and whether it is right.

    kind : the rule by which it is right (`Judge.equivalent`). sort : what is right or wrong about
    it, as `hedged`. recorded : what another judge said of it when the set was made, where one did.
    """

    question: str
    expected: str
    given: str
    right: bool
    sort: str
    kind: str = "answer"
    recorded: bool | None = None


class CalibrationSet(Configured[S]):
    """Answers that a judge is tried with; `calibrate JUDGE --set NAME` does."""

    @abstractmethod
    def answers(self) -> Iterator[KnownAnswer]:
        """Each answer once, in a settled order. Raises UserError where there is no data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """What a judge passed of answers to questions whose truth is known, of how many.

    set : the calibration set. right, wrong : of the answers that are right, and that are wrong.
    """

    set: str
    right: tuple[int, int]
    wrong: tuple[int, int]

    @property
    def discrimination(self) -> float:
        """Sensitivity + specificity - 1 (Youden's J): 1 without error, 0 or less by chance."""
        return self.right[0] / self.right[1] - self.wrong[0] / self.wrong[1]

    @property
    def told(self) -> str:
        """The rates in words."""
        (right, of_right), (wrong, of_wrong) = self.right, self.wrong
        return f"passed {right} of {of_right} right answers and {wrong} of {of_wrong} wrong ones"

    @classmethod
    def read(cls, source: str | Mapping[str, Any], judge: str) -> ErrorRates:
        """What `calibrate --out FILE` wrote of the judge that `judge` is the digest of.

        source : the file, or what `calibration_in` took from it. Raises UserError for what is no
        such thing or of another judge.
        """
        named = source if isinstance(source, str) else source.get("file", "")
        where = f"judge.calibration: {named}"
        try:
            content: Any = _content(source) if isinstance(source, str) else source
            rates = cls(
                set=str(content["set"]),
                **{
                    name: (int(content[name]["passed"]), int(content[name]["n"]))
                    for name in ("right", "wrong")
                },
            )
            of = content["identity"]
        except OSError as error:
            raise UserError(f"{where}: can't be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, OverflowError):
            raise UserError(f"{where} was not written by `calibrate JUDGE --out`") from None
        if of != judge:
            made = " ".join(map(str, content.get("overrides", ())))
            raise UserError(
                f"{where} is of another judge, {made}: model, prompts and settings must be those "
                "that it was measured with"
            )
        if not rates.right[1] or not rates.wrong[1]:
            raise UserError(f"{where} has no verdict on right answers, or none on wrong ones")
        return rates


def calibration_in(path: str) -> dict[str, Any]:
    """What a run keeps of a calibration's file, once `ErrorRates.read` took it."""
    content = _content(path)
    rates = {name: {of: content[name][of] for of in ("passed", "n")} for name in ("right", "wrong")}
    whose = {"identity": content["identity"], "overrides": list(content.get("overrides", ()))}
    return {"file": Path(path).name, "set": str(content["set"]), **rates, **whose}


def _content(path: str) -> Any:
    return read_json(Path(path).expanduser().read_text(encoding="utf-8"))


def judge_digest(name: str, identity: Mapping[str, Any]) -> str:
    """What a calibration is of: a judge's plugin and all of its identity but the calibration."""
    return digest({**identity, "calibration": None, "plugin": name})
