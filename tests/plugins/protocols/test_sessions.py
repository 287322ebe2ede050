"""Sessions: turns are rows, limits hold, controls behave, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Interactive
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import open_domain
from framework.engine.dry_run import dry_run_of
from framework.errors import UserError
from framework.pipeline.path import Pipeline
from framework.records import Answer, Case, Gold, Item, MemoryView, Row, Usage
from framework.rows import by_session, measured
from framework.store import read, verify_run
from framework.store.directory import RunDirectory
from framework.store.state import load_state, read_summary
from framework.testing.server import ModelServer
from plugins.protocols.sessions.agents import passed_over
from plugins.protocols.sessions.next_action import (
    ANSWER,
    GIVE_UP,
    SEARCH,
    Exchange,
    NextAction,
    NextActionRequest,
    NextActionRule,
)
from plugins.protocols.sessions.protocol import ENDED, Sessions
from plugins.protocols.sessions.session import ENDS, Limits, Session
from tests.framework.models.serving import of, spent
from tests.launching import QUESTIONS, framework, run

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "bank_support"
SHORT = ("protocol=sessions", "tracking=none", "report=false")
SMALL = (
    *("domain=governance", "domain.items=90", "domain.tasks_per_history=2", "n_cases=6"),
    *("domain.forms=development", *SHORT),
)
BANK = (
    *("domain=bank_support", f"domain.path={FIXTURES / 'documents.json'}"),
    *(f"domain.tasks={FIXTURES / 'tasks.json'}", "domain.unknown_file=true", "budget=loose"),
    *SHORT,
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def records(directory: Path) -> list[dict[str, Any]]:
    lines = (directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def sessions(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.key):
        found.setdefault(row.case_id, []).append(row)
    return found


@pytest.mark.slow
def test_every_turn_is_a_row_and_the_last_has_the_figures(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(capsys, "arch=bm25", "budget=moderate", *SMALL)
    assert done.status == 0, done.err
    assert verify_run(done.directory).ok
    rows = list(load_state(done.directory).rows)
    found = sessions(rows)
    assert len(found) == 6
    assert any(len(turns) > 1 for turns in found.values())
    for turns in found.values():
        assert [row.turn for row in turns] == list(range(len(turns)))
        *before, last = turns
        assert all(not row.axes and row.success is None for row in before)
        assert sum(last.axes[end] or 0.0 for end in ENDS) == 1.0
        assert last.axes["turns"] == len(turns)
        spent = sum(
            used.tokens_in + used.tokens_out
            for row in turns
            for phase, used in row.usage.items()
            if phase in ("recall", "answer", "write")
        )
        assert last.axes["session_tokens"] == spent
        assert last.axes["shown_tokens"] == sum(row.view_tokens for row in turns)
        assert all(row.view_tokens <= (row.budget_tokens or 0) for row in turns)
        assert (last.axes["merge_ready"] == 1.0) is (last.axes["resolved"] == 1.0)
        assert all(row.timing["environment_s"] >= 0 for row in turns)
    summary = read_summary(done.directory)
    assert summary["run"]["n_cases"] == summary["axes"]["resolved"]["n"] == 6
    assert summary["axes"]["turns"]["mean"] == sum(map(len, found.values())) / 6
    total = summary["ledger"]["total"]
    answered = [row.usage["answer"] for row in rows]
    assert total["tokens_in"] == sum(usage.tokens_in for usage in answered)
    kinds = Counter(record["session"]["turn"]["action"] for record in records(done.directory))
    assert kinds[ANSWER] > 6
    assert kinds[SEARCH] > 0
    case, turns = next((case, len(turns)) for case, turns in found.items() if len(turns) > 1)
    shown = framework(capsys, "show", str(done.directory), f"case={case}").out
    assert "TURN 1: answer" in shown
    assert "TURN 2: search_memory The " in shown
    assert shown.count("the session ended: ") == 1
    assert f"turns    {turns}" in shown


@pytest.mark.slow
def test_the_same_run_gives_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = (
        run(capsys, "arch=bm25", *SMALL, f"run_name={name}").directory for name in ("one", "other")
    )
    assert measured(load_state(one).rows) == measured(load_state(other).rows)


def test_the_oracle_resolves_all_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "arch=none", *SMALL, "protocol.agent=oracle")
    rows = load_state(done.directory).rows
    assert len(rows) == 6
    assert all(row.axes["resolved"] == row.axes["resolved_first"] == 1.0 for row in rows)
    assert all(row.axes["session_tokens"] == 0.0 for row in rows)


def test_nothing_but_the_limits_ends_the_stubborn(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "arch=bm25", *SMALL, "protocol.agent=stubborn", "protocol.turns=3")
    rows = list(load_state(done.directory).rows)
    assert len(rows) == 18
    last = [row for row in rows if row.turn == 2]
    assert all(row.axes["out_of_turns"] == 1.0 and row.axes["answers"] == 3.0 for row in last)


def test_guessing_sees_no_memory_and_no_gold(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("protocol.agent=guesses", "n_cases=60", "domain=governance", *SHORT)
    one, other = (run(capsys, arch, *given).directory for arch in ("arch=none", "arch=oracle"))
    rows, others = (list(load_state(path).rows) for path in (one, other))
    ends, same = ([row for row in of if "resolved" in row.axes] for of in (rows, others))
    assert [row.axes["resolved"] for row in ends] == [row.axes["resolved"] for row in same]
    assert all(row.axes["session_tokens"] == 0.0 for row in ends)
    last = {row.case_id: row for row in ends}.values()
    assert len(last) == 60
    # One step of 60 at first, or one of up to five; then up to seven steps five apart.
    assert 0.1 < sum(row.axes["resolved"] or 0.0 for row in last) / len(last) < 0.6
    with composer():
        domain = open_domain(compose_plan(["domain=governance"]))
    case = next(iter(domain.cases(1, 7)))
    first = domain.guess(case, [])
    assert domain.reply(case, first)[1] != "Merged."
    blank = replace(case, gold=Gold())
    replies = [domain.reply(case, first)[1]]
    assert domain.guess(blank, replies) == domain.guess(case, replies) != first


def test_a_domain_without_a_guess_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("domain=codebase", "protocol=sessions", "protocol.agent=guesses", "arch=none")
    assert (
        "protocol.agent=guesses: domain codebase can't make guesses" in run(capsys, *given).mistake
    )


@pytest.mark.slow
def test_the_controls_stand_at_the_ends_where_code_is_executed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = ("domain=codebase", "domain.forms=development", "n_cases=4", *SHORT)
    done = run(capsys, "arch=none", *code, "protocol.agent=oracle")
    best = load_state(done.directory).rows
    assert len(best) == 4
    assert all(row.axes["resolved"] == row.axes["resolved_first"] == 1.0 for row in best)
    assert all(row.axes["compliance"] == 1.0 for row in best)
    given = ("protocol.agent=stubborn", "protocol.turns=2")
    done = run(capsys, "arch=full_context", *code, *given)
    rows = load_state(done.directory).rows
    last = [row for row in rows if row.turn == 1]
    assert (len(rows), len(last)) == (8, 4)
    assert all(row.axes["out_of_turns"] == 1.0 and not row.axes["resolved"] for row in last)


@pytest.mark.slow
def test_views_are_held_to_what_is_left_of_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("protocol.agent=stubborn", "protocol.turns=4", "protocol.shown=500")
    done = run(capsys, "arch=bm25", "budget=absolute", "budget.tokens=300", *SMALL, *given)
    for turns in sessions(list(load_state(done.directory).rows)).values():
        shown = [row.view_tokens for row in turns]
        assert 250 < shown[0] <= 300
        assert sum(shown) <= 500
        assert shown[3] == 0


@pytest.mark.slow
def test_the_turn_that_passes_the_tokens_is_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "arch=bm25", *SMALL, "protocol.tokens=1")
    rows = load_state(done.directory).rows
    assert len(rows) == 6
    assert all(row.axes["resolved"] or row.axes["out_of_tokens"] for row in rows)


@pytest.mark.slow
def test_what_is_written_is_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, "arch=newest_first", *SMALL, "protocol.writes=true")
    found = [r for r in records(done.directory) if r["key"][4] == 1]
    assert found
    for record in found:
        case = record["key"][0]
        assert record["view"][0]["id"] == f"{case}-turn-1"
        assert "does not honour the decision" in record["view"][0]["text"]
    plain = run(capsys, "arch=newest_first", *SMALL)
    assert not any("-turn-" in i["id"] for r in records(plain.directory) for i in r["view"])


def test_a_domain_that_does_not_answer_back_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(
        capsys, "domain=hotpotqa", f"domain.path={QUESTIONS}", "domain.unknown_file=true", *SHORT
    )
    assert "gives no feedback on an answer" in done.mistake


@pytest.mark.slow
def test_figures_are_kept_when_answers_are_judged_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(capsys, "arch=bm25", *SMALL)
    again = framework(
        capsys, "rescore", str(done.directory), "--axes", "session_outcome,compliance"
    )
    assert again.status == 0, again.err
    old, new = (load_state(one.directory).rows for one in (done, again))
    ended = {row.key: row.axes["resolved"] for row in old if row.axes}
    assert {row.key: v for row in new if (v := row.axes.get("resolved")) is not None} == ended


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [SMALL, BANK], ids=["governance", "bank_support"])
def test_an_estimate_goes_through_the_turns(
    tasks: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("arch=bm25", *tasks, "model=openai", "model.name=gpt-4o-mini", "dry_run=true")
    one, many = (
        run(capsys, *given, f"protocol.turns={turns}", "model.base_url=http://127.0.0.1:9/v1").out
        for turns in (1, 8)
    )
    assert calls(one) == 6
    assert calls(many) > 12


def calls(out: str) -> int:
    line = next(line for line in out.splitlines() if line.lower().startswith(("total", "bm25")))
    return int(next(word for word in line.replace(",", "").split() if word.isdigit()))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("tasks", [SMALL, BANK], ids=["governance", "bank_support"])
def test_a_kill_in_the_middle_of_a_turn_pays_nothing_twice(tasks: tuple[str, ...]) -> None:
    given = ("arch=bm25", *tasks, "gate=open")
    answers = dry_run_of([*given, "model=openai"]).answers
    with ModelServer(answers, delay_s=0.05) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=2")
        for calls_before in (9, 14):
            resumed = ("resume=killed",) if Path("killed").exists() else None
            process = start(*(resumed or (*given, *sent_to, "hydra.run.dir=killed")))
            wait_for(lambda n=calls_before: running.counts.calls >= n)
            assert process.poll() is None
            process.kill()
            process.communicate()
        assert load_state(Path("killed")).finished is None
        assert any(row.turn for row in load_state(Path("killed")).rows)
        last = start("resume=killed")
        _, err = last.communicate(timeout=200)
        assert last.returncode == 0, err
        again = [n for n in running.counts.requests.values() if n > 1]
        assert len(again) <= 4  # at most what was under way at each kill
        assert max(running.counts.requests.values()) <= 3
        whole = start(*given, *sent_to, "hydra.run.dir=whole", "model.cache=other.sqlite")
        _, err = whole.communicate(timeout=200)
        assert whole.returncode == 0, err
    one, other = (load_state(Path(name)).rows for name in ("killed", "whole"))
    assert len({row.key for row in one}) == len(one)
    assert measured(one) == measured(other)


class Killed(BaseException):
    """Stands for a process that is gone: nothing catches it."""


@pytest.mark.slow
def test_a_session_that_failed_goes_on_to_its_own_end_whatever_happens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second turn fails, the run stops, and when it goes on it is killed after that turn."""
    given = ("arch=bm25", "budget=moderate", *SMALL)
    assert run(capsys, *given, "hydra.run.dir=whole").status == 0
    whole = load_state(Path("whole")).rows
    key = next(row.key for row in whole if row.turn == 4)[:4]
    read_, add = Pipeline._read, RunDirectory.add

    async def failing(self: Pipeline, case: Case, *rest: Any) -> Answer:
        if case.id == key[0] and rest[-1].number == 1:
            raise RuntimeError("the server is away")
        return await read_(self, case, *rest)

    def dying(self: RunDirectory, row: Row, record: Any) -> None:
        add(self, row, record)
        if row.key == (*key, 1):
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "_read", failing)
        stopped = run(capsys, *given, "max_errors=0", "hydra.run.dir=cut")
        assert "1 case failed" in stopped.err
    assert ends_of("cut", key) == ["session.ended error 2"]
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "add", dying)
        with pytest.raises(Killed):
            run(capsys, "resume=cut")
    assert run(capsys, "resume=cut").status == 0
    assert measured(load_state(Path("cut")).rows) == measured(whole)
    assert ends_of("cut", key) == [
        "session.ended error 2",
        "session.reopened",
        *ends_of("whole", key),
    ]
    assert verify_run(Path("cut")).ok


