"""Numbers of a run or sweep as MLflow metrics: their names, and the depths that make a curve."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from framework.analysis.cost import MEASURES
from framework.store.directory import COMPARISON, SUMMARY
from framework.text.canonical import canonical_json, digest_bytes

MOST_STRATA: Final = 400
"""Values by stratum that are still uploaded."""
MOST_PAIRS: Final = 250
"""Paired comparisons that are still uploaded."""
_PARTS: Final = {"": "mean", "_ci_low": "ci_low", "_ci_high": "ci_high", "_n": "n"}
"""Of an axis, by what is added to its name."""
_UNSAFE: Final = re.compile(r"[^\w\-. ]", re.ASCII)


@dataclass(slots=True)
class Metrics:
    """Metrics by a name that MLflow takes. Two sources of one name are kept apart.

    curves : by name, the values over the step, which is the depth in hops.
    """

    values: dict[str, float] = field(default_factory=dict)
    curves: dict[str, dict[int, float]] = field(default_factory=dict)
    _source: dict[str, str] = field(default_factory=dict)

    def add(self, words: Sequence[str], value: object, step: int | None = None) -> None:
        """Add a number under `a/b/c`, at a step of a curve; what is no number has no metric."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return
        source = canonical_json(list(words))
        name = "/".join(word(part) for part in words)
        if self._source.setdefault(name, source) != source:
            name = f"{name}-{digest_bytes(source.encode())[7:13]}"
        if step is None:
            self.values[name] = float(value)
        else:
            self.curves.setdefault(name, {})[step] = float(value)


def run_metrics(summary: Mapping[str, Any]) -> tuple[Metrics, list[str]]:
    """The metrics of a run, and a line for what of its strata is too much."""
    metrics = Metrics()
    axes = summary["axes"]
    # The page shows metrics in the order in which they came.
    for axis in dict.fromkeys([*(a for a in summary["headline"] if a in axes), *axes]):
        entry = axes[axis]
        if entry["mean"] is not None:
            for suffix, part in _PARTS.items():
                metrics.add((f"{axis}{suffix}",), entry[part])
    for name, value in summary["budget_use"].items():
        metrics.add(("budget_use", name), value)
    for phase, counts in summary["ledger"].items():
        for name, value in counts.items():
            metrics.add(("ledger", phase, name), value)
    metrics.add(("errors", "n"), summary["errors"]["n"])
    _add_gate(metrics, summary["gate"])
    _add_depths(metrics, summary)
    strata = _by_stratum(summary)
    for words, number in strata[:MOST_STRATA]:
        metrics.add(words, number)
    more = len(strata) - MOST_STRATA
    left_out = [f"{more} of {len(strata)} values by stratum: see {SUMMARY}"] if more > 0 else []
    return metrics, left_out


def sweep_metrics(sweep: Mapping[str, Any]) -> tuple[Metrics, list[str]]:
    """The metrics of a sweep's parent: means by job, with what being right costs, and every pair.

    Returns them with a line for what of the comparisons is too much.
    """
    metrics = Metrics()
    jobs: Sequence[Mapping[str, Any]] = sweep["jobs"]
    for job in jobs:
        for axis in dict.fromkeys((*job["headline"], *MEASURES)):
            metrics.add((axis, setting(job, jobs)), job["axes"].get(axis, {}).get("mean"))
    rows: Sequence[Mapping[str, Any]] = sweep["comparisons"]
    metrics.add(("comparisons", "n"), len(rows))
    for conclusion in dict.fromkeys(row["conclusion"] for row in rows):
        found = sum(row["conclusion"] == conclusion for row in rows)
        metrics.add(("comparisons", conclusion), found)
    for row in rows[:MOST_PAIRS]:
        run = {"run": {**row, "arch": f"{row['arm_a']} - {row['arm_b']}"}}
        for part in ("delta", "ci_low", "ci_high", "holm_p", "n"):
            suffix = "" if part == "delta" else f"_{part}"
            name = f"{row['axis']} {setting(run, jobs)}{suffix}"
            metrics.add(("difference", name), row[part])
    more = len(rows) - MOST_PAIRS
    left_out = [f"{more} of {len(rows)} comparisons: see {COMPARISON}"] if more > 0 else []
    return metrics, left_out


def setting(job: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]) -> str:
    """Arm and budget, and what else differs between the jobs."""
    run = job["run"]
    groups = ("domain", "reader", "model", "judge", "protocol", "seed", "n_cases", "repeats")
    also = [g for g in groups if len({str(other["run"][g]) for other in jobs}) > 1]
    return " ".join(str(run[g]) for g in ("arch", "budget", *also))


def word(text: str) -> str:
    """`text` in letters, digits and `_-. `: every other character is an underscore."""
    return _UNSAFE.sub("_", text).strip(". ") or "_"


def _add_gate(metrics: Metrics, gate: Mapping[str, Any]) -> None:
    """Whether the gate was passed, and by how much on each axis that it judged."""
    if gate["passed"] is None:
        return
    metrics.add(("gate", "passed"), int(gate["passed"]))
    for finding in gate["findings"]:
        axis = str(finding.get("axis", ""))
        for part in ("delta", "bound", "threshold"):
            metrics.add(("gate", f"{axis}_{part}"), finding.get(part))


def _add_depths(metrics: Metrics, summary: Mapping[str, Any]) -> None:
    """The headline by whole depths, a curve an axis."""
    for name, depth in summary["depths"].items():
        axes = summary["strata"][name]
        for axis in summary["headline"]:
            for suffix, part in _PARTS.items():
                metrics.add(("depth", f"{axis}{suffix}"), axes.get(axis, {}).get(part), depth)


def _by_stratum(summary: Mapping[str, Any]) -> list[tuple[tuple[str, str], float | None]]:
    """Mean, bounds and n of the headline by stratum; the cuts by tag are in summary.json."""
    strata = {
        name.removeprefix("stratum="): axes
        for name, axes in summary["strata"].items()
        if name.startswith("stratum=")
    }
    if len(strata) == 1:
        return []
    return [
        (("strata", f"{axis}.{name}{suffix}"), axes[axis][part])
        for axis in summary["headline"]
        for name, axes in strata.items()
        if axis in axes
        for suffix, part in _PARTS.items()
    ]
