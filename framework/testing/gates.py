"""Operating characteristics of the loop's gate: simulated loops whose true effects are known.

A loop looks at ideas one after the other. What each truly does is known here and nowhere else: it
fixes a wrong case and breaks a right one at its own rates, independently of all others. It comes
to CONFIRM only past an OPTIMIZE sample, and is promoted where the rule says so. All three decisions
are those of the real loop: `judge_optimize`, the gate plugin, the plateau rule. What is reported is
what a real run can't know: how often a promotion was false, what the loop claims beyond the truth,
and what it left lying (docs/validity.md section 6.3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from framework.contracts import Outcome, Taxonomy
from framework.errors import DataError, UserError
from framework.improve.flips import Flips, judge_optimize
from framework.improve.plateau import Plateau
from framework.records import Row
from framework.registry import find, settings_of

__all__ = [
    "LOOKS",
    "MIXTURE",
    "RULES",
    "Effect",
    "Found",
    "Idea",
    "Population",
    "Rule",
    "read_effects",
    "simulate",
]

LOOKS: Final = (1, 2, 5, 10, 20)
"""Numbers of looks after which a loop is read."""
OPTIMIZE: Final = 50
"""Cases on which an idea is tried before it comes to CONFIRM."""
_FLOOR: Final = 0.2

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """A kind of edit: how often it is drawn, P(a wrong case is fixed), P(a right one is broken)."""

    name: str
    share: float
    fix: float
    hurt: float

    def after(self, accuracy: float) -> float:
        """The true accuracy once it is installed."""
        return accuracy + (1 - accuracy) * self.fix - accuracy * self.hurt


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """What ideas are drawn from, with replacement, and the accuracy of the bare pipeline."""

    name: str
    accuracy: float
    ideas: tuple[Idea, ...]


MIXTURE: Final = Population(
    name="null and harmful mixture",
    accuracy=0.75,
    ideas=(
        Idea(name="null", share=0.5, fix=0.06, hurt=0.02),
        Idea(name="harmful", share=0.3, fix=0.06, hurt=0.05),
        Idea(name="small", share=0.1, fix=0.14, hurt=0.02),
        Idea(name="large", share=0.1, fix=0.30, hurt=0.02),
    ),
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

    path : JSON as `benchmarks/patch_effects.py` writes it. Raises UserError where it can't be read,
    DataError where it is something else.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        effects = [Effect(**entry) for entry in data["effects"]]
        first = effects[0]
        return Population(
            name=f"library of target={data['target']}, measured on {data['cases']:,} cases",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A gate with its surroundings.

    gate : settings of the plugin. fresh : every look has CONFIRM cases of its own. spends : looks
    at the same cases share alpha. least, patience : the plateau rule. confirm : cases a look.
    """

    name: str
    plugin: str = "heldout"
    gate: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    spends: bool = True
    least: int = 0
    patience: int | None = None
    confirm: int = 100


