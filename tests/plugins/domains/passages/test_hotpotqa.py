from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import answer_by_rule
from framework.errors import DataError, UserError
from framework.operations.answer_question import AnswerQuestion
from framework.operations.answering import AnswerRequest
from framework.records import Answer, Case
from framework.registry import find, identity_of, plugins, settings_of
from framework.text.canonical import digest
from framework.text.tokens import count_tokens
from plugins.domains.passages.hotpotqa import HotpotQA, HotpotQASettings
from plugins.domains.passages.shape import POOL, normalise_answer
from tests.launching import framework, run

ROOT = Path(__file__).parents[4]
FIXTURE = ROOT / "tests" / "fixtures" / "hotpotqa" / "questions.json"


def opened(path: Path = FIXTURE, **settings: Any) -> HotpotQA:
    given = {"unknown_file": True, **settings}
    return HotpotQA(HotpotQASettings(path=str(path), **given))


def by_id(domain: HotpotQA) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, seed=0)}


def check_laws(domain: HotpotQA) -> None:
    """What must hold of any file: gold is verbatim, in the history, once."""
    for case in domain.cases(None, seed=0):
        texts = {event.id: event.text for event in domain.history(case.history_id)}
        ids = [item.id for item in case.gold.items]
        assert len(set(ids)) == len(ids)
        for item in case.gold.items:
            assert item.spans
            for span in item.spans:
                assert span.text.strip() == span.text != ""
                assert span.text in texts[span.source_id]
        passages = [i for i in case.gold.items if i.kind == "passage"]
        assert [i.source_ids[0] for i in passages] == list(case.gold.evidence)
        assert set(case.gold.evidence) <= texts.keys()
        assert case.gold.answer


def test_pool_holds_every_distinct_passage_in_the_order_of_their_digests() -> None:
    domain = opened()
    events = list(domain.history(POOL))
    records = json.loads(FIXTURE.read_text())
    pairs = [(t, "".join(s).strip()) for r in records for t, s in r["context"]]
    texts = {f"{title}\n{body}" for title, body in pairs}
    assert [event.text for event in events] == sorted(texts, key=lambda text: digest([text]))
    assert len({event.id for event in events}) == len(events)
    assert {case.history_id for case in domain.cases(None, seed=0)} == {POOL}


def test_one_title_with_two_texts_is_two_events_and_gold_takes_the_right_one() -> None:
    domain = opened()
    mercury = {e.id: e.text for e in domain.history(POOL) if e.metadata["title"] == "Mercury"}
    assert set(mercury) == {"Mercury", "Mercury#2"}
    cases = by_id(domain)
    assert cases["fx03"].gold.evidence == ("Mercury", "Harrowgate")
    assert cases["fx04"].gold.evidence == ("Mercury#2", "Tiss Valley Railway")
    assert "locomotive" in mercury["Mercury#2"]


def test_own_history_is_the_question_s_context_and_the_gold_stays_the_same() -> None:
    pooled, own = opened(), opened(corpus="own")
    records = {r["_id"]: r for r in json.loads(FIXTURE.read_text())}
    for case in own.cases(None, seed=0):
        titles = sorted(event.metadata["title"] for event in own.history(case.history_id))
        assert titles == sorted(title for title, _ in records[case.id]["context"])
        assert case.gold == by_id(pooled)[case.id].gold
    with pytest.raises(KeyError):
        list(own.history(POOL))


def test_gold_of_a_case() -> None:
    case = by_id(opened())["fx01"]
    assert case.task.query == "In which town was the designer of Aldermoor Bridge born?"
    assert case.gold.answer == "Port Verrin"
    assert case.stratum == "bridge"
    assert case.tags == {"type": "bridge", "level": "medium", "sentences": "complete"}
    facts = [item for item in case.gold.items if item.kind == "fact"]
    assert [item.id for item in facts] == ["fact:Aldermoor Bridge:1", "fact:Ines Calloway:1"]
    assert facts[1].spans[0].text == "She was born in Port Verrin in 1832."
    assert all(item.critical and not item.anchors for item in facts)
    assert not any(item.critical for item in case.gold.items if item.kind == "passage")


def test_annotations_that_name_no_sentence_leave_the_passage_as_evidence() -> None:
    cases = by_id(opened())
    beyond, empty = cases["fx05"], cases["fx06"]
    assert beyond.gold.evidence == ("Ines Calloway", "Verrin Library", "Maud Ferris")
    assert [i.id for i in beyond.gold.items if i.kind == "fact"] == [
        "fact:Ines Calloway:2",
        "fact:Verrin Library:1",
    ]
    assert [i.id for i in empty.gold.items if i.kind == "fact"] == [
        "fact:Oren Halvard:0",
        "fact:Dita Quell:0",
    ]
    incomplete = {c.id for c in cases.values() if c.tags["sentences"] == "incomplete"}
    assert incomplete == {"fx05", "fx06"}


