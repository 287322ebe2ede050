from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from framework.store.processes import HOST, is_alive, is_gone, this


def test_a_process_is_there_until_it_ends_and_this_one_is_no_other() -> None:
    assert not is_gone(this())
    program = "from framework.store.processes import this; print(this(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        name = other.stdout.readline().strip()
        assert name != this()
        assert not is_gone(name)
        other.communicate("\n")
    assert is_gone(name)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system doesn't tell when")
def test_a_later_process_of_its_number_is_another() -> None:
    host, pid, began = this().split("-")
    assert is_gone(f"{host}-{pid}-{int(began) - 1}")
    assert is_gone(f"{host}-{2**22 + 1}-{began}")


def test_a_process_of_another_machine_is_gone() -> None:
    _, pid, began = this().split("-")
    assert is_gone(f"{int(HOST, 16) ^ 1:08x}-{pid}-{began}")


def test_a_number_that_no_process_has() -> None:
    assert is_alive(os.getpid())
    assert not is_alive(2**22 + 1)
    assert not is_alive(2**70)
