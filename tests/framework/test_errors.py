from __future__ import annotations

import errno
import pickle
import tempfile
from pathlib import Path

import pytest

from framework.errors import DataError, UserError, of_a_place


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


def test_no_place_for_temporary_files_is_no_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere/at/all"])
    with pytest.raises(FileNotFoundError) as raised:
        tempfile.gettempdir()
    assert "No usable temporary directory" in str(of_a_place(raised.value))
    assert of_a_place(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
