"""Simulated coverage and size of what reports print: does a 95% interval hold 95 times in 100?

Each scenario draws samples of a known truth, at n = 10, 40 and 200 cases, and asks each method for
its interval or p-value. The draws depend on the scenario, n and the sample's number alone. Pages
show the rows of the limits that they print, from the file that `--data` writes.

    make coverage [ARGS="--samples N --into FILE --data FILE"]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.studies.bounds import chance_of_none
from benchmarks.studies.coverage_samples import (
    Clustered,
    Pairs,
    Rng,
    Values,
    binary,
    binary_pairs,
    by_case,
    clustered_pairs,
    graded,
    graded_pairs,
    mostly_one,
    one_large,
    paired,
    rare,
    skewed_alone,
    unequal,
)
from framework.reporting.markdown import print_or_put
from framework.statistics.agreement import agreement_limits
from framework.statistics.clusters import units_of
from framework.statistics.intervals import Interval, mean_interval
from framework.statistics.paired import compare, paired_bounds
from framework.statistics.permutation import sign_flip_test
from framework.statistics.proportions import mcnemar as mcnemar_test
from framework.statistics.ratios import ratio_of_means
from framework.statistics.seeding import generator
from plugins.gates.heldout import Heldout, HeldoutSettings
from plugins.recipes.depth._mediation import mediation
from plugins.recipes.depth._slopes import depth_slope
from plugins.sections._omnibus import cochran_q, friedman

SIZES: Final = (10, 40, 200)
RESAMPLES: Final = 1_000
NOMINAL: Final = {"coverage": 0.05, "size": 0.05, "error": 0.0015, "spent": 0.025}
_ANALYSES: Final = 20

Limits = tuple[float | None, float | None]
Hit = Callable[[Rng, int], bool | None]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table.

    Attributes:
        figure: what is printed.
        data: what it was drawn from.
        hit: one sample: whether the truth was covered, or a true null rejected; ``None`` where
            nothing was claimed.
        claims: whether the method claims its level here: coverage of 93% to 97% from n = 40 on, or
            a size of at most 5%.
        conservative: whether it claims at least 95% rather than 95%.
        kind: "coverage" of nominal 95%, "size" at nominal 5%, "error" of limits at two-sided .15%,
            or "spent": a false promotion in 20 analyses, where 2.5% are spent.
        method: what the limits' method begins with, so that a page finds the row; empty for tests.
    """

    figure: str
    data: str
    hit: Hit
    claims: bool = True
    conservative: bool = False
    kind: str = "coverage"
    method: str = ""

    @property
    def nominal(self) -> float:
        """The share of samples in which what is claimed may be wrong."""
        return NOMINAL[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A scenario at one n: the rate among samples where the method claimed something."""

    scenario: Scenario
    n: int
    rate: float | None
    claimed: float
    samples: int

    @property
    def standard_error(self) -> float:
        """Of `rate`, by the binomial with the nominal level."""
        nominal = self.scenario.nominal
        return float((nominal * (1 - nominal) / max(1.0, self.claimed * self.samples)) ** 0.5)

    @property
    def falls_short(self) -> bool:
        """Whether the interval covers less than 93%, or something is wrong more often than said."""
        if self.rate is None:
            return False
        if self.scenario.kind == "coverage":
            return self.rate < 0.93
        return self.rate > self.scenario.nominal + 3 * self.standard_error


def simulate(
    samples: int, chosen: list[Scenario] | None = None, sizes: tuple[int, ...] = SIZES
) -> Iterator[Simulated]:
    """Simulate scenarios (all by default) at each n."""
    for scenario in chosen if chosen is not None else scenarios():
        for n in sizes:
            found = [
                scenario.hit(generator(i, "coverage", scenario.figure, scenario.data, str(n)), n)
                for i in range(samples)
            ]
            told = [hit for hit in found if hit is not None]
            yield Simulated(
                scenario=scenario,
                n=n,
                rate=sum(told) / len(told) if told else None,
                claimed=len(told) / samples,
                samples=samples,
            )


def markdown(found: list[Simulated]) -> str:
    """The table, in percent.

    `!` marks a nominal 95% interval that covers less than 93%, and what is wrong more often than it
    may be by more than simulation explains.
    """
    by_row: dict[tuple[str, str, str], dict[int, Simulated]] = {}
    for one in found:
        s = one.scenario
        by_row.setdefault((s.figure, s.data, s.kind), {})[one.n] = one
    sizes = sorted({one.n for one in found})
    head = ["figure", "data", "", *(f"n = {n}" for n in sizes)]
    lines = [head, ["---"] * 3 + ["--:"] * len(sizes)]
    lines += [[*key, *(_cell(cells[n]) for n in sizes)] for key, cells in by_row.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(one: Simulated) -> str:
    if one.rate is None:
        return "none claimed"
    text = f"{100 * one.rate:.{2 if one.scenario.kind == 'error' else 1}f}"
    text += "!" * one.falls_short
    return text if one.claimed > 0.995 else f"{text} (of {100 * one.claimed:.0f}%)"


def as_data(found: list[Simulated]) -> str:
    """Coverage and error of limits, for the pages that print them."""
    entries = [
        {
            "method": one.scenario.method,
            "figure": one.scenario.figure,
            "data": one.scenario.data,
            "kind": one.scenario.kind,
            "n": one.n,
            "rate": None if one.rate is None else round(one.rate, 4),
            "claimed": round(one.claimed, 4),
            "short": one.falls_short,
            "samples": one.samples,
        }
        for one in found
        if one.scenario.method
    ]
    return "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"


def scenarios() -> list[Scenario]:
    """All of the table, in its order."""
    return [*_means(), *_differences(), *_others(), *_sizes()]


# ---------------------------------------------------------------------------------------- scenarios


def _covers(limits: Limits, truth: float) -> bool | None:
    low, high = limits
    if low is None or high is None:
        return None
    return low - 1e-9 <= truth <= high + 1e-9


def _means() -> Iterator[Scenario]:
    def of(draw: Callable[[Rng, int], Values], truth: float, amount: bool = False) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            i = mean_interval(draw(rng, n), seed=0, amount=amount, resamples=RESAMPLES)
            return _covers((i.low, i.high), truth)

        return hit

    def clustered(draw: Callable[[Rng, int], Clustered], truth: float = 0.6) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            values, labels = draw(rng, n)
            i = mean_interval(values, labels, seed=0, resamples=RESAMPLES)
            return _covers((i.low, i.high), truth)

        return hit

    def any_rate(rng: Rng, n: int) -> bool | None:
        p = float(rng.uniform(0.05, 0.95))
        i = mean_interval(binary(p)(rng, n), seed=0)
        return _covers((i.low, i.high), p)

    # Wilson's coverage at one rate swings with n: it claims its level on average over rates.
    bca, over = "bca bootstrap", "wilson of the effective sample"
    rarely = clustered(unequal(5.7, 0.3), 0.95)
    found: tuple[tuple[str, Hit, bool, str], ...] = (
        ("0/1, rates from .05 to .95", any_rate, True, "wilson"),
        ("0/1, rate .8", of(binary(0.8), 0.8), False, "wilson"),
        ("0/1, rate .98", of(binary(0.98), 0.98), False, "wilson"),
        ("shares of six", of(graded, 0.6), True, bca),
        (
            "shares of six, 1 in 50 below 1",
            of(mostly_one, 0.99),
            False,
            "bounded mean",
        ),
        ("amounts, mostly 0, skewed", of(rare, 0.1, amount=True), False, bca),
        ("0/1 twins", clustered(paired), True, over),
        ("0/1, clusters of 1 to 5", clustered(unequal(3, 2)), True, over),
        ("0/1 at .95, clusters of 1 to 5", rarely, False, over),
        ("0/1, one cluster with all but 15 cases", clustered(one_large), False, over),
    )
    for data, hit, claims, method in found:
        yield Scenario(f"mean of an axis, {method}", data, hit, claims, method=method)


def _differences() -> Iterator[Scenario]:
    def interval(*arms: Any, alpha: float = 0.05, resamples: int = RESAMPLES) -> Interval:
        return compare(*arms, seed=0, resamples=resamples, alpha=alpha).interval

    def bounds(*arms: Any, alpha: float = 0.05, resamples: int = 0) -> Interval:
        return paired_bounds(*arms, alpha=alpha)

    def of(draw: Callable[[Rng, int], Pairs], truth: float, limits: Callable[..., Interval]) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            a, b = draw(rng, n)
            found = limits(by_case(a), by_case(b))
            return _covers((found.low, found.high), truth)

        return hit

    def over_clusters(skewed: bool, limits: Callable[..., Interval], alpha: float) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            found = limits(*_around(*clustered_pairs(skewed)(rng, n)), alpha=alpha, resamples=20)
            covered = _covers((found.low, found.high), 0.0)
            return covered if alpha == 0.05 or covered is None else not covered

        return hit

    data: tuple[tuple[str, Callable[[Rng, int], Pairs], float, bool], ...] = (
        ("0/1, 40% discordant", binary_pairs(0.25, 0.15), 0.1, True),
        ("0/1, 6% discordant", binary_pairs(0.04, 0.02), 0.02, True),
        ("shares of six", graded_pairs(0.2), 0.08, True),
    )
    for name, draw, truth, claims in data:
        method = "tango score" if name.startswith("0/1") else "bca bootstrap"
        figure = f"paired difference, interval, {method}"
        hit, careful = of(draw, truth, interval), method == "tango score"
        yield Scenario(figure, name, hit, claims, conservative=careful, method=method)
    figure = "paired difference, interval, cr2 t"
    for name, skewed in (("clusters of four", False), ("clusters of four, skewed", True)):
        hit = over_clusters(skewed, interval, 0.05)
        # At ten clusters too few of them differ for t, and the wider bounded mean stands in for it.
        yield Scenario(
            figure, name, hit, claims=not skewed, conservative=not skewed, method="cr2 t"
        )
    for name, draw, truth, _ in data:
        method = "tango score" if name.startswith("0/1") else "bounded mean"
        figure = f"paired difference, decision bounds, {method}"
        yield Scenario(figure, name, of(draw, truth, bounds), conservative=True, method=method)
    figure, method = "paired difference, decision bounds, bounded mean", "bounded mean"
    for name, skewed in (("clusters of four", False), ("clusters of four, skewed", True)):
        hit = over_clusters(skewed, bounds, 0.05)
        yield Scenario(figure, name, hit, conservative=True, method=method)
        hit = over_clusters(skewed, bounds, 0.0015)
        yield Scenario(figure, name, hit, kind="error", method=method)


def _around(differences: Values, labels: list[int]) -> tuple[Any, Any, Any]:
    """Two arms that differ by so much, and their clusters."""
    a, b = by_case(np.maximum(differences, 0.0)), by_case(np.maximum(-differences, 0.0))
    return a, b, {case: f"k{label}" for case, label in zip(a, labels, strict=True)}


def _others() -> Iterator[Scenario]:
    def ratio(rng: Rng, n: int) -> bool | None:
        kept = (rng.random(n) < 0.7).astype(np.float64)
        found = ratio_of_means(kept * (rng.random(n) < 0.8), kept)
        return _covers((found.low, found.high), 0.8)

    def slope(rng: Rng, n: int) -> bool | None:
        depths = [float(1 + i % 3) for i in range(n)]
        values = (rng.random(n) < 1 - 0.1 * np.array(depths)).astype(np.float64)
        found = depth_slope(values, depths)
        return _covers((found.low, found.high), -0.1)

    def indirect(rng: Rng, n: int) -> bool | None:
        m = rng.normal(size=(2, n)) + np.array([[0.5], [0.0]])
        y = 0.4 * m + rng.normal(size=(2, n))
        columns = [{f"c{i:04}": float(v) for i, v in enumerate(c)} for c in (*m, *y)]
        found = mediation(*columns, seed=0, resamples=RESAMPLES)
        return _covers((found.indirect_low, found.indirect_high), 0.2)

    def agreed(figure: str, truth: float) -> Hit:
        # Half of the cases are judged the same; of the others' answers, three in five by chance.
        def hit(rng: Rng, n: int) -> bool | None:
            steps = np.linspace(0, 1, 5)
            chance = np.repeat(np.where(rng.random(n) < 0.5, 0.0, 0.6), 2)
            a = rng.choice(steps, 2 * n)
            b = np.where(rng.random(2 * n) < chance, rng.choice(steps, 2 * n), a)
            cases = [str(i // 2) for i in range(2 * n)]
            limits = agreement_limits(list(a), list(b), cases, seed=0, resamples=RESAMPLES)
            return _covers(limits[figure] or (None, None), truth)

        return hit

    for name, figure in (("Pearson's r", "pearson"), ("Cohen's kappa", "cohens_kappa_above")):
        title = f"{name} of judges (percentile bootstrap over cases)"
        yield Scenario(title, "five steps, two answers a case", agreed(figure, 0.7), claims=False)
    yield Scenario("ratio of means (delta method)", "use factor .8, retention .7", ratio)
    title = "depth slope (HC2 t)"
    yield Scenario(title, "0/1 at three depths, n in all", slope, claims=False)
    yield Scenario("indirect effect (percentile bootstrap)", "normal, .5 x .4", indirect)


def _sizes() -> Iterator[Scenario]:
    def of(test: Callable[[Rng, int], float | None]) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            p = test(rng, n)
            return None if p is None else p < 0.05

        return hit

    def permutation(
        draw: Callable[[Rng, int], Pairs],
    ) -> Callable[[Rng, int], float | None]:
        def test(rng: Rng, n: int) -> float | None:
            a, b = draw(rng, n)
            return sign_flip_test(a - b, generator(0, "permutation"), RESAMPLES).p

        return test

    def skewed(rng: Rng, n: int, careful: bool) -> float | None:
        differences = skewed_alone(rng, n)
        p = sign_flip_test(differences, generator(0, "permutation"), RESAMPLES).p
        if careful and p is not None and p < 0.05:
            bounds = paired_bounds(*_around(differences, list(range(n))))
            return 1.0 if _covers((bounds.low, bounds.high), 0.0) is not False else p
        return p

    def mcnemar(rng: Rng, n: int) -> float | None:
        return mcnemar_test(*graded_pairs(0.0)(rng, n)).p

    def three(rng: Rng, n: int) -> Values:
        chance = np.repeat(rng.beta(3, 2, n)[:, None], 3, axis=1)
        return (rng.random((n, 3)) < chance).astype(np.float64)

    def ranked(rng: Rng, n: int) -> float | None:
        return friedman(rng.normal(size=(n, 4)) + rng.normal(size=(n, 1)), draws=200).p

    tests: tuple[tuple[str, str, Callable[[Rng, int], float | None]], ...] = (
        (
            "permutation p",
            "0/1, 40% discordant, no difference",
            permutation(binary_pairs(0.2, 0.2)),
        ),
        ("permutation p", "shares of six, no difference", permutation(graded_pairs(0.0))),
        ("permutation p and decision bounds", SKEWED, lambda rng, n: skewed(rng, n, True)),
        ("McNemar p", "shares of six from .5, no difference", mcnemar),
        ("Cochran's Q", "three arms, 0/1", lambda rng, n: cochran_q(three(rng, n), draws=200).p),
        ("Friedman", "four arms, normal", ranked),
    )
    for figure, data, test in tests:
        yield Scenario(figure, data, of(test), conservative=True, kind="size")
    alone = of(lambda rng, n: skewed(rng, n, False))
    yield Scenario("permutation p", SKEWED, alone, claims=False, kind="size")
    for data, harmful in (("clusters of four", False), ("clusters of four, skewed", True)):
        figure = "any of 20 analyses of one CONFIRM passes, alpha spent"
        yield Scenario(figure, f"{data}, no gain", _spent(harmful), kind="spent")


SKEWED: Final = "one case in 25 loses what the others gain"


def _spent(skewed: bool) -> Hit:
    """Twenty candidates without effect on the same clusters, each at what the gate spends on it."""
    gate = Heldout(HeldoutSettings())
    alphas = [gate.at_interim(look, fresh=False).settings.alpha for look in range(1, _ANALYSES + 1)]

    def hit(rng: Rng, n: int) -> bool | None:
        judged = False
        for alpha in alphas:
            differences, labels = clustered_pairs(skewed)(rng, n)
            if not judged or _may_pass(differences, labels, alpha):
                found = paired_bounds(*_around(differences, labels), alpha=2 * alpha)
                judged |= found.low is not None
                if found.low is not None and found.low > 0:
                    return True
        return False if judged else None

    return hit


def _may_pass(differences: Values, labels: list[int], alpha: float) -> bool:
    """Whether the lower limit can be above 0: one look at what the bound looks for ten times."""
    units = units_of(differences, list(map(str, labels)))
    return units.mean > 0 and chance_of_none(units) < 1.01 * alpha


def main(argv: list[str] | None = None) -> int:
    """Simulate, and print the table or put it between a file's table markers."""
    parser = argparse.ArgumentParser(prog="coverage", description="How often intervals hold.")
    parser.add_argument("--samples", type=int, default=1000, help="a cell; default: %(default)s")
    parser.add_argument("--into", metavar="FILE", help="put it between the file's table markers")
    parser.add_argument("--data", metavar="FILE", help="write what pages show of it")
    args = parser.parse_args(argv)
    if args.samples < 1:
        parser.error(f"--samples: {args.samples} given, at least 1 expected")
    found = list(simulate(args.samples))
    if args.data:
        Path(args.data).write_text(as_data(found), encoding="utf-8")
    table = markdown(found)
    text = f"{table}\n\n{args.samples:,} samples a cell."
    print_or_put(text, args.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
