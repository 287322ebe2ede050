"""Try every fault, and say where an outcome is not the one that is recorded.

    python -m benchmarks.chaos [--short] [--record] [NAME ...]

Each trial is the command in a process of its own, in an empty directory, with keys that may stand
in no file or message, bounded in seconds and memory. `--record` writes the outcomes, which the
table of docs/reference/reliability.md is made from; without it the status is 1 where one changed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from benchmarks.chaos import killed, places, sweeps  # noqa: F401  # which put their faults in the table
from benchmarks.chaos.faults import FAULTS, Fault
from benchmarks.chaos.trial import ROOT, Place
from framework.store.atomic import as_json, write_text

RECORDED: Final = Path(__file__).with_name("outcomes.json")
PAGE: Final = ROOT / "docs" / "reference" / "reliability.md"
_BEGIN, _END = "<!-- chaos: begin -->", "<!-- chaos: end -->"
_AT_ONCE: Final = 2


def key(fault: Fault) -> str:
    """What names a fault in the file of outcomes."""
    return f"{fault.group}: {fault.name}"


def outcome(fault: Fault) -> str:
    """What comes of a trial."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Place(Path(scratch))
        try:
            found = fault.trial(place)
        except AssertionError as error:  # what the fault is of could not be made
            found = f"NOT TRIED: {error}"
        leaks = place.leaks()
        return f"LEAKS into {', '.join(leaks)}; {found}" if leaks else found


def tried(faults: Sequence[Fault]) -> dict[str, str]:
    """The outcomes by the faults' keys, told as they come."""
    found: dict[str, str] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for fault, came in zip(faults, pool.map(outcome, faults), strict=True):
            found[key(fault)] = came
            print(f"{key(fault)}\n    {came}", flush=True)
    return found


def recorded() -> dict[str, str]:
    """The outcomes that are held to."""
    found: dict[str, str] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def differing(found: Mapping[str, str]) -> list[str]:
    """What is not as it is recorded, a line each."""
    held = recorded()
    return [
        f"{name}: {came!r}, not {held.get(name)!r}"
        for name, came in found.items()
        if came != held.get(name)
    ]


def table(outcomes: Mapping[str, str]) -> str:
    """The table of the page."""
    rows = ["| what | fault | outcome: exit status and last line |", "|---|---|---|"]
    for fault in FAULTS:
        came = outcomes.get(key(fault), "not tried").replace("|", "\\|")
        rows.append(f"| {fault.group} | {fault.name} | `{came}` |")
    return "\n".join(rows)


def put(outcomes: Mapping[str, str]) -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    write_text(PAGE, f"{before}{_BEGIN}\n{table(outcomes)}\n{_END}{after}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, print and compare. The status: 1 where an outcome is not as it is recorded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--short", action="store_true", help="a few of each kind")
    parser.add_argument("--record", action="store_true", help="hold to these outcomes from now on")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults whose keys hold one")
    args = parser.parse_args(arguments)
    chosen = [f for f in FAULTS if f.short or not args.short]
    chosen = [f for f in chosen if not args.names or any(name in key(f) for name in args.names)]
    began = time.monotonic()
    found = tried(chosen)
    print(f"{len(found)} faults in {time.monotonic() - began:.0f} s")
    if args.record:
        held = {**(recorded() if RECORDED.exists() else {}), **found}
        known = {key(fault): held[key(fault)] for fault in FAULTS if key(fault) in held}
        write_text(RECORDED, as_json(known))
        put(known)
        return 0
    problems = differing(found)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
