"""What a view must hold so that it suffices, in every shipped domain."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from framework.contracts import Domain
from framework.pipeline.pack import pack
from framework.records import ABSTAIN, Item, MemoryView
from framework.registry import find, plugins, settings_of
from framework.retention import retained
from plugins.domains.regulated.domain import Regulated
from tests.plugins.domains.regulated.support import SEED, SPECS, cases, shared

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "veterans": [
        {
            "path": "tests/fixtures/veterans/decisions.json",
            "haystack": 5,
            "unknown_file": True,
        }
    ],
    "bank_support": [
        {
            "path": "tests/fixtures/bank_support/documents.json",
            "tasks": "tests/fixtures/bank_support/tasks.json",
            "unknown_file": True,
        }
    ],
    "regulated": [{"spec": spec} for spec in SPECS],
    "regulation_updates": [{"path": "tests/fixtures/regulation_updates", "unknown_file": True}],
    "airline_fees": [{"path": "tests/fixtures/airline_fees", "unknown_file": True}],
    "hotpotqa": [{"path": "tests/fixtures/hotpotqa/questions.json", "unknown_file": True}],
    "longmemeval": [{"path": "tests/fixtures/longmemeval/questions.json"}],
    "locomo": [{"path": "tests/fixtures/locomo/two.json", "unknown_file": True}],
    "beam": [{"path": "tests/fixtures/beam/chats.jsonl", "unknown_file": True}],
    "dmr": [{"path": "tests/fixtures/dmr/questions.jsonl", "unknown_file": True}],
    "memory_agent_bench": [
        {"path": "tests/fixtures/memory_agent_bench/records.jsonl", "unknown_file": True}
    ],
    "personamem": [
        {
            "path": "tests/fixtures/personamem/questions.csv",
            "contexts": "tests/fixtures/personamem/contexts.jsonl",
            "unknown_file": True,
        }
    ],
    "spider": [{"path": "tests/fixtures/spider", "unknown_file": True}],
    "swe_contextbench": [
        {
            "path": "tests/fixtures/swe_contextbench/related.jsonl",
            "experience": "tests/fixtures/swe_contextbench/experience.jsonl",
            "relationship": "tests/fixtures/swe_contextbench/relationship.jsonl",
            "unknown_file": True,
        }
    ],
    "musique": [{"path": "tests/fixtures/musique/questions.jsonl", "unknown_file": True}],
    "two_wiki": [{"path": "tests/fixtures/two_wiki/questions.json", "unknown_file": True}],
    "decision_corpus": [{"path": "tests/fixtures/decision_corpus/harbour.jsonl"}],
}
"""What a domain needs to have cases here, where its own defaults do not say."""

EMPTY = MemoryView(items=(), tokens=0, budget_tokens=0)


def shipped() -> list[tuple[str, dict[str, Any]]]:
    found = (plugin for plugin in plugins("domain") if plugin.cls.__module__.startswith("plugins."))
    names = sorted({plugin.name for plugin in found})
    return [(name, values) for name in names for values in SETTINGS.get(name, [{}])]


@pytest.mark.parametrize(("name", "values"), shipped())
def test_an_empty_view_suffices_in_no_case_and_the_whole_history_in_all(
    name: str, values: dict[str, Any]
) -> None:
    plugin = find("domain", name)
    domain: Domain[Any] = plugin.cls(settings_of(plugin, values))
    listed = list(islice(domain.cases(60, SEED), 60))
    assert listed
    for case in listed:
        found = domain.sufficient(case, retained(case.gold, EMPTY))
        assert found is (False if case.gold.items else None), case.id
    for case in listed[:10]:
        items = [Item(id=e.id, text=e.text) for e in domain.history(case.history_id)]
        kept = retained(case.gold, pack(items, None, "whole"))
        assert domain.sufficient(case, kept) is (True if case.gold.items else None), case.id


@pytest.mark.parametrize("spec", SPECS)
def test_sufficiency_is_what_the_policy_decides_from_the_view(spec: str) -> None:
    """Items that no admissible completion turns on may go; amounts need what they are made of."""
    domain, spared = shared(spec), 0
    for case in cases(spec)[:80]:
        gold = case.gold
        everything = {item.id: True for item in gold.items}
        required = {item.id for item in gold.required}
        assert domain.sufficient(case, {id: id in required for id in everything})
        for item in gold.required:
            if item.derived_from:
                continue
            kept = {**everything, item.id: False}
            found = domain.sufficient(case, kept)
            if gold.decision == ABSTAIN:
                assert found is False
            else:
                held = frozenset(everything) - {item.id}
                decided = domain.decision_from(case, held) == gold.decision
                assert not found or decided
                spared += bool(found)
    assert spared > 20


def read(domain: Regulated, index: int) -> set[str]:
    rules = domain.sampled(SEED, index).policy.rules
    return {condition.fact for rule in rules for condition in rule.conditions}


def test_a_payment_needs_the_figures_of_its_amount() -> None:
    domain = shared("claims")
    # Where a rule in force reads the deductible, the decision needs it as well.
    paid = [
        case
        for index, case in enumerate(cases("claims"))
        if case.gold.decision == "PAY" and "deductible" not in read(domain, index)
    ][:20]
    lost = {"fact:deductible", "fact:net_payment"}
    assert paid
    for case in paid:
        kept = {item.id: item.id not in lost for item in case.gold.items}
        held = frozenset(id for id, there in kept.items() if there)
        assert domain.decision_from(case, held) == "PAY"
        assert not domain.sufficient(case, kept)
        assert domain.sufficient(case, {**kept, "fact:deductible": True})
