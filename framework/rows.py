"""Rows as plain data and as columns: measured columns first, timing columns apart.

A measured column is the same, bit for bit, in a run and in its repetition; timing columns, whose
names start with `timing_`, `paid_usd` and `model` are not measured.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from sys import intern
from typing import Any, Final, cast, overload

from framework.records import Row, Usage
from framework.text.counting import counted

KEY: Final = ("case_id", "arm", "trial", "repeat", "turn")
_PLAIN: Final = (
    *KEY,
    "history_id",
    "stratum",
    "cluster",
    "depth",
    "expected",
    "success",
    "sufficient",
    "all_retained",
    "determined",
    "form_read",
    "decision",
    "reasons",
    "view_tokens",
    "available_tokens",
    "budget_tokens",
    "domain_version",
    "error",
    "state",
)
_UNMEASURED: Final = ("model",)
"""Who answered: no measurement, and kept with timing and spend."""
NAMES: Final[Mapping[str, str]] = {"variant": "trial", "sample": "repeat"}
"""Fields of rows that older runs wrote under another name, with the name they have now."""
COLUMNS: Final[Mapping[str, str]] = {"depth": "case_depth"}
"""Fields of a row whose column has another name: an axis may measure a `depth`."""
_DEPTH: Final = re.compile(r"(?:depth=|stratum=d)(\d+)")
_PHASES: Final = ("ingest", "recall", "answer", "judge", "control", "measure", "author", "write")
_USAGE_MEASURED: Final = (
    "calls",
    "tokens_in",
    "tokens_out",
    "tokens_cached",
    "cost_usd",
    "repairs",
    "unreadable",
)
_PART: Final = 1_000
"""Rows that are packed together."""


class PackedRows(Sequence[Row]):
    """Rows in memory, compressed in parts of 1,000: 70 bytes a row that takes 1,400 as an object.

    Going through them unpacks one part at a time, and so does an index.
    """

    __slots__ = ("_last", "_open", "_parts")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._parts: list[bytes] = []
        self._open: list[Row] = []
        self._last: tuple[int, list[Row]] = (-1, [])
        if isinstance(rows, PackedRows):
            self._parts, self._open, rows = list(rows._parts), list(rows._open), ()
        for row in rows:
            self.append(row)

    def append(self, row: Row) -> None:
        """Add a row at the end."""
        self._open.append(row)
        if len(self._open) == _PART:
            self._parts.append(_packed(self._open))
            self._open = []

    def __len__(self) -> int:
        return len(self._parts) * _PART + len(self._open)

    def __iter__(self) -> Iterator[Row]:
        for part in self._parts:
            yield from _unpacked(part)
        yield from self._open

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        part, place = divmod(range(len(self))[at], _PART)
        if part == len(self._parts):
            return self._open[place]
        if self._last[0] != part:
            self._last = part, _unpacked(self._parts[part])
        return self._last[1][place]


_FIELDS: Final = {record: [f.name for f in dataclasses.fields(record)] for record in (Row, Usage)}
_VALUES: Final = {record: attrgetter(*names) for record, names in _FIELDS.items()}
_PUT: Final = {cls: [getattr(cls, name).__set__ for name in _FIELDS[cls]] for cls in _FIELDS}


def _restored(record: type[Any], values: tuple[object, ...]) -> Any:
    made = object.__new__(record)
    for put, value in zip(_PUT[record], values, strict=True):
        put(made, value)
    return made


def _packed(rows: Sequence[Row]) -> bytes:
    """Compressed; by slots, as a dataclass looks its fields up anew for each object it restores."""
    pickler = pickle.Pickler(file := io.BytesIO(), 5)
    pickler.dispatch_table = dict.fromkeys(
        _FIELDS, lambda one: (_restored, (type(one), _VALUES[type(one)](one)))
    )
    pickler.dump(rows)
    return zlib.compress(file.getvalue(), 1)


def _unpacked(part: bytes) -> list[Row]:
    return cast("list[Row]", pickle.loads(zlib.decompress(part)))


def chosen(rows: Sequence[Row], keep: Callable[[Row], bool]) -> Sequence[Row]:
    """The rows that are to be kept; `rows` itself where these are all."""
    if all(keep(row) for row in rows):
        return rows
    return PackedRows(row for row in rows if keep(row))


def to_plain(row: Row) -> dict[str, Any]:
    """The row as JSON data, as the journal holds it."""
    plain: dict[str, Any] = {name: getattr(row, name) for name in (*_PLAIN, *_UNMEASURED)}
    plain["reasons"] = list(row.reasons)
    plain["tags"] = dict(row.tags)
    plain["axes"] = dict(row.axes)
    plain["usage"] = {phase: dataclasses.asdict(u) for phase, u in row.usage.items()}
    plain["timing"] = dict(row.timing)
    return plain


def from_plain(plain: Mapping[str, Any]) -> Row:
    """The row of its JSON data, of whatever version wrote it.

    Texts that rows have in common are one object: of the rows of a large run they are the most.
    """
    plain = {NAMES.get(name, name): _shared(value) for name, value in plain.items()}
    if "success" not in plain:
        plain = {**plain, **_before_outcomes(plain)}
    usage = {
        phase: Usage(**{**u, "call_seconds": tuple(u.get("call_seconds", ()))})
        for phase, u in plain["usage"].items()
    }
    return Row(**{**plain, "usage": usage, "reasons": tuple(plain.get("reasons", ()))})


def _shared(value: Any) -> Any:
    if isinstance(value, str):
        return intern(value)
    if isinstance(value, dict):
        return {intern(name): _shared(inner) for name, inner in value.items()}
    return value


def _before_outcomes(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What a row did not yet say of itself, from its columns, tags and stratum."""
    axes = plain["axes"]
    kappa, leak, defaulted = (axes.get(name) for name in ("kappa", "leak", "default_rate"))
    success = leak if kappa is None else kappa
    retained = None if success is None else kappa is not None
    if retained is None and axes.get("p_ret") is not None:
        retained = bool(axes["p_ret"])
    names = [f"stratum={plain['stratum']}", *(f"{t}={v}" for t, v in plain["tags"].items())]
    depths = [depth for name in names if (depth := depth_named(name)) is not None]
    return {
        "success": success,
        "sufficient": retained,
        "all_retained": retained,
        "determined": None if defaulted is None else not defaulted,
        "depth": depths[-1] if depths else None,
    }


