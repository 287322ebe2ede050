"""What a report reads of a run's directory beside its rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from framework.analysis.evidence import Job
from framework.records import Row
from framework.rows import by_session
from framework.store.directory import ANSWERS


@pytest.mark.parametrize(("stated", "last"), [((0.1, 0.3, 0.5), 0.5), ((0.9, 0.9, None), None)])
def test_the_confidence_of_a_session_is_that_of_its_last_answer(
    tmp_path: Path, stated: Sequence[float | None], last: float | None
) -> None:
    rows = [
        Row(case_id="c", arm="a", turn=turn, success=success, tags={"last": "yes"} if turn else {})
        for turn, success in enumerate((None, None, 1.0))
    ]
    lines = [{"answer": {"confidence": stated[row.turn]}, "key": list(row.key)} for row in rows]
    text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)
    (tmp_path / ANSWERS).write_text(text, encoding="utf-8")
    job = Job(path=tmp_path, summary={}, manifest={}, rows=by_session(rows))
    (row,) = job.rows
    assert (row.success, job.confidences.get(row.key)) == (1.0, last)
