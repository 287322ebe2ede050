"""Cases that follow each other: what one leaves is there for the next, and paid for once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.engine.dry_run import dry_run_of
from framework.records import Answer, Row
from framework.rows import by_session, measured
from framework.store import verify_run
from framework.store.state import load_state
from framework.testing.server import ModelServer
from plugins.protocols.sessions.protocol import SessionsSettings
from plugins.protocols.sessions.session import Session
from tests.framework.models.serving import of
from tests.launching import run
from tests.plugins.protocols.test_sessions import start, wait_for

SMALL = (
    *("protocol=sessions", "domain=precedents", "domain.length=10", "domain.records=12"),
    *("domain.between=1", "domain.labels=10", "domain.forms=development", "n_cases=20"),
    *("tracking=none", "report=false"),
)
WRITES = (*SMALL, "protocol.writes=true")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def views(directory: Path) -> dict[tuple[str, int], list[str]]:
    """By case and turn, the ids of what was shown."""
    lines = (directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {(r["key"][0], r["key"][4]): [i["id"] for i in r["view"]] for r in found}


def rows(directory: Path) -> list[Row]:
    return list(load_state(directory).rows)


@pytest.mark.slow
def test_what_a_case_left_is_there_for_the_next_only_where_it_was_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    written = run(capsys, "arch=full_context", *WRITES)
    assert written.status == 0, written.err
    assert verify_run(written.directory).ok
    shown = views(written.directory)
    sizes = [len(shown[f"precedents-s7-00001-{n:02d}", 0]) for n in range(10)]
    # 12 standing records, two with each case, and the correction after the fifth.
    assert sizes == [12, 14, 16, 18, 20, 23, 25, 27, 29, 31]
    assert all(row.success == 1.0 for row in by_session(rows(written.directory)))
    plain = run(capsys, "arch=full_context", *SMALL)
    assert {len(ids) for ids in views(plain.directory).values()} == {12}
    for row in by_session(rows(plain.directory)):
        assert row.sufficient is (row.stratum == "standing")
        assert row.axes["compliance"] == 1.0 or row.stratum != "standing"


@pytest.mark.slow
def test_what_was_tried_stays_only_where_it_is_carried(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("arch=newest_first", "budget=loose", *WRITES)
    for carries, stays in (("decisions", False), ("all", True)):
        done = run(capsys, *given, f"protocol.carries={carries}")
        others = [
            id_
            for (case, _), ids in views(done.directory).items()
            for id_ in ids
            if "-turn-" in id_ and not id_.startswith(case)
        ]
        assert bool(others) is stays
    assert "carries" not in SessionsSettings(writes=True).identity()
    assert SessionsSettings(carries="all").identity()["carries"] == "all"


@pytest.mark.slow
@pytest.mark.parametrize("carries", ["decisions", "all"])
def test_no_row_stays_of_a_memory_that_an_earlier_failure_left_short(
    carries: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that failed is taken again on resume, and so is each that was to have its tries."""
    given = ("arch=newest_first", "budget=loose", *WRITES, f"protocol.carries={carries}")
    whole = run(capsys, *given)
    failing = {"precedents-s7-00000-01", "precedents-s7-00000-08"}
    answers = Session.answer

    async def answer(self: Session, *asked: Any) -> Answer:
        if self.number == 1 and self.case.id in failing:
            raise RuntimeError("nobody answers")
        return await answers(self, *asked)

    monkeypatch.setattr(Session, "answer", answer)
    stopped = run(capsys, *given, "max_errors=1", "hydra.run.dir=stopped")
    assert stopped.status == 1, stopped.err
    errors = [row.error for row in rows(Path("stopped")) if row.error]
    said = "UserError: an earlier case of its series failed: precedents-s7-00000-01"
    assert len(errors) == 2
    assert errors[1].startswith(said if carries == "all" else errors[0])
    failing.clear()
    resumed = run(capsys, "resume=stopped")
    assert resumed.status == 0, resumed.err
    assert measured(rows(Path("stopped"))) == measured(rows(whole.directory))


