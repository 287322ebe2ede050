from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.records import ABSTAIN, Answer, Case
from framework.registry import find, identity_of
from framework.testing.domain_conformance import check_domain
from plugins.domains.longmemeval.domain import LongMemEval, LongMemEvalSettings
from plugins.domains.longmemeval.loading import parse

ROOT = Path(__file__).resolve().parents[4]
FIXTURE = ROOT / "tests" / "fixtures" / "longmemeval" / "questions.json"
SHARED = Path(os.environ.get("DECISIONBENCH_DATA", ROOT.parent / "shared" / "data"))
SNAPSHOT = SHARED / "longmemeval" / "snapshot.json"


def opened(path: Path = FIXTURE, **settings: Any) -> LongMemEval:
    return LongMemEval(LongMemEvalSettings(path=str(path), **settings))


def cases(**settings: Any) -> dict[str, Case]:
    return {case.id: case for case in opened(**settings).cases(None, seed=0)}


@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_the_laws_hold(granularity: Any) -> None:
    check_domain(LongMemEval, LongMemEvalSettings(path=str(FIXTURE), granularity=granularity))


def test_an_event_is_a_dated_turn_and_empty_turns_are_none() -> None:
    events = list(opened().history("fx01"))
    assert [event.id for event in events] == ["s1.1", "s1.2", "s2.1", "s2.2"]
    assert events[2].text == (
        "2023/05/09 (Tue) 18:40 | user\nI lost my lock again. I keep the spare bicycle key in the "
        "blue teapot."
    )
    assert events[2].time == "2023-05-09"
    assert [event.kind for event in events[:2]] == ["user", "assistant"]
    assert [event.id for event in opened().history("fx02")] == ["s1.1", "s2.1"]


def test_a_session_is_an_event_where_that_is_asked_for() -> None:
    events = list(opened(granularity="session").history("fx01"))
    assert [event.id for event in events] == ["s1", "s2"]
    assert events[1].text.count("2023/05/09 (Tue) 18:40 | ") == 2
    assert cases(granularity="session")["fx01"].gold.evidence == ("s2",)


def test_nothing_that_an_arm_sees_tells_the_gold_sessions() -> None:
    for name in ("fx01", "fx02", "fx03_abs"):
        for event in opened().history(name):
            assert "answer" not in f"{event.id} {event.metadata} {event.kind}"


def test_gold_is_the_marked_turns_and_the_answer() -> None:
    found = cases()
    first, second = found["fx01"], found["fx02"]
    assert first.gold.evidence == ("s2.1",)
    assert first.gold.answer_kind == "single-session-user"
    assert [item.key for item in second.gold.items] == ["s1.1", "s2.1"]
    assert second.gold.answer == "9"
    assert second.task.material == {"question_date": "2023/06/20 (Tue) 10:00"}
    assert second.tags == {"type": "knowledge-update", "abstention": "no"}


def test_an_abstention_is_told_by_the_id_and_is_left_out_of_retrieval() -> None:
    case = cases()["fx03_abs"]
    assert case.gold.decision == ABSTAIN
    assert case.gold.answer_kind == "abstention"
    assert case.gold.evidence == ()
    assert [item.key for item in case.gold.items] == ["s1.1"]


def test_success_is_by_the_rule_for_the_type() -> None:
    domain, found = opened(), cases()
    assert domain.success(Answer(text="9 chapters"), found["fx02"].gold)
    assert not domain.success(Answer(text="5 chapters"), found["fx02"].gold)
    assert not domain.success(Answer(text="9", decision=ABSTAIN), found["fx02"].gold)
    assert domain.success(Answer(decision=ABSTAIN), found["fx03_abs"].gold)
    assert domain.success(Answer(text="That is not mentioned."), found["fx03_abs"].gold)
    assert not domain.success(Answer(text="10 days"), found["fx03_abs"].gold)


def test_the_neighbouring_schema_reads_alike(tmp_path: Path) -> None:
    records = json.loads(FIXTURE.read_text())["questions"]
    for record in records:
        parts = [record.pop(f"haystack_{key}") for key in ("session_ids", "dates", "sessions")]
        record["sessions"] = [
            {"session_id": id_, "date": date, "is_gold": True, "turns": turns}
            for id_, date, turns in zip(*parts, strict=True)
        ]
    file = tmp_path / "neighbour.json"
    file.write_text(json.dumps({"_provenance": {}, "questions": records}))
    assert parse("a", file.read_bytes())[0] == parse("b", FIXTURE.read_bytes())[0]


def _broken(change: Callable[[dict[str, Any]], Any]) -> bytes:
    whole = json.loads(FIXTURE.read_text())
    change(whole["questions"][1])
    return json.dumps(whole).encode()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda r: r.pop("question"),
            r"question 2 \(question_id 'fx02'\): question: text expected",
        ),
        (lambda r: r.update(question_type="riddle"), "'riddle' is none of single-session-user"),
        (lambda r: r.update(question_date="soon"), "question_date: 'soon' has no date"),
        (lambda r: r["haystack_dates"].pop(), "2, 1, 2 entries, as many of each expected"),
        (lambda r: r.update(answer_session_ids=["x"]), "'x' is not among the sessions"),
        (lambda r: r.update(answer=None), "answer: text expected, nothing found"),
        (lambda r: r.update(question_id="fx01"), "a second question with this question_id"),
        (
            lambda r: r["haystack_sessions"][0][0].update(role="system"),
            "session 'answer_fx02_1', turn 1: role: user or assistant expected",
        ),
        (lambda r: r["haystack_sessions"][1].append(3), "turn 2: an object expected, 3 found"),
    ],
)
def test_a_bad_record_is_named(change: Callable[[dict[str, Any]], Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        parse("q.json", _broken(change))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"[{]", "q.json:1: not JSON"),
        (b"{}", "a list of questions expected"),
        (b"[]", "no questions"),
        (b'["\xff"]', "not UTF-8 text"),
        (b"[3]", "question 1: an object expected, 3 found"),
    ],
)
def test_a_file_that_is_not_the_published_one(data: bytes, says: str) -> None:
    with pytest.raises(DataError, match=says):
        parse("q.json", data)


