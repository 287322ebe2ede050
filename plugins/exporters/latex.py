"""LaTeX: the result tables of a sweep, for a paper."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from shlex import quote
from typing import Any, Final

from framework.analysis.doubts import doubts_of
from framework.analysis.evidence import of_sweep
from framework.contracts.exporter import Exporter
from framework.errors import UserError
from framework.registry import plugins, register
from framework.reporting.blocks import Cell, Table, is_numeric
from framework.reporting.sections.overview import main_tables
from framework.store.directory import ANSWERS, SWEEP
from framework.store.former import read_json
from framework.store.seal import sweep_head
from framework.store.state import load_state
from framework.store.sweep import plan_digest

_WRITTEN: Final = {
    "\\": r"\textbackslash{}",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "†": r"\dag{}",
    "§": r"\S{}",
    "–": "--",
    "−": "$-$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "κ": r"$\kappa$",
}
_MARKS: Final = re.compile("|".join(map(re.escape, _WRITTEN)))


@register("exporter", "latex")
class Latex(Exporter):
    """A sweep's tables as `decisionbench table` prints them, one `table` environment each.

    They need the packages booktabs and graphicx. The first line is the command by which a reader
    who has the runs can tell that they are those of the tables.
    """

    opens = "\\input{{{}}} in a document with \\usepackage{{booktabs,graphicx}}"
    counts = "table"
    of_cases = False

    def write(self, run: Path, path: Path, cases: Collection[str]) -> int:
        if not (run / SWEEP).is_file():
            raise UserError(f"{run} has no {SWEEP}: not a finished sweep")
        sweep = read_json((run / SWEEP).read_bytes())
        doubts = doubts_of(run, sweep)
        for doubt in doubts:
            print(f"warning: {doubt}", file=sys.stderr)
        own = [t for section in plugins("section") for t in section.cls().result_tables(run)]
        tables = own or list(main_tables(of_sweep(sweep), None))
        head = "\n% ".join([_head(run), *doubts])
        parts = [head, *(to_latex(table, run.name) for table in tables)]
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        return len(tables)


def to_latex(table: Table, sweep: str) -> str:
    """A table as a LaTeX `table`, as wide as the text at most; columns of numbers to the right.

    sweep : its name, for a label that no other sweep's table has.
    """
    label = re.sub("[^a-z0-9]+", "-", f"{sweep} {table.anchor}".lower())
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    sides = "".join("r" if is_numeric(column) else "l" for column in columns)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_plain(table.caption)}}}",
            rf"\label{{tab:{label}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            _line(table.columns),
            r"\midrule",
            *map(_line, table.rows),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _head(sweep: Path) -> str:
    runs = [answers.parent for answers in sweep.glob(f"*/{ANSWERS}")]
    heads = {run.name: load_state(run).head for run in runs}
    head = sweep_head(heads, plan_digest(sweep))
    return f"% decisionbench verify {quote(str(sweep))} --head {head}"


def _line(cells: Iterable[Any]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell | str) -> str:
    if isinstance(cell, str):
        return _plain(cell)
    return _plain(cell.brief or f"{cell.text} {cell.under}".rstrip())


def _plain(text: str) -> str:
    """The text as it stands: nothing in it is taken for a command."""
    return _MARKS.sub(lambda found: _WRITTEN[found[0]], " ".join(text.split()))