def depth_named(stratum: str) -> int | None:
    """The depth that a stratum of an old run stands for by its name; None for any other stratum."""
    found = _DEPTH.fullmatch(stratum)
    return int(found[1]) if found else None


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows sorted by key: the order of every file and comparison."""
    return sorted(rows, key=lambda row: row.key)


def going_up(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows sorted by key; in memory are only those that came before their turn."""
    if all(before.key <= row.key for before, row in pairwise(rows)):
        yield from rows
        return
    order = sorted(range(len(rows)), key=[row.key for row in rows].__getitem__)
    place = [0] * len(order)
    for turn, at in enumerate(order):
        place[at] = turn
    del order
    early: dict[int, Row] = {}
    turn = 0
    for at, row in enumerate(rows):
        early[place[at]] = row
        while turn in early:
            yield early.pop(turn)
            turn += 1


def by_session(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows with the turns of a session as one: its last, with what all of them took.

    Of the ingest, which they share, that is the last's. Rows of other protocols are as they are.
    """
    if not any(row.turn for row in rows):
        return rows
    turns: dict[tuple[str, str, int, int], list[Row]] = {}
    for row in rows:
        turns.setdefault(row.key[:4], []).append(row)
    return [own[0] if len(own) == 1 else _session(in_order(own)) for own in turns.values()]


def _session(turns: Sequence[Row]) -> Row:
    usage: dict[str, Usage] = {}
    timing: dict[str, float] = {}
    for row in turns:
        for phase, took in row.usage.items():
            shared = phase == "ingest" or phase not in usage
            usage[phase] = took if shared else usage[phase].plus(took)
        for name, seconds in row.timing.items():
            timing[name] = seconds if name == "ingest_s" else timing.get(name, 0.0) + seconds
    # A session ends with a turn that failed, but for one of which something had no form in a file.
    error = next((row.error for row in turns if row.error), "")
    return replace(turns[-1], turn=0, usage=usage, timing=timing, error=error)


def measured(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The measured columns of rows, sorted by key: what resume and replay must give again."""
    return [flat(row, timing=False) for row in in_order(rows)]


def is_measured(column: str) -> bool:
    """Whether a Parquet column is measured, not timing, spend, or who answered."""
    return not column.startswith("timing_") and column not in ("paid_usd", *_UNMEASURED)


def is_taken(name: str) -> bool:
    """Whether a column of rows bears this name whatever is measured, so that no axis may."""
    return (
        name in (*(COLUMNS.get(n, n) for n in _PLAIN), "cost_usd", "paid_usd", *_UNMEASURED)
        or name.startswith(("tag_", "timing_"))
        or any(name == f"{p}_{u}" for p in _PHASES for u in _USAGE_MEASURED)
    )


def flat(row: Row, *, timing: bool) -> dict[str, Any]:
    """The columns of one row; those of `timing` are not measured."""
    columns: dict[str, Any] = {COLUMNS.get(name, name): getattr(row, name) for name in _PLAIN}
    columns["reasons"] = list(row.reasons)
    columns.update({f"tag_{name}": value for name, value in sorted(row.tags.items())})
    columns.update({n: None if v is None else float(v) for n, v in sorted(row.axes.items())})
    for phase, usage in sorted(row.usage.items()):
        columns.update({f"{phase}_{name}": getattr(usage, name) for name in _USAGE_MEASURED})
    columns["cost_usd"] = sum(usage.cost_usd for usage in row.usage.values())
    if timing:
        columns.update({name: getattr(row, name) for name in _UNMEASURED})
        columns["paid_usd"] = sum(usage.paid_usd for usage in row.usage.values())
        for phase, usage in sorted(row.usage.items()):
            columns[f"timing_{phase}_model_s"] = usage.seconds
        columns.update({f"timing_{name}": value for name, value in sorted(row.timing.items())})
    return columns


def cases_of(rows: Iterable[Row]) -> str:
    """`: it has 3 cases, fx01 to fx03` for a message, by id."""
    ids = sorted({row.case_id for row in rows})
    return f": it has {counted(len(ids), 'case')}{f', {ids[0]} to {ids[-1]}' if ids else ''}"
