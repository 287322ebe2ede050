"""Runs the check of one target, or the service's own tests, inside the sandbox.

Started as a module with a JSON object on standard input: `word`, which the verdict is told under
and which nothing else is given; `target`, whose check is run, empty for the service's own tests;
`changed`, line numbers by path. The verdict is a line `WORD {"passed", "problem", "ran"}`, `ran`
being those of the changed lines that were executed. Whoever ends the process before has no verdict.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = ("test_base", "test_people", "test_lending", "test_doors")


def main() -> None:
    """Run what is asked for and tell the verdict."""
    asked = json.loads(sys.stdin.read())
    word, out = asked.pop("word"), sys.stdout
    sys.stdout = sys.stderr
    trace = _Trace({str(HERE / path): set(lines) for path, lines in asked["changed"].items()})
    problem = ""
    try:
        sys.settrace(trace)
        if asked["target"]:
            importlib.import_module(f"{__package__}.invariants").CHECKS[asked["target"]]()
        else:
            run_tests()
    except BaseException as error:  # whatever changed code raises is its failure, SystemExit too
        problem = f"{type(error).__name__}: {error}"[:500]
    finally:
        sys.settrace(None)
    ran = {str(Path(path).relative_to(HERE)): sorted(lines) for path, lines in trace.ran.items()}
    verdict = {"passed": not problem, "problem": problem, "ran": ran}
    out.write(f"\n{word} {json.dumps(verdict)}\n")
    out.flush()


def run_tests() -> None:
    """The service's own tests. Raises what the first that fails raises."""
    for name in TESTS:
        module = importlib.import_module(f"{__package__}.lending.{name}")
        for key, test in list(vars(module).items()):
            if key.startswith("test_") and callable(test):
                test()


class _Trace:
    """Notes which of the given lines are executed."""

    def __init__(self, wanted: dict[str, set[int]]) -> None:
        self._wanted = wanted
        self.ran: dict[str, set[int]] = {path: set() for path in wanted}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        path = frame.f_code.co_filename
        if path not in self._wanted:
            return None
        if event == "line" and frame.f_lineno in self._wanted[path]:
            self.ran[path].add(frame.f_lineno)
        return self


if __name__ == "__main__":
    main()
