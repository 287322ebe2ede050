"""Reading the records of a run's cases: `answers.jsonl` and its closed segments."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from framework.errors import DataError, UserError
from framework.store.seal import ANSWERS, JOURNAL
from framework.store.segments import joined, n_closed, segment, unpacked
from framework.text.reading import read_json

_SPOOLED: Final = 1 << 26
"""Bytes of unpacked answers that are held in memory."""


def answer_lines(run: Path) -> Iterator[bytes]:
    """The lines of all records, in the order they were written, one in memory at a time.

    Of a run that goes on, those that are there now. Raises OSError where there are none, DataError
    for a damaged segment.
    """
    path, behind = run / ANSWERS, 0
    while True:
        closed = n_closed(run / JOURNAL)
        for number in range(behind + 1, closed + 1):
            with unpacked(segment(path, number)) as lines:
                yield from lines
        behind = closed
        with path.open("rb") as content, tempfile.SpooledTemporaryFile(_SPOOLED) as lines:
            shutil.copyfileobj(content, lines, 1 << 20)
            # Where its writer has closed a segment since, what was copied may begin in the next.
            if n_closed(run / JOURNAL) == closed:
                lines.seek(0)
                yield from lines
                return


def answer_records(run: Path) -> Iterator[Any]:
    """All records, in the order they were written.

    Raises UserError where there are none, DataError for a line that is no record.
    """
    try:
        for number, line in enumerate(answer_lines(run), 1):
            try:
                record = read_json(line)
            except ValueError:
                raise DataError(run / ANSWERS, number, "not JSON") from None
            yield record
    except OSError:
        raise UserError(f"{run} has no {ANSWERS}: not a run") from None


def answered(run: Path) -> Iterator[Any]:
    """The records of what was answered, neither failed nor left unasked.

    Raises as `answer_records`.
    """
    return (one for one in answer_records(run) if not one["error"] and not one.get("state"))


def unsupported_of(run: Path) -> tuple[int, int]:
    """Verdicts in a run's records that rest on words which the answer does not have, of how many.

    Those on answers from further views are counted too. In records of before such verdicts were
    kept there are none.
    """
    parts = (p for record in answered(run) for p in (record, *record.get("others", {}).values()))
    said = [verdict for part in parts for verdict in part.get("verdicts", ())]
    return sum(not verdict.get("supported", True) for verdict in said), len(said)


@contextmanager
def whole_answers(run: Path) -> Iterator[BinaryIO]:
    """All records as one file that can be read at any place; the answers themselves if they are.

    Where there are closed segments, they are unpacked into a file without a name. Raises as
    `answer_lines`.
    """
    closed = n_closed(run / JOURNAL)
    with joined(run / ANSWERS, closed) as content:
        if closed == 0:
            yield content
            return
        with tempfile.SpooledTemporaryFile(_SPOOLED) as unpacked:
            shutil.copyfileobj(content, unpacked, 1 << 20)
            unpacked.seek(0)
            yield unpacked  # type: ignore[misc]
