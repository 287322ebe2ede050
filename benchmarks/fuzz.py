"""Give every loader and parser inputs that nobody foresaw.

    python -m benchmarks.fuzz [--inputs N] [NAME ...]

An input is a valid one with stretches cut, doubled, swapped or replaced, or bytes at random. Each
loader may read it or refuse it with its documented error. Anything else, an input that takes more
than ten seconds of CPU, or more than 2 GB of memory for all of them, is a fault: the status is 1.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.loaders import LOADERS, Loader
from benchmarks.sealed import SealedRun
from framework.errors import UserError

SECONDS: Final = 10
BYTES: Final = 2 * 2**30
_HOSTILE: Final = (
    b"", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b'"', b"\\", b"[" * 3_000, b'{"a":' * 3_000,
    b"9" * 5_000, b"1e999", b"NaN", b"-", b"\n", b"\r\n", b"\xe2\x80\xa8", b"null", b"true", b"{}",
    b"[]", b'"\\ud800"', b"*a", b"&a", b"<<: ", b"!!python/name:os.system", b"---", b"\t", b"${x}",
    b"%s", b"../", b"=1+1", b"\x1b[31m", b'{"a":1,"a":2}', b"<!ENTITY a 'b'>", b"&lt;", b"(a+)+$",
)  # fmt: skip


def mutated(valid: bytes) -> st.SearchStrategy[bytes]:
    """The valid input with up to four changes, or bytes at random."""
    places = st.integers(0, max(1, len(valid)))
    change = st.tuples(
        st.sampled_from(["cut", "double", "put", "swap"]), places, st.integers(1, 60),
        st.sampled_from(_HOSTILE) | st.binary(max_size=4),
    )  # fmt: skip

    def apply(changes: list[tuple[str, int, int, bytes]]) -> bytes:
        data = valid
        for kind, at, length, token in changes:
            piece = data[at : at + length]
            between = {"cut": b"", "double": piece * 2, "put": token + piece, "swap": token}[kind]
            data = data[:at] + between + data[at + length :]
        return data

    return st.lists(change, min_size=1, max_size=4).map(apply) | st.binary(max_size=200)


class TooLong(BaseException):
    """An input took more than `SECONDS`."""


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong


def fault_of(loader: Loader | SealedRun, n: int) -> str:
    """The first input that is a fault, and why; empty where there is none."""
    found = ""

    @seed(7)
    @settings(max_examples=n, deadline=None, database=None, phases=[Phase.generate, Phase.shrink],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(mutated(loader.valid))
    def tried(data: bytes) -> None:
        nonlocal found
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            loader.read(data)
        except loader.refuses as error:
            if isinstance(error, UserError) and "\n" in str(error):
                found = f"a message of several lines {str(error)[:200]!r} for {data[:200]!r}"
                raise AssertionError(found) from None
        except BaseException as error:
            found = f"{type(error).__name__}: {str(error)[:200]} for {data[:200]!r}"
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    try:
        tried()
    except (Exception, TooLong):
        return found or "not found again"
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return f"{used / 2**30:.1f} GB of memory" if used > BYTES else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the loaders, and print what was found. The status: 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="for each loader")
    parser.add_argument("names", nargs="*", metavar="NAME", help="loaders whose name it is")
    args = parser.parse_args(arguments)
    signal.signal(signal.SIGPROF, _too_long)
    return tell(lambda name: fault_of(LOADERS[name], args.inputs), args.names)


def tell(find: Callable[[str], str], names: Sequence[str]) -> int:
    """Print what is found of each loader, or of those named; 1 where there is a fault."""
    faults = 0
    for name in LOADERS:
        if names and name not in names:
            continue
        began = time.monotonic()
        found = find(name)
        faults += bool(found)
        print(f"{name}: {found or 'no fault'} ({time.monotonic() - began:.0f} s)", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