@pytest.mark.parametrize("corpus", ["pooled", "own"])
def test_laws_on_the_fixture(corpus: Any) -> None:
    check_laws(opened(corpus=corpus))


def test_runs_of_before_keep_their_identity() -> None:
    plugin = find("domain", "hotpotqa")
    given = {"path": "questions.json"}
    before = identity_of(plugin, HotpotQASettings(**given))
    assert before == {**given, "corpus": "pooled"}
    for more in ({"pool": "more.json"}, {"errata": "errata.json"}, {"unknown_file": True}):
        assert identity_of(plugin, HotpotQASettings(**given, **more)) == {**before, **more}
    assert identity_of(plugin, HotpotQASettings(**given, sha256="0" * 64)) == before


def test_bytes_that_are_not_known_are_refused() -> None:
    with pytest.raises(DataError, match=r"domain\.unknown_file=true reads it anyway"):
        opened(unknown_file=False)


@pytest.mark.parametrize("corpus", ["pooled", "own"])
def test_laws_on_real_data(corpus: Any, data_dir: Path) -> None:
    path = data_dir / "hotpotqa" / "hotpotqa_train.json"
    domain = opened(path, corpus=corpus, unknown_file=False)
    assert domain.provenance == HotpotQA.provenance
    check_laws(domain)
    cases = list(domain.cases(None, seed=0))
    assert len(cases) == 100
    assert all(len(case.gold.evidence) == 2 for case in cases)
    events = {e.id for case in cases for e in domain.history(case.history_id)}
    assert len(events) == 994


def test_nominal_tokens() -> None:
    pooled, own = opened(), opened(corpus="own")
    assert pooled.nominal_tokens == sum(count_tokens(e.text) for e in pooled.history(POOL))
    sizes = [sum(count_tokens(e.text) for e in own.history(c)) for c in by_id(own)]
    assert own.nominal_tokens == round(sum(sizes) / len(sizes))


def test_cases_are_lazy_in_file_order_and_a_prefix_of_each_other() -> None:
    domain = opened()
    every = [case.id for case in domain.cases(None, seed=0)]
    assert every == [f"fx0{i}" for i in range(1, 7)]
    assert [case.id for case in domain.cases(2, seed=7)] == every[:2]
    assert [case.id for case in domain.cases(99, seed=0)] == every
    assert next(iter(domain.cases(None, seed=0))).id == "fx01"
    (first,) = itertools.islice(domain.history(POOL), 1)
    assert first.metadata["title"] == "Dita Quell"


def test_digest_is_that_of_the_file_and_the_pin_holds() -> None:
    sha256 = hashlib.sha256(FIXTURE.read_bytes()).hexdigest()
    assert opened().digest() == opened(corpus="own").digest() == f"sha256:{sha256}"
    assert opened(sha256=sha256).digest() == opened(sha256=f"sha256:{sha256}").digest()
    with pytest.raises(DataError, match=r"questions\.json: is sha256:.* asks for 0000"):
        opened(sha256="0" * 64)
    with pytest.raises(UserError, match="64 lower-case hex digits"):
        settings_of(_plugin(), {"path": str(FIXTURE), "sha256": "abc"})


def test_no_path_says_where_to_get_the_file_and_what_to_set() -> None:
    with pytest.raises(UserError, match=r"domain\.path: .*https://hotpotqa.*domain\.path=FILE"):
        HotpotQA(HotpotQASettings())


