"""Of a simulation's settings the commit draws some; over commits all of them are run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import _left_out

NAMES = [f"tests/test_x.py::test_it[{k}]" for k in range(10)]


def collected(names: list[str], one_in: int | None, slow: bool = True) -> list[Any]:
    marks = {"slow": pytest.mark.slow.mark} if slow else {}
    if one_in is not None:
        marks["drawn"] = pytest.mark.drawn(one_in).mark
    return [SimpleNamespace(nodeid=name, get_closest_marker=marks.get) for name in names]


def test_one_in_so_many_is_drawn_and_every_one_some_time() -> None:
    items = collected(NAMES, 4)
    drawn = [set(NAMES) - _left_out(items, f"commit {k}") for k in range(100)]
    assert {len(names) for names in drawn} == {3}
    assert set().union(*drawn) == set(NAMES)
    assert drawn[0] == set(NAMES) - _left_out(items[::-1], "commit 0")


def test_each_test_is_drawn_for_itself_and_one_asked_for_is_run() -> None:
    others = [name.replace("test_it", "test_other") for name in NAMES]
    left = _left_out([*collected(NAMES, 4), *collected(others, 5)], "commit")
    assert len(left & set(NAMES)) == 7
    assert len(left & set(others)) == 8
    assert _left_out(collected(NAMES[:1], 4), "commit") == set()


def test_half_is_drawn_where_nothing_is_said_all_of_what_is_not_slow_and_without_a_commit() -> None:
    assert len(_left_out(collected(NAMES, None), "commit")) == 5
    assert _left_out(collected(NAMES, None, slow=False), "commit") == set()
    assert _left_out(collected(NAMES, 4), "") == set()
