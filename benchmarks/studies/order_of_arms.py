"""Do arms come out in the same order on generated cases and on cases that others made?

    python -m benchmarks.studies.order_of_arms [--data DIR] [--only NAME,...] [--short]
        [--into FILE#NAME]

The same arms at the same share of the history, retrieval alone, no model. By arm and setting the
mean retention is ranked; Kendall's tau-b says how far the orders of a generated and an outside
setting agree, with a 95% interval from resampling the clusters of both, and none where one has
fewer than ten; such settings are no part of the mean ranks. Controls (nothing, chance, everything,
the gold) are not ranked: their places follow from what they are. A setting whose files are not in
DIR is left out, and named. A run that was cut off is resumed.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks.results import call
from framework.analysis.evidence import printed_names
from framework.records import Row
from framework.reporting.markdown import print_or_put
from framework.statistics.replication import kendall
from framework.store.directory import SWEEP
from framework.store.state import read_run

ROOT: Final = Path(__file__).resolve().parents[2]
SETTINGS: Final = Path(__file__).with_name("order_of_arms.yaml")
RUNS: Final = ROOT / "runs" / "order"
RESAMPLES: Final = 1000
LEAST_CLUSTERS: Final = 10

FloatArray = NDArray[np.float64]
Means = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Cases that all arms get. made : `generated`, or `outside` for what others made.

    importer : of the file that the domain reads, where it is made from the one given. `{data}` in
    `overrides` is the folder of all data.
    """

    name: str
    made: str
    overrides: Sequence[str]
    file: str = ""
    importer: str = ""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """By arm and cluster the retention of its cases, at one budget of one setting."""

    setting: Setting
    budget: str
    cases: int
    values: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def clusters(self) -> list[str]:
        return sorted(next(iter(self.values.values())))

    @cached_property
    def sums(self) -> tuple[FloatArray, FloatArray]:
        """The sums of retention by arm and cluster, and the numbers of cases likewise."""
        of = [[by_cluster[name] for name in self.clusters] for by_cluster in self.values.values()]
        return (
            np.array([[sum(own) for own in by_cluster] for by_cluster in of], dtype=float),
            np.array([[len(own) for own in by_cluster] for by_cluster in of], dtype=float),
        )

    def means(self, times: FloatArray | None = None) -> dict[str, float]:
        """Of every arm; times : how often each cluster is taken, once where it is None."""
        total, n = self.sums
        times = np.ones(total.shape[1]) if times is None else times
        return dict(zip(self.values, ((total @ times) / (n @ times)).tolist(), strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not measured yet, and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", default=ROOT.parent / "shared" / "data", type=Path)
    parser.add_argument("--only", help="settings, separated by commas")
    parser.add_argument("--short", action="store_true", help="of all generated settings alone")
    parser.add_argument("--into", help="a file with markers for the tables")
    asked = parser.parse_args(arguments)
    said = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    settings = [Setting(**one) for one in said["settings"]]
    if asked.only:
        settings = [one for one in settings if one.name in asked.only.split(",")]
    missing = [one for one in settings if one.file and not (asked.data / one.file).exists()]
    found = [
        measured
        for one in settings
        if one not in missing
        for measured in measure(one, asked.data, said)
    ]
    parts = [part for budget in said["budgets"] for part in tables(found, budget, said["arms"])]
    if asked.short:
        parts = [short(found, said["budgets"])]
    if missing:
        parts.append(f"Not here, and left out: {', '.join(one.name for one in missing)}.")
    print_or_put("\n\n".join(parts), asked.into)
    return 0


def measure(setting: Setting, data: Path, said: Mapping[str, Any]) -> list[Measured]:
    """Run the sweep, or go on with it, and read its rows.

    said : of `order_of_arms.yaml` the `arms`, `budgets`, `embedders` and the `axis`.
    """
    arms, budgets = said["arms"], said["budgets"]
    directory = RUNS / setting.name
    if directory.exists() and not (directory / SWEEP).exists():
        call("run.py", f"resume={directory}")
    elif not directory.exists():
        over = {"arch": arms, "budget": budgets, "embedder": said["embedders"]}
        compared = [f"{key}={','.join(options)}" for key, options in over.items()]
        compared.append(f"baseline={arms[0]}")
        alone = ("protocol=retrieve", "tracking=none", "report=false")
        place = f"hydra.sweep.dir={directory}"
        call("run.py", "-m", *words(setting, data), *compared, *alone, place)
    rows: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for job in sorted(path.parent for path in directory.glob("*/summary.json")):
        run = read_run(job)
        about, label = run.summary["run"], str(run.summary["run"]["arch"])
        printed = printed_names([run.summary]).get(label, label)
        rows[str(about["budget"])][printed] = list(run.rows)
    return [_measured(setting, budget, rows[budget], said["axis"]) for budget in budgets]


def words(setting: Setting, data: Path) -> list[str]:
    """The overrides that compose a setting; the file that its domain reads is imported on the way.

    data : the folder of all data.
    """
    overrides = [word.format(data=data) for word in setting.overrides]
    if not setting.file:
        return overrides
    path = data / setting.file
    if setting.importer:
        made = RUNS / f"{setting.name}.jsonl"
        made.parent.mkdir(parents=True, exist_ok=True)
        call("-m", "framework", "import", setting.importer, str(path), "--to", str(made))
        path = made
    return [*overrides, f"domain.path={path}"]


def _measured(
    setting: Setting, budget: str, rows: Mapping[str, Sequence[Row]], axis: str
) -> Measured:
    values: dict[str, dict[str, list[float]]] = {arm: defaultdict(list) for arm in rows}
    cases = {}
    for arm, own in rows.items():
        for row in own:
            value = row.axes.get(axis)
            if value is not None and not row.error:
                values[arm][row.cluster or row.case_id].append(value)
                cases[row.case_id] = True
    return Measured(setting=setting, budget=budget, cases=len(cases), values=values)


def tables(found: Sequence[Measured], budget: str, arms: Sequence[str]) -> list[str]:
    """Of one budget: the retention of every arm, and how far the orders agree."""
    here = [one for one in found if one.budget == budget]
    generated = [one for one in here if one.setting.made == "generated"]
    outside = [one for one in here if one.setting.made == "outside"]
    if not generated or not outside:
        return []
    means = {one.setting.name: one.means() for one in here}
    labels = list(means[here[0].setting.name])
    head = [f"{one.setting.name} (n {one.cases}, {len(one.clusters)})" for one in here]
    retention = [
        f"**Share of the required items in the view, budget {budget} (n: cases, clusters)**",
        "",
        f"| arm | {' | '.join(head)} |",
        f"| --- |{' --- |' * len(head)}",
        *(
            f"| {arm} | {' | '.join(f'{means[one.setting.name][arm]:.2f}' for one in here)} |"
            for arm in sorted(labels, key=lambda arm: _place(arm, arms))
        ),
    ]
    rows, columns = (_compared(of) for of in (generated, outside))
    agreeing = [
        f"**Kendall's tau-b between the orders of {len(labels)} arms, budget {budget}**",
        "",
        f"| | {' | '.join(map(_named, columns))} |",
        f"| --- |{' --- |' * len(columns)}",
        *(
            f"| {_named(row)} | {' | '.join(_cell(row, column) for column in columns)} |"
            for row in rows
        ),
    ]
    return ["\n".join(retention), "\n".join(agreeing)]


def short(found: Sequence[Measured], budgets: Sequence[str]) -> str:
    """How far the order on all generated settings agrees with that on each outside one."""
    columns = []
    for budget in budgets:
        here = [one for one in found if one.budget == budget]
        made, real = (
            _compared([one for one in here if one.setting.made == of])
            for of in ("generated", "outside")
        )
        columns.append([(group, _cell(made[-1], group)) for group in real])
    lines = [
        "| outside setting | clusters | " + " | ".join(f"budget {name}" for name in budgets) + " |",
        "| --- |" + " --- |" * (1 + len(budgets)),
    ]
    for row in zip(*columns, strict=True):
        group = row[0][0]
        clusters = f"{len(group[0].clusters)}" if len(group) == 1 else ""
        cells = [cell.partition(", no interval")[0] for _, cell in row]
        lines.append(f"| {_named(group)} | {clusters} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _compared(settings: Sequence[Measured]) -> list[Sequence[Measured]]:
    """Each setting, and all together that have enough clusters for an interval."""
    all_ = [one for one in settings if len(one.clusters) >= LEAST_CLUSTERS]
    return [*([one] for one in settings), *([all_] if len(all_) > 1 else [])]


def _named(group: Sequence[Measured]) -> str:
    return group[0].setting.name if len(group) == 1 else "all, by mean rank"


def _place(label: str, arms: Sequence[str]) -> int:
    return next((i for i, arm in enumerate(arms) if label.partition("(")[0] == arm), len(arms))


def _cell(a: Sequence[Measured], b: Sequence[Measured]) -> str:
    tau = agreement(a, b)
    if tau is None:
        return "all alike"
    if any(len(one.clusters) < LEAST_CLUSTERS for one in (*a, *b)):
        return f"{tau:+.2f}, no interval: fewer than {LEAST_CLUSTERS} clusters"
    rng = np.random.default_rng(7)
    drawn = [agreement(a, b, rng) for _ in range(RESAMPLES)]
    kept = [value for value in drawn if value is not None]
    low, high = np.quantile(kept, (0.025, 0.975))
    return f"{tau:+.2f} ({low:+.2f} to {high:+.2f})"


def agreement(
    a: Sequence[Measured], b: Sequence[Measured], rng: np.random.Generator | None = None
) -> float | None:
    """Tau-b of two groups of settings; None where an order has no two arms apart.

    Of several settings the arms' mean ranks are compared. rng : clusters are resampled with it.
    """
    sides = [_ranked([_drawn(one, rng) for one in group]) for group in (a, b)]
    arms = sorted(sides[0].keys() & sides[1].keys())
    return kendall([sides[0][arm] for arm in arms], [sides[1][arm] for arm in arms])


def _drawn(one: Measured, rng: np.random.Generator | None) -> Means:
    if rng is None:
        return one.means()
    n = len(one.clusters)
    return one.means(np.bincount(rng.integers(0, n, n), minlength=n).astype(float))


def _ranked(means: Sequence[Means]) -> Means:
    """Of one setting its means; of several the mean rank of every arm, ties at their middle."""
    if len(means) == 1:
        return means[0]

    def rank(of: Means, arm: str) -> float:
        below = sum(value < of[arm] for value in of.values())
        return below + sum(value == of[arm] for value in of.values()) / 2

    shared = set.intersection(*(set(of) for of in means))
    return {arm: fmean(rank(of, arm) for of in means) for arm in shared}


if __name__ == "__main__":
    sys.exit(main())
