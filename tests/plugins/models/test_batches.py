"""Provider batches against the local server: the same rows, half the price, none sent twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from framework.testing.server import Faults, ModelServer
from tests.framework.models.serving import BASE, measured, of, server, spent, summaries, totals
from tests.launching import run

ROOT = Path(__file__).resolve().parents[3]
GIVEN = ("arch=bm25", "n_cases=6", "report=false")
IN_BATCHES = ("model.batch=true", "model.batch_window_s=0.2", "model.batch_poll_s=0.05")
KEPT = Path(".cache/responses.sqlite.batches")
PROVIDERS = pytest.mark.parametrize("provider", ["anthropic", "openai"])


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def undisturbed(capsys: pytest.CaptureFixture[str], running: ModelServer, provider: str) -> object:
    """The measured rows of the same run, one request at a time, with a cache of its own."""
    words = (*BASE, *GIVEN, *of(running, provider), "model.cache=.cache/single.sqlite")
    assert run(capsys, *words, "hydra.run.dir=single").status == 0
    return measured(Path("single"))


@pytest.mark.slow
@PROVIDERS
def test_a_batch_gives_the_same_rows_at_half_the_price(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with server(*GIVEN) as running:
        words = (*BASE, *GIVEN, *of(running, provider), *IN_BATCHES)
        done = run(capsys, *words, "hydra.run.dir=r")
        assert done.status == 0, done.err
        assert running.batches.submitted == 1, "every place waits, then one batch is sent"
        assert len(running.counts.requests) == 6
        assert not list(KEPT.iterdir()), "all of it is stored"
        found = totals(Path("r"))
        assert found["paid_usd"] == pytest.approx(found["cost_usd"] / 2)
        (account,) = spent()
        assert account.usd == pytest.approx(found["paid_usd"])
        again = run(capsys, *words, "model.replay=true", "hydra.run.dir=again")
        assert again.status == 0, again.err
        assert measured(Path("r")) == measured(Path("again"))
        assert measured(Path("r")) == undisturbed(capsys, running, provider)


@pytest.mark.slow
@PROVIDERS
def test_what_a_batch_could_not_answer_is_sent_in_another(
    provider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = Faults(rates={"500": 0.3, "429": 0.2}, seed=3)
    with server(*GIVEN, faults=faults) as running:
        words = (*BASE, *GIVEN, *of(running, provider), *IN_BATCHES)
        done = run(capsys, *words, "hydra.run.dir=r")
    assert done.status == 0, done.err
    assert running.batches.submitted > 1
    assert len(running.counts.requests) == 6
    assert set(running.counts.requests.values()) == {1}
    assert summaries(Path("r"))[0]["errors"]["n"] == 0


@pytest.mark.slow
def test_no_more_are_sent_at_once_than_a_batch_holds(capsys: pytest.CaptureFixture[str]) -> None:
    with server(*GIVEN) as running:
        words = (*BASE, *GIVEN, *of(running, "openai"), *IN_BATCHES, "model.batch_size=4")
        assert run(capsys, *words, "hydra.run.dir=r").status == 0
    assert running.batches.submitted == 2
    assert set(running.counts.requests.values()) == {1}


@pytest.mark.slow
@PROVIDERS
@pytest.mark.parametrize("id_kept", [True, False])
def test_a_killed_run_waits_for_its_batch_and_sends_nothing_twice(
    provider: str, id_kept: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """SIGKILL between submit and result; also where the id was not yet written."""
    with server(*GIVEN) as running:
        running.batches.ends_after_s = 4.0
        words = (*BASE, *GIVEN, *of(running, provider), *IN_BATCHES, "hydra.run.dir=r")
        killed = subprocess.Popen(
            [sys.executable, str(ROOT / "run.py"), *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 60
        while not _ids() and time.monotonic() < until:
            time.sleep(0.02)
        killed.kill()
        assert killed.wait() == -9
        (record,) = KEPT.glob("*.json")
        assert _ids(), "it was sent, and had not ended"
        if not id_kept:
            record.write_text(json.dumps({**json.loads(record.read_text()), "id": None}))
        done = run(capsys, "resume=r")
        assert done.status == 0, done.err
        assert running.batches.submitted == 1
        assert set(running.counts.requests.values()) == {1}
        assert measured(Path("r")) == undisturbed(capsys, running, provider)


@pytest.mark.slow
@PROVIDERS
def test_a_batch_that_never_came_is_sent(provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Killed before submit: its keys stand on disk, and the provider has no such batch."""
    with server(*GIVEN) as running:
        words = (*BASE, *GIVEN, *of(running, provider), *IN_BATCHES)
        assert run(capsys, *words, "hydra.run.dir=first").status == 0
        import sqlite3

        with sqlite3.connect(".cache/responses.sqlite") as db:
            keys = [key for (key,) in db.execute("SELECT key FROM responses")]
            db.execute("DELETE FROM responses")
        db.close()
        record = {
            "provider": provider,
            "base_url": running.url + ("/v1" if provider == "openai" else ""),
            "name": "decisionbench-none",
            "created": time.time() + 3600,
            "requests": [key.removeprefix("sha256:") for key in keys],
            "id": None,
        }
        (KEPT / "decisionbench-none.json").write_text(json.dumps(record))
        assert run(capsys, *words, "hydra.run.dir=second").status == 0
        assert running.batches.submitted == 2
    assert measured(Path("first")) == measured(Path("second"))


def test_a_batch_needs_a_cache(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("model=openai", "model.batch=true", "model.cache=null", "n_cases=1")
    done = run(capsys, *BASE, *words)
    assert done.status == 2
    assert "batch needs a cache" in done.err
    assert len(done.err.strip().splitlines()) == 1


def _ids() -> list[str]:
    found = []
    for path in KEPT.glob("*.json") if KEPT.is_dir() else ():
        found += [one] if (one := json.loads(path.read_text())["id"]) else []
    return found
