"""What paired gates share: a case's value on an axis from its rows, the comparison, the verdict."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeVar

from framework.analysis.forms import asks_model, model_free_axes, of_read_forms
from framework.bounds import Bounded, above, at_least
from framework.contracts import Gate, GateOutcome, axis_plugins
from framework.errors import UserError
from framework.records import Row
from framework.registry import nearest
from framework.text.counting import counted

if TYPE_CHECKING:  # numpy is a tenth of the time that a command takes to start
    from framework.statistics.noninferiority import Decision
    from framework.statistics.paired import Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings(Bounded):
    """What is compared and how much may be lost.

    baseline : arch or run directory to compare with; null: nothing is judged.
    margin : by how much the candidate may be worse on each axis: the lower bound of candidate minus
        baseline must exceed minus the margin.
    axes : the gated axes; each must lie in [0, 1] and have a better direction.
    alpha : one-sided level of the bound.
    threshold : an older way to give the margin: what the bound must exceed.
    """

    baseline: str | None = None
    margin: Annotated[float, at_least(0, below=1)] = 0.05
    axes: tuple[str, ...] = ("eda", "frp", "rcs")
    alpha: Annotated[float, above(0, below=0.5)] = 0.025
    threshold: Annotated[float | None, above(-1, below=1)] = None

    def margin_of(self, threshold: float) -> float:
        """The margin that a threshold stands for."""
        return max(-threshold, 0.0)

    def identity(self) -> dict[str, Any]:
        """As of runs that gave the threshold, so that a run of before is the same run."""
        return {
            "baseline": self.baseline,
            "threshold": -self.margin,
            "axes": self.axes,
            "alpha": self.alpha,
        }

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if self.threshold is not None:
            object.__setattr__(self, "margin", self.margin_of(self.threshold))
            object.__setattr__(self, "threshold", None)
        if not self.axes:
            raise ValueError("gate.axes: no axis given")
        if len(set(self.axes)) < len(self.axes):
            raise ValueError("gate.axes: an axis is given twice")


S = TypeVar("S", bound=GateSettings)
_OF_CASES: Final = {
    "n_lost": "with a value for the baseline alone, counted as the worst",
    "n_unread": "left out, in forms that the model does not read",
}


class PairedGate(Gate[S]):
    """Passes when the paired comparison with the baseline holds on every gated axis.

    claim : what is decided of each. Raises UserError for an axis that does not exist or has no
    better direction.
    """

    Settings: ClassVar[type[Any]] = GateSettings
    claim: ClassVar[Literal["not worse", "better"]]

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        for axis in settings.axes:
            _higher_is_better(axis)

    @property
    def baseline(self) -> str | None:
        given: str | None = self.settings.baseline
        return given

    @abstractmethod
    def holds(self, comparison: Comparison, lower_is_better: bool) -> Decision:
        """The decision on one axis."""

    def decide(
        self,
        rows: Sequence[Row],
        baseline: Sequence[Row],
        seed: int,
        floor: Sequence[Row] | None = None,
    ) -> GateOutcome:
        if self.settings.baseline is None:
            return GateOutcome(
                name=self.name, passed=None, reason="no baseline given, so no gate is judged"
            )
        findings = judge(rows, baseline, self.settings, self.holds, seed)
        wrong = [found for found in findings if not found["passed"]]
        reason = f"{self.claim} than {self.settings.baseline} on {', '.join(self.settings.axes)}"
        if wrong:
            reason = "; ".join(f"{f['axis']}: {f['conclusion']}, {f['reason']}" for f in wrong)
            reason += f"; compared with {self.settings.baseline}"
        reason += "".join(f"; {note}" for note in _notes(findings))
        return GateOutcome(
            name=self.name, passed=not wrong, findings=tuple(findings), reason=reason
        )


def judge(
    rows: Sequence[Row],
    baseline: Sequence[Row],
    settings: GateSettings,
    decide: Callable[[Comparison, bool], Decision],
    seed: int,
    label: str = "gate",
) -> list[dict[str, Any]]:
    """Compare on every gated axis and decide: the findings of `GateOutcome`, in the axes' order.

    A case's value is the mean over its trials and repeats. A row that failed, or that an arm did
    not offer (`Row.state`), takes the value that speaks against the claim: the worst for the
    candidate, the best for the baseline. What the baseline failed at does not show it worse: that
    needs to hold with its worst there too. So does a case whose value the candidate alone leaves
    undefined (`n_lost`): which cases count must not be its own choice. Cases in a form that the
    model of either side does not read are of neither (`n_unread`), and the reason says so.

    Args:
        rows: of the candidate.
        baseline: rows on the same cases.
        settings: the axes and the level.
        decide: from a comparison and whether lower is better to a decision.
        seed: of the run.
        label: names the comparison's random draws.

    Raises:
        UserError: an axis that is no share in [0, 1], or different cases on the two sides.
    """
    from framework.analysis.axes import signed
    from framework.statistics.paired import compare

    clusters = {row.case_id: row.cluster or None for row in (*baseline, *rows)}
    judged = []
    for axis in settings.axes:
        if axis in signed():
            raise UserError(f"gate.axes: {axis} is not in [0, 1], so no margin applies to it")
        higher = _higher_is_better(axis)
        worst, best = (0.0, 1.0) if higher else (1.0, 0.0)
        own, its = _poolable(axis, rows, baseline)
        values, against = _case_values(own, axis, worst), _case_values(its, axis, best)
        lost = [case for case, value in against.items()
                if value is not None and values.get(case, worst) is None]  # fmt: skip

        def compared(
            against: Mapping[str, float | None],
            own: Mapping[str, float | None] = values | dict.fromkeys(lost, worst),
            axis: str = axis,
        ) -> Comparison:
            names, alpha = (label, axis), 2 * settings.alpha
            return compare(own, against, clusters, seed=seed, names=names, alpha=alpha)

        comparison = compared(against)
        if comparison.n and not comparison.share:
            raise UserError(f"gate.axes: {axis} is not in [0, 1], so no margin applies to it")
        decision = decide(comparison, not higher)
        if decision.conclusion == "failed" and _failed(baseline):
            least = decide(compared(_case_values(its, axis, worst)), not higher)
            if least.conclusion != "failed":
                why = "only cases at which the baseline failed show it worse"
                decision = replace(decision, conclusion="undecided", reason=why)
        judged.append(
            {
                "axis": axis,
                "passed": decision.passed,
                "conclusion": decision.conclusion,
                "mean": comparison.mean_a,
                "baseline_mean": comparison.mean_b,
                "delta": comparison.delta,
                "bound": decision.bound,
                "threshold": decision.threshold,
                "alpha": settings.alpha,
                "method": decision.method,
                "n": comparison.n,
                "n_clusters": comparison.n_clusters,
                "n_undefined": comparison.n_undefined,
                "n_lost": len(lost),
                "n_unread": len({row.case_id for row in rows} - {row.case_id for row in own}),
                "n_discordant": comparison.n_discordant,
                "errors": _failed(rows),
                "baseline_errors": _failed(baseline),
                "reason": decision.reason,
            }
        )
    return judged


def _notes(findings: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What a reader must know of the cases that findings are of."""
    for name, told in _OF_CASES.items():
        axes = dict[int, list[str]]()
        for found in findings:
            axes.setdefault(found[name], []).append(found["axis"])
        for n, of in axes.items():
            where = "" if len(of) == len(findings) else f"{', '.join(of)}: "
            if n:
                yield f"{where}{counted(n, 'case')} {told}"


