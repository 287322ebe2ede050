"""Axes: measures of a case."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Awaitable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from framework.contracts.calibration import ANSWERS
from framework.contracts.configured import Configured, S
from framework.contracts.domain import Domain
from framework.contracts.embedder import Embedder
from framework.contracts.judge import Judge
from framework.contracts.model import Client
from framework.records import ABSTAIN, Answer, AxisScore, Case, MemoryView, Row
from framework.rows import is_taken

_NAME: Final = re.compile(r"[a-z0-9_]+")
_OWN: Final = (
    "model_free", "judged", "of_success", "differences", "demands", "amounts", "signed",
    "of_decision",
)  # fmt: skip
"""Attributes of an axis that name columns of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Everything an axis may look at for one case. `answer` is None in a retrieval protocol.

    `retained` maps every gold item's id to whether it was in the view, closure applied. `clean` is
    the answer to the case without its injection, None where there is none. `embedder` is the run's,
    None unless the axis declares `uses_embedder`. `others` holds the same case as it was answered
    from other views, by the names that the protocol gave these (`Pipeline.with_views`). `session`
    holds the figures of a session that ended with this answer (`Turn.close`). `success` is what the
    judge made of the answer in the domain's `success_axis`; None where that axis needs no judge or
    says nothing of the case, and for this axis itself.
    """

    case: Case
    domain: Domain[Any]
    view: MemoryView
    answer: Answer | None
    retained: Mapping[str, bool]
    judge: Judge[Any] | None
    client: Client
    clean: Answer | None = None
    embedder: Embedder[Any] | None = None
    others: Mapping[str, Scored] = field(default_factory=dict)
    session: Mapping[str, float | None] = field(default_factory=dict)
    success: float | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the answer is right: as judged, else by the domain's rule (`Domain.success`)."""
        if self.success is not None:
            return self.success > 0
        return self.answer is not None and self.domain.success(self.answer, self.case.gold)

    @property
    def sufficient(self) -> bool | None:
        """Whether what was in the view suffices for the right answer: `Domain.sufficient`."""
        return self.domain.sufficient(self.case, self.retained)


