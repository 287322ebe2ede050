"""The measured effects of the libraries are those of the libraries and cases that ship."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework.testing.gate_populations import read_effects

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"
NAMES = ("loan", "longmemeval", "text_to_sql")


@cache
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("patch_effects", BENCHMARKS / "patch_effects.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["patch_effects"] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def stored(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((BENCHMARKS / f"patch_effects_{name}.json").read_text())
    return data


def test_every_library_that_is_measured_has_its_file() -> None:
    assert sorted(benchmark().SUBJECTS) == list(NAMES)
    assert sorted(BENCHMARKS.glob("patch_effects_*.json")) == [
        BENCHMARKS / f"patch_effects_{name}.json" for name in NAMES
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_measured_is_what_ships(name: str) -> None:
    """Where this fails: `python benchmarks/patch_effects.py NAME cases=... out=...` anew."""
    subject, data = benchmark().SUBJECTS[name], stored(name)
    shipped = benchmark().digests(subject)
    assert {key: data[key] for key in shipped} == shipped
    assert (data["name"], data["of"]) == (name, " ".join(subject.overrides))
    assert data["finite"] is subject.finite


@pytest.mark.parametrize("name", NAMES)
def test_the_counts_are_of_all_cases(name: str) -> None:
    data = stored(name)
    for effect in data["effects"]:
        assert effect["wrong"] + effect["right"] == data["cases"]
        assert 0 <= effect["fixed"] <= effect["wrong"]
        assert 0 <= effect["broken"] <= effect["right"]
    population = read_effects(BENCHMARKS / f"patch_effects_{name}.json")
    assert len(population.ideas) == len(data["effects"])
    # A rule-based reader agrees with itself, so that noise is there only in other words.
    assert (population.noise > 0) is (data["noise"] is not None)
