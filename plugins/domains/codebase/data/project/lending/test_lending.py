"""Tools, loans and fees."""

from __future__ import annotations

from . import catalogue, clock, fees, loans
from .errors import Conflict, Forbidden, Invalid, NotFound
from .samples import sample
from .test_people import refused


def test_tools_have_a_title_and_a_shelf() -> None:
    """And a deposit that is not negative."""
    s = sample()
    assert [row["id"] for row in catalogue.shelf(s.store, "A1")] == [s.drill]
    catalogue.move(s.store, s.drill, "C3")
    assert catalogue.shelf(s.store, "A1") == []
    assert catalogue.set_deposit(s.store, s.drill, 100)["deposit"] == 100
    refused(Invalid, catalogue.set_deposit, s.store, s.drill, -1)
    refused(Invalid, catalogue.add_tool, s.store, "", "A1")
    refused(Invalid, catalogue.add_tool, s.store, "Saw", "A1", -1)


def test_tools_are_found_by_all_words() -> None:
    """Retired ones are not."""
    s = sample()
    assert [row["id"] for row in catalogue.search(s.store, "DRILL cordless")] == [s.drill]
    assert len(catalogue.search(s.store, "", 2)) == 2
    catalogue.retire(s.store, "ada", s.drill)
    assert catalogue.search(s.store, "drill") == []
    refused(Forbidden, catalogue.retire, s.store, "bob", s.saw)


def test_a_broken_tool_is_mended() -> None:
    """By the workshop."""
    s = sample()
    row = catalogue.report_damage(s.store, s.drill, "no spark")
    assert (row["state"], row["notes"]) == ("broken", ("no spark",))
    refused(Forbidden, catalogue.repair, s.store, "bob", s.drill)
    assert catalogue.repair(s.store, "ada", s.drill)["state"] == "in"
    refused(Conflict, catalogue.repair, s.store, "ada", s.drill)
    assert catalogue.inventory(s.store) == {"in": 3, "out": 0, "broken": 0, "retired": 0}


def test_a_tool_goes_out_and_comes_back() -> None:
    """To one member at a time."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    row = s.store.get("loans", loan)
    assert row["due"] - row["start"] == loans.LOAN_DAYS * clock.DAY
    refused(Conflict, loans.checkout, s.store, "bob", s.lee, s.drill)
    refused(Conflict, catalogue.retire, s.store, "ada", s.drill)
    assert loans.give_back(s.store, "bob", loan)["state"] == "back"
    refused(Conflict, loans.give_back, s.store, "bob", loan)
    refused(NotFound, loans.checkout, s.store, "bob", s.lee, 999)


def test_a_loan_is_renewed_while_nobody_waits() -> None:
    """Twice at most."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    assert loans.renew(s.store, loan)["renewed"] == 1
    hold = loans.reserve(s.store, s.lee, s.drill)
    refused(Conflict, loans.renew, s.store, loan)
    loans.cancel_hold(s.store, hold)
    loans.renew(s.store, loan)
    refused(Conflict, loans.renew, s.store, loan)


def test_members_wait_in_line_once() -> None:
    """Each for a tool."""
    s = sample()
    with clock.fixed(500.0):
        hold = loans.reserve(s.store, s.kim, s.drill)
    refused(Conflict, loans.reserve, s.store, s.kim, s.drill)
    other = loans.reserve(s.store, s.lee, s.drill)
    assert {row["id"] for row in loans.queue(s.store, s.drill)} == {hold, other}
    assert loans.hold_ends(s.store, hold) == 500.0 + loans.HOLD_HOURS * clock.HOUR


def test_a_loan_is_swapped_for_another_tool() -> None:
    """When that one is there."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    assert loans.swap(s.store, loan, s.saw)["tool"] == s.saw
    assert s.store.get("tools", s.drill)["state"] == "in"
    catalogue.report_damage(s.store, s.ladder, "bent")
    refused(Conflict, loans.swap, s.store, loan, s.ladder)


def test_loans_are_remembered() -> None:
    """The latest first, with their notes."""
    s = sample()
    first = loans.checkout(s.store, "bob", s.kim, s.drill)
    second = loans.checkout(s.store, "bob", s.kim, s.saw)
    assert [row["id"] for row in loans.history(s.store, s.kim)] == [second, first]
    assert [row["id"] for row in loans.history(s.store, s.kim, 1)] == [second]
    loans.add_note(s.store, first, "box missing")
    assert loans.add_note(s.store, first, "found")["notes"] == ("box missing", "found")


def test_a_late_loan_costs_by_the_day_up_to_a_ceiling() -> None:
    """A share of the deposit."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.ladder)
    due = s.store.get("loans", loan)["due"]
    assert loans.overdue(s.store) == []
    with clock.fixed(due + 2 * clock.DAY + 1):
        assert [row["id"] for row in loans.overdue(s.store)] == [loan]
        assert fees.late_fee(s.store, loan) == 2 * fees.DAILY
    with clock.fixed(due + 99 * clock.DAY):
        loans.give_back(s.store, "bob", loan)
    assert fees.late_fee(s.store, loan) == 2400


def test_a_deposit_is_returned_once_the_tool_is_back() -> None:
    """And then there is none."""
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.ladder)
    refused(Conflict, loans.return_deposit, s.store, "ada", loan)
    loans.give_back(s.store, "bob", loan)
    assert loans.return_deposit(s.store, "ada", loan) == 3000
    assert loans.return_deposit(s.store, "ada", loan) == 0
    refused(Forbidden, loans.return_deposit, s.store, "eve", loan)


def test_a_fee_is_paid_in_parts() -> None:
    """Never more than is owed."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    fees.pay(s.store, fee, 200)
    assert fees.balance(s.store, s.kim) == 300
    assert fees.statement(s.store, s.kim) == "late: 3.00\ntotal: 3.00"
    refused(Conflict, fees.pay, s.store, fee, 301)
    fees.pay(s.store, fee, 300)
    refused(Conflict, fees.pay, s.store, fee, 100)
    assert fees.open_fees(s.store, s.kim) == []


def test_a_payment_is_given_back_once() -> None:
    """Then the fee is open again."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    payment = fees.pay(s.store, fee, 500)
    assert fees.refund(s.store, "ada", payment)["state"] == "returned"
    assert fees.balance(s.store, s.kim) == 500
    refused(Conflict, fees.refund, s.store, "ada", payment)
    refused(Forbidden, fees.refund, s.store, "eve", payment)


def test_a_fee_is_waived_or_goes_to_another() -> None:
    """While it is open."""
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    assert fees.transfer(s.store, fee, s.lee)["member"] == s.lee
    assert fees.waive(s.store, "ada", fee)["state"] == "waived"
    refused(Conflict, fees.waive, s.store, "ada", fee)
    refused(Conflict, fees.transfer, s.store, fee, s.kim)
    assert fees.donate(s.store, s.kim, 1000) > fee
    assert fees.quote_ends(0.0) == fees.QUOTE_HOURS * clock.HOUR
