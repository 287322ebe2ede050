"""Packed rows are the rows that were put in, in their order and sorted, and take little memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from framework.analysis.axes import RowColumns, axes_of_part
from framework.errors import UserError
from framework.records import Row
from framework.rows import PackedRows, chosen, going_up, in_order
from tests.framework.analysis.of_rows import axes_of_rows


def rows(n: int, seed: int = 0) -> Iterator[Row]:
    drawn = random.Random(seed)
    for i in range(n):
        yield Row(
            case_id=f"case-{i:06}",
            arm="bm25",
            cluster=f"case-{i:06}",
            history_id=f"case-{i:06}",
            tags={"form": drawn.choice(("development", "held_out"))},
            expected=drawn.choice(("APPROVE", "DENY")),
            axes={f"axis_{k}": drawn.random() for k in range(8)} | {"undefined": None},
            timing={"recall_s": drawn.random()},
        )


def test_packed_rows_are_the_rows() -> None:
    given = list(rows(2_345))
    packed = PackedRows(given)
    assert len(packed) == len(given)
    assert list(packed) == given
    assert [packed[i] for i in (0, 999, 1_000, 2_344, -1, -2_345)] == [
        given[i] for i in (0, 999, 1_000, 2_344, -1, -2_345)
    ]
    assert list(packed[995:1_005]) == given[995:1_005]
    assert list(reversed(packed)) == given[::-1]
    with pytest.raises(IndexError):
        packed[2_345]


def test_going_up_sorts_by_key() -> None:
    given = list(rows(2_100))
    random.Random(1).shuffle(given)
    assert list(going_up(PackedRows(given))) == in_order(given)
    assert list(going_up([])) == []


def test_chosen_gives_the_rows_themselves_where_all_are_kept() -> None:
    given = PackedRows(rows(1_500))
    assert chosen(given, lambda row: True) is given
    some = chosen(given, lambda row: row.expected == "DENY")
    assert list(some) == [row for row in given if row.expected == "DENY"]


def test_axes_of_packed_rows_are_those_of_a_list() -> None:
    given = list(rows(1_200))
    random.Random(2).shuffle(given)
    assert axes_of_rows(PackedRows(given), 7) == axes_of_rows(given, 7)


def test_a_case_in_two_clusters_is_told() -> None:
    a, b, c = rows(3)
    twice = Row(case_id=a.case_id, arm="bm25", repeat=1, cluster="other", axes=a.axes)
    with pytest.raises(UserError, match="case case-000000 is in two clusters: case-000000 and oth"):
        axes_of_rows([a, b, twice, c], 7)


@pytest.mark.slow
def test_a_row_more_takes_a_third_of_what_it_takes_as_an_object() -> None:
    """Packed, as columns, measured and sorted. These rows' random values can't be compressed."""
    peaks = []
    for n in (2_000, 6_000):
        tracemalloc.start()
        packed = PackedRows(rows(n))
        axes_of_part(RowColumns.of(packed), None, 7)
        for _ in going_up(packed):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    tracemalloc.start()
    objects = list(rows(2_000))
    each = tracemalloc.get_traced_memory()[0] / len(objects)
    tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 4_000 < each / 3


def test_a_copy_and_what_it_was_made_of_grow_apart() -> None:
    """The copy shares what is packed already, and no more."""
    given = list(rows(2_500))
    packed = PackedRows(given[:2_400])
    copy = PackedRows(packed)
    for row in given[2_400:]:
        copy.append(row)
    packed.append(given[0])
    assert list(copy) == given
    assert list(packed) == [*given[:2_400], given[0]]