class Axis(Configured[S], group="axis"):
    """One measure or a family computed together.

    needs : what a domain must provide for the axis to apply to its cases, in words of
        `framework.contracts.PROVIDED`; the first gives its place among the others. An axis that
        needs nothing is measured only where a run names it in `extra_axes`.
    higher_is_better : by column that it fills; None where neither direction is better.
    names : the columns in their order, those of `higher_is_better` where a class does not say.
    model_free : names measured without a model; the others are, with a rule-based reader or judge,
        no evidence about language models (validity.md section 1). `findings` is its former name.
    judged : names that rest on a judge's verdicts, which is what judges are compared by.
    of_success : names that rest on whether the answer is right (`Scored.succeeded`), and so on the
        judge's verdict where the domain's `success_axis` does.
    corrected : by name, a column that is one verdict of the judge or the mean of several, and where
        there is none (`has_verdict`) always 0 or always 1. Its mean, corrected for the judge's
        error, has the name where that was measured (`Judge.error_rates`), in strata too.
    differences : by such a column that is the difference of two others on one case, these two; each
        is 0 without a verdict.
    demands : by such a column, of what kind its verdicts are (`CalibrationSet.demand`), where they
        are not on answers.
    ratios : by name, two columns whose means over the same cases are divided, where both are there.
    precision : by column that copied text may raise, the column of the axis that shows what copying
        costs, as precision does beside recall.
    balanced : by name, a column whose means by gold decision are averaged, each with the same
        weight, where cases have gold decisions.
    of_decision : names that, where the answer gives no more than one and the same decision, are at
        most 1 for the cases whose gold decision that is and 0 for the others: what a constant
        answer can earn follows from the gold alone.
    amounts : names of ranks, counts and lengths: no shares, even where all values lie in [0, 1].
    signed : names of differences of shares, in [-1, 1], also where all values found lie in [0, 1].
    uses_embedder : whether it measures similarity with the run's embedder, which is then a part of
        the run's identity whatever the arm, and books what it takes on the phase `measure`.

    A class whose `names` hold that of another column of rows (`decision`, `cost_usd`, `tag_...`)
    can't be defined: ValueError.
    """

    names: ClassVar[tuple[str, ...]]
    needs: ClassVar[tuple[str, ...]] = ()
    needs_answer: ClassVar[bool] = True
    higher_is_better: ClassVar[Mapping[str, bool | None]]
    model_free: ClassVar[frozenset[str]] = frozenset()
    judged: ClassVar[frozenset[str]] = frozenset()
    of_success: ClassVar[frozenset[str]] = frozenset()
    corrected: ClassVar[Mapping[str, str]] = {}
    differences: ClassVar[Mapping[str, tuple[str, str]]] = {}
    demands: ClassVar[Mapping[str, str]] = {}
    precision: ClassVar[Mapping[str, str]] = {}
    amounts: ClassVar[frozenset[str]] = frozenset()
    signed: ClassVar[frozenset[str]] = frozenset()
    ratios: ClassVar[Mapping[str, tuple[str, str]]] = {}
    balanced: ClassVar[Mapping[str, str]] = {}
    of_decision: ClassVar[frozenset[str]] = frozenset()
    uses_embedder: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "higher_is_better" in vars(cls) and "names" not in vars(cls):
            cls.names = tuple(cls.higher_is_better)
        if "findings" in vars(cls):
            cls.model_free = vars(cls)["findings"]
        taken = [name for name in getattr(cls, "names", ()) if is_taken(name)]
        if taken:
            raise ValueError(f"{cls.__name__}.names: a column of every row is named {taken[0]!r}")

    @classmethod
    def check_declared(cls) -> None:
        """Columns have well-formed, distinct names; all else that is declared is of them.

        Raises TypeError naming the class, the attribute and the column.
        """
        super().check_declared()
        if problem := next(cls._problems(), None):
            raise TypeError(f"{cls.__qualname__}: {problem}")

    @classmethod
    def _problems(cls) -> Iterator[str]:
        names: Any = cls.names
        if not isinstance(names, tuple):
            yield "names is not a tuple"
        if not names:
            yield "names: no columns"
        if len(set(names)) != len(names):
            yield "names: two columns of one name"
        if bad := [name for name in names if not _NAME.fullmatch(name)]:
            yield f"names: {', '.join(bad)}: only a to z, 0 to 9 and _ are allowed"
        if differing := set(cls.higher_is_better) ^ set(names):
            yield (
                "higher_is_better must name every column and no other; differing: "
                f"{', '.join(sorted(differing))}"
            )
        for name, better in cls.higher_is_better.items():
            if better not in (True, False, None):
                yield f"higher_is_better of {name} is {better!r}"
        said = {name: set(getattr(cls, name)) for name in _OWN}
        said["precision"] = {*cls.precision, *cls.precision.values()}
        said["corrected"] = set(cls.corrected.values())
        for name, columns in said.items():
            if strangers := columns - set(names):
                yield f"{name}: {', '.join(sorted(strangers))} is no column"

    def undefined(self) -> AxisScore:
        """No value in any column."""
        return AxisScore(values=dict.fromkeys(self.names))

    @abstractmethod
    def score(self, scored: Scored) -> Awaitable[AxisScore] | AxisScore:
        """Values for one case. None says that the axis is undefined for it, never 0."""

    @classmethod
    def demand_of(cls, column: str) -> str:
        """Of what kind the verdicts behind a corrected column are."""
        return cls.demands.get(column, ANSWERS)

    @staticmethod
    def has_verdict(row: Row, column: str) -> bool | None:
        """Whether a row's value of a corrected column is the judge's: an abstention's is not.

        None where the row does not say, as one that was written before it did.
        """
        return row.decision != ABSTAIN or row.expected == ABSTAIN
