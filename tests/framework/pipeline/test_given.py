"""What plugins give back, and what a case is where it can't be used."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framework.contracts import Client, Query, Reader
from framework.pipeline.given import checked, items_of
from framework.records import ABSTAIN, Answer, Item, MemoryView, TaskCard
from framework.registry import NoSettings, register
from framework.store.answers import answer_records
from framework.store.state import load_state
from plugins.archs.oldest_first import OldestFirst
from tests.launching import HOTPOT, LOAN, framework, run

CARD = TaskCard(instruction="i", query="q", decisions=("APPROVE", "DENY"))


def item(**signals: Any) -> Item:
    return Item(id="i", text="t", signals=signals)


def test_signals_of_numpy_become_numbers_and_others_stay_as_they_are() -> None:
    plain = item(score=0.5, n=2)
    given = items_of([plain, item(cosine=np.float32(0.25), rank=np.int64(3))], 5)
    assert given[0] is plain
    assert given[1].signals == {"cosine": 0.25, "rank": 3.0}
    assert {type(value) for value in given[1].signals.values()} == {float}
    assert len(items_of((plain for _ in range(9)), 4)) == 4


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([item(cosine=float("nan"))], ValueError, "signal 'cosine' of item 'i' is nan"),
        ([item(cosine=np.float32("inf"))], ValueError, "signal 'cosine' of item 'i' is inf"),
        ([item(cosine="high")], TypeError, "signal 'cosine' of item 'i' is a str, and no number"),
        (["text"], TypeError, "recall is to give items; it gave a str"),
        (None, TypeError, "recall is to give items; it gave a NoneType"),
    ],
)
def test_what_is_no_item_is_said(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        items_of(given, 5)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (None, TypeError, "answer is to give an Answer; it gave a NoneType"),
        (Answer(decision="deny"), ValueError, "decision 'deny' is none of the task card's"),
        (Answer(decision="DENY", confidence=87.0), ValueError, r"confidence 87.0 is not in \[0, 1"),
        (Answer(decision="DENY", confidence=float("nan")), ValueError, "confidence nan"),
        (Answer(decision="DENY", amount=float("inf")), ValueError, "amount inf is not finite"),
    ],
)
def test_what_is_no_answer_is_said(given: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        checked(given, CARD)


def test_an_answer_of_the_card_is_one() -> None:
    for answer in (Answer(decision=ABSTAIN), Answer(decision="DENY", confidence=1.0, amount=2.0)):
        assert checked(answer, CARD) is answer
    assert checked(Answer(text="x"), TaskCard(instruction="i", query="q"))


def _raises(error: BaseException) -> Callable[..., Sequence[Item]]:
    def recall(self: OldestFirst, query: Query, k: int) -> Sequence[Item]:
        raise error

    return recall


@pytest.mark.parametrize(
    ("error", "said"),
    [(SystemExit("bye"), "SystemExit: bye"), (asyncio.CancelledError(), "CancelledError: ")],
)
def test_whatever_a_memory_raises_its_case_is_a_row(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(OldestFirst, "recall", _raises(error))
    done = run(capsys, *HOTPOT, "arch=oldest_first", "max_errors=100", "hydra.run.dir=r")
    assert done.status == 0
    rows = load_state(Path("r")).rows
    assert len(rows) == 6
    assert all(row.error.startswith(said) for row in rows)


def test_a_memory_that_ends_the_process_while_it_is_built_fails_its_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(OldestFirst, "ingest", lambda self, events: sys.exit("bye"))
    done = run(capsys, *HOTPOT, "arch=oldest_first", "max_errors=100", "hydra.run.dir=r")
    assert done.status == 0
    rows = load_state(Path("r")).rows
    assert [row.error.startswith("SystemExit: bye") for row in rows] == [True] * 6


def test_what_has_no_form_in_a_file_fails_its_case_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reports = iter([{"share": float("nan")}] + [{"share": 0.5}] * 5)
    monkeypatch.setattr(OldestFirst, "report", lambda self: next(reports))
    done = run(capsys, *HOTPOT, "arch=oldest_first", "max_errors=100", "hydra.run.dir=r")
    assert done.status == 0
    rows = load_state(Path("r")).rows
    assert [bool(row.error) for row in rows] == [True] + [False] * 5
    assert rows[0].error.startswith("CanonicalError: $.arch_report.share")
    assert len(list(answer_records(Path("r")))) == 6
    assert framework(capsys, "verify", "r").status == 0


@register("reader", "test_leaving")
class Leaving(Reader[NoSettings]):
    """Ends the process as it is made."""

    def __init__(self, settings: NoSettings) -> None:
        sys.exit("bye")

    def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        raise AssertionError


def test_a_plugin_that_ends_the_process_is_a_failure_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, *LOAN, "arch=none", "reader=test_leaving", "n_cases=2")
    assert done.status == 1
    assert "code of a plugin ended the process: sys.exit('bye')" in done.err
