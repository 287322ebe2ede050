"""Sheets that people fill in: CSV files with an id, what is asked, and an empty column `label`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from framework.errors import DataError, UserError

T = TypeVar("T")


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a new sheet. Raises UserError for a file that exists: it may hold labels."""
    try:
        with path.open("x", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, restval="")
            writer.writeheader()
            writer.writerows(rows)
    except FileExistsError:
        raise UserError(f"{path} exists already: it may hold labels; choose another file") from None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def read_labels(path: Path, meant: Callable[[str], T], hint: str) -> dict[str, T]:
    """Label by id; rows without one are left out.

    meant : what a label stands for; raises ValueError with what is wrong with it. hint : what to
        write into the column.

    Raises UserError for a file that is no sheet or has no label, DataError naming the line of a
    label that means nothing, or an id that is there twice.
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
                    raise DataError(path, line, f"id {row['id']} is there twice")
                labels[row["id"]] = found
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read: {error}") from None
    if not labels:
        raise UserError(f"{path}: no label yet; write {hint} into the column label")
    return labels


def check_known(labels: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise UserError for a label of what is not there."""
    unknown = sorted(set(labels) - set(known))
    if unknown:
        raise UserError(f"the sheet has {len(unknown)} ids of no {what} here, as {unknown[0]}")