def best_constant(baseline: Sequence[Row], axis: str) -> tuple[str, list[Row]] | None:
    """The decision that is right most often on the baseline's cases, and rows of always giving it.

    They hold what it earns at most. None where that does not follow from the gold decisions: on
    other axes (`Axis.of_decision`), or for rows that do not know them.
    """
    if not any(axis in plugin.cls.of_decision for plugin in axis_plugins()):
        return None
    expected = {row.case_id: row.expected for row in baseline}
    if not expected or not all(expected.values()):
        return None
    judged = {row.case_id: row.expected for row in of_read_forms(baseline)}
    ((best, _), *_) = Counter(judged.values()).most_common(1)
    return best, [
        Row(
            case_id=row.case_id,
            arm=best,
            cluster=row.cluster,
            form_read=row.form_read,
            axes={axis: float(row.expected == best)},
        )
        for row in {row.case_id: row for row in baseline}.values()
    ]


def _failed(rows: Sequence[Row]) -> int:
    return len({row.case_id for row in rows if row.error or row.state})


def _higher_is_better(axis: str) -> bool:
    directions: dict[str, bool | None] = {}
    for plugin in axis_plugins():
        directions.update(plugin.cls.higher_is_better)
    if axis not in directions:
        raise UserError(f"gate.axes: no axis {axis!r}{nearest(axis, directions)}")
    higher = directions[axis]
    if higher is None:
        raise UserError(f"gate.axes: {axis} has no better direction, so no gate can judge it")
    return higher


def _case_values(rows: Sequence[Row], axis: str, failed: float) -> dict[str, float | None]:
    """Case id to the mean of its defined values; None where no row has one."""
    values: dict[str, list[float]] = {}
    for row in rows:
        defined = values.setdefault(row.case_id, [])
        value = failed if row.error or row.state else row.axes.get(axis)
        if value is not None:
            defined.append(value)
    return {case: sum(v) / len(v) if v else None for case, v in values.items()}


def _poolable(
    axis: str, rows: Sequence[Row], baseline: Sequence[Row]
) -> tuple[Sequence[Row], Sequence[Row]]:
    """Of both sides the cases in a form that both read, if any.

    Of an axis without a model also the others in which neither side asked one: a call in one case
    must not take others from the comparison.
    """
    free = axis in model_free_axes()
    both = (*rows, *baseline)
    asked = {row.case_id for row in both if not free or asks_model(row)}
    unread = {row.case_id for row in both if not row.form_read} & asked
    if unread.issuperset(row.case_id for row in rows):
        return rows, baseline
    left = [[row for row in side if row.case_id not in unread] for side in (rows, baseline)]
    return left[0], left[1]
