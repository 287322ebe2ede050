"""The model on board as a judge: which right and which wrong answers it passes.

    python -m benchmarks.local_judge [--replay] [--keep] [--into FILE#NAME]

Asks the model in the process (`make local`) about sets of known truth, by `calibrate local`, whose
own answers are kept, so that a call that was cut off goes on. --replay takes them from the shipped
file and needs no model; --keep puts what was asked there.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.language_model import FILES, RECORDED, packed, unpacked
from framework.errors import UserError
from framework.reporting.blocks import Cell, Table
from framework.reporting.cells import UNDEFINED, bounded, count
from framework.reporting.markdown import blocks_markdown, print_or_put
from plugins.models.local.model import PACKAGED

KEPT: Final = Path(".cache") / "local_judge" / FILES[0]
SHIPPED: Final = RECORDED / "judge"
SETS: Final[Mapping[str, Sequence[str]]] = {"questions": ("calibration.n_cases=40",)}
"""By name, the sets and how much of each."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask or replay, and print the table or write it between markers. The status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--replay", action="store_true", help="from the shipped answers alone")
    parser.add_argument("--keep", action="store_true", help="ship what was asked")
    parser.add_argument("--into", metavar="FILE#NAME", help="where the table goes")
    args = parser.parse_args(arguments)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    if args.replay:
        unpacked(SHIPPED, KEPT)
    found = {name: rates(name, replay=args.replay) for name in SETS}
    if args.keep:
        packed(SHIPPED).write_bytes(lzma.compress(KEPT.read_bytes(), preset=9))
    print_or_put(table(found), args.into)
    return 0


def rates(name: str, *, replay: bool) -> dict[str, Any]:
    """What `calibrate --json` says of the judge on a set. Raises UserError where it says nothing.

    Its status is 1 for a judge that is no better than chance, which is a result here.
    """
    words = [
        "calibrate", "local", "--set", name, "--json", *SETS[name], f"judge.model.cache={KEPT}",
        *(["judge.model.replay=true"] if replay else []),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "framework", *words], stdout=subprocess.PIPE, text=True
    )
    if not done.stdout.startswith("{"):
        raise UserError(f"calibrate --set {name} ended with status {done.returncode}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """The rates by set and kind of answer, in Markdown."""
    rows: list[Sequence[Cell | str]] = []
    for name, of in found.items():
        silent = of["abstained"]
        for kind, rate, none in (
            ("all right answers", of["right"], None),
            ("all wrong answers", of["wrong"], None),
            *((kind, rate, silent.get(kind, 0)) for kind, rate in of["sorts"].items()),
        ):
            share = UNDEFINED
            if rate["n"]:
                share = bounded(rate["passed"] / rate["n"], rate["low"], rate["high"])
            rows.append([name, kind, share, count(rate["n"]), "" if none is None else count(none)])
    shown = Table(
        anchor="judge",
        caption=f"Judge {PACKAGED.described}: share passed with 95% limits",
        columns=["set", "answers", "passed", "n", "no verdict"],
        rows=rows,
    )
    return blocks_markdown([shown])


if __name__ == "__main__":
    sys.exit(main())
