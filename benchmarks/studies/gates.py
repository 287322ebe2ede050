"""Operating characteristics of the loop's gate: simulated loops whose true effects are known.

A loop looks at ideas one after the other. What each truly does is known here and nowhere else: it
fixes a wrong case and breaks a right one at its own rates, independently of all others. It comes
to CONFIRM only past an OPTIMIZE sample, and is promoted where the rule says so. All three decisions
are those of the real loop: `judge_optimize`, the gate plugin, the plateau rule. What is reported is
what a real run can't know: how often a promotion was false, what the loop claims beyond the truth,
and the gain that it missed.

Cases are exchangeable, so that nothing hangs on which of them flip: loops are drawn by their counts
of right, fixed and broken cases, all loops of a rule at once, and the real decisions are asked for
each count that comes up.

    make gates [ARGS="--loops N --seed N --effects FILE --into FILE --figure DIR"]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import lgamma, log
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from benchmarks.studies.gate_populations import MIXTURE, Idea, Population, after, read_effects
from framework.contracts import Outcome, Taxonomy
from framework.errors import UserError
from framework.records import Row
from framework.registry import find, settings_of
from plugins.protocols.improve.gates import Plateau, judge_optimize, least_net_flips
from plugins.protocols.improve.results import PairedOutcomes

ANALYSES: Final = (1, 2, 5, 10, 20)
"""Numbers of analyses after which a loop is read."""
OPTIMIZE: Final = 50
"""Cases on which an idea is tried before it comes to CONFIRM."""
_FLOOR: Final = 0.2
_NEVER: Final = 1e-12
"""A probability that is none."""

Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A gate with its surroundings.

    gate : settings of the plugin. fresh : every analysis has cases of its own. spends : analyses
    at the same cases share alpha. confirm : cases an analysis. least, patience : the plateau rule;
    without patience there is none. other_words : each loop measures its noise on its CONFIRM in
    other words and asks for more net flips where it is large, as loops did before the corrections;
    in the same words, as both sides of an analysis are asked, the readers measured here have none.
    """

    name: str
    plugin: str = "heldout"
    gate: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    spends: bool = True
    confirm: int = 100
    least: int = 0
    patience: int | None = None
    other_words: bool = False


