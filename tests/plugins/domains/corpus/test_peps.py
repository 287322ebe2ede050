"""PEPs as a decision corpus: headers become edges and are left out."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from framework.errors import DataError
from plugins.domains.corpus.peps import convert_peps
from plugins.domains.corpus.schema import Edge, parse_corpus
from tests.launching import framework

OLD = """\
PEP: 8801
Title: A first way
  of doing it
Author: Nobody <nobody@example.org>
Status: Superseded
Type: Standards Track
Created: 03-Feb-2001
Superseded-By: 8802, 8803


.. superseded:: 8802

   See there.

Withdrawal Notice
=================

It was withdrawn in favour of :pep:`8802`.

Abstract
========

The first way, in ``code``, see :pep:`42` and
`the manual <https://example.org>`__.

Second paragraph.

Rationale
=========

Because.
"""
NEW = """\
PEP: 8802
Title: A second way
Status: Final
Type: Informational
Created: 10-Mar-2004
Replaces: 8801
Requires: 8803


Introduction
------------

The second way.
"""
BARE = """\
PEP: 8803
Title: A third way
Status: Draft
Type: Process
Created: 11-Mar-2004

No sections here.

And no more.
"""


@pytest.fixture
def peps(tmp_path: Path) -> Path:
    folder = tmp_path / "peps"
    folder.mkdir()
    for number, text in (("8801", OLD), ("8802", NEW), ("8803", BARE)):
        (folder / f"pep-{number}.rst").write_text(text)
    (folder / "contents.rst").write_text("not a PEP")
    return folder


def test_headers_become_edges_and_are_left_out(peps: Path) -> None:
    corpus = convert_peps(peps)
    assert corpus.edges == (
        Edge(source="pep-8802", relation="requires", target="pep-8803"),
        Edge(source="pep-8802", relation="supersedes", target="pep-8801"),
        Edge(source="pep-8803", relation="supersedes", target="pep-8801"),
    )
    old = corpus.nodes["pep-8801"]
    assert (old.title, old.date) == ("A first way of doing it", "2001-02-03")
    assert (old.kind, old.status) == ("standards_track", "superseded")
    for header in ("Superseded-By", "Author", "nobody", "superseded::", "See there"):
        assert header not in old.text


def test_the_abstract_is_the_summary_without_markup(peps: Path) -> None:
    nodes = convert_peps(peps).nodes
    assert nodes["pep-8801"].summary == (
        "The first way, in code, see PEP 42 and the manual.\nSecond paragraph."
    )
    assert nodes["pep-8802"].summary == "The second way."
    assert nodes["pep-8803"].summary == "No sections here."


def test_an_archive_is_as_good_as_a_directory(peps: Path, tmp_path: Path) -> None:
    archive = tmp_path / "peps.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(peps, "peps")
    assert convert_peps(archive) == convert_peps(peps)


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        ("8804", NEW.replace("8802", "8804").replace("8803", "9999"), "no document pep-9999"),
        ("8804", BARE.replace("Status: Draft\n", ""), "pep-8804.rst: the header lacks Status"),
        ("8804", BARE.replace("11-Mar-2004", "March"), "Created: 'March' is no date"),
    ],
)
def test_a_bad_document_is_named(peps: Path, number: str, text: str, said: str) -> None:
    (peps / f"pep-{number}.rst").write_text(text)
    with pytest.raises(DataError, match=said):
        convert_peps(peps)


def test_nothing_to_convert_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no pep-NNNN\.rst files"):
        convert_peps(tmp_path)
    with pytest.raises(DataError, match="no such file or directory"):
        convert_peps(tmp_path / "nowhere")
    (tmp_path / "x.tar").write_text("no archive")
    with pytest.raises(DataError, match="not a tar archive"):
        convert_peps(tmp_path / "x.tar")


def test_the_command_writes_what_the_domain_reads(
    peps: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "peps.jsonl"
    done = framework(capsys, "import", "peps", str(peps), "--to", str(target), "--revision", "r1")
    assert done.status == 0
    assert done.out == f"{target}: 3 documents, 1 requires, 2 supersedes\n"
    corpus = parse_corpus(target.read_bytes(), target)
    assert corpus.revision == "r1"
    assert corpus.nodes == convert_peps(peps).nodes
    nowhere = str(tmp_path / "nowhere" / "peps.jsonl")
    message = framework(capsys, "import", "peps", str(peps), "--to", nowhere).mistake
    assert "can't be written" in message


@pytest.mark.slow
def test_the_published_headers_give_the_published_edges(data_dir: Path) -> None:
    folder = data_dir / "peps"
    corpus = convert_peps(folder)
    graph = json.loads((folder / "peps_graph.json").read_text())
    assert {int(name.removeprefix("pep-")) for name in corpus.nodes} == {
        node["id"] for node in graph["nodes"]
    }
    assert {(e.relation, e.source, e.target) for e in corpus.edges} == {
        (e["type"], f"pep-{e['from']}", f"pep-{e['to']}") for e in graph["edges"]
    }
    assert sum(not node.summary for node in corpus.nodes.values()) <= 1
    headers = ("\nSuperseded-By:", "\nReplaces:", "\nPost-History:")
    assert not [n.id for n in corpus.nodes.values() if n.text.startswith(tuple(headers))]
