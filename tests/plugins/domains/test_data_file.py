"""Files of other people's: what is wrong with one is told at once, with its place."""

from __future__ import annotations

import codecs
import json
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.engine.prepare import data_of
from framework.errors import DataError, UserError
from framework.registry import find, plugins, settings_of
from framework.store.state import data_differ
from plugins.domains.corpus.domain import DecisionCorpus, DecisionCorpusSettings
from plugins.domains.data_file import MOST_READ
from plugins.domains.longmemeval.domain import LongMemEval, LongMemEvalSettings
from plugins.domains.passages.hotpotqa import HotpotQA, HotpotQASettings
from plugins.domains.regulated.loading import SPECS, load_spec
from plugins.domains.text_to_sql.questions import load
from tests.launching import HOTPOT, QUESTIONS, framework, read_json, run

FIXTURES = QUESTIONS.parents[1]
HARBOUR = FIXTURES / "decision_corpus" / "harbour.jsonl"
CHATS = FIXTURES / "longmemeval" / "questions.json"
SQL = Path(__file__).parents[3] / "plugins" / "domains" / "text_to_sql" / "questions.yaml"


def hotpotqa(path: Path) -> str:
    return HotpotQA(HotpotQASettings(path=str(path), unknown_file=True)).digest()


def corpus(path: Path) -> str:
    return DecisionCorpus(DecisionCorpusSettings(path=str(path))).digest()


def longmemeval(path: Path) -> str:
    return LongMemEval(LongMemEvalSettings(path=str(path), unknown_file=True)).digest()


def sql(path: Path) -> object:
    return load(path)


def spec(path: Path) -> object:
    return load_spec(path)


READERS = [
    (hotpotqa, QUESTIONS),
    (corpus, HARBOUR),
    (longmemeval, CHATS),
    (sql, SQL),
    (spec, SPECS / "loan.yaml"),
]


