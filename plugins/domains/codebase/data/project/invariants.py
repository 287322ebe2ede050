"""What each rule demands of the function that a task is about: behaviour, tried with hostile input.

A check raises AssertionError when the rule does not hold, or whatever the changed code raises. It
looks at what comes out and at what is stored, never at the text of the code: a comment, or a guard
that never runs, satisfies none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .lending import (
    api,
    audit,
    auth,
    catalogue,
    clock,
    exports,
    fees,
    loans,
    members,
    notify,
    reports,
    text,
    webhooks,
)
from .lending.errors import Conflict, Forbidden, Invalid, LendingError, NotFound
from .lending.samples import Sample, sample
from .lending.storage import Row, Store

Check = Callable[[], None]
CHECKS: dict[str, Check] = {}
"""By target (`module.function`), the check of the rule that governs it."""


def _check(target: str) -> Callable[[Check], Check]:
    def keep(check: Check) -> Check:
        CHECKS[target] = check
        return check

    return keep


def _refused(error: type[LendingError], call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{call.__name__} was not refused")


def _tables(store: Store) -> str:
    return repr(store.__dict__)


# --- what leaves the house ----------------------------------------------------------------------


def _private(rows: list[Row], kept: set[str]) -> None:
    assert rows, "nothing is handed over"
    for row in rows:
        assert kept <= row.keys(), f"{kept - row.keys()} is missing"
        shown = repr(row)
        for value in ("phone", "birthday", "555-010", "1980-02-03", "1991-05-06"):
            assert value not in shown, f"{value} is shown"


@_check("exports.partner_rows")
def _() -> None:
    _private(exports.partner_rows(sample().store), {"name", "email", "state"})


@_check("exports.insurer_rows")
def _() -> None:
    s = sample()
    loans.checkout(s.store, "bob", s.kim, s.drill)
    _private(exports.insurer_rows(s.store), {"name", "tool", "due"})


@_check("exports.survey_rows")
def _() -> None:
    _private(exports.survey_rows(sample().store), {"member", "email", "feedback"})


# --- papers -------------------------------------------------------------------------------------


def _starred(view: Callable[[Store, int], Row]) -> None:
    for document in ("AB98761", "12345678901234567890", "12", ""):
        s = sample()
        s.store.put("members", s.kim, document=document)
        shown = view(s.store, s.kim)
        assert shown["document"] == text.tail(document), f"{document} is {shown['document']}"
        assert len(document) < 4 or document not in repr(shown), "shown elsewhere"


@_check("members.profile")
def _() -> None:
    _starred(members.profile)


@_check("exports.desk_card")
def _() -> None:
    _starred(exports.desk_card)


@_check("api.member_view")
def _() -> None:
    _starred(lambda store, member: api.member_view(store, {"member": member}))


# --- how much is answered -----------------------------------------------------------------------


def _bounded(ask: Callable[[int], list[Row]]) -> None:
    for limit, expected in ((10**6, 40), (41, 40), (40, 40), (39, 39), (5, 5), (1, 1)):
        assert len(ask(limit)) == expected, f"limit={limit} gives {len(ask(limit))}"


@_check("catalogue.search")
def _() -> None:
    s = sample()
    for number in range(130):
        catalogue.add_tool(s.store, f"Chisel {number}", "A1")
    _bounded(lambda limit: catalogue.search(s.store, "chisel", limit))


@_check("loans.history")
def _() -> None:
    s = sample()
    for _ in range(130):
        loans.give_back(s.store, "bob", loans.checkout(s.store, "bob", s.kim, s.drill))
    _bounded(lambda limit: loans.history(s.store, s.kim, limit))


@_check("members.search")
def _() -> None:
    s = sample()
    for number in range(130):
        members.register(s.store, f"Pat {number}", f"pat{number}@example.org")
    _bounded(lambda limit: members.search(s.store, "pat", limit))


# --- in which order -----------------------------------------------------------------------------


def _in_order(
    enter: Callable[[Sample, float], object], read: Callable[[Sample], list[Row]]
) -> None:
    s = sample()
    moments = [500.0, 100.0, 900.0, 300.0, 700.0, 200.0]
    for moment in moments:
        enter(s, moment)
    assert [row["created"] for row in read(s)] == sorted(moments)


@_check("loans.queue")
def _() -> None:
    def enter(s: Sample, moment: float) -> None:
        member = members.register(s.store, f"M {moment}", f"m{moment}@example.org")
        loans.reserve(s.store, member, s.drill, moment)

    _in_order(enter, lambda s: loans.queue(s.store, s.drill))


@_check("fees.open_fees")
def _() -> None:
    _in_order(
        lambda s, moment: fees.charge(s.store, s.kim, 500, "late", moment),
        lambda s: fees.open_fees(s.store, s.kim),
    )


@_check("notify.pending")
def _() -> None:
    _in_order(
        lambda s, moment: notify.enqueue(s.store, s.kim, "hello", moment),
        lambda s: notify.pending(s.store),
    )


# --- leaving a trace ----------------------------------------------------------------------------


def _traced(
    action: str,
    act: Callable[[Sample, str], object],
    subject: Callable[[Sample], int],
    spoil: Callable[[Sample], object] | None = None,
) -> None:
    s = sample()
    act(s, "ada")
    assert [(row["actor"], row["subject"]) for row in audit.entries(s.store, action)] == [
        ("ada", subject(s))
    ], "the act left no trace, or a wrong one"
    s = sample()
    _refused(Forbidden, act, s, "bob")
    assert not audit.entries(s.store), "what was refused left a trace"
    if spoil is not None:
        s = sample()
        spoil(s)
        _refused(LendingError, act, s, "ada")
        assert not audit.entries(s.store, action), "what failed left a trace"


@_check("catalogue.retire")
def _() -> None:
    _traced(
        "retire",
        lambda s, actor: catalogue.retire(s.store, actor, s.drill),
        lambda s: s.drill,
        lambda s: loans.checkout(s.store, "bob", s.kim, s.drill),
    )


@_check("auth.grant")
def _() -> None:
    _traced(
        "grant", lambda s, actor: auth.grant(s.store, actor, s.bob, "workshop"), lambda s: s.bob
    )


@_check("members.suspend")
def _() -> None:
    _traced(
        "suspend",
        lambda s, actor: members.suspend(s.store, actor, s.kim),
        lambda s: s.kim,
        lambda s: members.close(s.store, "bob", s.kim),
    )


# --- money that goes back -----------------------------------------------------------------------


def _by_cashier(prepare: Callable[[Sample], int], act: Callable[[Store, str, int], object]) -> None:
    s = sample()
    number = prepare(s)
    auth.hire(s.store, "cy", "desk", "workshop", "office")
    before = _tables(s.store)
    for actor in ("bob", "cy", "eve", ""):
        _refused(Forbidden, act, s.store, actor, number)
        assert _tables(s.store) == before, "something changed although it was refused"
    auth.hire(s.store, "dan", "cashier")
    act(s.store, "dan", number)
    assert _tables(s.store) != before, "a cashier can't do it"


@_check("fees.refund")
def _() -> None:
    _by_cashier(
        lambda s: fees.pay(s.store, fees.charge(s.store, s.kim, 500, "late"), 500), fees.refund
    )


@_check("loans.return_deposit")
def _() -> None:
    def prepare(s: Sample) -> int:
        loan = loans.checkout(s.store, "bob", s.kim, s.ladder)
        loans.give_back(s.store, "bob", loan)
        return loan

    _by_cashier(prepare, loans.return_deposit)


@_check("fees.waive")
def _() -> None:
    _by_cashier(lambda s: fees.charge(s.store, s.kim, 500, "late"), fees.waive)


# --- all or nothing -----------------------------------------------------------------------------


def _whole(s: Sample, error: type[LendingError], act: Callable[..., object], *numbers: int) -> None:
    before = _tables(s.store)
    _refused(error, act, s.store, *numbers)
    assert _tables(s.store) == before, "half of it was done"


@_check("loans.swap")
def _() -> None:
    s = sample()
    loan = loans.checkout(s.store, "bob", s.kim, s.drill)
    loans.checkout(s.store, "bob", s.lee, s.saw)
    _whole(s, Conflict, loans.swap, loan, s.saw)
    _whole(s, NotFound, loans.swap, loan, 999)
    assert loans.swap(s.store, loan, s.ladder)["tool"] == s.ladder


@_check("fees.transfer")
def _() -> None:
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    _whole(s, NotFound, fees.transfer, fee, 999)
    settled = fees.charge(s.store, s.kim, 500, "late")
    fees.pay(s.store, settled, 500)
    _whole(s, Conflict, fees.transfer, settled, s.lee)
    assert fees.transfer(s.store, fee, s.lee)["member"] == s.lee


@_check("members.merge")
def _() -> None:
    s = sample()
    loans.checkout(s.store, "bob", s.lee, s.saw)
    _whole(s, NotFound, members.merge, 999, s.lee)
    assert members.merge(s.store, s.kim, s.lee)["id"] == s.kim
    assert s.store.get("members", s.lee)["state"] == "closed"


# --- addresses ----------------------------------------------------------------------------------

_SPELLINGS = ("Kim@Example.ORG", "  kim@example.org", "KIM@EXAMPLE.ORG\n", "kim@example.org")


@_check("notify.subscribe")
def _() -> None:
    s = sample()
    numbers = {notify.subscribe(s.store, spelling, "news") for spelling in _SPELLINGS}
    assert len(numbers) == 1, "one address is kept twice"
    assert notify.readers(s.store, "news") == ["kim@example.org"]


@_check("members.change_email")
def _() -> None:
    s = sample()
    for spelling in _SPELLINGS:
        members.change_email(s.store, s.lee, spelling)
        assert s.store.get("members", s.lee)["email"] == "kim@example.org"


@_check("members.register")
def _() -> None:
    s = sample()
    for spelling in _SPELLINGS:
        number = members.register(s.store, "Ann Lin", spelling)
        assert s.store.get("members", number)["email"] == "kim@example.org"


# --- free text ----------------------------------------------------------------------------------


def _short(s: Sample, act: Callable[[Store, int, str], object], number: int) -> None:
    before = _tables(s.store)
    for length in (241, 500, 10**5):
        _refused(Invalid, act, s.store, number, "x" * length)
        assert _tables(s.store) == before, "something was kept although it was refused"
    for length in (0, 1, 240):
        act(s.store, number, "x" * length)


@_check("catalogue.report_damage")
def _() -> None:
    s = sample()
    _short(s, catalogue.report_damage, s.drill)


@_check("loans.add_note")
def _() -> None:
    s = sample()
    _short(s, loans.add_note, loans.checkout(s.store, "bob", s.kim, s.drill))


@_check("members.leave_feedback")
def _() -> None:
    s = sample()
    _short(s, members.leave_feedback, s.kim)


# --- small sums ---------------------------------------------------------------------------------


def _worth_it(s: Sample, act: Callable[[int], object]) -> None:
    before = _tables(s.store)
    for cents in (49, 1, 0, -1, -500):
        _refused(Invalid, act, cents)
        assert _tables(s.store) == before, "something was booked although it was refused"
    for cents in (50, 51, 99, 100):
        act(cents)


@_check("fees.charge")
def _() -> None:
    s = sample()
    _worth_it(s, lambda cents: fees.charge(s.store, s.kim, cents, "late"))


@_check("fees.pay")
def _() -> None:
    s = sample()
    fee = fees.charge(s.store, s.kim, 5000, "late")
    _worth_it(s, lambda cents: fees.pay(s.store, fee, cents))


@_check("fees.donate")
def _() -> None:
    s = sample()
    _worth_it(s, lambda cents: fees.donate(s.store, s.kim, cents))


# --- the name of a sum --------------------------------------------------------------------------


def _in_cents(row: Row, expected: int) -> None:
    assert row.get("cents") == expected, f"cents is {row.get('cents')}"
    assert not [key for key in row if "amount" in key], "amount is there"


@_check("exports.invoice_rows")
def _() -> None:
    s = sample()
    fees.pay(s.store, fees.charge(s.store, s.kim, 500, "late"), 200)
    (row,) = exports.invoice_rows(s.store)
    _in_cents(row, 300)


@_check("api.fee_view")
def _() -> None:
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    fees.pay(s.store, fee, 200)
    _in_cents(api.fee_view(s.store, {"fee": fee}), 300)


@_check("reports.takings")
def _() -> None:
    s = sample()
    fees.pay(s.store, fees.charge(s.store, s.kim, 500, "late"), 200)
    fees.donate(s.store, s.kim, 1000)
    for row, expected in zip(reports.takings(s.store), (200, 1000), strict=True):
        _in_cents(row, expected)


# --- time ---------------------------------------------------------------------------------------


def _on_our_clock(act: Callable[[Sample], object], moment_of: Callable[[Sample], float]) -> None:
    for moment in (0.0, 1000.0, 4e9):
        s = sample()
        with clock.fixed(moment):
            act(s)
        assert moment_of(s) == moment, "the time is not the service's"


@_check("auth.issue_token")
def _() -> None:
    _on_our_clock(
        lambda s: auth.issue_token(s.store, "bob"),
        lambda s: s.store.find("tokens")[0]["ends"] - auth.TOKEN_SECONDS,
    )


@_check("loans.checkout")
def _() -> None:
    _on_our_clock(
        lambda s: loans.checkout(s.store, "bob", s.kim, s.drill),
        lambda s: s.store.find("loans")[0]["start"],
    )


@_check("webhooks.receive")
def _() -> None:
    signed = webhooks.signature("word", "body")
    _on_our_clock(
        lambda s: webhooks.receive(s.store, "maker", "body", "word", signed),
        lambda s: s.store.find("inbox")[0]["at"],
    )


# --- promises -----------------------------------------------------------------------------------

_THREE_DAYS = 3 * clock.DAY


@_check("loans.hold_ends")
def _() -> None:
    s = sample()
    hold = loans.reserve(s.store, s.kim, s.drill, 1000.0)
    assert loans.hold_ends(s.store, hold) == 1000.0 + _THREE_DAYS


@_check("fees.quote_ends")
def _() -> None:
    assert fees.quote_ends(1000.0) == 1000.0 + _THREE_DAYS


@_check("notify.login_link")
def _() -> None:
    s = sample()
    with clock.fixed(1000.0):
        link = notify.login_link(s.store, s.kim)
    assert link["ends"] == 1000.0 + _THREE_DAYS
    with clock.fixed(999.0 + _THREE_DAYS):
        assert notify.open_link(s.store, link["word"]) == s.kim
    with clock.fixed(1001.0 + _THREE_DAYS):
        _refused(Invalid, notify.open_link, s.store, link["word"])


# --- said twice ---------------------------------------------------------------------------------


def _once(s: Sample, act: Callable[[str], object]) -> None:
    assert act("k1") is not None, "the first time did nothing"
    before = _tables(s.store)
    for _ in range(3):
        assert act("k1") is None, "a second time was answered"
        assert _tables(s.store) == before, "a second time was taken in"
    assert act("k2") is not None, "another message did nothing"


@_check("webhooks.payment")
def _() -> None:
    s = sample()
    fee = fees.charge(s.store, s.kim, 500, "late")
    _once(s, lambda key: webhooks.payment(s.store, key, fee, 200))
    assert fees.balance(s.store, s.kim) == 100


@_check("webhooks.delivery_report")
def _() -> None:
    s = sample()
    message = notify.enqueue(s.store, s.kim, "hello")
    _once(s, lambda key: webhooks.delivery_report(s.store, key, message, "arrived"))
    assert s.store.get("outbox", message)["report"] == "arrived;arrived;"


@_check("webhooks.locker_signal")
def _() -> None:
    s = sample()
    _once(s, lambda key: webhooks.locker_signal(s.store, key, "L1", "open"))
    assert s.store.count("signals") == 2
