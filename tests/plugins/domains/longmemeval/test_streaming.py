"""A file of LongMemEval too large to hold gives the questions that a held one gives."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError
from plugins.domains.longmemeval import streaming
from plugins.domains.longmemeval.domain import LongMemEval, LongMemEvalSettings
from plugins.domains.longmemeval.streaming import StreamedQuestions, records
from tests.plugins.domains.malformed import check_told, check_variants, variants

FIXTURE = Path(__file__).resolve().parents[4] / "tests/fixtures/longmemeval/questions.json"


def opened(path: Path) -> LongMemEval:
    return LongMemEval(LongMemEvalSettings(path=str(path), unknown_file=True))


@pytest.fixture
def everything_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "FROM_BYTES", 0)


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("before", [b"", codecs.BOM_UTF8 + b"\n "], ids=["plain", "marked"])
def test_cases_and_histories_are_those_of_a_held_file(
    block: int, before: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "questions.json"
    whole = json.loads(FIXTURE.read_text())["questions"]
    whole[0]["question"] += " Zürich \U0001f6b2 ]"
    path.write_bytes(before + json.dumps(whole, ensure_ascii=False, indent=1).encode())
    held = opened(path)
    monkeypatch.setattr(streaming, "FROM_BYTES", 0)
    monkeypatch.setattr(streaming, "_BLOCK", block)
    streamed = opened(path)
    assert isinstance(streamed._questions, StreamedQuestions)
    assert streamed.digest() == held.digest()
    cases = list(held.cases(None, 0))
    assert list(streamed.cases(None, 0)) == cases
    for case in reversed(cases):
        assert list(streamed.history(case.history_id)) == list(held.history(case.history_id))
    assert streamed.nominal_tokens == held.nominal_tokens


@pytest.mark.usefixtures("everything_streams")
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[", "not JSON: Expecting value"),
        (b"[]", "no questions"),
        (b"[{}]", "question 1: question_type: text expected"),
        (b"[3, null]", "question 1: an object expected, 3 found; question 2"),
        (b'[{"a": 1} {"a": 2}]', "not JSON: ',' expected after question 1"),
        (b'[{"a" 1}]' + b" " * 99, "not JSON: Expecting ':' delimiter"),
        (b"[{}] {}", "something stands after the list"),
        (b'[{"a": "\xe9"}]', "not UTF-8 text"),
        (b'[{"a": "\\ud83d"}]', "question 1: a: half of a character"),
        (b"[" + b'{"a":' * 100_000, "nested too deeply"),
        (b'[{"a": 1, "b": {"c": 1, "c": 2}}]', "the key 'c' stands twice in an object"),
        (b"[" + b"9" * 9_999 + b"]", "Exceeds the limit (4300 digits)"),
        (b'[{"a": "x', "Unterminated string"),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else value,
)
def test_a_bad_file_ends_in_a_line(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(DataError) as caught:
        opened(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("everything_streams")
@pytest.mark.parametrize("block", [64, 4 << 20])
def test_spoilt_files_end_in_a_line_each(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_BLOCK", block)
    whole, path = tmp_path / "whole.json", tmp_path / "spoilt.json"
    whole.write_text(json.dumps(json.loads(FIXTURE.read_text())["questions"]))
    streamed = 0

    def read(data: bytes) -> LongMemEval:
        nonlocal streamed
        path.write_bytes(data)
        domain = opened(path)
        streamed += isinstance(domain._questions, StreamedQuestions)
        return domain

    assert len(check_variants(variants(whole), read)) >= 60
    assert streamed >= 20


SIZE = 40 << 20
LARGE = {
    "empty objects": (b"[", b"{},", b""),
    "empty lists in one": (b"[[", b"[],", b""),
    "objects in one": (b'[{"a":[', b"{},", b""),
    "numbers": (b"[", b"1,", b""),
    "a text without end": (b'["', b"x", b""),
    "blanks": (b"[", b" ", b""),
    "blanks after it": (b"[{}]", b" ", b""),
    "something after blanks": (b"[{}]", b" ", b"x"),
    "digits": (b"[", b"9", b""),
    "commas": (b"[", b",", b""),
    "escapes": (b'["', rb"\\u0041", b""),
    "opened": (b"", b"[", b""),
}
"""How a file begins, what is repeated in it, and how it ends."""


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_large_spoilt_file_ends_in_a_line_soon(name: str, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    first, middle, last = LARGE[name]
    path.write_bytes(first + middle * (SIZE // len(middle)) + last)
    check_told(lambda: opened(path), "large.json")


@pytest.mark.usefixtures("everything_streams")
def test_one_question_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    whole = json.loads(FIXTURE.read_text())["questions"]
    path.write_text(json.dumps([*whole, whole[0]]))
    with pytest.raises(DataError, match="a second question with the id"):
        opened(path)


@pytest.mark.usefixtures("everything_streams")
def test_bytes_that_are_not_known_are_refused_before_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(json.loads(FIXTURE.read_text())["questions"])[:-9])
    with pytest.raises(DataError, match=r"none of the published files.*unknown_file=true"):
        LongMemEval(LongMemEvalSettings(path=str(path)))
    with pytest.raises(DataError, match="not JSON"):
        opened(path)


@pytest.mark.usefixtures("everything_streams")
def test_corrections_apply_to_a_streamed_file_too(tmp_path: Path) -> None:
    path, errata = tmp_path / "bare.json", tmp_path / "errata.json"
    path.write_text(json.dumps(json.loads(FIXTURE.read_text())["questions"]))
    corrections = [{"case": "fx01", "drop": True}, {"case": "fx02", "evidence": ["s2.1"]}]
    errata.write_text(json.dumps(corrections))
    settings = LongMemEvalSettings(path=str(path), unknown_file=True, errata=str(errata))
    domain = LongMemEval(settings)
    assert isinstance(domain._questions, StreamedQuestions)
    found = list(domain.cases(None, 0))
    assert (found[0].id, found[0].gold.evidence) == ("fx02", ("s2.1",))
    assert domain.report(found)["key_ceiling"] == 1 - 1 / 3


@pytest.mark.usefixtures("everything_streams")
def test_a_file_that_changed_after_it_was_checked_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(json.loads(FIXTURE.read_text())["questions"]))
    domain = opened(path)
    path.write_text(path.read_text()[400:])
    with pytest.raises(DataError, match="'fx02' no longer stands where it stood"):
        list(domain.history("fx02"))
    path.unlink()
    with pytest.raises(DataError, match="'fx03_abs' no longer stands where it stood"):
        list(domain.history("fx03_abs"))


def test_a_record_without_an_end_is_not_held_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "_LARGEST", 1_000)
    monkeypatch.setattr(streaming, "_BLOCK", 500)
    path = tmp_path / "endless.json"
    path.write_text('[{"question": "' + "x" * 100_000)
    with pytest.raises(DataError, match="more than 1,000 characters"):
        list[Any](records(str(path)))