@pytest.mark.parametrize(("read", "file"), READERS)
def test_a_byte_order_mark_is_passed_over_by_every_reader(
    read: Callable[[Path], object], file: Path, tmp_path: Path
) -> None:
    marked = tmp_path / f"marked{file.suffix}"
    marked.write_bytes(codecs.BOM_UTF8 + file.read_bytes())
    read(marked)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (hotpotqa, '[{"_id": %s}]'),
        (longmemeval, '[{"question_id": %s}]'),
        (corpus, '{"record": "corpus", "schema": %s}'),
        (sql, "- {id: %s}"),
        (spec, "name: %s"),
    ],
)
def test_a_number_of_thousands_of_digits_is_told(
    read: Callable[[Path], object], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "big"
    path.write_text(text % ("1" * 5_000))
    with pytest.raises(UserError, match=r"big.*4,?300 digits"):
        read(path)


@pytest.mark.parametrize(
    ("read", "text", "place"),
    [
        (
            hotpotqa,
            r'[{"_id": "a", "context": [["T", ["so \ud83d"]]]}]',
            r"\[0\]\.context\[0\]\[1\]",
        ),
        (longmemeval, r'{"questions": [{"question": "\udc00?"}]}', r"questions\[0\]\.question: "),
        (corpus, r'{"record": "corpus", "name": "\ud83d"}', r"half:1: name: "),
        (sql, r'- {id: "a", question: "\ud83d"}', "line 1, column 26"),
    ],
)
def test_half_of_a_character_is_told_with_its_place(
    read: Callable[[Path], object], text: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "half"
    path.write_text(text)
    with pytest.raises(DataError, match=place):
        read(path)


def test_a_whole_character_in_two_escapes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    path.write_text(QUESTIONS.read_text().replace("In which town", r"\ud83d\ude00 In which town"))
    settings = HotpotQASettings(path=str(path), unknown_file=True)
    (first, *_) = HotpotQA(settings).cases(1, 0)
    assert first.task.query.startswith("\U0001f600 In which")


def test_json_lines_where_json_is_meant_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(map(json.dumps, json.loads(CHATS.read_text())["questions"])))
    with pytest.raises(DataError, match="JSON lines, where one JSON value is expected"):
        longmemeval(path)


@pytest.mark.parametrize("indent", [None, 1])
def test_json_where_json_lines_are_meant_is_told(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    records = [json.loads(line) for line in HARBOUR.read_text().splitlines()]
    path.write_text(json.dumps(records, indent=indent))
    with pytest.raises(DataError, match=r"corpus\.json: JSON, where JSON lines are expected"):
        corpus(path)


def broken(records: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in record.items() if k != key} for record in records]


def test_ten_faults_are_told_at_once_and_the_others_counted(tmp_path: Path) -> None:
    one = json.loads(QUESTIONS.read_text())[0]
    path = tmp_path / "q.json"
    path.write_text(json.dumps(broken([{**one, "_id": f"q{n}"} for n in range(13)], "answer")))
    with pytest.raises(DataError) as caught:
        hotpotqa(path)
    message = str(caught.value)
    assert message.count("answer: text expected, nothing found") == 10
    assert "question 1 (_id 'q0')" in message
    assert message.endswith(
        "question 10 (_id 'q9'): answer: text expected, nothing found; and 3 more"
    )
    assert "\n" not in message


def test_faults_of_a_corpus_are_told_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    head, *nodes = (json.loads(line) for line in HARBOUR.read_text().splitlines())
    records = [head, *broken(nodes[:2], "title"), *nodes[2:]]
    path.write_text("\n".join(map(json.dumps, records)) + "\nnot JSON")
    with pytest.raises(DataError) as caught:
        corpus(path)
    last = len(records) + 1
    told = f"{path}:2: title: missing; line 3: title: missing; line {last}: not JSON: "
    assert str(caught.value).startswith(told)
    edges = [{"record": "edge", "type": "requires", "from": "a", "to": to} for to in "bc"]
    path.write_text("\n".join(map(json.dumps, [head, *nodes, *edges])))
    with pytest.raises(DataError) as caught:
        corpus(path)
    assert str(caught.value).count("dangling edge: ") == 4


def test_faults_of_questions_over_a_database_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text("- {id: a, question: Q}\n- {id: b, sql: S}\n- 3\n")
    with pytest.raises(DataError) as caught:
        load(path)
    assert str(caught.value) == (
        f"{path}: question 1 (id 'a'): sql: text expected, nothing found; "
        "question 2 (id 'b'): question: text expected, nothing found; "
        "question 3: an object expected"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a b.json", "x [red] (y), z.json", "it's {so}=1.json"])
def test_a_file_may_have_any_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "my home"))
    Path("my home").mkdir()
    for path in (Path(name), Path("my home") / name):
        path.write_bytes(QUESTIONS.read_bytes())
    rest = ("protocol=retrieve", "tracking=none", "report=false", "n_cases=1", "arch=bm25")
    rest += ("domain.unknown_file=true",)
    for given in (name, f"~/{name}"):
        done = run(capsys, "domain=hotpotqa", f"domain.path={given}", *rest)
        assert done.status == 0, done.err
        told = read_json(done.directory / "summary.json")["run"]["domain"]
        assert told == f"hotpotqa(path={name},unknown_file=true)"
        words = ("domain=hotpotqa", f"domain.path={given}", rest[-1], "case=0")
        shown = framework(capsys, "show", *words)
        assert "Port Verrin" in shown.out
    done = run(capsys, "-m", "domain=hotpotqa", f"domain.path={name}", *rest, "arch=bm25,none")
    assert done.status == 0, done.err


def test_a_path_below_home_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    words = [*HOTPOT[:1], "domain.path=~/none such.json"]
    assert run(capsys, *words).mistake.startswith(f"{tmp_path}/none such.json: no such file; ")
    assert run(capsys, "resume=~/none").mistake.startswith(f"resume={tmp_path}/none: ")


