"""A cache that was damaged is asked around, and one that can't be used is told before any call."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from benchmarks.chaos.hostile import answers, serving
from framework.errors import StopRun
from framework.models.cache import Response, ResponseCache
from framework.models.spending import Reservation, Spending
from tests.launching import QUESTIONS, everything_in, run

DAMAGED = {
    "cut": '{"text": "ye',
    "of another form": '{"answer": "yes"}',
    "no object": "[]",
    "nested": "[" * 100_000,
}
HOTPOT = (
    *(f"domain.path={QUESTIONS}", "domain.unknown_file=true", "domain=hotpotqa"),
    *("tracking=none", "report=false"),
)


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_response_is_none_and_the_next_one_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cache.sqlite"
    cache = ResponseCache(path)
    response = Response(text="yes", stop="end", tokens_in=1, tokens_out=1)
    cache.put("k", "entail", response)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE responses SET response = ?", (text,))
    db.close()
    assert cache.get("k") is None
    cache.put("k", "entail", response)
    assert cache.get("k") == response
    cache.close()


def test_a_cache_that_breaks_ends_the_run(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path / "cache.sqlite")
    with sqlite3.connect(tmp_path / "cache.sqlite") as db:
        db.execute("DROP TABLE responses")
    db.close()
    with pytest.raises(StopRun, match="can't be used as a database any more: no such table"):
        cache.get("k")
    cache.close()


def test_an_unusable_cache_is_told_before_any_call(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.sqlite").write_bytes(b"no database at all, but long enough to look" * 100)
    with serving(answers("yes")) as url:
        asking = ("model=openai", f"model.base_url={url}/v1", "model.cache=broken.sqlite")
        done = run(capsys, *HOTPOT, *asking, "hydra.run.dir=r")
    assert done.mistake == "broken.sqlite: can't be used as a database: file is not a database"
    assert "r" not in everything_in(tmp_path)


@pytest.mark.slow
def test_a_key_that_an_answer_spells_with_escapes_is_in_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("A_SERVICE_API_KEY", "sk-of-more-than-twelve")
    with serving(answers("sk-of-more-than-twelve", "\u2028 sk-of-more-than-twelve")) as plain:
        given = (*HOTPOT, "model=openai", "n_cases=1", "arch=none", "model.api_key_env=null")
        assert run(capsys, *given, f"model.base_url={plain}/v1", "hydra.run.dir=r").status == 0
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in "sk-of-more-than-twelve")
    from benchmarks.chaos.hostile import says

    with serving(says(f'{{"answer": "{escaped}", "evidence": ""}}')) as other:
        assert run(capsys, *given, f"model.base_url={other}/v1", "hydra.run.dir=s").status == 0
    files = everything_in(tmp_path)
    assert b'"text":"***"' in files["r/answers.jsonl"]
    assert b'"text":"***"' in files["s/answers.jsonl"]
    assert not [name for name, text in files.items() if b"sk-of-more-than-twelve" in text]


def test_a_cache_that_can_t_be_written_ends_every_call_and_what_was_answered_is_booked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight calls are under way and others wait for their places: none waits for ever."""

    def full(self: ResponseCache, key: str, operation: str, response: Response) -> None:
        raise StopRun("cache.sqlite: can't be used as a database any more: disk is full")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ResponseCache, "put", full)
    with serving(answers("yes")) as url:
        asking = ("model=openai", f"model.base_url={url}/v1", "model.concurrency=16")
        done = run(capsys, *HOTPOT, *asking, "repeats=8", "max_cost_usd=1", "hydra.run.dir=r")
    assert done.status != 0
    assert "disk is full" in done.err
    with sqlite3.connect(".spending.sqlite") as db:
        assert db.execute("SELECT calls FROM spent").fetchone()[0] > 0
    db.close()


def test_what_is_booked_as_answered_was_stored_before(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the two then counts a call as lost; it never pays for one again unseen."""
    stored: list[str] = []
    put = ResponseCache.put

    def noted(self: ResponseCache, key: str, operation: str, response: Response) -> None:
        put(self, key, operation, response)
        stored.append(key)

    booked: list[int] = []
    commit = Spending.commit

    def late(self: Spending, reserved: Reservation, *took: Any) -> None:
        booked.append(len(stored))
        assert len(stored) >= len(booked)
        commit(self, reserved, *took)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ResponseCache, "put", noted)
    monkeypatch.setattr(Spending, "commit", late)
    with serving(answers("yes")) as url:
        asking = ("model=openai", f"model.base_url={url}/v1", "max_cost_usd=1")
        done = run(capsys, *HOTPOT, *asking, "hydra.run.dir=r")
    assert done.status == 0, done.err
    assert len(booked) == len(stored) > 0
