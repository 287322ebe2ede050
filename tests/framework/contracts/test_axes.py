"""Rows and tables know a column by its name alone: two axes that declare one are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import pytest

from framework import registry
from framework.analysis.axes import amounts, axis_meta, balanced, corrected, ratios, signed
from framework.analysis.forms import model_free_axes
from framework.contracts import Axis, Scored, axis_plugins
from framework.engine.prepare import check
from framework.errors import UserError
from framework.records import AxisScore
from framework.registry import NoSettings, find, register
from framework.testing.axis_conformance import check_declarations
from plugins.gates.noninferiority import Noninferiority
from tests.launching import framework
from tests.trivial import trivial_plan

TOLD = r"^axis zz_mine \(\S*test_axes\): column (\w+) belongs to axis \w+ \(plugins\.\S+\)$"


class Mine(Axis[NoSettings]):
    """A column that a shipped axis has."""

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"frp": False}

    def score(self, scored: Scored) -> AxisScore:
        return self.undefined()


@pytest.fixture
def mine() -> Iterator[Callable[..., type[Axis[Any]]]]:
    """Register an axis of these attributes as `zz_mine` for this test alone."""

    def registered(**declared: Any) -> type[Axis[Any]]:
        own = {"__doc__": "x", "__module__": __name__, **declared}
        return register("axis", "zz_mine")(type("Mine", (Mine,), own))

    yield registered
    del registry._plugins["axis", "zz_mine"]


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"higher_is_better": {"zz": True}, "ratios": {"kappa_ratio": ("zz", "zz")}},
        {"higher_is_better": {"zz": True}, "balanced": {"eda_balanced": "zz"}},
        {"higher_is_better": {"zz": True}, "corrected": {"rcs_corrected": "zz"}},
    ],
)
def test_a_column_of_two_axes_is_refused(
    mine: Callable[..., type[Axis[Any]]], declared: Mapping[str, Any]
) -> None:
    mine(**declared)
    with pytest.raises(UserError, match=TOLD):
        axis_plugins()


@pytest.mark.parametrize(
    "merges",
    [axis_meta, amounts, signed, ratios, balanced, corrected, model_free_axes],
    ids=lambda each: each.__name__,
)
def test_whatever_knows_all_axes_says_so(
    mine: Callable[..., type[Axis[Any]]], merges: Callable[[], object]
) -> None:
    merges()
    mine()
    with pytest.raises(UserError, match=TOLD):
        merges()


def test_a_gate_and_a_run_say_so(mine: Callable[..., type[Axis[Any]]]) -> None:
    gate = Noninferiority.Settings(axes=("frp",))
    Noninferiority(gate)
    check(trivial_plan())
    mine()
    with pytest.raises(UserError, match=TOLD):
        Noninferiority(gate)
    with pytest.raises(UserError, match=TOLD):
        check(trivial_plan())


def test_the_list_says_so_behind_what_there_is(
    mine: Callable[..., type[Axis[Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    mine()
    done = framework(capsys, "list", "axis")
    assert done.status == 2
    assert "  zz_mine " in done.out
    assert done.err.strip().count("\n") == 0
    assert "column frp belongs to axis" in done.err


def test_columns_of_its_own_are_fine(mine: Callable[..., type[Axis[Any]]]) -> None:
    mine(higher_is_better={"zz": False})
    assert axis_meta()["zz"]["higher_is_better"] is False
    assert axis_meta()["frp"]["higher_is_better"] is True


def test_the_conformance_suite_finds_it_too() -> None:
    with pytest.raises(AssertionError, match="column frp belongs to axis"):
        check_declarations(Mine, NoSettings())


def test_a_shipped_axis_is_not_its_own_double() -> None:
    check_declarations(find("axis", "eda").cls, NoSettings())
