"""The tables of archs.md hold every shipped arch, with what it declares."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from framework.contracts import Arch
from framework.registry import plugins

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "archs.md"
WORDS = {
    "gold_edges": "gold edges",
    "uses_embedder": "embedder",
    "needs_model": "model",
    "sees_task": "sees task",
    "knows_schema": "knows schema",
    "sees_gold": "sees gold",
    "unbudgeted": "unbudgeted",
    "uses_extractor": "extractor",
}


def told(arch: type[Arch[Any]]) -> str:
    """What an arch declares, in the words of the tables."""
    words = [word for flag, word in WORDS.items() if getattr(arch, flag)]
    if arch.budget_at != "none":
        words.append(f"budget at {arch.budget_at}")
    if arch.query == "none":
        words.append("no query")
    return ", ".join(words) or "–"


def test_every_arch_is_there_with_its_declarations() -> None:
    rows = re.findall(r"^\| ([a-z0-9_]+) \| [^|]+ \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    listed = {name: said for name, said in rows if name != "arch"}
    assert len(listed) == len([name for name, _ in rows if name != "arch"]), (
        "an arch is there twice"
    )
    shipped = {p.name: p.cls for p in plugins("arch") if p.cls.__module__.startswith("plugins.")}
    assert listed.keys() == shipped.keys()
    assert listed == {name: told(cls) for name, cls in shipped.items()}
