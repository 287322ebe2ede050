"""An interval that a page states beside its tables has its command in the section."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGES: Final = sorted((*(DOCS / "results").glob("*.md"), *(DOCS / "guide").glob("*.md")))
COMMAND: Final = re.compile(r"\b(?:decisionbench|make|pytest|python -m) [+\w-]|--recipe |ARGS=")
_STATED: Final = re.compile(r"\[([-+−]?\d?\.\d+),\s+([-+−]?\d?\.\d+)\]")
_IN_TABLE: Final = re.compile(r"([-+]?\d*\.\d+)(?: to |–|, )([-+]?\d*\.\d+)")


def limits(low: str, high: str, digits: int) -> frozenset[float]:
    """Without signs, which a table may have for the other arm."""
    return frozenset(round(abs(float(x.replace("−", "-"))), digits) for x in (low, high))


def without_command(text: str) -> Iterator[str]:
    """The intervals that are in no table of the page, of sections without a command."""
    cells = [line.replace("\\", "") for line in text.splitlines() if line.startswith("|")]
    known = {
        limits(*found, digits)
        for cell in cells
        for found in _IN_TABLE.findall(cell)
        for digits in (2, 3)
    }
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        prose = "\n".join(line for line in section.splitlines() if not line.startswith("|"))
        if COMMAND.search(prose):
            continue
        for low, high in _STATED.findall(prose):
            if not any(limits(low, high, digits) in known for digits in (2, 3)):
                yield f"[{low}, {high}]"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_an_interval_beside_the_tables_has_its_command(page: Path) -> None:
    assert list(without_command(page.read_text(encoding="utf-8"))) == []


def test_what_counts_as_one() -> None:
    table = "| arm | recall |\n| --- | --- |\n| bm25 | 0.20 0.104 to 0.306 |\n"
    assert list(without_command(f"# A\n\n{table}\nIt has .20 [.10, .31].\n")) == []
    assert list(without_command(f"# A\n\n{table}\nLess by .20 [-.31, -.10].\n")) == []
    assert list(without_command(f"# A\n\n{table}\nIt has .20 [.11, .31].\n")) == ["[.11, .31]"]
    assert list(without_command("# A\n\n.2 [.1, .3], by `make results ARGS=x`.\n")) == []
    assert list(without_command("# A\n\n`make x`\n\n## B\n\n.2 [.1, .3]\n")) == ["[.1, .3]"]
