"""The systems of these tests, and drivers over stubs of what they drive."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plugins.archs.external._settings import SYSTEMS
from plugins.archs.external.process import ProcessSettings

HERE = Path(__file__).resolve().parent
SHELL = ("sh", str(HERE / "memory.sh"))
TOY = (sys.executable, "-S", "-E", str(HERE / "toy.py"))


def toy(*words: str, **settings: Any) -> ProcessSettings:
    """Settings of the toy memory, started with these words."""
    return ProcessSettings(command=(*TOY, *words), **settings)


def driver(
    monkeypatch: pytest.MonkeyPatch, file: str, modules: Mapping[str, Mapping[str, Any]]
) -> Any:
    """A shipped driver, imported over stubs: their names, and what each has."""
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    name = file.removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, SYSTEMS / file)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, loaded)
    spec.loader.exec_module(loaded)
    return loaded
