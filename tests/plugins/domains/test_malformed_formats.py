"""Fifty spoilt files of every format that a domain reads: each is read or ends in one line."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from framework.contracts import Domain
from framework.registry import find, settings_of
from plugins.domains import data_file
from tests.plugins.domains.malformed import (
    broken,
    check_told,
    check_uses,
    check_variants,
    spoilt_lines,
    spoilt_rows,
    variants,
)

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures"
GIVEN: Final[dict[str, dict[str, str]]] = {
    "hotpotqa": {"path": "hotpotqa/questions.json"},
    "locomo": {"path": "locomo/two.json"},
    "longmemeval": {"path": "longmemeval/questions.json"},
    "spider": {"path": "spider"},
    "personamem": {"path": "personamem/questions.csv", "contexts": "personamem/contexts.jsonl"},
    "swe_contextbench": {
        "path": "swe_contextbench/related.jsonl",
        "experience": "swe_contextbench/experience.jsonl",
        "relationship": "swe_contextbench/relationship.jsonl",
    },
}
"""The files of a domain by setting."""
FORMATS: Final = [
    ("hotpotqa", "path"),
    ("longmemeval", "path"),
    ("personamem", "contexts"),
    ("swe_contextbench", "path"),
    ("swe_contextbench", "experience"),
    ("swe_contextbench", "relationship"),
]


def opened(name: str, **instead: Path) -> Domain[Any]:
    values: dict[str, Any] = {key: str(FIXTURES / file) for key, file in GIVEN[name].items()}
    plugin = find("domain", name)
    given = values | {"unknown_file": True} | {k: str(v) for k, v in instead.items()}
    settings = settings_of(plugin, given)
    domain: Domain[Any] = plugin.cls(settings)
    return domain


def listed(file: Path, folder: Path) -> Path:
    """The file as one JSON list, where it is JSON lines."""
    if file.suffix != ".jsonl":
        return file
    whole = folder / "whole.json"
    whole.write_text(json.dumps([json.loads(line) for line in file.read_text().splitlines()]))
    return whole


@pytest.mark.parametrize(("name", "setting"), FORMATS)
def test_spoilt_records_end_in_a_line(name: str, setting: str, tmp_path: Path) -> None:
    path = tmp_path / "spoilt.json"

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return opened(name, **{setting: path})

    file = listed(FIXTURES / GIVEN[name][setting], tmp_path)
    assert len(check_variants(variants(file), read)) >= 25


def test_spoilt_rows_end_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "spoilt.csv"

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return opened("personamem", path=path)

    file = FIXTURES / GIVEN["personamem"]["path"]
    assert len(check_variants(spoilt_rows(file), read)) >= 40


def test_spoilt_lines_of_a_corpus_end_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "spoilt.jsonl"
    plugin = find("domain", "decision_corpus")

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        domain: Domain[Any] = plugin.cls(settings_of(plugin, {"path": str(path)}))
        return domain

    file = FIXTURES / "decision_corpus" / "harbour.jsonl"
    assert len(check_variants(spoilt_lines(file), read)) >= 60


@pytest.mark.parametrize("file", ["tables.json", "dev.json"])
def test_spoilt_files_of_spider_end_in_a_line(file: str, tmp_path: Path) -> None:
    folder = tmp_path / "spider"
    shutil.copytree(FIXTURES / "spider", folder)
    plugin = find("domain", "spider")

    def read(data: bytes) -> Domain[Any]:
        (folder / file).write_bytes(data)
        domain: Domain[Any] = plugin.cls(
            settings_of(plugin, {"path": str(folder), "unknown_file": True})
        )
        return domain

    assert len(check_variants(variants(FIXTURES / "spider" / file), read)) >= 40


def spoilt_databases(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield from broken(data)
    for place in [*range(0, 128, 4), *range(256, len(data), len(data) // 24)]:
        yield (
            f"at {place}",
            data[:place] + bytes(255 - b for b in data[place : place + 4]) + data[place + 4 :],
        )


def test_spoilt_databases_of_spider_end_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "spider"
    shutil.copytree(FIXTURES / "spider", folder)
    file = folder / "database" / "harbour" / "harbour.sqlite"
    plugin = find("domain", "spider")

    def read(data: bytes) -> Domain[Any]:
        file.write_bytes(data)
        domain: Domain[Any] = plugin.cls(
            settings_of(plugin, {"path": str(folder), "unknown_file": True})
        )
        return domain

    assert len(check_variants(spoilt_databases(file.read_bytes()), read)) >= 20


def parquet(rows: list[dict[str, Any]], **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out, **options)
    return out.getvalue()


def spoilt_tables(rows: list[dict[str, Any]]) -> Iterator[tuple[str, bytes]]:
    whole = parquet(rows)
    for name, data in broken(whole):
        yield name, b"PAR1" + data
    for place in [*range(0, 64, 4), *range(64, len(whole), len(whole) // 32)]:
        yield (
            f"at {place}",
            whole[:place] + bytes(255 - b for b in whole[place : place + 4]) + whole[place + 4 :],
        )
    for column in rows[0]:
        yield f"{column}-gone", parquet([{k: v for k, v in r.items() if k != column} for r in rows])
        yield f"{column}=number", parquet([r | {column: 3} for r in rows])
        yield f"{column}=null", parquet([r | {column: None} for r in rows])


def test_parquet_reads_as_json_lines_do_and_spoilt_ends_in_a_line(tmp_path: Path) -> None:
    text = (FIXTURES / "swe_contextbench" / "related.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    path = tmp_path / "related.parquet"
    path.write_bytes(parquet(rows))
    whole = opened("swe_contextbench", path=path)
    assert list(whole.cases(None, 0)) == list(opened("swe_contextbench").cases(None, 0))

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return opened("swe_contextbench", path=path)

    assert len(check_variants(spoilt_tables(rows), read)) >= 40


def test_a_small_parquet_that_unpacks_to_much_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.parquet"
    path.write_bytes(parquet([{"instance_id": "x" * 100_000}] * 2_000, compression="zstd"))
    assert path.stat().st_size < 200_000
    monkeypatch.setattr(data_file, "_MOST_UNPACKED", 50 * 2**20)
    check_told(lambda: opened("swe_contextbench", path=path), "more than 1,000,000 rows or 50 MB")
    path.write_bytes(parquet([{"instance_id": None}] * 2_000))
    monkeypatch.setattr(data_file, "_MOST_ROWS", 1_000)
    check_told(lambda: opened("swe_contextbench", path=path), "more than 1,000 rows")


VERSIONS: Final = ("wrong_answers_v1", "wrong_answers_v2")
CORRECTED: Final[dict[str, tuple[str, list[str]]]] = {
    "hotpotqa": ("fx01", ["Dita Quell"]),
    "locomo": ("locomo_0_qa1", ["D1:1"]),
    "longmemeval": ("fx01", ["s1.1"]),
    "spider": ("harbour_1", ["harbour.ship"]),
}
"""By domain, a question of its fixture, and evidence that it might have."""


@pytest.mark.parametrize("name", CORRECTED)
def test_spoilt_corrections_of_a_key_end_in_a_line(name: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "errata.json", tmp_path / "whole.json"
    case, evidence = CORRECTED[name]
    whole.write_text(
        json.dumps([{"case": case, "answer": "x", "evidence": evidence, "drop": False, "why": "y"}])
    )

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return opened(name, errata=path)

    assert len(check_variants(variants(whole), read)) >= 40


def test_spoilt_entries_of_the_published_audit_end_in_a_line(tmp_path: Path) -> None:
    path, whole = tmp_path / "errors.json", tmp_path / "whole.json"
    whole.write_text(
        json.dumps(
            [
                {
                    "question_id": "locomo_0_qa1",
                    "error_type": "TEMPORAL_ERROR",
                    "cited_evidence": ["D1:1"],
                    "correct_evidence": ["D1:2"],
                    "correct_answer": "2023",
                }
            ]
        )
    )

    def read(data: bytes) -> Domain[Any]:
        path.write_bytes(data)
        return opened("locomo", errata=path)

    assert len(check_variants(variants(whole), read)) >= 60


@pytest.mark.parametrize("file", ["errors", "wrong_answers_v1", "wrong_answers_v2"])
def test_spoilt_files_of_the_audit_that_judges_are_tried_on_end_in_a_line(
    file: str, tmp_path: Path
) -> None:
    wrong = {
        "question_id": "q1",
        "question": "Where?",
        "golden_answer": "Paris",
        "category": "4",
        "generated_answer": "Rome",
        "llm_judgments": {"judgment_1": True, "judgment_2": False, "judgment_3": False},
    }
    contents = {"errors": [{"question_id": "q2"}], **{version: [wrong] for version in VERSIONS}}
    for name, entries in contents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(entries))
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps([*contents[file], contents[file][0] | {"question_id": "q9"}]))
    plugin = find("calibration", "locomo_audit")

    def use(data: bytes) -> None:
        (tmp_path / f"{file}.json").write_bytes(data)
        answers = list(plugin.cls(settings_of(plugin, {"path": str(tmp_path)})).answers())
        json.dumps([asdict(answer) for answer in answers], ensure_ascii=False).encode()

    assert len(check_uses(variants(whole), use)) >= (25 if file == "errors" else 60)


MALFORMED: Final = (
    "airline_fees/test_malformed.py",
    "bank_support/test_bank_support.py",
    "conversations",
    "corpus/test_malformed.py",
    "longmemeval/test_streaming.py",
    "passages/test_passages.py",
    "regulated/test_hmda.py",
    "regulation_updates/test_malformed.py",
    "test_malformed_formats.py",
    "veterans/test_veterans.py",
)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.skipif(sys.platform != "linux", reason="no limits of memory")
@pytest.mark.parametrize(
    ("files", "which"),
    [(MALFORMED, "not slow"), (("longmemeval/test_streaming.py",), "slow")],
    ids=["small", "large"],
)
def test_no_spoilt_file_of_any_format_takes_two_gigabytes_or_long(
    files: tuple[str, ...], which: str
) -> None:
    """The tests of spoilt files again, in a process that may take 2 GB and no more."""
    import resource

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    below = Path(__file__).parent
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-k", "malformed or spoilt or bad_archive or date_that_is_none or unpacks_to_much"),
            *("-m", which),
            *(str(below / file) for file in files),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=1_700,
        check=False,
        preexec_fn=bounded,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    # What asks for more is refused it by the system, and its test fails there.
    assert done.returncode == 0, done.stdout[-2_000:]