MUSIQUE = {
    "source": "https://github.com/StonyBrookNLP/musique",
    "revision": "v1.0",
    "licence": "CC BY 4.0",
    "citation": "Trivedi et al., MuSiQue, TACL 2022",
}


def given(name: str, path: Path) -> dict[str, Any]:
    """Settings under which a domain reads a file of the user's."""
    sql = SQL.with_name("library.sql")
    given: dict[str, dict[str, Any]] = {
        "airline_fees": {"path": str(path), "unknown_file": True},
        "veterans": {"path": str(path), "haystack": 5, "unknown_file": True},
        "regulation_updates": {"path": str(path), "unknown_file": True},
        "bank_support": {
            "path": str(path),
            "tasks": str(BANK.with_name("tasks.json")),
            "unknown_file": True,
        },
        "personamem": {
            "path": str(path),
            "contexts": str(FIXTURES / "personamem" / "contexts.jsonl"),
            "unknown_file": True,
        },
        "swe_contextbench": {
            "path": str(path),
            "experience": str(FIXTURES / "swe_contextbench" / "experience.jsonl"),
            "relationship": str(FIXTURES / "swe_contextbench" / "relationship.jsonl"),
            "unknown_file": True,
        },
        "regulated": {"spec": str(path)},
        "text_to_sql": {"path": str(sql), "questions": str(path)},
    }
    plain = {"path": str(path), "unknown_file": True} if name in REFUSING else {"path": str(path)}
    return given.get(name, plain)


REFUSING = (
    *("airline_fees", "bank_support", "beam", "dmr", "hotpotqa", "locomo", "longmemeval"),
    *("memory_agent_bench", "musique", "personamem", "regulation_updates", "spider"),
    *("swe_contextbench", "two_wiki", "veterans"),
)
"""Domains that read files that they do not know only where they are told to."""


BANK = FIXTURES / "bank_support" / "documents.json"
FILES = {
    "airline_fees": FIXTURES / "airline_fees",
    "regulation_updates": FIXTURES / "regulation_updates",
    "bank_support": BANK,
    "veterans": FIXTURES / "veterans" / "decisions.json",
    "hotpotqa": QUESTIONS,
    "longmemeval": CHATS,
    "locomo": FIXTURES / "locomo" / "two.json",
    "beam": FIXTURES / "beam" / "chats.jsonl",
    "dmr": FIXTURES / "dmr" / "questions.jsonl",
    "memory_agent_bench": FIXTURES / "memory_agent_bench" / "records.jsonl",
    "musique": FIXTURES / "musique" / "questions.jsonl",
    "personamem": FIXTURES / "personamem" / "questions.csv",
    "spider": FIXTURES / "spider",
    "swe_contextbench": FIXTURES / "swe_contextbench" / "related.jsonl",
    "two_wiki": FIXTURES / "two_wiki" / "questions.json",
    "decision_corpus": HARBOUR,
    "text_to_sql": SQL,
    "regulated": SPECS / "loan.yaml",
}


def readers_of_files() -> list[str]:
    """Domains with a setting that may name a file: a `path`, or a `spec` in any words."""
    found = {p.name: p.settings for p in plugins("domain") if p.cls.__module__[:8] == "plugins."}
    named = {n: [f for f in fields(s) if f.type == "str"] for n, s in found.items()}
    return sorted(n for n, texts in named.items() if {"path", "spec"} & {f.name for f in texts})


@pytest.mark.parametrize("name", REFUSING)
def test_bytes_that_are_not_known_are_refused_in_one_line_unless_told(
    name: str, tmp_path: Path
) -> None:
    plugin, path = find("domain", name), FILES[name]
    if name == "longmemeval":  # the fixture says what it is
        path = tmp_path / "bare.json"
        path.write_text(json.dumps(json.loads(CHATS.read_text())["questions"]))
    told = given(name, path)
    assert plugin.cls(settings_of(plugin, told)).digest()
    with pytest.raises(DataError, match=r"domain\.unknown_file=true reads it") as refused:
        plugin.cls(settings_of(plugin, {**told, "unknown_file": False}))
    assert "\n" not in str(refused.value)


