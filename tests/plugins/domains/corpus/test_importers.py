"""Corpora in published forms: headers become edges, whatever way they are written."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from framework.errors import DataError
from framework.testing.domain_conformance import check_domain
from plugins.domains.corpus.dates import iso_date
from plugins.domains.corpus.domain import DecisionCorpus, DecisionCorpusSettings
from plugins.domains.corpus.schema import parse_corpus, write_corpus
from tests.launching import framework
from tests.plugins.domains.corpus.published import FORMS, converted, laid_out

EDGES = {
    "front_matter": {
        ("H-2", "supersedes", "H-1"),
        ("H-2", "requires", "0003-ledger"),
        ("H-2", "relates_to", "H-1"),
    },
    "adr": {
        ("adr-2", "supersedes", "adr-1"),
        ("adr-3", "amends", "adr-2"),
        ("adr-4", "supersedes", "adr-3"),
        ("adr-4", "requires", "adr-2"),
    },
    "peps": {("pep-8802", "supersedes", "pep-8801"), ("pep-8802", "requires", "pep-8801")},
    "eips": {("eip-9002", "supersedes", "eip-9001"), ("eip-9002", "requires", "eip-9001")},
    "jsonl": {
        ("b", "supersedes", "a"),
        ("b", "requires", "c"),
        ("c", "relates_to", "a"),
        ("c", "relates_to", "b"),
    },
}


@pytest.mark.parametrize("form", list(FORMS))
def test_what_documents_say_of_each_other_becomes_edges(form: str, tmp_path: Path) -> None:
    corpus = converted(form, laid_out(form, tmp_path))
    assert {(e.source, e.relation, e.target) for e in corpus.edges} == EDGES[form]
    for node in corpus.nodes.values():
        assert "uperse" not in node.text + node.summary
        assert "Accepted" not in node.text


def test_a_header_gives_title_date_summary_and_status(tmp_path: Path) -> None:
    nodes = converted("front_matter", laid_out("front_matter", tmp_path)).nodes
    assert list(nodes) == ["H-1", "0003-ledger", "H-2"]
    assert nodes["H-1"].summary == "Berths are booked by telephone."
    assert nodes["H-2"].summary == "Skippers book berths themselves."
    assert nodes["H-2"].date == "2020-03-10T08:00:00+00:00"
    assert nodes["0003-ledger"].title == "An append-only ledger"
    assert nodes["0003-ledger"].date == "2019-05-13"


def test_records_are_read_in_both_of_their_forms(tmp_path: Path) -> None:
    nodes = converted("adr", laid_out("adr", tmp_path)).nodes
    assert [node.title for node in nodes.values()] == [
        *("Record architecture decisions", "Use a wiki", "Queue mail", "Drop the queue")
    ]
    assert [node.date for node in nodes.values()] == [
        *("2016-02-12", "2016-05-01", "2024-01-05", "2024-03-01")
    ]
    assert nodes["adr-1"].summary == "We need to record the decisions that we make."
    assert nodes["adr-3"].summary == "Mail is lost when the server restarts."
    assert nodes["adr-4"].text == "The provider keeps mail now."
    assert nodes["adr-2"].status == "accepted"


def test_a_proposal_has_its_abstract_as_summary(tmp_path: Path) -> None:
    nodes = converted("eips", laid_out("eips", tmp_path)).nodes
    assert nodes["eip-9001"].title == "Receipts: a first form"
    assert nodes["eip-9001"].summary == "A receipt has three fields."
    assert nodes["eip-9002"].kind == "standards_track"


@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
def test_an_archive_is_as_good_as_a_folder(form: str, tmp_path: Path) -> None:
    folder = laid_out(form, tmp_path / form)
    archive = tmp_path / f"{form}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, ".")
    packed = converted(form, archive)
    assert (packed.nodes, packed.edges) == (
        (whole := converted(form, folder)).nodes,
        whole.edges,
    )


def test_the_folder_says_where_its_documents_come_from(tmp_path: Path) -> None:
    folder = laid_out("front_matter", tmp_path)
    (folder / "corpus.yaml").write_text(
        "name: harbour\nsource: the office\nlicence: CC0-1.0\nrelations: {owner: constrained by}\n"
    )
    (folder / "0001-spreadsheet.md").write_text(
        (folder / "0001-spreadsheet.md").read_text().replace("owner: office", "owner: H-2")
    )
    corpus = converted("front_matter", folder)
    assert (corpus.name, corpus.source, corpus.licence) == ("harbour", "the office", "CC0-1.0")
    assert ("H-2", "constrains", "H-1") in {(e.source, e.relation, e.target) for e in corpus.edges}
    for text, said in (
        ("relations: {owner: owns}", "relations.owner: 'owns' is no relation"),
        ("colour: red", "'colour': expected are name, source"),
        ("- a", "a mapping expected"),
    ):
        (folder / "corpus.yaml").write_text(text)
        with pytest.raises(DataError, match=said):
            converted("front_matter", folder)


def test_the_command_tells_what_it_read_and_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, target = laid_out("front_matter", tmp_path / "in"), tmp_path / "out.jsonl"
    done = framework(capsys, "import", "front_matter", str(folder), "--to", str(target))
    assert done.out == (
        f"{target}: 3 documents, 1 relates_to, 1 requires, 1 supersedes; 1 file without a header "
        "left out; 1 link to the outside left out; headers not read: owner (1)\n"
    )
    assert len(parse_corpus(target.read_bytes(), target).nodes) == 3


def test_no_file_is_written_over_not_even_the_one_that_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text('{"id": "a", "title": "Ink", "date": "2019-01-02", "text": "On ink."}\n')
    before = path.read_bytes()
    message = framework(capsys, "import", "jsonl", str(path), "--to", str(path)).mistake
    assert message == f"{path}: exists already; choose another file"
    assert path.read_bytes() == before


def test_a_document_with_a_fault_is_told_at_its_own_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(
        '{"id": "a", "title": "Ink", "date": "04/03/2026", "text": "On ink."}\n'
        '{"id": "b", "title": "Quill", "date": "2019-03-10", "text": "On it.", "requires": "a"}\n'
    )
    with pytest.raises(DataError) as caught:
        converted("jsonl", path)
    assert str(caught.value) == f"{path}:1: date: '04/03/2026' is no ISO 8601 date"


def test_keys_of_a_record_are_read_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(
        '{"ID": "a", "Title": "Ink", "date": "2019-01-02", "Text": "On ink."}\n'
        '{"id":"b", "title": "Paper", "Date": "2019-03-10", "text": "On paper.", "Requires":"a"}\n'
    )
    corpus = converted("jsonl", path)
    assert [node.text for node in corpus.nodes.values()] == ["On ink.", "On paper."]
    assert [(e.source, e.relation, e.target) for e in corpus.edges] == [("b", "requires", "a")]


def test_the_first_ten_faults_are_told_at_once(tmp_path: Path) -> None:
    for number in range(14):
        (tmp_path / f"{number:04d}.md").write_text(f"---\ndate: no day {number}\n---\ntext\n")
    with pytest.raises(DataError) as caught:
        converted("front_matter", tmp_path)
    said = str(caught.value)
    assert said.count("is no ISO 8601 date") == 10
    assert said.endswith("; and 4 more")
    assert "\n" not in said


@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_makes_a_domain_that_keeps_the_laws(form: str, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    corpus = converted(form, laid_out(form, tmp_path / "in"))
    write_corpus(corpus, file)
    relations = tuple(dict.fromkeys(edge.relation for edge in corpus.edges))
    check_domain(DecisionCorpus, DecisionCorpusSettings(path=str(file), tasks_from=relations))


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-03-05", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("2024-03", "2024-03-01"),
        ("2024", "2024-01-01"),
        ("2024-W10-2", "2024-03-05"),
        ("2024W102", "2024-03-05"),
        ("2024-W10", "2024-03-04"),
        ("2024-065", "2024-03-05"),
        ("2024065", "2024-03-05"),
        ("2024-03-05T16:20", "2024-03-05T16:20:00+00:00"),
        ("2024-03-05 16:20:10Z", "2024-03-05T16:20:10+00:00"),
        ("20240305T162010,5+0200", "2024-03-05T14:20:10+00:00"),
        ("2024-03-05t23:00:00-05:00", "2024-03-06T04:00:00+00:00"),
        (" 2024-03-05 ", "2024-03-05"),
    ],
)
def test_a_date_is_read_in_any_iso_form(text: str, date: str) -> None:
    assert iso_date(text) == date
    assert iso_date(date) == date


@pytest.mark.parametrize(
    "text",
    ["", "5 March 2024", "2024-13-01", "2024-366x", "2023-366", "0000", "0001-01-01T00:00+14:00"],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        iso_date(text)


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    folder = laid_out("adr", tmp_path / "in")
    (folder / "0007-itself").symlink_to(folder)
    os.mkfifo(folder / "0008-pipe.md")
    assert len(converted("adr", folder).nodes) == 4
    archive = tmp_path / "one.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(folder / "0004-drop-the-queue.md", "0004-a.md")
        tar.add(folder / "0002-use-a-wiki.md", "0002-b.md")
        tar.add(folder / "0001-record-decisions.md", "0001-c.md")
        tar.add(folder / "0003-queue-mail.md", "0003-d.md")
        link = tarfile.TarInfo("0005-e.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(DataError, match=r"no document 0001-record-decisions\.md"):
        converted("adr", archive)