@pytest.mark.parametrize("agent", ["oracle", "stubborn"])
def test_the_controls_stand_at_the_ends(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = (f"protocol.agent={agent}", "protocol.turns=2")
    done = run(capsys, "arch=none", *WRITES, *given)
    assert done.status == 0, done.err
    found = by_session(rows(done.directory))
    assert len(found) == 20
    end = "resolved_first" if agent == "oracle" else "out_of_turns"
    assert all(row.axes[end] == 1.0 for row in found)
    corrected = [row for row in found if row.stratum == "corrected"]
    assert len(corrected) == 4
    honoured = float(agent == "oracle")
    for row in corrected:
        assert row.axes["correction_honoured"] == row.axes["honoured_at_once"] == honoured
        assert row.axes["retired_used"] == row.axes["retired_tried"] == 0.0
    assert all(r.axes["honoured_at_once"] is None for r in found if r not in corrected)


@pytest.mark.slow
def test_a_write_is_booked_for_what_is_new_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """What the writes of a series took is what its last memory took more than its first."""
    given = ("arch=consolidate", "protocol.agent=oracle", "n_cases=10")
    written = run(capsys, *WRITES, *given)
    by_case = {row.case_id: row for row in rows(written.directory)}
    wrote = sum(row.usage["write"].tokens_in for row in by_case.values() if "write" in row.usage)
    assert "write" not in by_case["precedents-s7-00000-00"].usage
    whole = [part for part in SMALL if part != "protocol=sessions"]
    other = run(capsys, *whole, "arch=consolidate", "n_cases=10")
    last = next(r for r in rows(other.directory) if r.case_id == "precedents-s7-00000-09")
    first = next(iter(by_case.values())).usage["ingest"].tokens_in
    assert wrote > 0
    assert wrote == last.usage["ingest"].tokens_in - first
    assert all("write_s" in row.timing for row in by_case.values())


@pytest.mark.slow
def test_an_estimate_goes_through_the_series(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=full_context", "model=openai", "model.name=gpt-4o-mini", "dry_run=true")
    sent_to = "model.base_url=http://127.0.0.1:9/v1"
    with_, without = (asked(run(capsys, *v, *given, sent_to).out) for v in (WRITES, SMALL))
    # Everything written, each case takes one answer; otherwise precedents are looked for in vain.
    assert with_ == 20
    assert without > 30


def asked(out: str) -> int:
    """The calls that an estimate foresees of the one arm."""
    line = next(line for line in out.splitlines() if line.startswith("full_context"))
    return int(next(word for word in line.replace(",", "").split() if word.isdigit()))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_kill_within_a_series_pays_nothing_twice() -> None:
    given = ("arch=bm25", "budget=moderate", *WRITES, "gate=open")
    answers = dry_run_of([*given, "model=openai"]).answers
    with ModelServer(answers, delay_s=0.05) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=2")
        for before in (9, 20):
            resumed = ("resume=killed",) if Path("killed").exists() else None
            process = start(*(resumed or (*given, *sent_to, "hydra.run.dir=killed")))
            wait_for(lambda n=before: running.counts.calls >= n)
            assert process.poll() is None
            process.kill()
            process.communicate()
        assert load_state(Path("killed")).finished is None
        assert any(not row.case_id.endswith("-00") for row in rows(Path("killed")))
        last = start("resume=killed")
        _, err = last.communicate(timeout=200)
        assert last.returncode == 0, err
        again = [n for n in running.counts.requests.values() if n > 1]
        assert len(again) <= 4  # at most what was under way at each kill
        whole = start(*given, *sent_to, "hydra.run.dir=whole", "model.cache=other.sqlite")
        _, err = whole.communicate(timeout=200)
        assert whole.returncode == 0, err
    one, other = rows(Path("killed")), rows(Path("whole"))
    assert len({row.key for row in one}) == len(one)
    assert measured(one) == measured(other)
    ends = [p["case_id"] for t, p in recorded("killed") if t == "session.ended"]
    assert sorted(ends) == sorted({row.case_id for row in other})


def recorded(name: str) -> list[tuple[str, dict[str, Any]]]:
    lines = (Path(name) / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [(e["type"], e["payload"]) for e in map(json.loads, lines)]
