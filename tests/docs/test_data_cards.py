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
    "office": {},
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


OUTSIDE = [name for name in DOMAINS if find("domain", name).cls.provenance.source[:4] == "http"]
"""Domains of what others published."""


def test_these_are_from_outside() -> None:
    assert {"veterans", "bank_support", "airline_fees", "regulation_updates", "longmemeval"} < {
        *OUTSIDE
    }
    assert len(OUTSIDE) == 15


def entries(bibtex: str) -> list[dict[str, str]]:
    """The entries of a text in BibTeX: `kind`, `key`, and their fields without the outer braces."""
    found, rest = [], bibtex
    while rest := rest.strip():
        start = re.match(r"@(\w+)\{(\w+),\s*", rest)
        assert start, f"no entry begins at {rest[:60]!r}"
        entry, rest = {"kind": start[1], "key": start[2]}, rest[start.end() :]
        while not rest.startswith("}"):
            named = re.match(r"(\w+) = \{", rest)
            assert named, f"no field begins at {rest[:60]!r}"
            assert named[1] not in entry
            depth, end = 1, named.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(rest[end], 0)
                end += 1
            entry[named[1]] = rest[named.end() : end - 1]
            rest = rest[end:].removeprefix(",").lstrip()
        found.append(entry)
        rest = rest[1:]
    return found


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_others_published_is_cited_in_bibtex(name: str) -> None:
    citation = find("domain", name).cls.provenance.citation
    found = entries(citation)
    assert found
    for entry in found:
        assert entry["kind"] in ("article", "inproceedings", "misc")
        assert re.fullmatch(r"[a-z]+\d{4}\w+", entry["key"])
        assert all(entry[field].strip() for field in ("title", "author", "year"))
        assert re.fullmatch(r"(19|20)\d\d", entry["year"])
        assert entry["year"] in entry["key"]
        people = entry["author"].split(" and ")
        assert entry["author"].startswith("{") or all(", " in person for person in people)
        if "eprint" in entry:
            assert re.fullmatch(r"\d{4}\.\d{5}", entry["eprint"])
            assert entry["archivePrefix"] == "arXiv"
        assert entry["kind"] != "inproceedings" or entry["booktitle"]
        assert entry["kind"] != "article" or entry["journal"]
    assert len({entry["key"] for entry in found}) == len(found)
    assert fields(name)["citation"] == f"`{citation}`"


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_card_of_what_others_published_says_which(name: str) -> None:
    said, provenance = fields(name), find("domain", name).cls.provenance
    assert re.split("[,;]", provenance.revision)[0] in said["revision"].replace("`", "")
    digests = " ".join(value for label, value in said.items() if label.startswith("sha256"))
    assert digests
    for file in provenance.files.values():
        assert file[7:15] in digests
    assert provenance.main_score
    assert provenance.schema


@pytest.mark.parametrize("name", sorted(GENERATED))
def test_a_generated_history_is_as_long_as_its_card_says(name: str) -> None:
    plugin = find("domain", name)
    domain: Any = plugin.cls(settings_of(plugin, GENERATED[name]))
    assert f"{domain.nominal_tokens:,}" in fields(name)["tokens"]
