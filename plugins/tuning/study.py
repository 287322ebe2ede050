"""One arm's search: what optuna asks for, and what it is told.

The first trial is the arm as it is, so what is chosen is never worse there than what was not tuned.
The search is a function of the space, the seed and the values told: after a kill it is told the
finished trials again and asks for the same ones.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from framework.config import Plan
from framework.errors import UserError
from framework.registry import coerce, hints_of, nearest

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Space = Mapping[str, Sequence[Any]]
"""By setting, the lowest and the highest number, or the values of what is no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """Settings that were measured: those that differ from the arm's own, and their value."""

    settings: Mapping[str, Any]
    value: float


class Study:
    """The trials of one arm.

    Args:
        plan: of a job of the arm, as it is without tuning.
        space: what is searched; empty for an arm that is run as it is.
        higher_is_better: of the objective.
    """

    def __init__(self, plan: Plan, space: Space, *, higher_is_better: bool) -> None:
        import optuna
        from optuna.samplers import TPESampler

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.trials: list[Trial] = []
        self._sign = 1 if higher_is_better else -1
        self._own = plan.parts["arch"].settings
        self._space = {name: _distribution(plan, name, given) for name, given in space.items()}
        self._study = optuna.create_study(
            direction="maximize", sampler=TPESampler(seed=plan.top.seed)
        )
        self._asked: Any = None

    def ask(self) -> dict[str, Any]:
        """The settings of the next trial, beside the arm's own; none in the first."""
        if not self.trials:
            return {}
        self._asked = self._study.ask(self._space)
        return {name: self._as_run(name, value) for name, value in self._asked.params.items()}

    def tell(self, settings: Mapping[str, Any], value: float) -> None:
        """The mean that the settings asked for last have on the tuning cases."""
        from optuna.trial import create_trial

        if self._asked is not None:
            self._study.tell(self._asked, self._sign * value)
        else:
            own = {name: getattr(self._own, name) for name in self._space}
            if all(_holds(of, own[name]) for name, of in self._space.items()):
                self._study.add_trial(
                    create_trial(
                        params=own, distributions=dict(self._space), value=self._sign * value
                    )
                )
        self.trials.append(Trial(settings=dict(settings), value=value))

    @property
    def chosen(self) -> Trial:
        """The best trial; of equal ones the first."""
        return max(self.trials, key=lambda trial: self._sign * trial.value)

    def _as_run(self, name: str, value: Any) -> Any:
        """Three digits of a number with a fraction, so that labels can be read."""
        if not isinstance(value, float):
            return value
        of: Any = self._space[name]
        return min(max(float(f"{value:.3g}"), of.low), of.high)


def _distribution(plan: Plan, name: str, given: Any) -> BaseDistribution:
    """What optuna draws a setting from. Raises UserError naming the key."""
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    own: Any = plan.parts["arch"].settings
    where = f"hydra.sweeper.space.{plan.option('arch')}.{name}"
    hints = hints_of(own.__class__)
    if name not in hints:
        raise UserError(f"{where}: no such setting{nearest(name, hints)}")
    if not isinstance(given, (list, tuple)) or len(given) < 2:
        raise UserError(f"{where}: {given!r} given, a list of two values or more expected")
    values = [coerce(value, hints[name], where) for value in given]
    for value in values:
        try:
            dataclasses.replace(own, **{name: value})
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None
    kinds = {type(value) for value in values}
    if not kinds & {int, float} or _is_choice(hints[name]):
        if not kinds <= {str, bool, type(None)}:
            raise UserError(f"{where}: only numbers and choices between words can be searched")
        return CategoricalDistribution(values)
    if len(values) != 2 or None in values or not values[0] < values[1]:
        raise UserError(f"{where}: {given!r} given, [lowest, highest] expected")
    low, high = values
    return IntDistribution(low, high) if kinds == {int} else FloatDistribution(low, high)


def _is_choice(hint: Any) -> bool:
    inner = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return any(typing.get_origin(one) is typing.Literal for one in inner)


def _holds(of: Any, value: Any) -> bool:
    """Whether a distribution holds a value."""
    if hasattr(of, "choices"):
        return value in of.choices
    return isinstance(value, (int, float)) and of.low <= value <= of.high
