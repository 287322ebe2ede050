"""LoCoMo: what its categories mean, where the evidence stands, and corrections of its key."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Scored
from framework.errors import DataError, UserError
from framework.records import ABSTAIN, Answer, Case, Item, MemoryView, TraceEntry
from framework.registry import NoSettings, find, identity_of
from framework.testing.domain_conformance import check_domain
from plugins.axes.session_ranking import Sessions
from plugins.domains.conversations.locomo import LoCoMo
from plugins.domains.conversations.shape import ConversationSettings
from tests.plugins.domains.malformed import check_malformed

ROOT = Path(__file__).resolve().parents[4]
FIXTURE = ROOT / "tests" / "fixtures" / "locomo" / "two.json"
SHARED = Path(os.environ.get("DECISIONBENCH_DATA", ROOT.parent / "shared" / "data"))
REAL = SHARED / "locomo" / "locomo_first5.json"
AUDIT = SHARED / "locomo_audit" / "errors_first5.json"


def opened(path: Path = FIXTURE, **settings: Any) -> LoCoMo:
    return LoCoMo(ConversationSettings(path=str(path), unknown_file=True, **settings))


def cases(**settings: Any) -> dict[str, Case]:
    return {case.id: case for case in opened(**settings).cases(None, seed=0)}


@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_the_laws_hold(granularity: Any) -> None:
    settings = ConversationSettings(path=str(FIXTURE), unknown_file=True, granularity=granularity)
    check_domain(LoCoMo, settings)


@pytest.mark.slow
@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_the_laws_hold_on_the_published_conversations(granularity: Any, data_dir: Path) -> None:
    path = data_dir / "locomo" / "locomo_first5.json"
    check_domain(LoCoMo, ConversationSettings(path=str(path), granularity=granularity))


def test_every_category_has_its_real_meaning() -> None:
    found = cases()
    assert [case.stratum for case in found.values()] == [
        *("multi-hop", "temporal", "open-domain", "single-hop", "adversarial", "temporal"),
        *("single-hop", "multi-hop"),
    ]
    adversarial = found["locomo_0_qa4"]
    assert adversarial.gold.decision == ABSTAIN
    assert adversarial.gold.answer_kind == "adversarial"
    assert (adversarial.gold.evidence, adversarial.gold.items) == ((), ())
    assert found["locomo_0_qa5"].gold.answer == "2023"


def test_mixed_cases_are_the_same_and_any_part_has_some_of_each() -> None:
    in_order, mixed = cases(), cases(order="mixed")
    assert mixed == in_order
    assert [case.stratum for case in mixed.values()] == [
        *("multi-hop", "temporal", "open-domain", "single-hop", "adversarial"),
        *("multi-hop", "temporal", "single-hop"),
    ]
    assert [case.cluster for case in mixed.values()][5:] == ["conv-b", "conv-a", "conv-b"]
    own = ConversationSettings(path="x")
    locomo = find("domain", "locomo")
    before = identity_of(locomo, own)
    assert "order" not in before
    assert identity_of(locomo, replace(own, order="mixed")) == {**before, "order": "mixed"}


def test_evidence_is_found_by_turn_and_by_session_whatever_its_spelling() -> None:
    by_turn, by_session = cases(), cases(granularity="session")
    assert by_turn["locomo_0_qa0"].gold.evidence == ("s1.2", "s2.1")
    assert by_turn["locomo_0_qa1"].gold.evidence == ("s2.1",)
    assert by_turn["locomo_1_qa1"].gold.evidence == ("s1.1", "s1.2")
    assert by_session["locomo_1_qa1"].gold.evidence == ("s1",)
    assert opened().report(by_turn.values()) == {"evidence_unresolved": 1.0}


def test_events_are_dated_turns_with_names_and_captions() -> None:
    events = {event.id: event for event in opened().history("conv-a")}
    assert events["s1.2"].text == (
        "2023/05/08 (Mon) 13:56 | assistant\n"
        "Piet: Look at this! [shares a photo of a red kayak on a lake]"
    )
    assert [event.time for event in events.values()] == ["2023-05-08"] * 2 + ["2023-06-02"] * 2
    assert {case.cluster for case in cases().values()} == {"conv-a", "conv-b"}


def test_an_answer_is_judged_by_the_rule_of_its_category() -> None:
    domain, found = opened(), cases()
    assert domain.success(Answer(text="a cello and a kayak"), found["locomo_0_qa0"].gold)
    assert not domain.success(Answer(text="a cello"), found["locomo_0_qa0"].gold)
    assert domain.success(Answer(text="Likely yes"), found["locomo_0_qa2"].gold)
    assert domain.success(Answer(decision=ABSTAIN), found["locomo_0_qa4"].gold)
    assert not domain.success(Answer(text="Wilma"), found["locomo_0_qa4"].gold)


def recalled(case: Case, *ids: str) -> Scored:
    trace = tuple(
        TraceEntry(item_id=i, rank=n, tokens=1, tokens_kept=1, placed="in", why="", source_ids=(i,))
        for n, i in enumerate(ids, start=1)
    )
    items = tuple(Item(id=i, text=i, source_ids=(i,)) for i in ids)
    view = MemoryView(items=items, tokens=len(ids), budget_tokens=None, trace=trace)
    none: Any = None
    return Scored(
        case=case, domain=none, view=view, answer=None, retained={}, judge=None, client=none
    )


def test_recall_of_sessions_counts_a_session_once_at_its_first_event() -> None:
    axis, case = Sessions(NoSettings()), cases()["locomo_0_qa0"]
    found = axis.score(recalled(case, "s3.1", "s3.2", "s1.1", "s2.9"))
    assert found.values == {"session_recall_at_2": 0.5, "session_recall_at_5": 1.0}
    assert axis.score(recalled(case)).values["session_recall_at_5"] == 0.0
    assert axis.score(recalled(cases()["locomo_0_qa4"])).values["session_recall_at_5"] is None


def test_unknown_bytes_are_refused_unless_told() -> None:
    with pytest.raises(DataError, match=r"none of the published files that are known \(locomo10"):
        LoCoMo(ConversationSettings(path=str(FIXTURE)))
    assert opened().provenance.licence == "not stated"
    with pytest.raises(UserError, match=r"download data/locomo10\.json"):
        LoCoMo(ConversationSettings())


def test_spoilt_files_end_in_a_line_each(tmp_path: Path) -> None:
    assert len(check_malformed(FIXTURE, tmp_path, opened)) >= 50


@pytest.mark.skipif(not AUDIT.is_file(), reason=f"{AUDIT} is not there")
def test_the_first_five_conversations_and_the_audit_of_their_key() -> None:
    domain = LoCoMo(ConversationSettings(path=str(REAL), errata=str(AUDIT)))
    found = list(domain.cases(None, 0))
    assert domain.provenance.licence == "CC BY-NC 4.0"
    assert Counter(case.stratum for case in found) == {
        "single-hop": 418,
        "adversarial": 237,
        "temporal": 156,
        "multi-hop": 142,
        "open-domain": 46,
    }
    report = domain.report(found)
    assert report["key_answers_corrected"] == 51
    assert report["key_ceiling"] == pytest.approx(1 - 51 / 999, abs=1e-9)
    published = LoCoMo(ConversationSettings(path=str(REAL)))
    assert published.digest() != domain.digest()
    assert published.report(published.cases(None, 0)) == {"evidence_unresolved": 2.0}
