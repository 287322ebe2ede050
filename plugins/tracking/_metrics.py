"""Numbers of a run or sweep as MLflow metrics: their names, and the depths that make a curve."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from framework.analysis.axes import with_corrected
from framework.analysis.cost import MEASURES
from framework.analysis.evidence import of_sweep
from framework.analysis.verdict import DECIDED
from framework.text.canonical import canonical_json, digest_bytes
from plugins.tracking._glance import glance

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


def run_metrics(summary: Mapping[str, Any]) -> Metrics:
    """The metrics of a run: first what the charts of many runs should begin with.

    MLflow shows its sections in the order of their names, and metrics of none at the end. So the
    headline and what being right costs are in `axes`, the rest in `other_axes`. Results by stratum,
    tag and phase are in summary.json alone: every metric is one more chart.
    """
    metrics = Metrics()
    axes, chief = summary["axes"], (*summary["headline"], *MEASURES)
    for axis in chief:
        metrics.add(("axes", axis), axes.get(axis, {}).get("mean"))
    for axis in summary["headline"]:
        entry = axes.get(axis, {})
        if entry.get("mean") is not None:
            for part, name in (("ci_low", "low"), ("ci_high", "high"), ("n", "n")):
                metrics.add(("interval", f"{axis}_{name}"), entry[part])
    for axis in sorted(axes.keys() - set(chief)):
        metrics.add(("other_axes", axis), axes[axis]["mean"])
    for group in ("budget_use", "errors"):
        for name, value in summary[group].items():
            metrics.add((group, name), value)
    for name, value in summary["ledger"].get("total", {}).items():
        metrics.add(("ledger", name), value)
    _add_gate(metrics, summary["gate"])
    for name, depth in summary["depths"].items():
        for axis in with_corrected(summary["headline"]):
            mean = summary["strata"][name].get(axis, {}).get("mean")
            metrics.add(("depth", axis), mean, depth)
    return metrics


def sweep_metrics(sweep: Mapping[str, Any]) -> Metrics:
    """The metrics of a sweep's own run: its answer at a glance, what was decided, what failed.

    `at_a_glance` comes before `axes`, which is empty until the sweep is unfolded. The means of the
    arms are metrics of the runs below it, under one name for all of them, which is what MLflow's
    charts compare; a name for each arm would be a chart of one bar.
    """
    metrics = Metrics()
    if (found := glance(sweep)) is not None:
        for name, value in found.numbers().items():
            metrics.add(("at_a_glance", f"{found.axis}_{name}"), value)
    conclusions = Counter(
        "decided" if row["conclusion"] in DECIDED else row["conclusion"]
        for row in of_sweep(sweep).over_seeds.sweep["comparisons"]
    )
    metrics.add(("comparisons", "n"), conclusions.total())
    for conclusion, n in {"decided": 0, **conclusions}.items():
        metrics.add(("comparisons", conclusion), n)
    metrics.add(("errors", "n"), sum(job["errors"]["n"] for job in sweep["jobs"]))
    return metrics


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
