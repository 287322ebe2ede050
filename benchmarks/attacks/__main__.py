"""Every shortcut that was tried, and what it earns beside the best arm.

    make attack [ARGS="--cases N --seed S --only KIND,..."]

Ends with status 1 when a shortcut earns more than is allowed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from benchmarks.attacks import Earned, kinds

WIDTHS = (19, 17, 20, 6, 6, 7)
HEADER = ("domain", "shortcut", "figure", "earns", "best", "allowed")


def main(arguments: Sequence[str]) -> int:
    """Print the tables of the kinds asked for."""
    known = kinds()
    parser = argparse.ArgumentParser(prog="make attack", description=__doc__)
    parser.add_argument("--cases", type=int, default=100, help="cases of each domain")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default=",".join(known), help="kinds, separated by commas")
    asked = parser.parse_args(arguments)
    broken = 0
    for name in asked.only.split(","):
        if name not in known:
            parser.error(f"--only {name}: no such kind; there are {', '.join(known)}")
        found = list(known[name].attempts(asked.cases, asked.seed))
        print(f"\n{name}\n{(known[name].__doc__ or '').strip()}\n")
        print("\n".join(table(found)))
        broken += sum(not one.holds for one in found)
    if broken:
        print(f"\n{broken} earn more than is allowed (marked !)")
    return int(broken > 0)


def table(found: Iterable[Earned]) -> list[str]:
    """The figures, one a line of at most 80 columns."""
    lines = [_line(HEADER), _line(["-" * width for width in WIDTHS])]
    for one in found:
        cells = (one.domain, one.attack, one.figure, *map(_number, (one.value, one.best)))
        lines.append(_line((*cells, _number(one.allowed) + ("" if one.holds else " !"))))
    return lines


def _line(cells: Sequence[str]) -> str:
    left = (cell[:width].ljust(width) for cell, width in zip(cells[:3], WIDTHS[:3], strict=True))
    right = (cell.rjust(width) for cell, width in zip(cells[3:], WIDTHS[3:], strict=True))
    return " ".join((*left, *right)).rstrip()


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
