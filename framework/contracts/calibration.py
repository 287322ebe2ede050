"""Answers of known truth, by which a judge's error is measured."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from framework.contracts.awaiting import maybe_await
from framework.contracts.configured import Configured, S
from framework.errors import UserError
from framework.text.canonical import digest
from framework.text.reading import no_stream, read_json

if TYPE_CHECKING:
    from framework.contracts.judge import Judge, Verdict
    from framework.contracts.model import Client

ANSWERS: Final = "equivalent"
"""The demand that is meant where none is named: that an answer to a question be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(ABC):
    """Something that a judge is asked about, and whether it is right.

    sort : what is right or wrong about it, as `hedged`. recorded : what another judge said of it
    when the set was made, where one did.
    """

    right: bool
    sort: str
    recorded: bool | None = None

    @property
    def call(self) -> Hashable:
        """What the judge is asked: those that have it in common are asked for at once."""
        return self

    @abstractmethod
    async def ask(self, judge: Judge[Any], client: Client) -> Sequence[Verdict]:
        """The judge's verdicts on what it is asked."""

    def met(self, verdicts: Sequence[Verdict]) -> bool:
        """Whether the judge passes this by what it said."""
        return all(verdict.met for verdict in verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer(Known):
    """An answer to a question. kind : the rule by which it is right (`Judge.equivalent`)."""

    question: str
    expected: str
    given: str
    kind: str = "answer"

    async def ask(self, judge: Judge[Any], client: Client) -> Sequence[Verdict]:
        given = self.question, self.expected, self.given, self.kind
        return [await maybe_await(judge.equivalent(*given, client))]


class CalibrationSet(Configured[S], group="calibration"):
    """Answers that a judge is tried with; `calibrate JUDGE --set NAME` does.

    demand : the method of `Judge` that it tries, which the axes that it corrects name too.
    """

    demand: ClassVar[str] = ANSWERS

    @abstractmethod
    def answers(self) -> Iterator[Known]:
        """Each answer once, in a settled order. Raises UserError where there is no data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRates:
    """What a judge passed of answers whose truth is known, of how many.

    set : the calibration set. right, wrong : of the answers that are right, and that are wrong.
    demand : the set's.
    """

    set: str
    right: tuple[int, int]
    wrong: tuple[int, int]
    demand: str = ANSWERS

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
                demand=str(content.get("demand", ANSWERS)),
            )
            of = content["identity"]
        except OSError as error:
            raise UserError(f"{where}: can't be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, OverflowError):
            raise UserError(f"{where} was not written by `calibrate JUDGE --out`") from None
        if of != judge:
            made = " ".join(map(str, content.get("overrides", ())))
            raise UserError(
                f"{where} is for another judge, {made}: model, prompts and settings must be those "
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
    of = {name: str(content[name]) for name in ("set", "demand") if name in content}
    return {"file": Path(path).name, **of, **rates, **whose}


def plain_rates(rates: Mapping[str, ErrorRates]) -> Any:
    """Rates by demand as JSON values: one alone as such, several as a list."""
    usual = ("demand", ANSWERS)
    found = [dict(v for v in asdict(one).items() if v != usual) for one in rates.values()]
    return found if len(found) > 1 else found[0] if found else None


def rates_in(plain: Any) -> dict[str, ErrorRates]:
    """The rates by demand that `plain_rates` wrote."""
    listed = plain if isinstance(plain, list) else [plain] if plain else []
    return {one.demand: one for one in (ErrorRates(**each) for each in listed)}


def _content(path: str) -> Any:
    return read_json(no_stream(Path(path).expanduser()).read_text(encoding="utf-8"))


def judge_digest(name: str, identity: Mapping[str, Any]) -> str:
    """What a calibration is of: a judge's plugin and all of its identity but the calibration."""
    return digest({**identity, "calibration": None, "plugin": name})
