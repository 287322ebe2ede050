"""Numbers as people read them, and tables that say what they may not hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.engine.run import execute
from framework.reporting.spelling import interval, number, p_value, signed, told
from framework.reporting.tables import print_run
from framework.testing.trivial import trivial_plan


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0063, ".0063"), (1.0, "1.0000"), (0.00009, "<.0001"), (0.0001, ".0001"), (None, "-"),
     (0.0, "<.0001")],
)  # fmt: skip
def test_p_values(value: float | None, shown: str) -> None:
    assert p_value(value) == shown


def test_numbers_and_what_is_not_there() -> None:
    assert (number(0.8341), number(None)) == ("0.834", "-")
    assert (signed(0.0341), signed(-0.5), signed(None)) == ("+0.034", "-0.500", "-")
    assert interval({"ci_low": 0.75, "ci_high": 0.902}) == "[0.750, 0.902]"
    assert interval({"ci_low": None, "ci_high": None}) == "-"


def test_what_an_arm_was_told() -> None:
    assert told({}) == ""
    assert told({"sees_task": True, "gold_edges": True, "query": "none"}) == (
        "sees task, gold edges, no query"
    )
    assert told({"exempt": True, "sees_gold": True, "query": "task"}) == "sees gold, exempt"


def test_a_run_shows_errors_and_what_is_an_instrument_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = {"plugin": "trivial", "fail_on": "7"}
    plan = trivial_plan(n_cases=12, reader=some, max_errors=12)
    outcome = execute(plan, tmp_path / "run")
    assert outcome.summary is not None
    failed = outcome.summary["errors"]["n"]
    assert 0 < failed < 12
    print_run(outcome.summary)
    out = capsys.readouterr().out
    assert f"errors in trivial: {failed} rows ({failed} RuntimeError)" in out
    assert "instrument check" in out
    assert "not evidence about LLMs" in " ".join(out.split())
