"""Reading numbers back from a recipe's page, and making them again from rows in plain Python."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from framework.analysis.evidence import Job
from framework.records import Row

_NUMBER = re.compile(r"^[+-]?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Printed:
    """A table of a page: its columns, and its rows by what stands first in them."""

    columns: list[str]
    rows: list[list[str]]

    def text(self, row: str, column: str) -> str:
        """The whole cell; of several rows with that name, of the first."""
        found = next(cells for cells in self.rows if cells[0] == row)
        return found[self.columns.index(column)]

    def number(self, row: str, column: str) -> float:
        """The number that the cell begins with."""
        found = _NUMBER.match(self.text(row, column))
        assert found, (row, column, self.text(row, column))
        return float(found[0])


def tables(markdown: str) -> dict[str, Printed]:
    """By caption, the tables of a page."""
    found: dict[str, Printed] = {}
    lines = markdown.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("|") and set(line) <= set("|- "):
            columns = _cells(lines[i - 1])
            rows = []
            for below in lines[i + 1 :]:
                if not below.startswith("|"):
                    break
                rows.append(_cells(below))
            found[lines[i - 3].strip("*")] = Printed(columns, rows)
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def depth(row: Row) -> int:
    """The depth of a governed task."""
    return int(row.stratum.removeprefix("d"))


def values(
    job: Job, of: str | Callable[[Row], float | None], where: Callable[[Row], bool] | None = None
) -> dict[str, float]:
    """By case, the mean over its rows of an axis, or of what a function gives, where defined."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in job.rows:
        value = row.axes.get(of) if isinstance(of, str) else of(row)
        if value is not None and (where is None or where(row)):
            found[row.case_id].append(value)
    return {case: sum(each) / len(each) for case, each in found.items()}


def mean(
    job: Job, of: str | Callable[[Row], float | None], where: Callable[[Row], bool] | None = None
) -> float:
    """The mean over cases of `values`."""
    found = values(job, of, where)
    return sum(found.values()) / len(found)


def at(level: int) -> Callable[[Row], bool]:
    """Whether a row is of that depth."""
    return lambda row: depth(row) == level


def near(shown: float, exact: float, digits: int = 2) -> None:
    """The number rounds to what is shown."""
    assert shown == pytest.approx(exact, abs=0.5001 * 10**-digits)
