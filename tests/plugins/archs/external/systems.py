"""The systems of these tests."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from plugins.archs.external.process import ProcessSettings

HERE = Path(__file__).resolve().parent
SHELL = ("sh", str(HERE / "memory.sh"))
TOY = (sys.executable, "-S", "-E", str(HERE / "toy.py"))


def toy(*words: str, **settings: Any) -> ProcessSettings:
    """Settings of the toy memory, started with these words."""
    return ProcessSettings(command=(*TOY, *words), **settings)
