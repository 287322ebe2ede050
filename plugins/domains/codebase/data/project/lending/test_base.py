"""Text, money, time and storage."""

from __future__ import annotations

from . import audit, clock, money, text
from .errors import NotFound
from .samples import sample
from .storage import Store


def test_text_is_squeezed_cut_and_starred() -> None:
    """The small tools do what they say."""
    assert text.squeeze("  a \n b ") == "a b"
    assert text.canonical(" Ab@C.org ") == "ab@c.org"
    assert text.tail("AB98761") == "****761"
    assert text.tail("12") == "12"
    assert text.shorten("one two three", 9) == "one two…"
    assert text.shorten("short", 9) == "short"
    assert text.words("Ab-c 12") == ["ab", "c", "12"]


def test_an_address_has_two_sides() -> None:
    """One @, and a dot after it."""
    assert text.looks_like_address("a@b.org")
    assert not any(text.looks_like_address(x) for x in ("", "a", "a@b", "@b.org", "a@b@c.org"))


def test_sums_are_written_and_read() -> None:
    """Cents to text and back."""
    assert [money.format_sum(x) for x in (0, 5, 1234, -250)] == ["0.00", "0.05", "12.34", "-2.50"]
    assert [money.parse_sum(x) for x in ("3", "3.5", "12,34")] == [300, 350, 1234]
    try:
        money.parse_sum("1.234")
    except ValueError:
        return
    raise AssertionError("a fraction of a cent was taken")


def test_sums_are_split_without_loss() -> None:
    """No cent is lost."""
    assert money.split(100, 3) == [34, 33, 33]
    assert money.total(money.split(1001, 7)) == 1001
    assert money.percent(999, 50) == 499


def test_the_clock_can_be_held() -> None:
    """Only for as long as the block runs."""
    with clock.fixed(1000.0):
        assert clock.now() == 1000.0
    assert clock.now() > 1e9
    assert clock.days_between(0, 3 * clock.DAY + 5) == 3
    assert clock.days_between(9, 5) == 0
    assert clock.iso_day(0) == "1970-01-01"


def test_rows_are_copies() -> None:
    """Only `put` changes a row."""
    store = Store()
    number = store.add("things", size=1)
    store.get("things", number)["size"] = 2
    store.find("things")[0]["size"] = 3
    assert store.get("things", number)["size"] == 1
    assert store.put("things", number, size=4)["size"] == 4
    store.remove("things", number)
    for read in (store.get, store.remove):
        try:
            read("things", number)
        except NotFound:
            continue
        raise AssertionError("a removed row was found")


def test_a_transaction_is_undone_as_a_whole() -> None:
    """Rows, keys and numbers."""
    store = Store()
    store.add("things", size=1)
    try:
        with store.transaction():
            store.add("things", size=2)
            store.mark("key")
            raise ValueError
    except ValueError:
        pass
    assert store.count("things") == 1
    assert not store.seen("key")
    with store.transaction():
        store.mark("key")
    assert store.seen("key")


def test_the_audit_is_counted() -> None:
    """By action."""
    store = sample().store
    audit.record(store, "ada", "tidy", 1)
    audit.record(store, "bob", "tidy", 2)
    assert audit.summary(store)["tidy"] == 2
    assert [row["actor"] for row in audit.entries(store, "tidy")] == ["ada", "bob"]
