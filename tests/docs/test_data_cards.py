"""Every domain has a data card with the same fields, which agrees with what the domain declares."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from framework.registry import find, plugins, settings_of

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
ELSEWHERE = {
    "lifecycle": REFERENCE / "lifecycle.md",
    "longmemeval_synthetic": REFERENCE / "domains" / "longmemeval.md",
    "regulated": REFERENCE / "domains" / "regulated-spec.md",
}
DOMAINS = sorted(p.name for p in plugins("domain") if p.cls.__module__.startswith("plugins."))
GENERATED = {
    "codebase": {},
    "governance": {},
    "lifecycle": {},
    "longmemeval_synthetic": {},
    "precedents": {},
    "regulated": {"spec": "loan"},
    "text_to_sql": {},
}
FIELDS = {
    *("description", "reference", "source", "licence", "task type", "category", "modality"),
    *(
        "language",
        "dialect",
        "splits",
        "date range",
        "domain of text",
        "annotation",
        "sample creation",
        "cases",
    ),
    *("tokens", "main score", "leak tests", "known errors", "what n can't tell apart"),
}
"""Those of mteb's task metadata, and what a reader of a figure needs."""


@cache
def fields(name: str) -> dict[str, str]:
    """By label, the value; a row may have several labels. Of two domains a page has two columns."""
    page = ELSEWHERE.get(name, REFERENCE / "domains" / f"{name.replace('_', '-')}.md")
    _, found, rest = page.read_text(encoding="utf-8").partition("\n## Data card\n")
    assert found, f"{page.name}: no section Data card"
    table = re.search(r"(?:^\|.*\n)+", rest, re.MULTILINE)
    assert table, f"{page.name}: no table of the data card"
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in table[0].splitlines()
    ]
    head = [cell.strip("`") for cell in rows[0]]
    column = head.index(name) if name in head else 1
    labels = dict[str, str]()
    for row in rows[2:]:
        labels |= dict.fromkeys(row[0].split(", "), row[column])
    return labels


@pytest.mark.parametrize("name", DOMAINS)
def test_a_card_has_every_field(name: str) -> None:
    found = fields(name)
    assert not FIELDS - found.keys()
    assert all(found[field] for field in FIELDS)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_card_says_what_the_domain_declares(name: str) -> None:
    cls: Any = find("domain", name).cls
    said, provenance = fields(name), cls.provenance
    scores = re.findall(r"`(\w+)`", said["main score"])
    columns = {column for axis in cls.axes() for column in find("axis", axis).cls.names}
    assert scores
    assert scores[0] in columns
    if provenance.main_score:
        assert scores[0] == provenance.main_score
    assert (
        re.split("[,;]", provenance.licence)[0].removesuffix(" for the package's own")
        in said["licence"]
    )
    if provenance.source.startswith("http"):
        assert provenance.source.partition(", ")[0] in said["source"]
    for file in provenance.files.values():
        if "sha256" in said:
            assert file[7:15] in said["sha256"]


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_history_is_as_long_as_its_card_says(name: str) -> None:
    plugin = find("domain", name)
    domain: Any = plugin.cls(settings_of(plugin, GENERATED[name]))
    assert f"{domain.nominal_tokens:,}" in fields(name)["tokens"]
