"""The register of pre-registrations when several write to it at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.store import register
from framework.store.hypotheses import read_file

CONF = Path(__file__).resolve().parents[3] / "conf" / "prereg"
NAMES = ("depth", "loan", "longhorizon")


def locked_at_once(
    names: tuple[str, ...], path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """Lock files at once, each some time after it read the register; what was said of mistakes."""
    read = register.locks

    def slowly(path: Path) -> list[register.Lock]:
        found = read(path)
        time.sleep(0.1)
        return found

    monkeypatch.setattr(register, "locks", slowly)
    said: list[str] = []

    def one(name: str) -> None:
        try:
            register.lock(*read_file(CONF / f"{name}.yaml"), path)
        except UserError as error:
            said.append(str(error))

    writers = [threading.Thread(target=one, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    monkeypatch.undo()
    return said


def test_locks_at_once_are_all_in_a_new_register(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs" / "prereg.jsonl"
    assert locked_at_once(NAMES, path, monkeypatch) == []
    assert sorted(entry.name for entry in register.locks(path)) == sorted(NAMES)


def test_of_the_same_locked_at_once_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "prereg.jsonl"
    (said,) = locked_at_once(("loan", "loan"), path, monkeypatch)
    assert said.startswith("loan is locked already, since ")
    assert [entry.name for entry in register.locks(path)] == ["loan"]


def test_a_register_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(UserError, match=r"cannot write .*prereg\.jsonl: File exists"):
        register.lock(*read_file(CONF / "loan.yaml"), tmp_path / "runs" / "prereg.jsonl")
