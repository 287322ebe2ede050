"""Does the place of an event in a history tell that it is gold, on cases that others made?

    python -m benchmarks.studies.places [--data DIR] [--only NAME,...] [--into FILE#NAME]

No arm and no question takes part. Each rule takes a tenth of a history: its first, its middle or
its last events; the tenth in which the gold of the other half of the clusters lies most; or the
nearest neighbours of one piece of gold, for the rest of it. Shown is the share of the gold in what
is taken; .10 is chance. Intervals of 95% are over clusters; below ten there is none. The settings
are those of `order_of_arms.yaml`; one whose files are not in DIR is left out, and named.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

import yaml

from benchmarks.studies.order_of_arms import LEAST_CLUSTERS, ROOT, SETTINGS, Setting, words
from framework.contracts import Domain
from framework.engine.compose import compose_plan, composer
from framework.records import Case
from framework.reporting.markdown import print_or_put

PARTS: Final = 10
"""A rule takes one of so many parts of a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lying:
    """Where the gold of a case lies: the places of its events in a history of `n` events."""

    cluster: str
    n: int
    places: tuple[int, ...]

    @property
    def taken(self) -> int:
        return max(1, round(self.n / PARTS))


Rule = Callable[[Sequence[Lying]], list[float | None]]
"""By case the share of the gold that is taken; None where there is none to find."""


def lying(domain: Domain[Any], cases: Sequence[Case]) -> list[Lying]:
    """The places of what each case needs: its critical items, or its evidence where it has none."""
    found: list[Lying] = []
    history_id, at = "", dict[str, int]()
    for case in cases:
        gold = {s for item in case.gold.items if item.critical for s in item.source_ids}
        gold = gold or set(case.gold.evidence)
        if not gold:
            continue
        if case.history_id != history_id:
            history_id = case.history_id
            at = {event.id: place for place, event in enumerate(domain.history(history_id))}
        places = tuple(sorted(at[event_id] for event_id in gold))
        cluster = case.cluster or case.id
        found.append(Lying(cluster=cluster, n=len(at), places=places))
    return found


def _window(start: Callable[[Lying], int]) -> Rule:
    def share(one: Lying) -> float:
        return fmean(0 <= place - start(one) < one.taken for place in one.places)

    return lambda found: [share(one) for one in found]


def fitted(found: Sequence[Lying]) -> list[float | None]:
    """The tenth that holds most of the gold of the other half of the clusters."""
    held = [_tenths(one) for one in found]
    number = {cluster: i for i, cluster in enumerate(dict.fromkeys(one.cluster for one in found))}
    halves = [number[one.cluster] % 2 for one in found]
    best = []
    for half in range(2):
        others = [shares for shares, own in zip(held, halves, strict=True) if own != half]
        total = [sum(of) for of in zip(*others, strict=True)] or [0.0] * PARTS
        best.append(max(range(PARTS), key=total.__getitem__))
    return [shares[best[half]] for shares, half in zip(held, halves, strict=True)]


def _tenths(one: Lying) -> list[float]:
    shares = [0.0] * PARTS
    for place in one.places:
        shares[PARTS * place // one.n] += 1 / len(one.places)
    return shares


def neighbours(found: Sequence[Lying]) -> list[float | None]:
    """From each piece of gold, how much of the rest is among as many nearest events as are taken.

    Half of them before it and half after, or what a history has beside its ends.
    """
    values: list[float | None] = []
    for one in found:
        near = []
        for place in one.places:
            first = min(max(place - one.taken // 2, 0), one.n - 1 - one.taken)
            rest = [other for other in one.places if other != place]
            near += [fmean(first <= other <= first + one.taken for other in rest)] if rest else []
        values.append(fmean(near) if near else None)
    return values


RULES: Final[Mapping[str, Rule]] = {
    "first": _window(lambda one: 0),
    "middle": _window(lambda one: (one.n - one.taken) // 2),
    "last": _window(lambda one: one.n - one.taken),
    "best of the other half": fitted,
    "neighbours": neighbours,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The mean of the clusters' means, with its 95% interval; None below ten clusters."""

    mean: float
    clusters: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.2f}"
        return f"{self.mean:.2f} ({self.low:.2f} to {self.high:.2f})"


def share(rule: Rule, found: Sequence[Lying]) -> Share | None:
    """What a rule finds; None where no case has what it looks for."""
    from scipy.stats import t

    by_cluster: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(found, rule(found), strict=True):
        if value is not None:
            by_cluster[one.cluster].append(value)
    means = [fmean(values) for values in by_cluster.values()]
    if not means:
        return None
    if len(means) < LEAST_CLUSTERS:
        return Share(mean=fmean(means), clusters=len(means))
    reach = float(t.ppf(0.975, len(means) - 1)) * stdev(means) / math.sqrt(len(means))
    mean = fmean(means)
    low, high = max(0.0, mean - reach), min(1.0, mean + reach)
    return Share(mean=mean, clusters=len(means), low=low, high=high)


def opened(overrides: Sequence[str]) -> Domain[Any]:
    """The domain of a setting."""
    with composer():
        domain: Domain[Any] = compose_plan(list(overrides)).parts["domain"].create()
    return domain


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=Path)
    parser.add_argument("--only", help="settings, separated by commas")
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    said = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))["settings"]
    settings = [Setting(**one) for one in said if one["made"] == "outside"]
    if asked.only:
        settings = [one for one in settings if one.name in asked.only.split(",")]
    missing = [one.name for one in settings if one.file and not (asked.data / one.file).exists()]
    lines = [
        f"| setting | cases | clusters | gold of a case | {' | '.join(RULES)} |",
        f"| --- |{' --- |' * (3 + len(RULES))}",
        *(_line(one, asked.data) for one in settings if one.name not in missing),
    ]
    if missing:
        lines += ["", f"Not here, and left out: {', '.join(missing)}."]
    print_or_put("\n".join(lines), asked.into)
    return 0


def _line(setting: Setting, data: Path) -> str:
    domain = opened(words(setting, data))
    found = lying(domain, list(domain.cases(None, 0)))
    shares = [share(rule, found) for rule in RULES.values()]
    cells = [
        setting.name,
        str(len(found)),
        str(len({one.cluster for one in found})),
        f"{fmean(len(one.places) for one in found):.1f}",
        *("–" if one is None else str(one) for one in shares),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