def test_what_others_published_is_refused_where_it_is_not_known() -> None:
    outside = {p.name for p in plugins("domain") if p.cls.provenance.source.startswith("http")}
    assert outside == {*REFUSING}


@pytest.mark.parametrize("name", ["hotpotqa", "longmemeval", "beam"])
def test_a_file_that_is_too_large_to_hold_ends_in_a_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(b'{"questions": [')
        file.truncate(MOST_READ + 1)
    plugin = find("domain", name)
    with pytest.raises(DataError, match="805,306,369 bytes, at most 805,306,368 are held at once"):
        plugin.cls(settings_of(plugin, given(name, path)))


@pytest.mark.parametrize("name", readers_of_files())
def test_a_file_of_the_user_s_is_not_stamped_with_a_published_set_s_provenance(
    name: str, tmp_path: Path
) -> None:
    plugin, path = find("domain", name), tmp_path / f"mine{FILES[name].suffix}"
    if FILES[name].is_dir():
        shutil.copytree(FILES[name], path)
    else:
        path.write_bytes(FILES[name].read_bytes())
    domain = plugin.cls(settings_of(plugin, given(name, path)))
    shipped = plugin.cls.provenance
    assert data_of(domain)["licence"] != shipped.licence
    assert data_of(domain)["citation"] != shipped.citation
    assert name == "regulated" or data_of(domain)["source"] != shipped.source


@pytest.mark.parametrize("name", ["hotpotqa", "longmemeval", "text_to_sql"])
def test_a_file_says_where_it_comes_from(name: str, tmp_path: Path) -> None:
    plugin, path = find("domain", name), tmp_path / "mine.json"
    records = yaml.safe_load(FILES[name].read_text())
    whole = records if isinstance(records, dict) else {"questions": records}
    bare = plugin.cls(settings_of(plugin, given(name, FILES[name])))
    path.write_text(json.dumps({**whole, "provenance": MUSIQUE}))
    domain = plugin.cls(settings_of(plugin, given(name, path)))
    assert {key: data_of(domain)[key] for key in MUSIQUE} == MUSIQUE
    assert list(domain.cases(None, 0)) == list(bare.cases(None, 0))
    path.write_text(json.dumps({**whole, "provenance": {"licence": "CC0", "revision": 7}}))
    stated = data_of(plugin.cls(settings_of(plugin, given(name, path))))
    assert stated["licence"] == "CC0"
    assert stated["source"] == "not stated by the file mine.json"
    assert stated["revision"].startswith("not stated")


def test_a_corpus_has_the_provenance_of_its_first_record() -> None:
    stated = data_of(DecisionCorpus(DecisionCorpusSettings(path=str(HARBOUR))))
    assert stated["source"] == "harbour: written for the tests"
    assert (stated["revision"], stated["licence"]) == ("1", "MIT")


def test_a_published_file_has_its_publisher_s_provenance(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, path in (("hotpotqa", QUESTIONS), ("longmemeval", CHATS)):
        plugin = find("domain", name)
        made = plugin.cls(settings_of(plugin, given(name, path)))
        assert made.provenance != plugin.cls.provenance
        known = replace(plugin.cls.provenance, files={"mine.json": made.digest()})
        monkeypatch.setattr(plugin.cls, "provenance", known)
        assert plugin.cls(plugin.settings(path=str(path))).provenance == known


def test_what_a_file_says_of_itself_makes_no_other_data() -> None:
    one = {"version": "2", "digest": "sha256:0", "nominal_tokens": 9, "source": "a"}
    assert data_differ(one, {**one, "source": "b", "licence": "c"}) == ""
    assert data_differ(one, {**one, "digest": "sha256:1"}) == "data"
    assert data_differ(one, {**one, "nominal_tokens": 8}) == "data"
