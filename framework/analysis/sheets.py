"""CSV files: tables, and sheets that people fill in (an id, what is asked, an empty `label`)."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from framework.errors import DataError, UserError
from framework.text.counting import counted

T = TypeVar("T")
_FORMULA: Final = re.compile(r"(?:^|(?<=;))(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")


def write_table(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table whose texts no spreadsheet takes for formulas; numbers stay as they are.

    An apostrophe stands before what begins one (`=`, `+`, `-`, `@`, their full-width forms, a tab
    or the end of a line), at the start of a text or after a semicolon, which separates cells in
    some countries. Source: https://owasp.org/www-community/attacks/CSV_Injection.
    """
    writer = csv.DictWriter(file, columns, restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: _FORMULA.sub("'", v) if isinstance(v, str) else v
                         for k, v in row.items()})  # fmt: skip


def all_comparisons(sweep: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The comparisons of a sweep.json, and behind them those of its seeds together."""
    return [*sweep["comparisons"], *(sweep.get("over_seeds") or {}).get("comparisons", ())]


def write_comparisons(file: TextIO, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write comparison.csv: the comparisons of sweep.json (`all_comparisons`)."""
    columns = list(dict.fromkeys(key for row in rows for key in row)) or ["arm_a", "arm_b"]
    write_table(file, columns, rows)


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a new sheet. Raises UserError for a file that exists: it may hold labels."""
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            write_table(file, columns, rows)
    except FileExistsError:
        raise UserError(f"{path} exists already: it may hold labels; choose another file") from None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def read_labels(path: Path, meant: Callable[[str], T], hint: str) -> dict[str, T]:
    """Label by id; rows without one are left out.

    meant : what a label stands for; raises ValueError with what is wrong with it. hint : what to
        write into the column.

    Raises UserError for a file that is no sheet or has no label, DataError naming the line of a
    label that means nothing, or an id that appears twice.
    """
    labels: dict[str, T] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if not {"id", "label"} <= set(rows.fieldnames or ()):
                raise UserError(f"{path}: columns id and label expected")
            end = rows.line_num
            for row in rows:
                line, end = end + 1, rows.line_num  # a text of several lines ends further down
                label = (row["label"] or "").strip()
                if not label:
                    continue
                try:
                    found = meant(label)
                except ValueError as error:
                    raise DataError(path, line, str(error)) from None
                if row["id"] in labels:
                    raise DataError(path, line, f"id {row['id']} appears twice")
                labels[row["id"]] = found
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: can't be read: {error}") from None
    if not labels:
        raise UserError(f"{path}: no label yet; write {hint} into the column label")
    return labels


def check_known(labels: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise UserError for a label of what is not there."""
    unknown = sorted(set(labels) - set(known))
    if unknown:
        ids = counted(len(unknown), "id")
        raise UserError(f"the sheet has {ids} of no {what} here, as {unknown[0]}")
