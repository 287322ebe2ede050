"""Every figure of a run is named among what may come after its seal, and nothing else is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from framework.reporting import figures
from framework.store.directory import FIGURES, unsealed
from plugins.judging import figure as of_judges
from plugins.recipes.regimes import loop_figures as of_loops
from plugins.recipes.regimes import loop_page
from plugins.sections import figures as of_sections

WRITTEN = {"job.log", "tracking.json", "report.html", "report.md"}


def stems() -> set[str]:
    """The names of figures in the code, of the first group and the first loop."""
    found = set()
    packages = [Path(package.__path__[0]) for package in (figures, of_sections)]
    others = [Path(module.__file__ or "") for module in (of_judges, of_loops)]
    for path in (*others, *(p for each in packages for p in each.glob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "name":
                if isinstance(node.value, ast.JoinedStr):
                    found.add(re.sub(r"\{.*\}", "0", ast.unparse(node.value)[2:-1]))
                else:
                    assert ast.unparse(node.value) == "name", "a figure that is named elsewhere"
    text = Path(loop_page.__file__).read_text(encoding="utf-8")
    drawn = re.findall(r'add_figure\(figures\.\w+\(.*f"\{anchor\}-(\w+)"', text)
    return found | {f"loop-0-{name}" for name in drawn}


def test_what_is_exempt_is_named_one_by_one() -> None:
    assert not [name for name in unsealed() if set(name) & set("*?[")]
    drawn = stems()
    assert len(drawn) == 15
    pictures = {f"{FIGURES}/{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    assert unsealed() == WRITTEN | pictures
