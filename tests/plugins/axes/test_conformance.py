"""Every shipped axis keeps the contract."""

from __future__ import annotations

import pytest

from framework.registry import Plugin, plugins, settings_of
from framework.testing.axis_conformance import check_axis


@pytest.mark.parametrize("axis", plugins("axis"), ids=lambda p: p.name)
def test_an_axis_keeps_the_contract(axis: Plugin) -> None:
    check_axis(axis.cls, settings_of(axis, {}))
