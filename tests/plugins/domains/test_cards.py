"""Published benchmarks: each is a card and a short reader of its schema, onto a shared shape."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.registry import find, plugins
from plugins.domains.cards import Benchmark, Card, card
from plugins.domains.data_file import BadRecordError

MOST = 60
BENCHMARKS = sorted(
    plugin.name
    for plugin in plugins("domain")
    if issubclass(plugin.cls, Benchmark) and plugin.cls.__module__.startswith("plugins.")
)


def module_of(name: str) -> Path:
    return Path(str(sys.modules[find("domain", name).cls.__module__].__file__))


def code_lines(source: str) -> int:
    """Lines that are neither blank, nor a comment alone, nor of a docstring."""
    told = set[int]()
    for node in ast.walk(ast.parse(source)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            told |= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in told
        for number, line in enumerate(source.splitlines(), start=1)
    )


def test_these_are_benchmarks() -> None:
    assert [
        *("beam", "dmr", "hotpotqa", "locomo", "memory_agent_bench", "musique", "personamem"),
        *("spider", "swe_contextbench", "two_wiki"),
    ] == BENCHMARKS


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_mapping_is_short(name: str) -> None:
    module = module_of(name)
    yaml = module.with_suffix(".yaml").read_text(encoding="utf-8")
    assert len(yaml.splitlines()) <= MOST
    assert code_lines(module.read_text(encoding="utf-8")) <= MOST


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_card_is_the_one_beside_the_module(name: str) -> None:
    cls: Any = find("domain", name).cls
    assert cls.card is card(str(module_of(name)))
    assert cls.provenance is cls.card.provenance


def test_a_card_that_a_class_names_stays() -> None:
    base: Any = find("domain", "locomo").cls
    other = card(str(module_of("dmr")))
    body = {"__module__": base.__module__, "card": other}
    elsewhere: Any = type("Elsewhere", (base,), body)
    assert elsewhere.card is other
    assert elsewhere.provenance is other.provenance
    assert base.card is not other


def test_parts_of_a_question_are_texts_of_the_file_s_fields() -> None:
    two: Card = card(str(module_of("spider")))
    assert two.parts({"question": "How many?", "query": "SELECT 1", "db_id": "x"}) == {
        "text": "How many?",
        "sql": "SELECT 1",
    }
    with pytest.raises(BadRecordError, match="query: text expected, nothing found"):
        two.parts({"question": "How many?"})


def test_another_file_counts_for_the_digest_and_is_refused_like_the_first(tmp_path: Path) -> None:
    fixtures = Path(__file__).resolve().parents[2] / "fixtures" / "swe_contextbench"
    cls: Any = find("domain", "swe_contextbench").cls
    files = {name: str(fixtures / f"{name}.jsonl") for name in ("experience", "relationship")}

    def opened(**given: Any) -> Any:
        values = {"path": str(fixtures / "related.jsonl"), "unknown_file": True, **files, **given}
        return cls(cls.Settings(**values))

    other = tmp_path / "relationship.jsonl"
    other.write_bytes((fixtures / "relationship.jsonl").read_bytes() + b"\n")
    assert opened(relationship=str(other)).digest() != opened().digest()
    with pytest.raises(UserError, match=r"domain\.relationship: no file given"):
        opened(relationship="")
    with pytest.raises(DataError, match="no such file"):
        opened(relationship=str(tmp_path / "none"))