def edited(change: Callable[[list[Any]], object]) -> str:
    records = json.loads(FIXTURE.read_text())
    change(records)
    return json.dumps(records)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[{]", r":1: not JSON"),
        ("[\n1,\n2", r":3: not JSON"),
        ("[" * 100_000, "not usable: nested too deeply"),
        ('[{"_id": "fx01", "_id": "fx02"}]', "not usable: the key '_id' stands twice"),
        ("{}", "a list of questions expected, an empty JSON object found"),
        ("[]", "no questions"),
        ("[3]", "question 1: an object expected, 3 found"),
        (edited(lambda r: r[1].pop("answer")), r"question 2 \(_id 'fx02'\): answer: text expected"),
        (edited(lambda r: r[1].update(question=" ")), "question 2 .*question: text expected, e"),
        (edited(lambda r: r[1].update(level=3)), "question 2 .*level: text expected, 3 found"),
        (edited(lambda r: r[2].pop("_id")), "question 3: _id: text expected, nothing found"),
        (edited(lambda r: r[3].update(_id="fx01")), "question 4 .*a second question with this _id"),
        (edited(lambda r: r[0].update(context=[])), "question 1 .*context: .*an empty list"),
        (edited(lambda r: r[0].update(context=[["T"]])), "context: each a pair"),
        (edited(lambda r: r[0].update(context=[["T", [1]]])), "context: a title and sentences"),
        (edited(lambda r: r[0].update(context={"title": []})), "context: .*a JSON object found"),
        (edited(lambda r: r[0].update(supporting_facts=[["T", True]])), "supporting_facts: each a"),
        (
            edited(lambda r: r[5].update(supporting_facts=[["Mars", 0]])),
            r"question 6 \(_id 'fx06'\): supporting passage 'Mars' is not in the context",
        ),
        (
            edited(lambda r: r[2]["context"].append(["Mercury", ["Another."]])),
            "question 3 .*'Mercury': two texts under this title",
        ),
    ],
)
def test_a_bad_file_is_told_in_one_line_naming_file_and_record(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(DataError, match=told) as caught:
        opened(path)
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file; download .*domain\.path=FILE"):
        opened(tmp_path / "missing.json")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        opened(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'["\xe9"]')
    with pytest.raises(DataError, match="not UTF-8"):
        opened(tmp_path / "latin.json")


@pytest.mark.parametrize(
    ("given", "gold", "right"),
    [
        ("The Port-Verrin!", "portverrin", True),
        ("an  Apple", "apple", True),
        ("Yes.", "yes", True),
        ("Port Verrin, a town", "Port Verrin", False),
        ("", "Port Verrin", False),
    ],
)
def test_success_is_the_published_exact_match(given: str, gold: str, right: bool) -> None:
    case = by_id(opened())["fx01"]
    expected = type(case.gold)(answer=gold)
    assert opened().success(Answer(text=given), expected) is right


def test_normalisation_keeps_articles_inside_words() -> None:
    assert normalise_answer("Theatre and an Anthem") == "theatre and anthem"


def _plugin() -> Any:
    return next(p for p in plugins("domain") if p.name == "hotpotqa")


def test_the_questions_can_be_answered_too() -> None:
    assert HotpotQA.protocols == ("retrieve", "evaluate")
    domain = opened()
    case = by_id(domain)["fx01"]
    assert case.task.operation == "answer_question"
    assert "answer" in HotpotQA.axes()
    operation = AnswerQuestion()
    request = AnswerRequest(task=case.task, view="\n".join(e.text for e in domain.history(POOL)))
    answer = operation.answer_of(answer_by_rule(operation, request), case.task)
    assert answer.text
    assert domain.success(Answer(text=case.gold.answer), case.gold)


@pytest.mark.slow
def test_a_run_that_answers_shows_whether_the_answers_are_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("-m", "domain=hotpotqa", f"domain.path={FIXTURE}", "arch=bm25,none", "tracking=none")
    words += ("domain.unknown_file=true",)
    done = run(capsys, *words, "report=false", "protocol=evaluate")
    assert done.status == 0, done.err
    for axis in ("answer_correct", "answer_f1"):
        assert axis in framework(capsys, "table", str(done.directory)).out
    done = run(capsys, *words, "report=false", "protocol=retrieve")
    assert "answer" not in framework(capsys, "table", str(done.directory)).out


def test_sentences_of_2wiki_are_parted_by_the_blank_that_they_lack(tmp_path: Path) -> None:
    records = json.loads(FIXTURE.read_text())
    for record in records:
        for pair in record["context"]:
            pair[1] = [sentence.strip() for sentence in pair[1]]
    path = tmp_path / "2wiki.json"
    path.write_text(json.dumps(records))
    domain = opened(path)
    (bridge,) = (e.text for e in domain.history(POOL) if e.id == "Aldermoor Bridge")
    assert "over the River Tiss. It was designed" in bridge
    check_laws(domain)
    # HotpotQA brings its own, and where a sentence was split inside a word there is none.
    (library,) = (e.text for e in opened().history(POOL) if e.id == "Verrin Library")
    published = next(
        dict(r["context"]) for r in json.loads(FIXTURE.read_text()) if r["_id"] == "fx05"
    )
    assert library == "Verrin Library\n" + "".join(published["Verrin Library"])
