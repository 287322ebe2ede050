"""Let coverage guide the inputs of the loaders, where atheris is installed.

    pip install atheris
    python -m benchmarks.guided [--inputs N] [NAME ...]

The counterpart of `benchmarks.fuzz`: the same loaders, the same faults, but libFuzzer keeps what
reaches code that no input before it reached, and changes that one further. Each loader has a
process of its own, since libFuzzer ends it. Status 1 where there was a fault, 2 without atheris.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).resolve().parents[1]
_READ: Final = (
    "framework",
    "plugins",
    "yaml",
    "json",
    "csv",
    "email",
    "html",
    "sqlglot",
    "omegaconf",
)
"""The packages whose code guides."""


def _guide(name: str, inputs: int) -> None:
    """Try one loader; does not return."""
    import atheris

    with atheris.instrument_imports(include=list(_READ)):
        from benchmarks.fuzz import BYTES, SECONDS
        from benchmarks.loaders import LOADERS
        from framework.errors import UserError

    loader = LOADERS[name]

    def tried(data: bytes) -> None:
        try:
            loader.read(data)
        except loader.refuses as error:
            if isinstance(error, UserError) and "\n" in str(error):
                raise AssertionError("a message of several lines") from error

    with tempfile.TemporaryDirectory() as corpus:
        (Path(corpus) / "valid").write_bytes(loader.valid)
        atheris.Setup(
            [sys.argv[0], f"-runs={inputs}", f"-timeout={SECONDS}", "-seed=7",
             f"-rss_limit_mb={BYTES // 2**20}", "-verbosity=0", "-print_final_stats=0", corpus],
            tried,
        )  # fmt: skip
        atheris.Fuzz()


def fault_of(name: str, inputs: int) -> str:
    """What libFuzzer and Python said of the first fault; empty where there was none."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.guided", "--one", name, "--inputs", str(inputs)],
            capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path[1:], str(_ROOT)])},
            cwd=scratch,
        )  # fmt: skip
        kept = [path.read_bytes()[:200] for path in Path(scratch).glob("*-*") if path.is_file()]
    if done.returncode == 0:
        return ""
    said = (done.stdout + done.stderr).strip().splitlines()
    lines = [line for line in said if not line.startswith("INFO:")]
    raised = next((i for i, line in enumerate(lines) if "Uncaught Python exc" in line), -12)
    return " | ".join([*lines[raised:][:30], *map(repr, kept)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the loaders, and print what was found. The status: 1 where there was a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="for each loader")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help="loaders whose name it is")
    args = parser.parse_args(arguments)
    if find_spec("atheris") is None:
        print("error: pip install atheris (a wheel for CPython 3.11 to 3.13 on Linux)",
              file=sys.stderr)  # fmt: skip
        return 2
    if args.one:
        _guide(args.one, args.inputs)
    from benchmarks.fuzz import tell

    return tell(lambda name: fault_of(name, args.inputs), args.names)


if __name__ == "__main__":
    sys.exit(main())