def ends_of(name: str, key: tuple[Any, ...]) -> list[str]:
    """What a run's journal says of the end of one session."""
    said = ((event.type, event.payload) for event in read(Path(name) / "journal.jsonl"))
    return [
        " ".join([type_, *(str(end[word]) for word in ("ended", "turns") if word in end)])
        for type_, end in said
        if type_.startswith("session.") and end["case_id"] == key[0]
    ]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cap_holds_within_a_session(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=bm25", *SMALL, "gate=open")
    answers = dry_run_of([*given, "model=openai"]).answers
    with ModelServer(answers) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=1", "hydra.run.dir=r")
        whole = ("max_tokens_total=30000",)
        done = run(capsys, *given, *sent_to, *whole)
        assert "max_tokens_total=30000" in done.err
        (account,) = spent()
        assert 10_000 < account.tokens <= 30_000
        rows = load_state(Path("r")).rows
        assert any(not row.axes for row in rows)  # stopped between two turns of a session
        assert run(capsys, "resume=r", "max_tokens_total=null").status == 0
        assert max(running.counts.requests.values()) == 1


def start(*argv: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *argv],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 100
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_session_folds_to_its_last_row_with_all_that_was_spent() -> None:
    def turn(number: int, tokens: int, **more: Any) -> Row:
        usage = {"ingest": Usage(tokens_in=100), "answer": Usage(tokens_in=tokens)}
        return Row(case_id="c", arm="a", turn=number, usage=usage, **more)

    other = Row(case_id="d", arm="a", usage={"answer": Usage(tokens_in=7)})
    folded = by_session([turn(1, 20, success=1.0), other, turn(0, 5)])
    assert [row.case_id for row in folded] == ["c", "d"]
    assert folded[0].usage["ingest"].tokens_in == 100
    assert folded[0].usage["answer"].tokens_in == 25
    assert (folded[0].success, folded[0].turn) == (1.0, 0)
    assert folded[1] is other


def wrong(said: str, reply: str = "no", ground: str = "") -> Exchange:
    return Exchange(action=ANSWER, said=said, reply=reply, rests_on=ground)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ((wrong("a", "it fails"),), (SEARCH, "it fails")),
        ((wrong("a", "it fails"), Exchange(action=SEARCH, argument="it fails")), (ANSWER, "")),
        (
            (wrong("a"), Exchange(action=SEARCH, argument="no"), wrong("b")),
            (ANSWER, ""),
        ),
        ((wrong("a"), Exchange(action=SEARCH, argument="no"), wrong("a")), (GIVE_UP, "")),
    ],
)
def test_the_rule_searches_tries_again_and_gives_up(
    turns: tuple[Exchange, ...], expected: tuple[str, str]
) -> None:
    request = NextActionRequest(
        instruction="", ticket="", turns=turns, actions={ANSWER: "", SEARCH: ""}, left=3
    )
    found = NextActionRule().answer(request, Any)
    assert (found.action, found.argument) == expected


