"""Statistics: pure functions on arrays, one module a family.

No input or output and no configuration. A number that can't be had is ``None`` (NaN inside arrays)
with a method or reason that says why. Random draws come from generators named by what is computed,
so results depend neither on the order of cases nor on what else is computed.
"""

from __future__ import annotations

from framework.statistics.comparison import ComparisonRow, comparison_table
from framework.statistics.correlation import CorrelationMatrix, axis_correlations
from framework.statistics.intervals import Interval, mean_interval, mean_intervals
from framework.statistics.noninferiority import Decision, noninferiority, superiority
from framework.statistics.paired import Comparison, UnpairedCases, compare

__all__ = [
    "Comparison",
    "ComparisonRow",
    "CorrelationMatrix",
    "Decision",
    "Interval",
    "UnpairedCases",
    "axis_correlations",
    "compare",
    "comparison_table",
    "mean_interval",
    "mean_intervals",
    "noninferiority",
    "superiority",
]