_POINT: Final = {"rule": "point"}
_POINT_02: Final = {"rule": "point", "threshold": 0.02}
RULES: Final = (
    Rule(name="open", plugin="open"),
    Rule(name="point, 0 (published)", gate=_POINT),
    Rule(name="point, .02", gate=_POINT_02),
    Rule(name="point, .02, fresh", gate=_POINT_02, fresh=True),
    Rule(name="point, .02, fresh, plateau", gate=_POINT_02, fresh=True, least=2, patience=3),
    Rule(name="bound, 0, no spending", spends=False),
    Rule(name="bound, 0, spending"),
    Rule(name="bound, 0, fresh", fresh=True),
    Rule(name="bound, 0, fresh, plateau (default)", fresh=True, least=2, patience=3),
    Rule(name="bound, .02, fresh", gate={"threshold": 0.02}, fresh=True),
    Rule(name="bound, 0, fresh, 400 a look", fresh=True, confirm=400),
    Rule(name="bound, .02, fresh, 400 a look", gate={"threshold": 0.02}, fresh=True, confirm=400),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Means over loops of one rule after so many looks.

    any_false : share of loops that promoted at least one idea whose true effect was not above 0.
    false_share : of all promotions, the share of such ideas; None without promotions.
    gain : true gain in accuracy. claimed : as the loop measured it on what it selected on.
    optimism : claimed less gain. regret : what promoting exactly that which truly helps would have
        gained, less gain.
    """

    population: str
    rule: str
    looks: int
    promotions: float
    any_false: float
    false_share: float | None
    gain: float
    optimism: float
    regret: float


def simulate(
    loops: int, seed: int = 0, population: Population = MIXTURE, rules: Sequence[Rule] = RULES
) -> list[Found]:
    """The characteristics of each rule, from `loops` loops each.

    Raises UserError for a population of which nothing comes to CONFIRM.
    """
    if not any(idea.fix for idea in population.ideas):
        raise UserError(f"{population.name}: no idea fixes a case, so none comes to CONFIRM")
    found = []
    for rule in rules:
        sums = {looks: np.zeros(6) for looks in LOOKS}
        for loop in range(loops):
            rng = np.random.default_rng([seed, loop])
            for looks, values in _loop(population, rule, rng).items():
                sums[looks] += values
        for looks, (promoted, false, any_false, gain, claimed, best) in sums.items():
            found.append(
                Found(
                    population=population.name,
                    rule=rule.name,
                    looks=looks,
                    promotions=promoted / loops,
                    any_false=any_false / loops,
                    false_share=false / promoted if promoted else None,
                    gain=gain / loops,
                    optimism=(claimed - gain) / loops,
                    regret=(best - gain) / loops,
                )
            )
    return found


def _loop(population: Population, rule: Rule, rng: np.random.Generator) -> dict[int, Numbers]:
    """One loop: by looks, (promotions, false ones, any false, gain, claimed, best gain)."""
    bare = accuracy = best = population.accuracy
    start = rng.random(rule.confirm) < bare
    held = start.copy()
    stack: list[Idea] = []
    plateau = Plateau(least=rule.least, patience=rule.patience)
    promoted = false = 0
    claimed = 0.0
    found: dict[int, Numbers] = {}
    for looks, idea in enumerate(_past_optimize(population, accuracy, rng), start=1):
        best = max(best, idea.after(best))
        if not plateau.reached:
            before = _fresh(population, rule, stack, rng) if rule.fresh else held
            after = _edited(before, idea, rng)
            fixed, broken = int((after & ~before).sum()), int((before & ~after).sum())
            passed, judged = _decision(rule, fixed, broken, looks)
            if judged:  # an open gate judges nothing: flips do not stop its loop either
                passed = passed and plateau.enough(fixed - broken)
                plateau.look(fixed - broken)
            if passed:
                promoted += 1
                false += idea.after(accuracy) <= accuracy + 1e-12
                accuracy = idea.after(accuracy)
                stack.append(idea)
                if rule.fresh:
                    claimed += (fixed - broken) / rule.confirm
                else:
                    held = after
                    claimed = (int(held.sum()) - int(start.sum())) / rule.confirm
        if looks in LOOKS:
            row = [promoted, false, false > 0, accuracy - bare, claimed, best - bare]
            found[looks] = np.array(row, dtype=float)
        if looks == LOOKS[-1]:
            break
    return found


def _past_optimize(
    population: Population, accuracy: float, rng: np.random.Generator
) -> Iterator[Idea]:
    """Ideas that pass the in-sample gate on OPTIMIZE cases of the bare pipeline, without end."""
    shares = np.array([idea.share for idea in population.ideas])
    while True:
        idea = population.ideas[int(rng.choice(len(shares), p=shares / shares.sum()))]
        before = rng.random(OPTIMIZE) < accuracy
        after = _edited(before, idea, rng)
        if _tried(int((after & ~before).sum()), int((before & ~after).sum())):
            yield idea


def _fresh(
    population: Population, rule: Rule, stack: Sequence[Idea], rng: np.random.Generator
) -> Bools:
    """Cases of a look's own under the installed stack."""
    right: Bools = rng.random(rule.confirm) < population.accuracy
    for idea in stack:
        right = _edited(right, idea, rng)
    return right


def _edited(right: Bools, idea: Idea, rng: np.random.Generator) -> Bools:
    draw = rng.random(len(right))
    return np.where(right, draw >= idea.hurt, draw < idea.fix)


# ------------------------------------------------- the loop's own decisions, by the counts of flips


@cache
def _tried(fixed: int, broken: int) -> bool:
    """The word of the loop's in-sample gate, all cases being of one type and one regime."""
    right = [(i >= fixed, i < OPTIMIZE - broken) for i in range(OPTIMIZE)]
    before, after = (
        tuple(
            Outcome(case_id=str(i), kind="", correct=pair[side], request=str(side))
            for i, pair in enumerate(right)
        )
        for side in (0, 1)
    )
    taxonomy = Taxonomy(name="one", regimes=())
    return bool(judge_optimize(Flips(before=before, after=after), taxonomy, "", _FLOOR)["passed"])


def _decision(rule: Rule, fixed: int, broken: int, look: int) -> tuple[bool, bool]:
    """Whether the real gate passes so many flips at a look, and whether it judged them at all."""
    whole_alpha = rule.fresh or not rule.spends
    gate = (rule.plugin, *sorted(rule.gate.items()))
    return _decided(gate, rule.confirm, fixed, broken, 1 if whole_alpha else look, whole_alpha)


@cache
def _decided(
    gate: tuple[Any, ...], n: int, fixed: int, broken: int, look: int, fresh: bool
) -> tuple[bool, bool]:
    """For paired binary outcomes the gate's word hangs on the counts alone."""
    name, *settings = gate
    plugin = find("gate", name)
    asked = plugin.cls(settings_of(plugin, dict(settings))).at_look(look, fresh=fresh)
    before = [i >= fixed for i in range(n)]
    after = [i < n - broken for i in range(n)]
    outcome = asked.decide(_rows(after), _rows(before), 0)
    return bool(outcome.passed), bool(outcome.findings)


def _rows(right: Sequence[bool]) -> list[Row]:
    return [
        Row(case_id=str(i), arm="", axes={"correct": float(correct)})
        for i, correct in enumerate(right)
    ]
