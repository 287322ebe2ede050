"""Every figure of a run is named among what may come after its seal, and nothing else is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from framework.reporting import figures
from framework.store.directory import FIGURES, UNSEALED

WRITTEN = {"job.log", "tracking.json", "report.html", "report.md"}
OF_SWEEPS = {"judges-0"}
"""Drawn where several runs are compared; the directory of a sweep has no seal of its own."""


def stems() -> set[str]:
    """The names of figures in the code, of the first group and the first loop."""
    found = set()
    for path in Path(figures.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "name":
                if isinstance(node.value, ast.JoinedStr):
                    found.add(re.sub(r"\{.*\}", "0", ast.unparse(node.value)[2:-1]))
                else:
                    assert ast.unparse(node.value) == "name", "a figure that is named elsewhere"
    section = Path(figures.__path__[0]).parent / "sections" / "loops.py"
    text = section.read_text(encoding="utf-8")
    drawn = re.findall(r'add_figure\(figures\.\w+\(.*f"\{anchor\}-(\w+)"', text)
    return found | {f"loop-0-{name}" for name in drawn}


def test_what_is_exempt_is_named_one_by_one() -> None:
    assert not [name for name in UNSEALED if set(name) & set("*?[")]
    drawn = stems() - OF_SWEEPS
    assert len(drawn) == 14
    pictures = {f"{FIGURES}/{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    assert set(UNSEALED) == WRITTEN | pictures
