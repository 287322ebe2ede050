"""BEAM, DMR and MemoryAgentBench in their own schemas, on the shape that LoCoMo has too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Domain
from framework.errors import DataError
from framework.records import ABSTAIN, Answer
from framework.registry import find
from framework.testing.domain_conformance import check_domain
from plugins.domains.conversations.shape import ConversationSettings
from tests.plugins.domains.malformed import check_malformed

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
FILES = {
    "beam": FIXTURES / "beam" / "chats.jsonl",
    "dmr": FIXTURES / "dmr" / "questions.jsonl",
    "memory_agent_bench": FIXTURES / "memory_agent_bench" / "records.jsonl",
}


def opened(name: str, path: Path | None = None) -> Domain[Any]:
    settings = ConversationSettings(path=str(path or FILES[name]), unknown_file=True)
    domain: Domain[Any] = find("domain", name).cls(settings)
    return domain


@pytest.mark.parametrize("granularity", ["turn", "session"])
@pytest.mark.parametrize("name", sorted(FILES))
def test_the_laws_hold(name: str, granularity: Any) -> None:
    settings = ConversationSettings(
        path=str(FILES[name]), unknown_file=True, granularity=granularity
    )
    check_domain(find("domain", name).cls, settings)


@pytest.mark.parametrize("name", sorted(FILES))
def test_spoilt_files_end_in_a_line_each(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    records = [json.loads(line) for line in FILES[name].read_text().splitlines()]
    whole.write_text(json.dumps(records))
    assert len(check_malformed(whole, tmp_path, lambda path: opened(name, path))) >= 40


def test_beam_s_messages_are_numbered_and_its_batches_dated() -> None:
    domain = opened("beam")
    cases = {case.id: case for case in domain.cases(None, 0)}
    assert cases["7_contradiction_resolution_0"].gold.evidence == ("s1.3", "s2.3")
    assert cases["7_knowledge_update_0"].gold.evidence == ("s1.1", "s2.1")
    assert cases["7_instruction_following_0"].gold.answer == "The answer gives litres."
    assert cases["8_event_ordering_0"].cluster == "8"
    unanswerable = cases["7_abstention_0"].gold
    assert (unanswerable.decision, unanswerable.evidence) == (ABSTAIN, ())
    times = [event.time for event in domain.history("7")]
    assert times == ["2024-03-15"] * 4 + ["2024-04-02"] * 6


def test_dmr_counts_days_back_and_reads_neither_personas_nor_the_current_session() -> None:
    domain = opened("dmr")
    first = next(domain.cases(1, 0))
    events = list(domain.history(first.history_id))
    assert [event.time for event in events] == ["2021-12-18"] * 3 + ["2022-01-01"] * 2
    assert [event.kind for event in events] == [*("user", "assistant", "user"), "user", "assistant"]
    assert not any("Hello again" in event.text for event in events)
    assert domain.success(Answer(text="three hives, one of them empty"), first.gold)
    assert domain.protocols == ("evaluate",)


def test_memory_agent_bench_tells_a_text_in_pieces_of_whole_lines() -> None:
    domain = opened("memory_agent_bench")
    cases = list(domain.cases(None, 0))
    events = list(domain.history(cases[0].history_id))
    assert len(events) == 2
    assert all(len(event.text) <= 4_200 for event in events)
    assert [case.gold.answer for case in cases] == ["viola", "Husum", "Ove"]
    assert [case.stratum for case in cases][1:] == [
        "factconsolidation_sh_6k",
        "factconsolidation_mh_6k",
    ]


@pytest.mark.parametrize("name", sorted(FILES))
def test_unknown_bytes_are_refused_unless_told(name: str) -> None:
    with pytest.raises(DataError, match=r"domain\.unknown_file=true reads it all the same"):
        find("domain", name).cls(ConversationSettings(path=str(FILES[name])))
