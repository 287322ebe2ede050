"""Tasks from the real edges of a corpus: what governs now, and what is required."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.records import Answer, Case
from framework.testing.domain_conformance import check_domain
from plugins.domains.corpus.domain import (
    HISTORY,
    INSTRUCTIONS,
    DecisionCorpus,
    DecisionCorpusSettings,
)
from plugins.domains.corpus.links import components, hops_from, links_by, shortest_path
from plugins.domains.corpus.measure import Task, measured
from plugins.domains.corpus.peps import convert_peps
from plugins.domains.corpus.schema import RELATIONS, parse_corpus, write_corpus
from tests.launching import framework, read_json, run

FIXTURE = Path(__file__).parents[3] / "fixtures" / "decision_corpus" / "harbour.jsonl"


def opened(path: Path = FIXTURE, **settings: Any) -> DecisionCorpus:
    return DecisionCorpus(DecisionCorpusSettings(path=str(path), **settings))


def by_id(domain: DecisionCorpus) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, 7)}


@pytest.mark.parametrize(
    "values",
    [{}, {"variant": "masked"}, {"text": "whole"}, {"task": "governs_now"}, {"task": "requires"}],
)
def test_it_keeps_the_laws(values: dict[str, Any]) -> None:
    check_domain(DecisionCorpus, DecisionCorpusSettings(path=str(FIXTURE), **values))


def test_what_governs_now_is_at_the_end_of_every_chain() -> None:
    cases = by_id(opened(task="governs_now"))
    assert list(cases) == [f"governs_now:adr-{n}" for n in (1, 4, 2)]
    first = cases["governs_now:adr-1"]
    assert first.gold.governing == ("adr-9",)
    assert first.gold.chain == ("adr-1", "adr-4", "adr-9")
    assert [r.source_ids for r in first.gold.retired] == [("adr-1",), ("adr-4",)]
    assert first.gold.entry == "adr-1"
    assert first.tags["depth"] == "2"
    assert first.task.query.startswith("Berths are booked in one shared spreadsheet")
    split = cases["governs_now:adr-2"]
    assert split.gold.governing == ("adr-12", "adr-13")
    assert split.cluster != first.cluster


def test_requirements_are_transitive_and_as_declared() -> None:
    cases = by_id(opened(task="requires"))
    assert list(cases) == [f"requires:adr-{n}" for n in (10, 14, 11)]
    gate = cases["requires:adr-14"]
    assert gate.gold.governing == ("adr-10", "adr-5", "adr-9")
    assert gate.gold.evidence == gate.gold.governing
    assert gate.gold.retired == ()
    assert gate.tags["depth"] == "2"
    assert cases["requires:adr-11"].gold.governing == ("adr-7",)
    assert gate.cluster == by_id(opened())["governs_now:adr-1"].cluster


def test_any_relation_makes_tasks_and_hops_say_how_far_they_go() -> None:
    bound = by_id(opened(tasks_from=("constrains", "supersedes")))
    assert list(bound) == ["constrains:adr-7", *(f"governs_now:adr-{n}" for n in (1, 4, 2))]
    first = bound["constrains:adr-7"]
    assert first.gold.governing == ("adr-9",)
    assert first.gold.retired == ()
    assert first.task.instruction.endswith("titles of all documents that it sets bounds to.")
    gate = by_id(opened(tasks_from=("requires",), hops=1))["requires:adr-14"]
    assert gate.gold.governing == ("adr-10", "adr-5")
    assert "up to" not in gate.task.instruction
    assert by_id(opened(tasks_from=("requires",))) == by_id(opened(task="requires"))


def test_recall_is_told_by_how_far_a_document_lies() -> None:
    domain = opened()
    assert domain.hops_of(by_id(domain)["requires:adr-14"]) == {
        "document:adr-10": 1,
        "document:adr-5": 1,
        "document:adr-9": 2,
    }
    masked = opened(variant="masked")
    for plain, hidden in zip(domain.cases(None, 7), masked.cases(None, 7), strict=True):
        assert list(domain.hops_of(plain).values()) == list(masked.hops_of(hidden).values())


def test_both_tasks_one_after_the_other_over_one_history() -> None:
    domain = opened()
    cases = list(domain.cases(None, 7))
    assert [c.stratum for c in cases] == ["governs_now"] * 3 + ["requires"] * 3
    assert {c.history_id for c in cases} == {HISTORY}
    events = list(domain.history(HISTORY))
    assert [e.time for e in events] == sorted(e.time for e in events)
    assert len(events) == 12


def test_arms_get_no_status_and_no_metadata() -> None:
    for event in opened(text="whole").history(HISTORY):
        assert not event.metadata
        assert "superseded" not in event.text
        assert "accepted" not in event.text


def test_masking_leaves_no_number_to_follow() -> None:
    domain = opened(variant="masked")
    events = list(domain.history(HISTORY))
    assert [e.id for e in events] == [f"d{i:05d}" for i in range(12)]
    assert not any(re.search(r"\d", e.text) for e in events)
    service = next(e for e in events if "booking service" in e.text)
    assert "ADR #." in service.text
    plain = {e.id: e for e in opened().history(HISTORY)}
    assert "ADR 1." in plain["adr-4"].text
    assert [r for r, _ in service.edges] == [r for r, _ in plain["adr-4"].edges]
    for case in domain.cases(None, 7):
        assert not re.search(r"\d", case.task.query + case.gold.answer)


def test_the_answer_is_the_titles_in_any_order() -> None:
    domain = opened()
    gold = by_id(domain)["governs_now:adr-2"].gold
    said = "surge warnings from the coast guard\nTide forecasts by the hour"
    assert domain.success(Answer(text=said), gold)
    assert not domain.success(Answer(text="Tide forecasts by the hour"), gold)


def test_a_document_without_a_summary_shows_its_beginning() -> None:
    note = next(e for e in opened().history(HISTORY) if e.id == "note-3")
    assert note.text.startswith("Visit to the neighbouring harbour\nThe neighbours keep a paper")


def test_the_report_measures_depth_drift_and_scatter() -> None:
    report = opened().report(())
    assert report["documents"] == 12
    assert report["edges_supersedes"] == 4
    assert report["depth_governs_now_max"] == 2
    assert report["depth_governs_now_mean"] == pytest.approx((2 + 1 + 1) / 3)
    assert report["scatter_requires_mean"] == pytest.approx((1 + 3 + 1) / 3)
    assert report["drift_governs_now"] == pytest.approx(1 - report["similarity_governs_now_hop_1"])
    assert report["named_governs_now"] == pytest.approx(1 / 4)
    assert opened(variant="masked").report(())["named_governs_now"] == 0


def test_the_chain_leads_from_what_is_asked_of_to_the_farthest_answer() -> None:
    domain = opened()
    texts = {e.id: e.text for e in domain.history(HISTORY)}
    cases = by_id(domain)
    for case, path in (
        ("governs_now:adr-1", ("adr-1", "adr-4", "adr-9")),
        ("governs_now:adr-2", ("adr-2", "adr-12")),
        ("requires:adr-14", ("adr-14", "adr-10", "adr-9")),
    ):
        assert domain.chain_texts(cases[case]) == [texts[name] for name in path], case
        assert cases[case].task.query in texts[path[0]]
    masked = opened(variant="masked")
    for plain, hidden in zip(domain.cases(None, 7), masked.cases(None, 7), strict=True):
        chain = [re.sub(r"\d+", "#", text) for text in domain.chain_texts(plain)]
        assert masked.chain_texts(hidden) == chain


def test_a_shortest_path_takes_the_first_of_several() -> None:
    links = {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": ["e"]}
    assert shortest_path("a", "e", links) == ["a", "b", "d", "e"]
    assert shortest_path("a", "a", links) == ["a"]


def test_similarity_is_the_cosine_of_tf_idf() -> None:
    corpus = parse_corpus(FIXTURE.read_bytes(), FIXTURE)
    tasks = [
        Task(name="governs_now", relation="supersedes", links=links_by(corpus, "supersedes")),
        Task(name="requires", relation="requires", links=links_by(corpus, "requires")),
    ]
    same = measured(corpus, {name: f"alpha {name}" for name in corpus.nodes}, tasks)
    # Every word but the id is in all texts and weighs nothing, and `adr` is in all but one.
    assert same["similarity_random"] < 0.05
    texts = dict.fromkeys(corpus.nodes, "beta") | {"adr-1": "gamma", "adr-4": "gamma"}
    assert measured(corpus, texts, tasks)["similarity_governs_now_hop_1"] == pytest.approx(3 / 4)
    apart = dict.fromkeys(corpus.nodes, "beta") | {"adr-9": "gamma"}
    assert measured(corpus, apart, tasks)["similarity_random"] == pytest.approx(10 / 12)


def test_walks() -> None:
    corpus = parse_corpus(FIXTURE.read_bytes(), FIXTURE)
    assert hops_from("adr-1", links_by(corpus, "supersedes")) == {
        "adr-1": 0,
        "adr-4": 1,
        "adr-9": 2,
    }
    assert hops_from("adr-7", links_by(corpus, "requires")) == {"adr-7": 0}
    tied = components(corpus, ("supersedes", "requires"))
    assert tied["adr-14"] == tied["adr-1"] == "adr-1"
    assert tied["note-3"] == "note-3"


def test_mistakes_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"domain\.path: no file given"):
        DecisionCorpus(DecisionCorpusSettings())
    with pytest.raises(DataError, match="no such file"):
        opened(tmp_path / "nowhere.jsonl")
    with pytest.raises(DataError, match=r"domain\.sha256 asks for 0"):
        opened(sha256="0" * 64)
    with pytest.raises(ValueError, match="64 lower-case hex digits"):
        DecisionCorpusSettings(sha256="abc")
    kept = [
        line
        for line in FIXTURE.read_text().splitlines()
        if json.loads(line).get("type") != "requires"
    ]
    (tmp_path / "c.jsonl").write_text("\n".join(kept))
    with pytest.raises(ValueError, match="tasks_from: 'replaces' given, known: supersedes"):
        DecisionCorpusSettings(tasks_from=("replaces",))
    with pytest.raises(ValueError, match="a relation is given twice"):
        DecisionCorpusSettings(tasks_from=("cites", "cites"))
    with pytest.raises(DataError, match=r"no edge makes a task 'requires'; it has supersedes 4"):
        opened(tmp_path / "c.jsonl", task="requires")


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["plain", "masked"])
def test_the_peps_keep_the_laws(data_dir: Path, tmp_path: Path, variant: str) -> None:
    path = tmp_path / "peps.jsonl"
    write_corpus(convert_peps(data_dir / "peps"), path)
    settings = DecisionCorpusSettings(path=str(path), variant=variant)  # type: ignore[arg-type]
    check_domain(DecisionCorpus, settings, n=100)
    report = DecisionCorpus(settings).report(())
    assert report["edges_supersedes"] == 47
    assert report["edges_requires"] == 39
    assert report["depth_governs_now_max"] == 3


def test_a_bad_corpus_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    edge = {"record": "edge", "type": "supersedes", "from": "adr-1", "to": "adr-9"}
    path.write_text(FIXTURE.read_text() + json.dumps(edge) + "\n")
    lines = len(path.read_text().splitlines())
    message = framework(capsys, "show", "domain=decision_corpus", f"domain.path={path}").mistake
    assert message.startswith(f"{path}:{lines}: cycle: adr-")


def test_show_gives_the_report_without_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "show", "domain=decision_corpus", f"domain.path={FIXTURE}")
    told = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert told["edges_supersedes"] == "4"
    assert float(told["drift_governs_now"]) == pytest.approx(
        opened().report(())["drift_governs_now"], abs=1e-3
    )


def test_the_page_s_example_is_a_corpus() -> None:
    page = (
        Path(__file__).parents[4] / "docs" / "reference" / "domains" / "decision-corpus.md"
    ).read_text()
    example = page.partition("```json\n")[2].partition("```")[0]
    corpus = parse_corpus(example.encode(), Path("page"))
    assert list(corpus.nodes) == ["adr-4", "adr-1"]
    assert all(f"| `{relation}` | {says} |" in page for relation, says in RELATIONS.items())


def test_a_reader_is_asked_what_governs_and_answers_with_what_it_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(
        capsys,
        *("domain=decision_corpus", f"domain.path={FIXTURE}", "arch=oracle", "budget=absolute"),
        *("tracking=none", "run_name=answered"),
    )
    assert done.status == 0, done.err
    summary = read_json(done.directory / "summary.json")
    assert summary["axes"]["answer_correct"]["n"] == 6
    assert {"answer_correct", "answer_f1"} <= set(summary["headline"])
    assert "answer_correct" in done.out
    (line, *_) = (done.directory / "answers.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["answer"]["text"]
    assert record["answer"]["rationale"] in "\n".join(item["text"] for item in record["view"])
    (asked,) = (p["user"] for p in record["prompts"] if p["phase"] == "answer")
    assert INSTRUCTIONS["governs_now"] in asked
