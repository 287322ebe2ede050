"""What each paper has, table by table and figure by figure, and how each stands here.

`PAPER/contents*.yaml` has them by kind and by number. Parts are theorems and sections with results
but no number of a table or figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from framework.text.reading import read_yaml

_FOLDER: Final = Path(__file__).parent

Status = Literal["recorded", "measured", "reported", "none"]
Kind = Literal["tables", "figures", "parts"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One table, figure or part of a paper.

    number : the paper's, or what a part is called there. what : what it shows, in our words.
    status : `recorded` (computed from rows that the authors published; from rows of ours too),
        `measured` (its counterpart is computed from rows of ours), `reported` (only what the paper
        prints is kept) or `none` (nothing is here).
    by : recipes that make it. report : the part of every report that shows the same.
    of : the sweep, where the recipe does not name it. page : where more is said.
    values : tables of `printed` with what the paper prints of it.
    why : what is other, or why there is nothing. apart : by table of `values` that no recipe of
    `by` prints, though its counterpart is made here, why not.
    """

    kind: Kind
    number: str
    what: str
    status: Status
    by: Sequence[str]
    report: str
    of: str
    page: str
    values: Sequence[str]
    why: str
    apart: Mapping[str, str]


@cache
def contents(paper: str) -> tuple[Entry, ...]:
    """Everything that a paper has: its tables, its figures, its other parts."""
    raw: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted((_FOLDER / paper).glob("contents*.yaml")):
        raw |= read_yaml(path.read_text(encoding="utf-8"))
    return tuple(
        _entry(kind, number, found) for kind in KINDS for number, found in raw.get(kind, {}).items()
    )


def _entry(kind: Kind, number: str, found: Mapping[str, Any]) -> Entry:
    def listed(key: str) -> tuple[str, ...]:
        value = found.get(key, ())
        return (value,) if isinstance(value, str) else tuple(value)

    unknown = found.keys() - {key.name for key in fields(Entry)} | found.keys() & {"kind", "number"}
    if unknown:
        raise ValueError(f"{number}: no key {', '.join(sorted(unknown))}")
    status = str(found["status"])
    return Entry(
        kind=kind,
        number=number,
        what=found["what"],
        status=next(known for known in get_args(Status) if known == status),
        by=listed("by"),
        report=found.get("report", ""),
        of=found.get("of", ""),
        page=found.get("page", ""),
        values=listed("values"),
        why=found.get("why", ""),
        apart=found.get("apart", {}),
    )
