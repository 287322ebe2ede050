"""A desk over several turns and customers: reviews that give nothing away, notes, and sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from framework.contracts import Interactive
from framework.records import Answer
from framework.rows import by_session
from framework.store import verify_run
from framework.store.state import load_state
from plugins.domains.bank_support.actions import Action, parsed, written
from plugins.domains.bank_support.desk import CUSTOMERS, SETTLED, reviewed, subject
from plugins.domains.bank_support.domain import HISTORY, BankSupport
from plugins.protocols.sessions.linked import Linked
from tests.launching import run
from tests.plugins.domains.bank_support.test_bank_support import (
    DOCUMENTS,
    TASKS,
    action,
    by_id,
    opened,
    published,
)

DATA = (
    *("protocol=sessions", "domain=bank_support", "domain.unknown_file=true"),
    *(f"domain.path={DOCUMENTS}", f"domain.tasks={TASKS}", "tracking=none", "report=false"),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def review(wanted: list[Action], given: list[Action]) -> str:
    return reviewed(written(given), written(wanted))


# ------------------------------------------------------------------------------------- reviews


def test_what_is_missing_is_told_by_its_subject() -> None:
    close, deny = action("close_account_7002", id="1"), action("deny_limit_increase_5848", id="1")
    read = action("get_account_7001", id="1")
    assert review([read, close, deny, close], []) == (
        "Something is still to be done about: account (2 times), limit increase."
    )
    # Lookups count only where nothing is to be changed.
    assert review([read], []) == "Something is still to be done about: account."
    assert (subject("pay"), subject("log_verification")) == ("pay", "verification")


def test_what_is_not_right_is_told_by_name_and_never_by_value() -> None:
    pay = action("pay_bill_9182", to="a", amount=20)
    assert review([pay], [action("pay_bill_9182", to="b", note="x")]) == (
        "Not right in pay_bill_9182: amount, note, to."
    )
    # The action that is met is not the one that is not right.
    again = action("pay_bill_9182", to="c", amount=3)
    tried = [pay, action("pay_bill_9182", to="c", amount=4)]
    assert review([pay, again], tried) == "Not right in pay_bill_9182: amount."
    part = action("hand_over", "reason", reason="letter", summary="")
    assert review([part], [action("hand_over", reason="other", summary="long")]) == (
        "Not right in hand_over: reason."
    )


def test_what_is_not_called_for_is_told_unless_it_changes_nothing() -> None:
    pay, other = action("pay_bill_9182", to="a"), action("raise_limit_4410")
    given = [pay, other, other, action("get_other_1111")]
    assert review([pay], given) == "Not called for here: raise_limit_4410."
    assert reviewed("a letter", written([pay])) == (
        "That is no list of actions. Something is still to be done about: bill."
    )


def answers(domain: BankSupport, expected: str) -> Iterator[str]:
    """Wrong answers of several kinds: none, every tool's name alone, the half of what is right."""
    wanted = parsed(expected) or ()
    names = {a.name for c in domain.cases(None, 0) for a in parsed(c.gold.answer) or ()}
    yield "no list"
    yield "[]"
    yield written([Action(name=name, arguments={}) for name in sorted(names)])
    yield written([Action(name=one.name, arguments={}) for one in wanted])
    yield written(wanted[: len(wanted) // 2])


def check_reviews(domain: BankSupport) -> None:
    """A right answer settles; of a wrong one no tool and no value is told that was not given."""
    for case in domain.cases(None, 0):
        reference = domain.reference(case)
        assert reference is not None
        assert domain.reply(case, reference) == (True, SETTLED)
        wanted = parsed(case.gold.answer) or ()
        values = {str(value) for one in wanted for value in one.arguments.values()}
        secret = {value for value in values if re.search(r"\d|[A-Z]", value)}
        for text in answers(domain, case.gold.answer):
            settled, told = domain.reply(case, Answer(text=text))
            assert settled is domain.success(Answer(text=text), case.gold)
            assert told
            if settled:
                continue
            given = {one.name for one in parsed(text) or ()}
            hidden = (secret | {one.name for one in wanted if re.search(r"\d$", one.name)}) - given
            said = set(re.findall(r"[\w.-]+", told.replace("times", "")))
            assert not said & (hidden - {str(n) for n in range(100)}), (case.id, told)


def test_a_review_gives_nothing_away() -> None:
    check_reviews(opened())


@pytest.mark.slow
def test_a_review_gives_nothing_away_on_the_published_data(data_dir: Path) -> None:
    domain = published(data_dir)
    check_reviews(domain)
    sizes: dict[str, int] = {}
    for case in domain.cases(None, 0):
        sizes[domain.series(case)] = sizes.get(domain.series(case), 0) + 1
    assert list(sizes.values()) == [CUSTOMERS] * 19 + [2]


@pytest.mark.slow
def test_what_notes_and_names_can_give_of_the_published_tasks(data_dir: Path) -> None:
    """What docs/results/sessions.md says of it."""
    domain = published(data_dir)
    numbered = re.compile(r"\w+_\d{4}")
    policies = {n for e in domain.history(HISTORY) for n in numbered.findall(e.text)}
    shares, verified = [], 0
    for _, customers in groupby(domain.cases(None, 0), key=domain.series):
        noted: set[str] = set()
        for place, case in enumerate(customers):
            wanted = parsed(case.gold.answer) or ()
            changes = {one.name for one in wanted if one.changes} or {one.name for one in wanted}
            assert changes - policies, case.id
            verified += "log_verification" in changes
            needs = {one.name for one in wanted if numbered.fullmatch(one.name)}
            if place and needs:
                shares.append(len(needs & noted) / len(needs))
            noted |= needs
            (left,) = domain.left_by(case)
            assert needs <= set(numbered.findall(left.text))
    assert (verified, len(shares), round(fmean(shares), 2)) == (81, 62, 0.77)


# --------------------------------------------------------------------------------------- notes


def test_a_note_holds_policies_and_tools_and_nothing_of_the_customer() -> None:
    domain = opened()
    assert isinstance(domain, Interactive)
    assert isinstance(domain, Linked)
    cases = by_id(domain)
    assert [domain.series(case) for case in cases.values()] == [*["policies-0"] * 5, "policies-1"]
    (left,) = domain.left_by(cases["fx_03"])
    assert left.text.split("\n") == [
        "A customer's request was settled.",
        "Policies: Closing an Account; Moving Money Between Accounts; Verifying a Customer.",
        "Tools that were called: log_verification, get_account_7001, move_money_7003, "
        "close_account_7002.",
    ]
    assert domain.opened(cases["fx_03"]) == HISTORY
    assert domain.tools(cases["fx_03"]) == {}
    with pytest.raises(KeyError):
        domain.use(cases["fx_03"], "look_up", "", None)


# ------------------------------------------------------------------------------------ sessions


def shown(directory: Path) -> dict[tuple[str, int], list[str]]:
    """By case and turn, the ids of what the view holds."""
    lines = (directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {(r["key"][0], r["key"][4]): [i["id"] for i in r["view"]] for r in found}


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_the_next_customers_find_the_notes_only_where_they_were_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = (*DATA, "arch=full_context", "protocol.agent=oracle")
    done = run(capsys, *given, "protocol.writes=true")
    assert done.status == 0, done.err
    assert verify_run(done.directory).ok
    views = shown(done.directory)
    # Eight policies, and a note of each earlier customer of the session.
    assert [len(views[f"fx_0{n}", 0]) for n in range(1, 7)] == [8, 9, 10, 11, 12, 8]
    assert views["fx_03", 0][-2:] == ["fx_01-note", "fx_02-note"]
    rows = by_session(list(load_state(done.directory).rows))
    assert all(row.axes["resolved_first"] == row.axes["actions_correct"] == 1.0 for row in rows)
    plain = shown(run(capsys, *given).directory)
    assert {len(ids) for ids in plain.values()} == {8}


@pytest.mark.usefixtures("place")
def test_nothing_but_the_limits_ends_the_stubborn(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(
        capsys, *DATA, "arch=none", "budget=loose", "protocol.agent=stubborn", "protocol.turns=2"
    )
    rows = by_session(list(load_state(done.directory).rows))
    assert len(rows) == 6
    assert all(row.axes["out_of_turns"] == 1.0 and row.success == 0.0 for row in rows)


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_a_review_is_what_memory_is_asked_with_next(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *DATA, "arch=bm25", "budget=loose")
    assert done.status == 0, done.err
    lines = (done.directory / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    turns = [r["session"]["turn"] for r in map(json.loads, lines) if r["key"][0] == "fx_03"]
    assert turns[0]["reply"] == (
        "Something is still to be done about: verification. Not right in move_money_7003: amount, "
        "from, to. Not right in close_account_7002: account. Not called for here: raise_limit_4410."
    )
    assert (turns[1]["action"], turns[1]["argument"]) == ("search_memory", turns[0]["reply"])
