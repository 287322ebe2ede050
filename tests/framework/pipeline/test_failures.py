"""What a row says of an exception."""

from __future__ import annotations

import pytest

from framework.pipeline.failures import told


@pytest.mark.parametrize("said", ["one line", "several\nlines", "x" * 9_000])
def test_a_message_is_kept_as_it_is(said: str) -> None:
    assert told(ValueError(said), ()) == f"ValueError: {said}"


def test_of_a_message_without_end_its_beginning_is_kept() -> None:
    found = told(ValueError("x\n" * 100_000), ())
    assert found.startswith("ValueError: x\nx\n")
    assert found.endswith("... (200,012 characters)")
    assert len(found) < 10_100