def test_only_actions_that_are_offered_can_be_read() -> None:
    request = NextActionRequest(
        instruction="", ticket="", turns=(), actions={ANSWER: "", "look": ""}, left=1
    )
    operation = NextAction()
    schema: Any = operation.schema(request)
    assert schema["properties"]["action"]["enum"] == [ANSWER, "look"]
    assert operation.parse('{"action": "look", "argument": "x"}', request).argument == "x"
    with pytest.raises(ValueError, match="one of answer, look"):
        operation.parse('{"action": "leap", "argument": ""}', request)


def test_a_rejected_ground_is_passed_over_and_nothing_else() -> None:
    text = "The Amber Heron pact fixes the page length at 3 steps. The Red Fox pact is new.\nMore."
    view = MemoryView(items=(Item(id="i", text=text),), tokens=9, budget_tokens=9)
    ground = "The page length is 3 steps under the Amber Heron pact. The retry limit is 2 under X."
    turn = wrong("a", "The page length does not honour it.", ground)
    (item,) = passed_over(view, [turn]).items
    assert item.text.split("\n") == [" The Red Fox pact is new.", "More."]
    assert passed_over(view, [Exchange(action=SEARCH)]) is view
    whole = passed_over(view, [wrong("a", "fails", "More.")]).items[0].text
    assert whole == text.replace("More.", "")


