from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from framework.errors import DataError, UserError


def test_a_mistake_is_one_line() -> None:
    assert str(UserError("no such arm:\n  'x'\u2028allowed: y")) == "no such arm:   'x' allowed: y"


@pytest.mark.parametrize(("line", "told"), [(7, "d/f.json:7: bad"), (None, "d/f.json: bad")])
def test_a_bad_record_names_its_place(line: int | None, told: str) -> None:
    error = DataError(Path("d/f.json"), line, "bad")
    assert str(error) == told
    assert (error.file, error.line, error.problem) == ("d/f.json", line, "bad")
    assert isinstance(error, UserError)


def test_mistakes_survive_the_way_back_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(DataError("f", 3, "bad")))
    assert (type(error), str(error), error.line) == (DataError, "f:3: bad", 3)
    assert str(pickle.loads(pickle.dumps(UserError("no")))) == "no"
