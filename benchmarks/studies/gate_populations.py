"""What simulated loops draw ideas from: a mixture, or the measured effects of a library."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.errors import DataError, UserError

Numbers = npt.NDArray[np.float64]


def after(accuracy: Numbers, fix: Numbers, hurt: Numbers) -> Numbers:
    """The true accuracy once an edit of these rates is installed."""
    return accuracy + (1 - accuracy) * fix - accuracy * hurt


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """A kind of edit: how often it is drawn, P(a wrong case is fixed), P(a right one is broken)."""

    name: str
    share: float
    fix: float
    hurt: float

    def after(self, accuracy: float) -> float:
        """The true accuracy once it is installed."""
        return float(after(np.array(accuracy), np.array(self.fix), np.array(self.hurt)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """What ideas are drawn from, with replacement, and the accuracy of the bare pipeline.

    noise : share of the cases that come out otherwise in other words.
    """

    name: str
    accuracy: float
    ideas: tuple[Idea, ...]
    noise: float = 0.0


MIXTURE: Final = Population(
    name="null and harmful mixture",
    accuracy=0.75,
    ideas=(
        Idea(name="null", share=0.5, fix=0.06, hurt=0.02),
        Idea(name="harmful", share=0.3, fix=0.06, hurt=0.05),
        Idea(name="small", share=0.1, fix=0.14, hurt=0.02),
        Idea(name="large", share=0.1, fix=0.30, hurt=0.02),
    ),
    noise=0.1,
)
"""True effects at the start: 0, -.0225, +.02 and +.06."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a patch did to many cases: wrong ones without it, of these fixed; right ones, broken."""

    name: str
    seam: str
    wrong: int
    fixed: int
    right: int
    broken: int

    @property
    def delta(self) -> float:
        """Change of accuracy."""
        return (self.fixed - self.broken) / (self.wrong + self.right)


def read_effects(path: Path) -> Population:
    """The patches of a library as a population, each as often as another.

    path : JSON as `patch_effects.py` writes it. Raises UserError where it can't be read,
    DataError where it is something else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        effects = [Effect(**entry) for entry in data["effects"]]
        first, noise = effects[0], data["noise"]
        every = "all " if data["finite"] else ""
        return Population(
            name=f"library of {data['name']}, measured on {every}{data['cases']:,} cases",
            noise=0.0 if noise is None else (noise["fixed"] + noise["broken"]) / data["cases"],
            accuracy=first.right / (first.wrong + first.right),
            ideas=tuple(
                Idea(
                    name=e.name,
                    share=1 / len(effects),
                    fix=e.fixed / e.wrong,
                    hurt=e.broken / e.right,
                )
                for e in effects
            ),
        )
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError, ZeroDivisionError) as error:
        raise DataError(path, None, f"no measured effects of patches: {error}") from None
