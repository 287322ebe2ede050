"""Members and staff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import auth, loans, members, notify
from .errors import Conflict, Forbidden, Invalid, LendingError, NotFound
from .samples import sample


def refused(error: type[LendingError], call: Callable[..., Any], *arguments: Any) -> None:
    """Assert that a call is refused with that error."""
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{call.__name__}{arguments} was not refused")


def test_a_member_has_a_name_and_an_address() -> None:
    """Anything else is refused."""
    s = sample()
    number = members.register(s.store, "  Ann   Lin ", "ann@example.org")
    assert members.profile(s.store, number)["name"] == "Ann Lin"
    assert members.profile(s.store, number)["state"] == "active"
    refused(Invalid, members.register, s.store, " ", "ann@example.org")
    refused(Invalid, members.register, s.store, "Ann", "nowhere")


def test_names_and_addresses_change() -> None:
    """And are checked again."""
    s = sample()
    assert members.change_email(s.store, s.kim, "oh@example.org")["email"] == "oh@example.org"
    assert members.change_name(s.store, s.kim, "Kim  Li")["name"] == "Kim Li"
    refused(Invalid, members.change_email, s.store, s.kim, "x")
    refused(Invalid, members.change_name, s.store, s.kim, "")
    refused(NotFound, members.change_email, s.store, 999, "oh@example.org")


def test_a_suspended_member_borrows_nothing_until_it_is_lifted() -> None:
    """The office does both."""
    s = sample()
    assert members.suspend(s.store, "ada", s.kim)["state"] == "suspended"
    refused(Conflict, loans.reserve, s.store, s.kim, s.drill)
    assert members.lift(s.store, "ada", s.kim)["state"] == "active"
    refused(Conflict, members.lift, s.store, "ada", s.kim)
    refused(Forbidden, members.suspend, s.store, "bob", s.kim)
    refused(Forbidden, members.suspend, s.store, "eve", s.kim)


def test_a_membership_ends_when_nothing_is_out() -> None:
    """Not before."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    refused(Conflict, members.close, s.store, "bob", s.kim)
    loans.give_back(s.store, "bob", loan)
    assert members.close(s.store, "bob", s.kim)["state"] == "closed"
    refused(Conflict, members.suspend, s.store, "ada", s.kim)


def test_members_are_found_by_name_and_address() -> None:
    """In any case, as many as wanted."""
    s = sample()
    assert [r["id"] for r in members.search(s.store, "KIM")] == [s.kim]
    assert [r["id"] for r in members.search(s.store, "example", 1)] == [s.kim]
    assert members.search(s.store, "zzz") == []


def test_two_rows_for_one_person_become_one() -> None:
    """What they had goes along."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.lee, s.saw)
    members.leave_feedback(s.store, s.lee, "fine")
    assert members.merge(s.store, s.kim, s.lee)["state"] == "active"
    assert s.store.get("loans", loan)["member"] == s.kim
    assert members.feedback(s.store, s.kim) == ["fine"]
    assert s.store.get("members", s.lee)["state"] == "closed"


def test_staff_hold_permissions() -> None:
    """The office grants them."""
    s = sample()
    assert not auth.may(s.store, "bob", "workshop")
    auth.grant(s.store, "ada", s.bob, "workshop")
    auth.require(s.store, "bob", "workshop")
    refused(Forbidden, auth.grant, s.store, "bob", s.bob, "office")
    refused(Invalid, auth.grant, s.store, "ada", s.bob, "sleep")
    refused(Invalid, auth.hire, s.store, "cy", "sleep")


def test_staff_sign_in_with_their_secret() -> None:
    """And out again."""
    s = sample()
    auth.set_secret(s.store, s.bob, "correct horse")
    token = auth.sign_in(s.store, "bob", "correct horse")
    row = auth.token_row(s.store, token)
    assert row["actor"] == "bob"
    auth.sign_out(s.store, token)
    refused(Forbidden, auth.token_row, s.store, token)
    refused(Forbidden, auth.sign_in, s.store, "bob", "wrong horse")
    refused(Forbidden, auth.sign_in, s.store, "ada", "")
    refused(Invalid, auth.set_secret, s.store, s.bob, "short")


def test_messages_wait_in_the_outbox() -> None:
    """Until they are sent or given up."""
    s = sample()
    body = notify.compose("ready", name="Kim", title="Drill")
    first, second = (notify.enqueue(s.store, s.kim, body) for _ in "ab")
    assert {row["id"] for row in notify.pending(s.store)} == {first, second}
    notify.sent(s.store, first)
    for _ in range(notify.TRIES):
        notify.failed(s.store, second)
    assert s.store.get("outbox", second)["state"] == "lost"
    assert notify.pending(s.store) == []
    refused(Conflict, notify.failed, s.store, second)


def test_a_topic_is_sent_once_to_an_address() -> None:
    """A second wish changes nothing."""
    s = sample()
    one = notify.subscribe(s.store, "kim@example.org", "news")
    assert notify.subscribe(s.store, "kim@example.org", "news") == one
    assert notify.readers(s.store, "news") == ["kim@example.org"]
    refused(Invalid, notify.subscribe, s.store, "kim@example.org", "gossip")
    refused(Invalid, notify.subscribe, s.store, "kim", "news")


def test_a_link_lets_its_member_in() -> None:
    """And nobody with another word."""
    s = sample()
    link = notify.login_link(s.store, s.kim)
    assert notify.open_link(s.store, link["word"]) == s.kim
    refused(Invalid, notify.open_link, s.store, "guess")
