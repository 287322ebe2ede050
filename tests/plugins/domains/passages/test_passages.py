"""MuSiQue and 2WikiMultihopQA in their own schemas, on the shape that HotpotQA has too."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.records import Answer
from framework.registry import find
from framework.testing.domain_conformance import check_domain
from plugins.domains.passages.musique import MuSiQue
from plugins.domains.passages.shape import POOL, PassageSettings
from plugins.domains.passages.swe_contextbench import (
    SWEContextBench,
    SWEContextBenchSettings,
)
from plugins.domains.passages.two_wiki import TwoWiki
from tests.plugins.domains.malformed import check_malformed

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
MUSIQUE = FIXTURES / "musique" / "questions.jsonl"
WIKI = FIXTURES / "two_wiki" / "questions.json"
FILES = {"musique": MUSIQUE, "two_wiki": WIKI}


def settings(path: Path, **given: Any) -> PassageSettings:
    return PassageSettings(path=str(path), unknown_file=True, **given)


@pytest.mark.parametrize("corpus", ["pooled", "own"])
@pytest.mark.parametrize("name", sorted(FILES))
def test_the_laws_hold(name: str, corpus: Any) -> None:
    check_domain(find("domain", name).cls, settings(FILES[name], corpus=corpus))


def test_musique_marks_whole_passages_and_pools_those_that_questions_share() -> None:
    domain = MuSiQue(settings(MUSIQUE))
    two, three = domain.cases(None, 0)
    assert two.gold.evidence == ("Brinkum Mill", "Harm Okken")
    assert [item.kind for item in three.gold.items] == ["passage"] * 3
    assert (two.stratum, three.stratum) == ("2hop", "3hop1")
    assert (two.tags["hops"], three.tags["hops"]) == ("2", "3")
    ids = [event.id for event in domain.history(POOL)]
    assert len(ids) == len(set(ids)) == 6
    assert {"Brinkum Mill", "Harm Okken", "Loga Castle"} <= set(ids)


def test_an_alias_of_musique_is_as_right_as_the_answer_until_the_key_is_corrected(
    tmp_path: Path,
) -> None:
    domain = MuSiQue(settings(MUSIQUE))
    two, three = domain.cases(None, 0)
    assert two.gold.accepted == ("Loga", "village of Loga")
    assert three.gold.accepted == ("Ems",)
    for said in ("Loga", "the village of Loga"):
        assert domain.success(Answer(text=said), two.gold)
    assert not domain.success(Answer(text="village"), two.gold)
    path = tmp_path / "errata.json"
    path.write_text(json.dumps([{"case": two.id, "answer": "Leer"}]))
    corrected = next(MuSiQue(settings(MUSIQUE, errata=str(path))).cases(None, 0))
    assert corrected.gold.accepted == ("Leer",)


def test_two_wiki_s_sentences_are_joined_by_a_blank() -> None:
    domain = TwoWiki(settings(WIKI))
    first = next(domain.cases(None, 0))
    events = {event.id: event for event in domain.history(POOL)}
    assert events["Mole of Norden"].text == (
        "Mole of Norden\nThe Mole of Norden was finished in 1811. It is 400 metres long."
    )
    assert [i.spans[0].text for i in first.gold.items if i.kind == "fact"] == [
        "The Mole of Norden was finished in 1811.",
        "The Gate of Jever dates from 1790.",
    ]


def test_a_second_file_widens_the_pool_and_asks_nothing(tmp_path: Path) -> None:
    wider = tmp_path / "wider.jsonl"
    more = json.loads(MUSIQUE.read_text().splitlines()[0])
    more["id"], more["paragraphs"][2]["title"] = "2hop__91_92", "Castles"
    wider.write_text(json.dumps(more) + "\n")
    alone, both = MuSiQue(settings(MUSIQUE)), MuSiQue(settings(MUSIQUE, pool=str(wider)))
    assert list(alone.cases(None, 0)) == list(both.cases(None, 0))
    assert {e.id for e in both.history(POOL)} - {e.id for e in alone.history(POOL)} == {"Castles"}
    assert alone.digest() != both.digest()
    assert both.nominal_tokens > alone.nominal_tokens


def test_a_second_file_that_is_not_known_is_refused_and_not_stamped_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = f"sha256:{sha256(MUSIQUE.read_bytes()).hexdigest()}"
    published = replace(MuSiQue.provenance, files={"mine.jsonl": digest})
    monkeypatch.setattr(MuSiQue, "provenance", published)
    known = PassageSettings(path=str(MUSIQUE), pool=str(MUSIQUE))
    assert MuSiQue(known).provenance == published
    other = tmp_path / "other.jsonl"
    other.write_bytes(MUSIQUE.read_bytes() + b"\n")
    with pytest.raises(DataError, match=r"other\.jsonl: is .*domain\.unknown_file=true"):
        MuSiQue(replace(known, pool=str(other)))
    told = MuSiQue(replace(known, pool=str(other), unknown_file=True))
    assert told.provenance.source == "not stated by the file other.jsonl"
    assert told.provenance.schema == published.schema


def test_corrections_change_answer_and_evidence(tmp_path: Path) -> None:
    path = tmp_path / "errata.json"
    path.write_text(json.dumps([{"case": "w1", "answer": "the gate", "evidence": ["Norden"]}]))
    domain = TwoWiki(settings(WIKI, errata=str(path)))
    first, _ = cases = list(domain.cases(None, 0))
    assert (first.gold.answer, first.gold.evidence) == ("the gate", ("Norden",))
    assert domain.report(cases)["key_ceiling"] == 0.5
    path.write_text(json.dumps([{"case": "w1", "evidence": ["Nowhere"]}]))
    with pytest.raises(DataError, match="evidence 'Nowhere' is no passage"):
        TwoWiki(settings(WIKI, errata=str(path)))


def test_unknown_bytes_and_the_unanswerable_half_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"domain\.unknown_file=true"):
        MuSiQue(PassageSettings(path=str(MUSIQUE)))
    full = tmp_path / "full.jsonl"
    full.write_text(MUSIQUE.read_text().replace('"answerable": true', '"answerable": false', 1))
    with pytest.raises(DataError, match="answerable: true expected"):
        MuSiQue(settings(full))


@pytest.mark.parametrize("name", sorted(FILES))
def test_spoilt_files_end_in_a_line_each(name: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole.json"
    records = [json.loads(line) for line in MUSIQUE.read_text().splitlines()]
    whole.write_text(json.dumps(records) if name == "musique" else WIKI.read_text())
    cls = find("domain", name).cls
    assert len(check_malformed(whole, tmp_path, lambda path: cls(settings(path)))) >= 50


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text(MUSIQUE.read_text() + '{"id": "2hop\n')
    with pytest.raises(DataError, match=":3: not JSON"):
        MuSiQue(settings(path))


SWE = FIXTURES / "swe_contextbench"


def swe(**given: Any) -> SWEContextBench:
    files = {name: str(SWE / f"{name}.jsonl") for name in ("experience", "relationship")}
    values = {"path": str(SWE / "related.jsonl"), "unknown_file": True, **files, **given}
    return SWEContextBench(SWEContextBenchSettings(**values))


@pytest.mark.parametrize("corpus", ["pooled", "own"])
def test_the_laws_hold_of_swe_contextbench(corpus: Any) -> None:
    check_domain(SWEContextBench, swe(corpus=corpus).settings)


def test_swe_contextbench_asks_for_the_earlier_tasks_and_hides_the_fix() -> None:
    domain = swe()
    cases = {case.id: case for case in domain.cases(None, 0)}
    assert {name: case.gold.evidence for name, case in cases.items()} == {
        "harbour__ledger-31": ("harbour__ledger-11",),
        "harbour__ledger-35": ("harbour__ledger-17", "harbour__ledger-20"),
        "tide__tables-12": ("tide__tables-3",),
    }  # the fourth is tied to a task that is not there
    assert {case.cluster for case in cases.values()} == {"harbour/ledger", "tide/tables"}
    events = {event.id: event.text for event in domain.history(POOL)}
    assert len(events) == 5
    assert "high water" in events["tide__tables-3"].lower()
    assert "+    offset = summer_offset(day)" in events["tide__tables-3"]
    own = swe(corpus="own")
    assert {e.id for e in own.history("tide__tables-12")} == {"tide__tables-3", "tide__tables-8"}
    assert (domain.protocols, domain.success_axis) == (("retrieve",), "")


def test_swe_contextbench_says_which_file_is_missing_or_unknown() -> None:
    with pytest.raises(UserError, match=r"domain\.experience: no file given .*huggingface"):
        swe(experience="")
    with pytest.raises(DataError, match=r"domain\.unknown_file=true"):
        swe(unknown_file=False)
