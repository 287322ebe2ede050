"""The printed values: complete, labelled, and consistent where the papers are."""

from __future__ import annotations

import pytest

from plugins.recipes._paper_values import printed, printed_number

PAPERS = ("longhorizon", "regimes", "depth")


def test_every_table_says_where_it_stands() -> None:
    standings = {t.standing for paper in PAPERS for t in printed(paper).values()}
    assert standings == {"reported", "modelled", "vendor"}
    for paper in PAPERS:
        for table in printed(paper).values():
            assert table.source
            assert table.values, table.name


@pytest.mark.parametrize("paper", PAPERS)
def test_rows_have_a_value_for_every_column(paper: str) -> None:
    for table in printed(paper).values():
        rows = table.values.values() if isinstance(table.values, dict) else table.values
        for row in rows:
            assert not table.columns or len(row) == len(table.columns), (table.name, row)


def test_a_row_by_column() -> None:
    brief = printed("depth")["table_7"].row("Brief")
    assert brief == {"d=1": "0.950", "d=2": "0.975", "d=3": "0.875", "slope": "-0.075"}
    assert printed("depth")["table_7"].row("nobody") == {}
    assert printed_number("-0.075") == -0.075
    assert printed_number("") is None
    assert printed_number("LoCoMo LLM-judge") is None


def test_printed_slopes_follow_from_printed_depths() -> None:
    table = printed("depth")["table_7"]
    for arm in table.values:
        row = {name: float(text) for name, text in table.row(arm).items() if text}
        if "slope" not in row:  # the lead over the best arm without edges
            continue
        assert row["d=3"] - row["d=1"] == pytest.approx(row["slope"])


def test_printed_sessions_add_up() -> None:
    """Turns to the session, and what a competing layer saves to its tokens."""
    traces, losses = (printed("depth")[name].values for name in ("table_14", "table_19"))
    assert (len(traces), len(losses)) == (8, 6)
    for _, *turns, session, _usd, _outcome in traces:
        assert sum(int(text or 0) for text in turns) == int(session)
    for *_, own, other, saves, both in losses:
        assert 1 - int(other) / int(own) == pytest.approx(float(saves), abs=0.0006)
        assert both == "both"
