"""What ships is held to the laws that plugin authors are held to. (Arms: tests/plugins/archs.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.engine.compose import compose_plan, composer, options
from framework.registry import Plugin, plugins
from framework.testing.axis_conformance import check_axis
from framework.testing.domain_conformance import check_domain
from framework.testing.judge_conformance import check_judge
from framework.testing.reader_conformance import check_reader

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
BANK = FIXTURES / "bank_support"
NEEDS = {
    "regulation_updates": [
        f"domain.path={FIXTURES / 'regulation_updates'}",
        "domain.unknown_file=true",
    ],
    "airline_fees": [f"domain.path={FIXTURES / 'airline_fees'}", "domain.unknown_file=true"],
    "bank_support": [
        f"domain.path={BANK / 'documents.json'}",
        f"domain.tasks={BANK / 'tasks.json'}",
        "domain.unknown_file=true",
    ],
    "veterans": [
        f"domain.path={FIXTURES / 'veterans' / 'decisions.json'}",
        "domain.haystack=5",
        "domain.unknown_file=true",
    ],
    "decision_corpus": [f"domain.path={FIXTURES / 'decision_corpus' / 'harbour.jsonl'}"],
    "hotpotqa": [
        f"domain.path={FIXTURES / 'hotpotqa' / 'questions.json'}",
        "domain.unknown_file=true",
    ],
    "locomo": [
        f"domain.path={FIXTURES / 'locomo' / 'two.json'}",
        "domain.unknown_file=true",
    ],
    "beam": [
        f"domain.path={FIXTURES / 'beam' / 'chats.jsonl'}",
        "domain.unknown_file=true",
    ],
    "dmr": [
        f"domain.path={FIXTURES / 'dmr' / 'questions.jsonl'}",
        "domain.unknown_file=true",
    ],
    "memory_agent_bench": [
        f"domain.path={FIXTURES / 'memory_agent_bench' / 'records.jsonl'}",
        "domain.unknown_file=true",
    ],
    "personamem": [
        f"domain.path={FIXTURES / 'personamem' / 'questions.csv'}",
        f"domain.contexts={FIXTURES / 'personamem' / 'contexts.jsonl'}",
        "domain.unknown_file=true",
    ],
    "spider": [f"domain.path={FIXTURES / 'spider'}", "domain.unknown_file=true"],
    "swe_contextbench": [
        f"domain.path={FIXTURES / 'swe_contextbench' / 'related.jsonl'}",
        f"domain.experience={FIXTURES / 'swe_contextbench' / 'experience.jsonl'}",
        f"domain.relationship={FIXTURES / 'swe_contextbench' / 'relationship.jsonl'}",
        "domain.unknown_file=true",
    ],
    "musique": [
        f"domain.path={FIXTURES / 'musique' / 'questions.jsonl'}",
        "domain.unknown_file=true",
    ],
    "two_wiki": [
        f"domain.path={FIXTURES / 'two_wiki' / 'questions.json'}",
        "domain.unknown_file=true",
    ],
    "longmemeval": [f"domain.path={FIXTURES / 'longmemeval' / 'questions.json'}"],
}
"""Settings without which a domain has no data."""


def shipped(group: str) -> list[Plugin]:
    return [p for p in plugins(group) if p.cls.__module__.startswith("plugins.")]


@pytest.mark.parametrize("axis", shipped("axis"), ids=lambda p: p.name)
def test_axes_keep_the_laws(axis: Plugin) -> None:
    check_axis(axis.cls, axis.settings())


@pytest.mark.parametrize("judge", shipped("judge"), ids=lambda p: p.name)
def test_judges_keep_the_laws(judge: Plugin) -> None:
    check_judge(judge.cls, judge.settings())


@pytest.mark.parametrize("reader", shipped("reader"), ids=lambda p: p.name)
def test_readers_keep_the_laws(reader: Plugin) -> None:
    check_reader(reader.cls, reader.settings())


def _domains() -> list[str]:
    of_tests = {p.name for p in plugins("domain")} - {p.name for p in shipped("domain")}
    with composer():
        return [option for option in options("domain") if option not in of_tests]


@pytest.mark.slow
@pytest.mark.parametrize("option", _domains())
def test_domains_keep_the_laws(option: str) -> None:
    with composer():
        plan = compose_plan([f"domain={option}", *NEEDS.get(option, [])])
    part = plan.parts["domain"]
    check_domain(part.plugin.cls, part.settings, n=30)
