"""The measured effects of the libraries are those of the libraries and cases that ship."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.studies import patch_effects
from benchmarks.studies.gate_populations import read_effects
from benchmarks.studies.patch_effects import SUBJECTS, digests

STUDIES = Path(patch_effects.__file__).parent
ROOT = STUDIES.parent.parent
NAMES = ("loan", "longmemeval", "text_to_sql")


def stored(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((STUDIES / f"patch_effects_{name}.json").read_text())
    return data


def test_every_library_that_is_measured_has_its_file() -> None:
    assert sorted(SUBJECTS) == list(NAMES)
    assert sorted(STUDIES.glob("patch_effects_*.json")) == [
        STUDIES / f"patch_effects_{name}.json" for name in NAMES
    ]


@pytest.mark.parametrize("name", NAMES)
def test_what_was_measured_is_what_ships(name: str) -> None:
    """Where this fails: `python -m benchmarks.studies.patch_effects NAME cases=... out=...`."""
    subject, data = SUBJECTS[name], stored(name)
    shipped = digests(subject)
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
    population = read_effects(STUDIES / f"patch_effects_{name}.json")
    assert len(population.ideas) == len(data["effects"])
    # A rule-based reader agrees with itself, so that noise is there only in other words.
    assert (population.noise > 0) is (data["noise"] is not None)


@pytest.mark.parametrize("name", ["longmemeval", "loan"])
def test_the_guide_has_the_noise_of_other_words_that_was_measured(name: str) -> None:
    data = stored(name)
    guide = " ".join((ROOT / "docs" / "guide" / "improve.md").read_text().split())
    said = f" fixed {data['noise']['fixed']} and broke {data['noise']['broken']}"
    assert said in guide
    assert f"{data['cases']:,} cases of `target=" in guide


@pytest.mark.parametrize("key", ["no_duplicates", "no_missing", "settled_only", "follow_examples"])
def test_the_tables_of_clauses_count_the_flips_that_were_measured(key: str) -> None:
    """Flips in development wordings and in held-out ones are those of all cases of text_to_sql."""
    (effect,) = (one for one in stored("text_to_sql")["effects"] if one["name"] == key)
    page = (ROOT / "docs" / "reference" / "improve-grammar.md").read_text(encoding="utf-8")
    table = page.partition("domain.forms=development`), ")[2]
    row = next(line for line in table.splitlines() if line.startswith(f"| `{key}` |"))
    cells = [cell.strip() for cell in row.split("|")]
    # After the change come those in development wordings; the last two are the held-out ones.
    fixed, broken = (int(cells[at]) + int(cells[held]) for at, held in ((3, -3), (4, -2)))
    assert (fixed, broken) == (effect["fixed"], effect["broken"])
