"""No spoilt input makes a loader fail otherwise than it says; `make fuzz` tries 10,000 of each."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from benchmarks.fuzz import LOADERS, Loader, TooLong, _too_long, fault_of
from benchmarks.sealed import SealedRun


@pytest.fixture(autouse=True)
def alarmed() -> Iterator[None]:
    before = signal.signal(signal.SIGPROF, _too_long)
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if isinstance(loader, SealedRun) else ())
        for name, loader in LOADERS.items()
    ],
)
def test_a_loader_reads_its_valid_input(name: str) -> None:
    LOADERS[name].read(LOADERS[name].valid)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADERS)
def test_a_loader_reads_or_refuses(name: str) -> None:
    assert fault_of(LOADERS[name], 200) == ""


def test_what_is_not_refused_as_documented_is_a_fault() -> None:
    def fails(data: bytes) -> object:
        return data.decode()

    assert fault_of(Loader(fails, b"abc"), 200).startswith("UnicodeDecodeError: ")
    assert fault_of(Loader(fails, b"abc", (UnicodeDecodeError,)), 200) == ""
    assert issubclass(TooLong, BaseException)
