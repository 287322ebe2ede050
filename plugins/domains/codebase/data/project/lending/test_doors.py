"""Exports, reports, other systems and the API."""

from __future__ import annotations

from . import api, exports, fees, loans, members, reports, webhooks
from .errors import Conflict, Forbidden, Invalid
from .samples import sample
from .test_people import refused


def test_partners_get_the_active_members() -> None:
    """By name and address."""
    s = sample()
    members.suspend(s.store, "ada", s.lee)
    rows = exports.partner_rows(s.store)
    assert [(row["name"], row["email"]) for row in rows] == [("Kim Oh", "kim@example.org")]


def test_the_insurer_gets_what_is_out() -> None:
    """With who has it."""
    s = sample()
    loans.checkout(s.store, "bob", s.kim, s.drill)
    (row,) = exports.insurer_rows(s.store)
    assert (row["name"], row["tool"]) == ("Kim Oh", "Cordless drill")
    assert len(row["due"]) == 10


def test_the_survey_gets_members_with_what_they_said() -> None:
    """Closed memberships left out."""
    s = sample()
    members.leave_feedback(s.store, s.kim, "fine")
    members.close(s.store, "bob", s.lee)
    (row,) = exports.survey_rows(s.store)
    assert (row["member"], row["feedback"]) == (s.kim, 1)


def test_cards_and_tools_are_printed() -> None:
    """As rows and as text."""
    s = sample()
    assert exports.desk_card(s.store, s.kim)["member"] == s.kim
    text = exports.as_csv(exports.tool_rows(s.store))
    assert text.splitlines()[:2] == ["tool,title,shelf,state", f"{s.drill},Cordless drill,A1,in"]
    assert exports.as_csv([]) == ""


def test_the_bookkeeper_gets_what_is_owed() -> None:
    """One row a fee."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    fees.pay(s.store, fee, 200)
    (row,) = exports.invoice_rows(s.store)
    assert (row["fee"], row["member"]) == (fee, s.kim)
    assert 300 in row.values()


def test_the_committee_gets_its_figures() -> None:
    """Takings, tools, lateness, members."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    fees.pay(s.store, fee, 200)
    fees.donate(s.store, s.kim, 1000)
    rows = reports.takings(s.store)
    assert [row["source"] for row in rows] == ["fees", "gifts"]
    assert [sum(v for v in row.values() if isinstance(v, int)) for row in rows] == [200, 1000]
    assert reports.late_share(s.store) == 0.0
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    loans.give_back(s.store, "bob", loan)
    loans.checkout(s.store, "bob", s.kim, s.drill)
    assert reports.busiest_tools(s.store) == [("Cordless drill", 2)]
    assert reports.late_share(s.store) == 0.0
    assert sum(reports.loans_by_day(s.store).values()) == 2
    assert reports.membership(s.store) == {"active": 2}


def test_the_bank_reports_a_payment() -> None:
    """Which is booked on the fee."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    assert webhooks.payment(s.store, "p1", fee, 200) is not None
    assert fees.balance(s.store, s.kim) == 300
    assert s.store.seen("p1")
    refused(Conflict, webhooks.payment, s.store, "p2", fee, 900)


def test_others_report_too() -> None:
    """The mail service and the lockers."""
    s = sample()
    message = s.store.add("outbox", report="")
    webhooks.delivery_report(s.store, "m1", message, "delayed")
    webhooks.delivery_report(s.store, "m2", message, "arrived")
    assert s.store.get("outbox", message)["report"] == "delayed;arrived;"
    assert webhooks.locker_state(s.store, "L1") == ""
    webhooks.locker_signal(s.store, "l1", "L1", "open")
    webhooks.locker_signal(s.store, "l2", "L1", "shut")
    assert webhooks.locker_state(s.store, "L1") == "shut"
    refused(Invalid, webhooks.locker_signal, s.store, "l3", "L1", "gone")


def test_a_message_is_signed() -> None:
    """With the word that both sides know."""
    s = sample()
    signed = webhooks.signature("word", "body")
    assert webhooks.receive(s.store, "bank", "body", "word", signed)
    refused(Forbidden, webhooks.receive, s.store, "bank", "other", "word", signed)


def test_the_api_answers() -> None:
    """With a status and a body."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    status, body = api.handle(s.store, "member", {"member": s.kim})
    assert (status, body["name"], body["owes"]) == (200, "Kim Oh", "5.00")
    status, body = api.handle(s.store, "fee", {"fee": str(fee)})
    assert (status, body["reason"], body["state"]) == (200, "late", "open")
    assert api.handle(s.store, "tools", {"words": "saw"})[1][0]["id"] == s.saw
    status, body = api.handle(s.store, "wait_for", {"member": s.kim, "tool": s.saw})
    assert status == 200
    assert api.handle(s.store, "tool", {"tool": s.saw})[1]["waiting"] == 1
    form = {"name": "Ann", "email": "ann@example.org"}
    assert api.handle(s.store, "sign_up", form)[0] == 200


def test_the_api_tells_what_is_wrong() -> None:
    """By its status."""
    s = sample()
    assert api.handle(s.store, "weather", {})[0] == 404
    assert api.handle(s.store, "member", {})[0] == 400
    assert api.handle(s.store, "member", {"member": "x"})[0] == 400
    assert api.handle(s.store, "member", {"member": 999})[0] == 404
    assert api.handle(s.store, "sign_up", {"name": ""})[0] == 400
    taken = {"member": s.kim, "tool": s.saw}
    assert [api.handle(s.store, "wait_for", taken)[0] for _ in "ab"] == [200, 409]
