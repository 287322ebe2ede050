"""BEAM, DMR and MemoryAgentBench in their own schemas, on the shape that LoCoMo has too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.contracts import Domain
from framework.errors import DataError, UserError
from framework.records import ABSTAIN, Answer
from framework.registry import find
from framework.testing.domain_conformance import check_domain
from plugins.domains.conversations.personamem import PersonaMem, PersonaMemSettings
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


@pytest.mark.slow
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


def test_beam_s_download_says_what_its_repository_does(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in FILES["beam"].read_text().splitlines()]
    for row in rows:
        row["chat"] = [
            [message for group in batch["turns"] for message in group] for batch in row["chat"]
        ]
        row["probing_questions"] = str(row["probing_questions"])
    path = tmp_path / "100K-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    domain, same = opened("beam", path), opened("beam")
    assert list(domain.cases(None, 0)) == list(same.cases(None, 0))
    for row in rows:
        id_ = row["conversation_id"]
        assert list(domain.history(id_)) == list(same.history(id_))


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


PERSONA = FIXTURES / "personamem"


def personas(**given: Any) -> PersonaMem:
    values = {"contexts": str(PERSONA / "contexts.jsonl"), "unknown_file": True, **given}
    return PersonaMem(PersonaMemSettings(path=str(PERSONA / "questions.csv"), **values))


@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_the_laws_hold_of_personamem(granularity: Any) -> None:
    check_domain(PersonaMem, personas(granularity=granularity).settings)


def test_personamem_s_history_ends_where_the_question_stands() -> None:
    domain = personas()
    cases = {case.id: case for case in domain.cases(None, 0)}
    early, late = cases["q-1"], cases["q-2"]
    assert len(list(domain.history(early.history_id))) == 5
    events = list(domain.history(late.history_id))
    assert [event.id for event in events][4:7] == ["s1.5", "s2.1", "s2.2"]
    assert events[5].text.startswith("2025/04/01 | user\n[System]: Current user persona")
    assert cases["q-3"].history_id == late.history_id
    assert [case.cluster for case in cases.values()] == ["0", "0", "0", "1"]
    assert "(b) Your rye bread" in early.task.query
    assert domain.protocols == ("evaluate",)


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("(b)", True),
        ("b", True),
        ("The answer is (b) Your rye bread, a good choice.", True),
        ("(a) or (b)", False),
        ("(c)", False),
        ("", False),
    ],
)
def test_personamem_s_letter_is_right_when_it_is_named_alone(given: str, right: bool) -> None:
    domain = personas()
    gold = next(domain.cases(1, 0)).gold
    assert domain.success(Answer(text=given), gold) is right
    assert not domain.success(Answer(text="(b)", decision=ABSTAIN), gold)


def test_personamem_needs_its_contexts_which_count_for_its_digest(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"domain\.contexts: no file given .*bowen-upenn"):
        personas(contexts="")
    other = tmp_path / "contexts.jsonl"
    other.write_text((PERSONA / "contexts.jsonl").read_text() + "\n")
    assert personas(contexts=str(other)).digest() != personas().digest()
    other.write_text('{"ctx-anna": []}\n{"ctx-bram": []}\n')
    with pytest.raises(DataError, match="end_index_in_shared_context: '5' of 0"):
        personas(contexts=str(other))


@pytest.mark.parametrize("name", sorted(FILES))
def test_unknown_bytes_are_refused_unless_told(name: str) -> None:
    with pytest.raises(DataError, match=r"domain\.unknown_file=true reads it anyway"):
        find("domain", name).cls(ConversationSettings(path=str(FILES[name])))