POINT: Final = {"rule": "point"}
POINT_02: Final = {"rule": "point", "threshold": 0.02}
_PLATEAU: Final[dict[str, Any]] = {"fresh": True, "least": 2, "patience": 3}
RULES: Final = (
    Rule(name="open", plugin="open"),
    Rule(name="point, 0 (published)", gate=POINT),
    Rule(name="point, .02", gate=POINT_02),
    Rule(name="point, .02, fresh", gate=POINT_02, fresh=True),
    Rule(name="point, .02, fresh, plateau", gate=POINT_02, **_PLATEAU),
    Rule(
        name="point, .02, fresh, plateau, noise of other words (before)",
        gate=POINT_02,
        other_words=True,
        **_PLATEAU,
    ),
    Rule(name="bound, 0, no spending", spends=False),
    Rule(name="bound, 0, spending"),
    Rule(name="bound, 0, spending, plateau (text_to_sql)", least=2, patience=3),
    Rule(name="bound, 0, fresh", fresh=True),
    Rule(name="bound, 0, fresh, plateau (default)", **_PLATEAU),
    Rule(
        name="bound, 0, fresh, plateau, noise of other words (before)", other_words=True, **_PLATEAU
    ),
    Rule(name="bound, .02, fresh", gate={"threshold": 0.02}, fresh=True),
    Rule(name="bound, 0, fresh, 400 a look", fresh=True, confirm=400),
    Rule(name="bound, 0, fresh, 400 a look, plateau (longmemeval)", confirm=400, **_PLATEAU),
    Rule(name="bound, .02, fresh, 400 a look", gate={"threshold": 0.02}, fresh=True, confirm=400),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Means over loops of one rule after so many analyses.

    any_false : share of loops that promoted at least one idea whose true effect was not above 0.
    false_share : of all promotions, the share of such ideas; None without promotions.
    gain : true gain in accuracy. claimed : as the loop measured it on what it selected on.
    optimism : claimed less gain. regret : what promoting exactly that which truly helps would have
        gained, less gain.
    """

    population: str
    rule: str
    analyses: int
    promotions: float
    any_false: float
    false_share: float | None
    gain: float
    optimism: float
    regret: float


def simulate(
    loops: int, seed: int = 0, population: Population = MIXTURE, rules: Sequence[Rule] = RULES
) -> list[Found]:
    """The characteristics of each rule, from `loops` loops each; all rules see the same ideas.

    Raises UserError for a population of which nothing comes to CONFIRM.
    """
    passing = [idea.share * _past_optimize(population.accuracy, idea) for idea in population.ideas]
    if not sum(passing):
        raise UserError(f"{population.name}: no idea fixes a case, so none comes to CONFIRM")
    shares = np.array(passing) / sum(passing)
    drawn = np.random.default_rng([seed, 0]).choice(
        len(shares), p=shares, size=(ANALYSES[-1], loops)
    )
    found: list[Found] = []
    for rule in rules:
        found += _Loops(population, rule, loops, np.random.default_rng([seed, 1])).run(drawn)
    return found


class _Loops:
    """All loops of one rule, analysis by analysis; every array holds one number a loop."""

    def __init__(
        self, population: Population, rule: Rule, loops: int, rng: np.random.Generator
    ) -> None:
        self.population, self.rule, self.rng = population, rule, rng
        self.fix = np.array([idea.fix for idea in population.ideas])
        self.hurt = np.array([idea.hurt for idea in population.ideas])
        self.accuracy = np.full(loops, population.accuracy)
        self.best = self.accuracy.copy()
        self.start: Counts = rng.binomial(rule.confirm, self.accuracy)
        self.held = self.start.copy()
        self.claimed = np.zeros(loops)
        self.promoted = np.zeros(loops, dtype=np.int64)
        self.false = np.zeros(loops, dtype=np.int64)
        noise = rng.binomial(rule.confirm, population.noise if rule.other_words else 0.0, loops)
        self.plateaus = [
            Plateau(least=least_net_flips(int(n), rule.least), patience=rule.patience)
            for n in noise
        ]

    def run(self, drawn: Counts) -> list[Found]:
        """Analyses of the ideas drawn, by analysis and loop."""
        found = []
        for analysis, ideas in enumerate(drawn, start=1):
            self._analyse(analysis, self.fix[ideas], self.hurt[ideas])
            if analysis in ANALYSES:
                found.append(self._found(analysis))
        return found

    def _analyse(self, analysis: int, fix: Numbers, hurt: Numbers) -> None:
        self.best = np.maximum(self.best, after(self.best, fix, hurt))
        running = np.array([not plateau.reached for plateau in self.plateaus])
        fixed, broken = self._flips(fix, hurt)
        passes = running & self._passes(analysis, fixed, broken, running)
        gained = after(self.accuracy, fix, hurt)
        self.promoted += passes
        self.false += passes & (gained <= self.accuracy + 1e-12)
        self.accuracy = np.where(passes, gained, self.accuracy)
        net = fixed - broken
        if self.rule.fresh:
            self.claimed += np.where(passes, net / self.rule.confirm, 0.0)
        else:
            self.held += np.where(passes, net, 0)
            self.claimed = (self.held - self.start) / self.rule.confirm

    def _flips(self, fix: Numbers, hurt: Numbers) -> tuple[Counts, Counts]:
        """Cases fixed and broken: of fresh ones under the installed stack, or of those held."""
        n = self.rule.confirm
        right = self.rng.binomial(n, self.accuracy) if self.rule.fresh else self.held
        return self.rng.binomial(n - right, fix), self.rng.binomial(right, hurt)

    def _passes(self, analysis: int, fixed: Counts, broken: Counts, running: Bools) -> Bools:
        """Which pass gate and plateau rule; the rule notes the analysis in those running."""
        asked = _asked(self.rule, analysis)
        least = np.array([_least_fixed(asked, n) for n in range(int(broken.max()) + 1)])
        passed: Bools = running & (fixed >= least[broken])
        if _word(asked, 0, 0)[1]:  # an open gate judges nothing: no flips stop its loop either
            for i in np.flatnonzero(running):
                plateau, net = self.plateaus[i], int(fixed[i] - broken[i])
                passed[i] &= plateau.enough(net)
                plateau.note(net)
        return passed

    def _found(self, analyses: int) -> Found:
        gain = float(self.accuracy.mean()) - self.population.accuracy
        promotions = int(self.promoted.sum())
        return Found(
            population=self.population.name,
            rule=self.rule.name,
            analyses=analyses,
            promotions=promotions / len(self.promoted),
            any_false=float((self.false > 0).mean()),
            false_share=int(self.false.sum()) / promotions if promotions else None,
            gain=gain,
            optimism=float(self.claimed.mean()) - gain,
            regret=float((self.best - self.accuracy).mean()),
        )


def _past_optimize(accuracy: float, idea: Idea) -> float:
    """Probability that an idea passes the in-sample gate on OPTIMIZE cases of the bare pipeline."""
    rates = ((1 - accuracy) * idea.fix, accuracy * idea.hurt)
    likely = {
        (fixed, broken): chance
        for fixed in range(OPTIMIZE + 1)
        for broken in range(OPTIMIZE + 1 - fixed)
        if (chance := _multinomial((fixed, broken), rates)) > _NEVER
    }
    return sum(chance for counts, chance in likely.items() if _tried(*counts))


def _multinomial(counts: tuple[int, int], rates: tuple[float, float]) -> float:
    """Probability of these counts of two kinds among the OPTIMIZE cases."""
    left, rest = OPTIMIZE - sum(counts), 1 - sum(rates)
    pairs = [(n, rate) for n, rate in zip((*counts, left), (*rates, rest), strict=True) if n]
    if any(rate <= 0 for _, rate in pairs):
        return 0.0
    ways = lgamma(OPTIMIZE + 1) - sum(lgamma(n + 1) for n, _ in pairs)
    return float(np.exp(ways + sum(n * log(rate) for n, rate in pairs)))


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
    return bool(judge_optimize(PairedOutcomes(before, after), taxonomy, "", _FLOOR)["passed"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A gate at an analysis, and the number of cases that it is shown."""

    plugin: str
    settings: tuple[tuple[str, Any], ...]
    n: int
    analysis: int
    fresh: bool


def _asked(rule: Rule, analysis: int) -> _Asked:
    whole_alpha = rule.fresh or not rule.spends
    return _Asked(
        plugin=rule.plugin,
        settings=tuple(sorted(rule.gate.items())),
        n=rule.confirm,
        analysis=1 if whole_alpha else analysis,
        fresh=whole_alpha,
    )


@cache
def _least_fixed(asked: _Asked, broken: int) -> int:
    """The fewest fixed cases with which the gate passes so many broken ones; n + 1 for none.

    A gate that passes some flips passes them with one more fixed or one fewer broken, so that it
    need be asked near the border alone.
    """
    fixed = _least_fixed(asked, broken - 1) if broken else 0
    while fixed <= asked.n - broken and not _word(asked, fixed, broken)[0]:
        fixed += 1
    return fixed if fixed <= asked.n - broken else asked.n + 1


@cache
def _word(asked: _Asked, fixed: int, broken: int) -> tuple[bool, bool]:
    """The gate's word and whether it judged: for paired binary outcomes both hang on counts."""
    plugin = find("gate", asked.plugin)
    gate = plugin.cls(settings_of(plugin, dict(asked.settings)))
    before = [i >= fixed for i in range(asked.n)]
    after = [i < asked.n - broken for i in range(asked.n)]
    outcome = gate.at_interim(asked.analysis, fresh=asked.fresh).decide(
        _rows(after), _rows(before), 0
    )
    return bool(outcome.passed), bool(outcome.findings)


def _rows(right: Sequence[bool]) -> list[Row]:
    return [
        Row(case_id=str(i), arm="", axes={"correct": float(correct)})
        for i, correct in enumerate(right)
    ]


def main(argv: list[str] | None = None) -> int:
    """Simulate loops under each gate; print the table, or put it between a file's table markers."""
    from benchmarks.studies.gate_tables import draw, markdown
    from framework.reporting.figures.style import save
    from framework.reporting.markdown import print_or_put

    parser = argparse.ArgumentParser(prog="gates", description="What each gate lets through.")
    parser.add_argument("--loops", type=int, default=1000, help="a rule; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--effects",
        metavar="FILE",
        action="append",
        default=[],
        help="patches as patch_effects.py measured them, as further ideas",
    )
    parser.add_argument("--into", metavar="FILE", help="put it between the file's table markers")
    parser.add_argument("--figure", metavar="DIR", help="draw gate_characteristics there")
    args = parser.parse_args(argv)
    if args.loops < 1:
        parser.error(f"--loops: {args.loops} given, at least 1 expected")
    try:
        populations = [MIXTURE, *(read_effects(Path(path)) for path in args.effects)]
        found = [f for each in populations for f in simulate(args.loops, args.seed, each)]
    except UserError as error:
        parser.error(str(error))
    text = f"{markdown(found)}\n\n{args.loops:,} loops a gate, seed {args.seed}."
    print_or_put(text, args.into)
    if args.figure:
        directory = Path(args.figure)
        directory.mkdir(parents=True, exist_ok=True)
        save(draw(found), directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
