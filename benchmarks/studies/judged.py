"""Simulated coverage of numbers that are corrected for a judge's error, in strata of few cases.

Each sample has a calibration of its own (so many right answers and so many wrong ones, which a
judge of a known error judges) and cases of a known truth, which the same judge judges. A stratum of
n cases is corrected by the whole calibration, as pages show it. `benchmarks.studies.coverage` says
how samples are drawn.

    python -m benchmarks.studies.judged [--samples N] [--into FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Final

import numpy as np

from benchmarks.studies.coverage import Hit, Scenario, markdown, simulate
from benchmarks.studies.coverage_samples import Rng
from framework.analysis.known_answers import both_rates, turned_round
from framework.contracts.calibration import ErrorRates
from framework.reporting.markdown import print_or_put
from framework.statistics.misclassification import Corrected, corrected_mean

SIZES: Final = (10, 15, 20, 60)
DRAWS: Final = 2_000


def scenarios() -> Iterator[Scenario]:
    """All of the table, in its order."""
    share, mean = "corrected share of a stratum", "corrected mean of five verdicts a case"
    two = "corrected mean of two verdicts a case"
    yield Scenario(share, "rates from .05 to .95; judge .9, .1, known by 200 each", _share())
    yield Scenario(share, "the same, known by 40 each", _share(known=40))
    yield Scenario(share, "judge .8, .25, known by 60 each", _share(0.8, 0.25, 60))
    yield Scenario(share, "rate .95; judge .9, .1, known by 200 each", _share(of=0.95))
    yield Scenario(share, "40% are 1 without a verdict", _share(without=0.4))
    yield Scenario(share, "40% are 0 without a verdict", _share(without=0.4, are=0.0))
    yield Scenario(mean, "shares from .05 to .95; judge .9, .1, known by 200 each", _mean(None))
    yield Scenario(mean, "true share .5", _mean(0.5))
    yield Scenario(mean, "true share .85", _mean(0.85))
    yield Scenario(mean, "true share .85, known by 40 each", _mean(0.85, known=40))
    yield Scenario(two, "shares from .05 to .95", _mean(None, each=2))
    yield Scenario(two, "true share .5", _mean(0.5, each=2))
    yield Scenario(two, "true share .85", _mean(0.85, each=2))
    yield Scenario(two, "true share .95", _mean(0.95, each=2))
    yield Scenario(two, "true share .05", _mean(0.05, each=2))


def _rates(rng: Rng, right: float, wrong: float, known: int) -> ErrorRates:
    passed = (int(rng.binomial(known, rate)) for rate in (right, wrong))
    first, second = ((one, known) for one in passed)
    return ErrorRates(set="simulated", right=first, wrong=second)


def _share(
    right: float = 0.9,
    wrong: float = 0.1,
    known: int = 200,
    without: float = 0.0,
    are: float = 1.0,
    of: float | None = None,
) -> Hit:
    """A case has one verdict, or with this chance none, and its value is `are`.

    of : the share of right answers; None for one that is drawn for each sample.
    """

    def hit(rng: Rng, n: int) -> bool | None:
        rates = _rates(rng, right, wrong, known)
        truth = float(rng.uniform(0.05, 0.95)) if of is None else of
        is_right = rng.random(n) < truth
        passed = (rng.random(n) < np.where(is_right, right, wrong)).astype(np.float64)
        silent = rng.random(n) < without
        if silent.all():
            return None
        turned = are == 1.0 and without > 0
        said = np.where(silent, np.nan, abs(passed - turned))
        labels = [str(i) for i in range(n)]
        found = corrected_mean(said, labels, *both_rates(rates, turned), rng, draws=DRAWS)
        if turned:
            found = turned_round(found)
        return _covers(found, without * are + (1 - without) * truth)

    return hit


def _mean(
    of: float | None, right: float = 0.9, wrong: float = 0.1, known: int = 200, each: int = 5
) -> Hit:
    """A case has so many demands that are alike, and its value is the share that passed.

    of : the share of demands that are met; None for one that is drawn for each sample.
    """

    def hit(rng: Rng, n: int) -> bool | None:
        rates = _rates(rng, right, wrong, known)
        truth = float(rng.uniform(0.05, 0.95)) if of is None else of
        own = rng.beta(truth * 4, (1 - truth) * 4, n)
        met = rng.random((n, each)) < own[:, None]
        passed = rng.random((n, each)) < np.where(met, right, wrong)
        labels = [str(i) for i in range(n)]
        said = passed.mean(axis=1)
        return _covers(
            corrected_mean(said, labels, rates.right, rates.wrong, rng, draws=DRAWS), truth
        )

    return hit


def _covers(found: Corrected, truth: float) -> bool | None:
    if found.low is None or found.high is None:
        return None
    return found.low - 1e-9 <= truth <= found.high + 1e-9


def main(argv: list[str] | None = None) -> int:
    """Simulate, and print the table or put it between a file's table markers."""
    parser = argparse.ArgumentParser(prog="judged", description="How often they hold.")
    parser.add_argument("--samples", type=int, default=1000, help="a cell; default: %(default)s")
    parser.add_argument("--into", metavar="FILE", help="put it between the file's table markers")
    args = parser.parse_args(argv)
    if args.samples < 1:
        parser.error(f"--samples: {args.samples} given, at least 1 expected")
    table = markdown(list(simulate(args.samples, list(scenarios()), SIZES)))
    print_or_put(f"{table}\n\n{args.samples:,} samples a cell.", args.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
