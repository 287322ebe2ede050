"""Write the lists of the papers' tables and figures in docs/results/papers.md from their data.

    make results ARGS=papers
    python -m benchmarks.papers --into=docs/results/papers.md#depth-tables

`plugins/recipes/PAPER/contents*.yaml` says of each what it is, how it stands and why. The sweep
that a recipe needs is the recipe's own word.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, get_args

from framework.registry import find
from framework.reporting.markdown import put_between_markers
from plugins.recipes._contents import KINDS, Entry, Status, contents

PAPERS: Final = ("longhorizon", "regimes", "depth")
COLUMNS: Final = ("", "shows", "status", "made by", "from", "printed", "remarks")
_SWEEP: Final = re.compile(r"\+experiment=\S+")
_COUNTED: Final = {"longhorizon": "LongHorizon", "regimes": "Regimes", "depth": "Depth"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lists. The status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--into", action="append", required=True, metavar="PAGE#LIST",
        help="where a list goes, by its name; any number of times",
    )  # fmt: skip
    found = lists()
    for place in parser.parse_args(arguments).into:
        name = place.partition("#")[2]
        if name not in found:
            parser.error(f"no list {name!r}; there are {', '.join(found)}")
        put_between_markers(place, found[name])
    return 0


def lists() -> dict[str, str]:
    """By the name of its markers, each list in Markdown."""
    found = {"counts": _table(("", *get_args(Status), "together"), _counts())}
    for paper in PAPERS:
        for kind in KINDS:
            rows = [_row(entry) for entry in contents(paper) if entry.kind == kind]
            if rows:
                found[f"{paper}-{kind}"] = _table(COLUMNS, rows)
    return found


def _counts() -> Iterator[list[str]]:
    for paper in PAPERS:
        for kind in ("tables", "figures"):
            by_status = Counter(entry.status for entry in contents(paper) if entry.kind == kind)
            numbers = [by_status[status] for status in get_args(Status)]
            yield [f"{_COUNTED[paper]}, {kind}", *map(str, numbers), str(sum(numbers))]


def _row(entry: Entry) -> list[str]:
    made = [f"`{name}`" for name in entry.by]
    if entry.report:
        made.append(f"every report, *{entry.report.replace('-', ' ')}*")
    remarks = [entry.why] if entry.why else []
    remarks += [f"beside nothing printed: {why}" for why in entry.apart.values()]
    if entry.page:
        remarks.append(f"[{Path(entry.page).stem}]({_linked(entry.page)})")
    return [
        f"{entry.kind.capitalize()[:-1]} {entry.number}" if entry.kind != "parts" else entry.number,
        entry.what,
        entry.status,
        ", ".join(made),
        ", ".join(sweeps(entry)),
        "yes" if set(entry.values) - set(entry.apart) else "in the data" if entry.values else "",
        "; ".join(remarks),
    ]


def sweeps(entry: Entry) -> list[str]:
    """The sweeps that feed it: as the entry says, else as its recipes do."""
    words = [find("recipe", name).cls.needs for name in entry.by]
    named = [entry.of] if entry.of else []
    found = [sweep for text in [*named, *words] for sweep in _SWEEP.findall(text)]
    if not found:
        return named
    rest = entry.of.partition(found[0])[2]
    return list(dict.fromkeys(f"`{sweep}{rest}`" for sweep in found))


def _linked(page: str) -> str:
    """From docs/results to a page of docs."""
    here = page.removeprefix("docs/results/")
    return here if here != page else f"../{page.removeprefix('docs/')}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]] | Iterator[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    raise SystemExit(main())
