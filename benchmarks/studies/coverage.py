"""Simulated coverage and size of what reports print: does a 95% interval hold 95 times in 100?

Each scenario draws samples of a known truth, at n = 10, 40 and 200 cases, and asks each method for
its interval or p-value. The draws depend on the scenario, n and the sample's number alone.

    make coverage [ARGS="--samples N --into FILE"]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from framework.reporting.markdown import put_between_markers
from framework.statistics.agreement import agreement_limits
from framework.statistics.intervals import mean_interval
from framework.statistics.omnibus import cochran_q, friedman
from framework.statistics.paired import Comparison, compare
from framework.statistics.ratios import ratio_of_means
from framework.statistics.seeding import generator
from plugins.recipes.depth._mediation import mediation
from plugins.recipes.depth._slopes import depth_slope

SIZES: Final = (10, 40, 200)
RESAMPLES: Final = 1_000

Rng = np.random.Generator
Values = npt.NDArray[np.float64]
Pairs = tuple[Values, Values]
Clustered = tuple[Values, list[str | None]]
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
        kind: "coverage" of nominal 95%, or "size" at nominal 5%.
    """

    figure: str
    data: str
    hit: Hit
    claims: bool = True
    conservative: bool = False
    kind: str = "coverage"


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
        return float((0.05 * 0.95 / max(1.0, self.claimed * self.samples)) ** 0.5)


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

    `!` marks a nominal 95% interval that covers less than 93%, and a size above 5% by more than
    simulation explains.
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
    text = f"{100 * one.rate:.1f}"
    short = one.scenario.kind == "coverage" and one.rate < 0.93
    liberal = one.scenario.kind == "size" and one.rate > 0.05 + 3 * one.standard_error
    if short or liberal:
        text += "!"
    return text if one.claimed > 0.995 else f"{text} (of {100 * one.claimed:.0f}%)"


def scenarios() -> list[Scenario]:
    """All of the table, in its order."""
    return [*_means(), *_differences(), *_others(), *_sizes()]


# ------------------------------------------------------------------------------------------ samples


def _ids(values: Values) -> dict[str, float | None]:
    return {f"c{i:04}": float(v) for i, v in enumerate(values)}


def _binary(p: float) -> Callable[[Rng, int], Values]:
    return lambda rng, n: (rng.random(n) < p).astype(np.float64)


def _graded(rng: Rng, n: int) -> Values:
    """Shares of six items, cases of unequal difficulty; mean .6."""
    return rng.binomial(6, rng.beta(3, 2, n)) / 6


def _rare(rng: Rng, n: int) -> Values:
    """Amounts that are mostly 0, the rest skewed; mean .1."""
    return (rng.random(n) < 0.2) * rng.exponential(0.5, n)