def test_queries_take_turns_in_the_view_the_newest_first() -> None:
    async def recall(query: str) -> list[Item]:
        return [Item(id=f"{query}{n}", text=f"{query}{n}") for n in range(2)] + [
            Item(id="same", text="same")
        ]

    async def shown() -> list[str]:
        session = Session(
            case=Any,
            domain=Any,
            reader=Any,
            agent="model",
            limits=Limits(turns=3, tokens=None, shown=None),
            writes=False,
        )
        await session.items("task", recall)
        session.waiting = "more"
        return [item.id for item in await session.items("task", recall)]

    assert asyncio.run(shown()) == ["more0", "task0", "more1", "task1", "same"]


def test_who_answers_back_is_told_by_the_contract() -> None:
    from plugins.domains.codebase.domain import Codebase, CodebaseSettings

    domain = Codebase(CodebaseSettings())
    assert isinstance(domain, Interactive)
    case = next(iter(domain.cases(1, 7)))
    assert domain.reply(case, Answer(edit="no patch"))[0] is False
    found = domain.use(case, "search_code", "def checkout", None)
    assert "lending/loans.py:" in found
    assert domain.use(case, "search_code", "no such words here", None).startswith("Nothing")
    Sessions(Sessions.Settings()).check(domain)
    with pytest.raises(UserError, match="gives no feedback"):
        Sessions(Sessions.Settings()).check(object.__new__(type("Silent", (), {"name": "silent"})))
    assert ENDED == "session.ended"
