"""The page says beside its limits how often such limits hold."""

from __future__ import annotations

from framework.analysis.evidence import of_sweep
from framework.contracts.section import no_figure
from framework.reporting.blocks import Details, Table
from plugins.sections.coverage import Coverage, simulated
from tests.framework.analysis.test_sweep_summary import combine, job


def test_rows_are_of_the_methods_that_are_printed() -> None:
    found = simulated({"cr2 t over clusters", "tango score, not past 0: exact sign test"})
    assert {entry["method"] for entry in found} == {"cr2 t", "tango score"}
    (one,) = {entry["method"] for entry in simulated({"wilson of the effective sample"})}
    assert one == "wilson of the effective sample"  # and not of Wilson's own
    assert simulated({"undefined: no cases"}) == []
    assert {entry["kind"] for entry in simulated({"bounded mean"})} == {"coverage", "error"}


def test_the_page_shows_them() -> None:
    values = [1.0, 0.0] * 20
    found = combine(job("x", {"eda": values}), job("y", {"eda": values[::-1]}))
    (details,) = Coverage().blocks(of_sweep(found), no_figure)
    assert isinstance(details, Details)
    (table,) = [block for block in details.blocks if isinstance(block, Table)]
    assert {row[0] for row in table.rows} == {
        "paired difference, interval, tango score",
        "paired difference, decision bounds, tango score",
    }
    assert list(Coverage().blocks(of_sweep(combine(job("x", {"eda": values}))), no_figure)) == []


def test_decision_bounds_hold_at_the_levels_they_are_used_at() -> None:
    """What ships was measured, and no decision bound falls short anywhere in it."""
    bounds = [e for e in simulated({"bounded mean", "tango score"}) if "bounds" in e["figure"]]
    assert {entry["kind"] for entry in bounds} == {"coverage", "error"}
    assert min(entry["samples"] for entry in bounds) >= 1000
    assert not [entry for entry in bounds if entry["short"]]