def _clustered(rng: Rng, n: int) -> Clustered:
    """Twins that share their difficulty; mean .6."""
    chance = np.repeat(rng.beta(3, 2, n // 2), 2)
    return (rng.random(n) < chance).astype(np.float64), [f"k{i // 2}" for i in range(n)]


def _unequal(rng: Rng, n: int) -> Clustered:
    """Clusters of 1 to 9 cases that share their difficulty, whatever their size; mean .6."""
    sizes = rng.integers(1, 10, n)
    labels = np.repeat(np.arange(n), sizes)[:n]
    chance = rng.beta(3, 2, n)[labels]
    return (rng.random(n) < chance).astype(np.float64), [f"k{label}" for label in labels]


def _binary_pairs(win: float, loss: float) -> Callable[[Rng, int], Pairs]:
    def draw(rng: Rng, n: int) -> Pairs:
        u = rng.random(n)
        both = rng.random(n) < 0.6
        a = np.where(u < win, 1.0, np.where(u < win + loss, 0.0, both))
        b = np.where(u < win, 0.0, np.where(u < win + loss, 1.0, both))
        return a, b

    return draw


def _graded_pairs(lift: float) -> Callable[[Rng, int], Pairs]:
    """Shares of six items on the same cases; the difference is .4 lift."""

    def draw(rng: Rng, n: int) -> Pairs:
        q = rng.beta(3, 2, n)
        return rng.binomial(6, q + lift * (1 - q)) / 6, rng.binomial(6, q) / 6

    return draw


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

    def clustered(draw: Callable[[Rng, int], Clustered]) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            values, labels = draw(rng, n)
            i = mean_interval(values, labels, seed=0, resamples=RESAMPLES)
            return _covers((i.low, i.high), 0.6)

        return hit

    def any_rate(rng: Rng, n: int) -> bool | None:
        p = float(rng.uniform(0.05, 0.95))
        i = mean_interval(_binary(p)(rng, n), seed=0)
        return _covers((i.low, i.high), p)

    # Wilson's coverage at one rate swings with n: it claims its level on average over rates.
    found: tuple[tuple[str, Hit, bool], ...] = (
        ("0/1, rates from .05 to .95 (Wilson)", any_rate, True),
        ("0/1, rate .8 (Wilson)", of(_binary(0.8), 0.8), False),
        ("0/1, rate .98 (Wilson, Clopper-Pearson)", of(_binary(0.98), 0.98), False),
        ("shares of six (BCa)", of(_graded, 0.6), True),
        ("amounts, mostly 0, skewed (BCa)", of(_rare, 0.1, amount=True), False),
        ("0/1 twins (BCa over clusters)", clustered(_clustered), True),
        ("0/1, clusters of 1 to 9 (BCa over clusters)", clustered(_unequal), False),
    )
    for data, hit, claims in found:
        yield Scenario("mean of an axis", data, hit, claims)


def _differences() -> Iterator[Scenario]:
    def interval(found: Comparison) -> Limits:
        return found.interval.low, found.interval.high

    def bounds(found: Comparison) -> Limits:
        return found.bounds.low, found.bounds.high

    def of(
        draw: Callable[[Rng, int], Pairs],
        truth: float,
        limits: Callable[[Comparison], Limits],
        clusters: bool = False,
    ) -> Hit:
        def hit(rng: Rng, n: int) -> bool | None:
            a, b = draw(rng, n)
            ids = _ids(a)
            own = {case: f"k{i // 2}" for i, case in enumerate(ids)} if clusters else None
            found = compare(ids, _ids(b), own, seed=0, resamples=RESAMPLES)
            return _covers(limits(found), truth)

        return hit

    data: tuple[tuple[str, Callable[[Rng, int], Pairs], float, bool], ...] = (
        ("0/1, 40% discordant", _binary_pairs(0.25, 0.15), 0.1, True),
        ("0/1, 6% discordant", _binary_pairs(0.04, 0.02), 0.02, False),
        ("shares of six", _graded_pairs(0.2), 0.08, True),
    )
    figure = "paired difference, interval (BCa)"
    for name, draw, truth, claims in data:
        yield Scenario(figure, name, of(draw, truth, interval), claims)
    twins = of(_graded_pairs(0.2), 0.08, interval, True)
    yield Scenario(figure, "shares of six, clusters of two", twins, claims=False)
    figure = "paired difference, decision bounds"
    for name, draw, truth, _ in data:
        conservative = name.startswith("0/1")
        yield Scenario(figure, name, of(draw, truth, bounds), conservative=conservative)


def _others() -> Iterator[Scenario]:
    def ratio(rng: Rng, n: int) -> bool | None:
        kept = (rng.random(n) < 0.7).astype(np.float64)
        found = ratio_of_means(kept * (rng.random(n) < 0.8), kept)
        return _covers((found.low, found.high), 0.8)

    def slope(rng: Rng, n: int) -> bool | None:
        depths = [float(1 + i % 3) for i in range(n)]
        values = (rng.random(n) < 1 - 0.1 * np.array(depths)).astype(np.float64)
        found = depth_slope(values, depths, seed=0, resamples=RESAMPLES)
        return _covers((found.low, found.high), -0.1)

    def indirect(rng: Rng, n: int) -> bool | None:
        m = rng.normal(size=(2, n)) + np.array([[0.5], [0.0]])
        y = 0.4 * m + rng.normal(size=(2, n))
        columns = [{f"c{i:04}": float(v) for i, v in enumerate(c)} for c in (*m, *y)]
        found = mediation(*columns, seed=0, resamples=RESAMPLES)
        return _covers((found.indirect_low, found.indirect_high), 0.2)

    def agreed(figure: str, truth: float) -> Hit:
        # Half of the cases are judged alike, of the other half's answers three in five by chance.
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
    title = "depth slope (percentile bootstrap)"
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
            return compare(_ids(a), _ids(b), seed=0, resamples=RESAMPLES).permutation.p

        return test

    def mcnemar(rng: Rng, n: int) -> float | None:
        a, b = _graded_pairs(0.0)(rng, n)
        return compare(_ids(a), _ids(b), seed=0, resamples=10).mcnemar.p

    def three(rng: Rng, n: int) -> Values:
        chance = np.repeat(rng.beta(3, 2, n)[:, None], 3, axis=1)
        return (rng.random((n, 3)) < chance).astype(np.float64)

    def ranked(rng: Rng, n: int) -> float | None:
        return friedman(rng.normal(size=(n, 4)) + rng.normal(size=(n, 1)), draws=200).p

    tests: tuple[tuple[str, str, Callable[[Rng, int], float | None]], ...] = (
        (
            "permutation p",
            "0/1, 40% discordant, no difference",
            permutation(_binary_pairs(0.2, 0.2)),
        ),
        ("permutation p", "shares of six, no difference", permutation(_graded_pairs(0.0))),
        ("McNemar p", "shares of six from .5, no difference", mcnemar),
        ("Cochran's Q", "three arms, 0/1", lambda rng, n: cochran_q(three(rng, n), draws=200).p),
        ("Friedman", "four arms, normal", ranked),
    )
    for figure, data, test in tests:
        yield Scenario(figure, data, of(test), conservative=True, kind="size")


def main(argv: list[str] | None = None) -> int:
    """Simulate, and print the table or put it between a file's table markers."""
    parser = argparse.ArgumentParser(prog="coverage", description="How often intervals hold.")
    parser.add_argument("--samples", type=int, default=4000, help="a cell; default: %(default)s")
    parser.add_argument("--into", metavar="FILE", help="put it between the file's table markers")
    args = parser.parse_args(argv)
    if args.samples < 1:
        parser.error(f"--samples: {args.samples} given, at least 1 expected")
    table = markdown(list(simulate(args.samples)))
    text = f"{table}\n\n{args.samples:,} samples a cell."
    if args.into is None:
        print(text)
    else:
        put_between_markers(args.into, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
