"""A test is skipped only with a reason, and never because something is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent
SKIPS: Final = ("skip", "skipif", "importorskip")


def test_every_skip_says_what_is_absent() -> None:
    found = [(path, call) for path in sorted(TESTS.rglob("*.py")) for call in skips(path)]
    assert len(found) > 30, "they are looked for where they are"
    silent = [
        f"{path.relative_to(TESTS)}:{call.lineno}"
        for path, call in found
        if not (reason := reason_of(call)) or "is installed" in reason
    ]
    assert silent == []


def skips(path: Path) -> Iterator[ast.Call]:
    """Calls of pytest that skip, whoever is called `pytest`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = ast.unparse(node.func.value)
            if node.func.attr in SKIPS and owner in ("pytest", "pytest.mark"):
                yield node


def reason_of(call: ast.Call) -> str:
    """The text or the expression that says why, empty where there is none."""
    told = [keyword.value for keyword in call.keywords if keyword.arg in ("reason", "msg")]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "skip":
        told += call.args
    return " ".join(ast.unparse(one).strip("'\"") for one in told)