def test_mistakes_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no file given"):
        LongMemEval(LongMemEvalSettings())
    with pytest.raises(DataError, match="no such file"):
        opened(tmp_path / "none.json")
    with pytest.raises(DataError, match="asks for sha256:0"):
        opened(sha256="sha256:" + "0" * 64)
    with pytest.raises(ValueError, match="64 lower-case hex digits expected"):
        LongMemEvalSettings(sha256="abc")


def bare(folder: Path) -> Path:
    """The questions alone, in a file that says nothing of itself."""
    path = folder / "bare.json"
    path.write_text(json.dumps(json.loads(FIXTURE.read_text())["questions"]))
    return path


def test_runs_of_before_keep_their_identity() -> None:
    plugin, given = find("domain", "longmemeval"), {"path": "questions.json"}
    before = identity_of(plugin, LongMemEvalSettings(**given))
    assert before == {**given, "granularity": "turn"}
    for more in ({"errata": "errata.json"}, {"unknown_file": True}):
        settings: Any = {**given, **more}
        assert identity_of(plugin, LongMemEvalSettings(**settings)) == {**before, **more}
    assert identity_of(plugin, LongMemEvalSettings(**given, sha256="0" * 64)) == before


def test_bytes_that_are_not_known_are_refused_unless_told(tmp_path: Path) -> None:
    path = bare(tmp_path)
    with pytest.raises(DataError, match=r"none of the published files.*unknown_file=true") as it:
        opened(path)
    assert "\n" not in str(it.value)
    told = opened(path, unknown_file=True)
    assert told.provenance.source == "not stated by the file bare.json"
    assert told.provenance.main_score == LongMemEval.provenance.main_score
    assert opened().provenance.source == "written for the tests"


def corrected(folder: Path, *corrections: dict[str, Any], **settings: Any) -> LongMemEval:
    path = folder / "errata.json"
    path.write_text(json.dumps(corrections))
    return opened(errata=str(path), **settings)


@pytest.mark.parametrize("granularity", ["turn", "session"])
def test_corrections_change_answers_and_evidence_and_drop_questions(
    granularity: Any, tmp_path: Path
) -> None:
    changes = (
        {"case": "fx01", "evidence": ["s1.2", "s2.1"], "why": "the wheel is needed too"},
        {"case": "fx02", "answer": "10"},
        {"case": "fx03_abs", "drop": True},
    )
    domain = corrected(tmp_path, *changes, granularity=granularity)
    found = {case.id: case for case in domain.cases(None, 0)}
    assert list(found) == ["fx01", "fx02"]
    places = ("s1.2", "s2.1") if granularity == "turn" else ("s1", "s2")
    assert found["fx01"].gold.evidence == places
    assert [item.key for item in found["fx01"].gold.items] == ["s1.2", "s2.1"]
    assert domain.success(Answer(text="10"), found["fx02"].gold)
    assert not domain.success(Answer(text="9"), found["fx02"].gold)
    assert domain.report(found.values()) == {
        "key_ceiling": 1 - 2 / 3,
        "key_evidence": 1 - 1 / 3,
        "key_answers_corrected": 1.0,
        "key_cases_dropped": 1.0,
    }
    assert domain.digest() != opened().digest()
    assert list(domain.history("fx01")) == list(opened(granularity=granularity).history("fx01"))


def test_without_corrections_the_key_s_ceiling_is_not_known() -> None:
    assert opened().report(cases().values()) == {}


@pytest.mark.parametrize(
    ("correction", "said"),
    [
        ({"case": "fx09", "drop": True}, "case 'fx09': the data have none of this id"),
        ({"case": "fx01", "evidence": ["s9.1"]}, "case 'fx01': evidence 's9.1' is no turn of it"),
        ({"case": "fx01", "evidence": ["s1"]}, "evidence 's1' is no turn of it"),
        ({"case": "fx03_abs", "answer": "9"}, "there is no answer to correct"),
    ],
)
def test_a_correction_that_fits_no_question_is_told(
    correction: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=said) as it:
        corrected(tmp_path, correction)
    assert "errata.json" in str(it.value)
    assert "\n" not in str(it.value)


def test_a_key_of_which_every_question_is_dropped_is_told(tmp_path: Path) -> None:
    every = [{"case": name, "drop": True} for name in cases()]
    with pytest.raises(DataError, match="every question is dropped"):
        corrected(tmp_path, *every)


@pytest.mark.slow
@pytest.mark.skipif(not SNAPSHOT.exists(), reason=f"{SNAPSHOT} is not there")
def test_the_twelve_real_questions() -> None:
    check_domain(LongMemEval, LongMemEvalSettings(path=str(SNAPSHOT)), n=12)
    domain = opened(SNAPSHOT)
    assert domain.provenance == LongMemEval.provenance
    found = list(domain.cases(None, seed=0))
    assert [case.stratum for case in found].count("temporal-reasoning") == 9
    assert [case.stratum for case in found].count("knowledge-update") == 3
    assert all(case.gold.evidence for case in found)
