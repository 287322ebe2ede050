"""Messages of strangers as they are shown."""

from __future__ import annotations

from framework.text.printable import brief


def test_a_message_is_one_line_and_no_more_than_is_read() -> None:
    assert brief("ValueError: one\n  two\n") == "ValueError: one two"
    assert brief("x" * 500) == "x" * 500
    assert brief("x\n" * 100_000) == f"{'x ' * 250}... (200,000 characters)"
