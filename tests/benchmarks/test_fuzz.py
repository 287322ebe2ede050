"""No spoilt input makes a loader fail otherwise than it says; `make fuzz` tries 10,000 of each."""

from __future__ import annotations

import signal
import struct
from collections.abc import Iterator

import pytest

from benchmarks import inputs
from benchmarks.fuzz import LOADERS, Loader, TooLong, _too_long, fault_of
from benchmarks.sealed import SealedRun
from framework.errors import UserError


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


_HUGE = inputs.GGUF.replace(struct.pack("<Q", 20) + b"general", b"\xff" * 8 + b"general")
_DAMAGED = {
    "gguf": [
        _HUGE,
        inputs.GGUF.replace(struct.pack("<II", 4, 2048), struct.pack("<If", 6, float("inf"))),
        inputs.GGUF.replace(
            b"general.file_type" + struct.pack("<II", 4, 3),
            b"general.file_type" + struct.pack("<IIQI", 9, 4, 1, 3),
        ),
        struct.pack("<4sIQQ", b"GGUF", 3, 0, 1)
        + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 5_000,
    ],
    "locomo_audit": [b"[1]", b"[{}]", inputs.AUDITED.replace(b": true", b": []"),
                     inputs.AUDITED.replace(b'"category": 4', b'"category": 9')],
    "scripted": [b"- 2024-01-01\n", b"- !!set {a}\n", b"- .inf\n"],
    "judges": [LOADERS["judges"].valid + b"x" * 140_000],
    "sheet": [LOADERS["sheet"].valid + b"x" * 140_000],
    "longhorizon": [LOADERS["longhorizon"].valid + b"x" * 140_000,
                    LOADERS["longhorizon"].valid + b"\xff"],
    "prices": [b"models: \xff", b"models:\n  m: {input: 1, output: 2, more: .inf}\n"],
    "calibration": [inputs.CALIBRATED.replace(b'9,', b"1e999,"),
                    inputs.CALIBRATED.replace(b'"x"', b'"y"').replace(b'"judge=rules"', b"1")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"), [(name, data) for name, given in _DAMAGED.items() for data in given],
    ids=[f"{name} {i}" for name, given in _DAMAGED.items() for i in range(len(given))],
)  # fmt: skip
def test_what_is_damaged_is_one_line(name: str, data: bytes) -> None:
    assert data != LOADERS[name].valid
    with pytest.raises(UserError):
        LOADERS[name].read(data)
