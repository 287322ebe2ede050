"""What the papers print, by paper and table: to stand beside what is measured here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

_FOLDER: Final = Path(__file__).parent

Standing = Literal["reported", "modelled", "vendor"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """One printed table.

    source : where in the paper.
    standing : `reported` (measured by the authors), `modelled` (placed or computed from a model) or
        `vendor` (a vendor's own claim, retold). None of them is measured here.
    columns : names of the values; empty where a row's values are steps.
    values : texts by row label, or a list of rows whose first texts name them; "" where the paper
        prints nothing.
    """

    paper: str
    name: str
    source: str
    standing: Standing
    columns: tuple[str, ...]
    values: Any

    def row(self, label: str) -> Mapping[str, str]:
        """The texts of a row by column; empty for a row that is not printed."""
        found = self.values.get(label, ()) if isinstance(self.values, dict) else ()
        return dict(zip(self.columns, found, strict=False))


@cache
def printed(paper: str) -> Mapping[str, Printed]:
    """A paper's tables by name, of all its files `values*.yaml`."""
    raw: dict[str, dict[str, Any]] = {}
    for path in sorted((_FOLDER / paper).glob("values*.yaml")):
        raw |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        name: Printed(
            paper=paper,
            name=name,
            source=table["source"],
            standing=table["standing"],
            columns=tuple(map(str, table.get("columns", ()))),
            values=table["values"],
        )
        for name, table in raw.items()
    }


def printed_numbers(paper: str) -> dict[str, Any]:
    """The paper's printed numbers by table, as text."""
    return {name: table.values for name, table in printed(paper).items()}


def printed_number(text: str) -> float | None:
    """A printed text as a number; None where nothing, or no number, is printed."""
    try:
        return float(text)
    except ValueError:
        return None
