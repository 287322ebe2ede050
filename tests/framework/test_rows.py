"""Rows keep their values through JSON and Parquet; measured columns stand apart from timing."""

from __future__ import annotations

import dataclasses
import json
import random
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.records import Row, Usage
from framework.rows import (
    KEY,
    from_plain,
    in_order,
    is_measured,
    is_taken,
    measured,
    to_plain,
)
from framework.store.parquet import write_parquet
from framework.text.canonical import canonical_json
from tests.measuring import measured_digest

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(0, 10**9)
USAGE = st.builds(
    Usage,
    calls=COUNTS,
    tokens_in=COUNTS,
    tokens_out=COUNTS,
    tokens_cached=COUNTS,
    cost_usd=st.floats(0, 1e6),
    paid_usd=st.floats(0, 1e6),
    seconds=st.floats(0, 1e6),
)
AXES = st.sampled_from(["eda", "frp", "kappa", "mrr"])
ROWS = st.builds(
    Row,
    case_id=TEXT,
    arm=TEXT,
    trial=st.integers(0, 9),
    repeat=st.integers(0, 9),
    turn=st.integers(0, 9),
    history_id=TEXT,
    stratum=TEXT,
    cluster=TEXT,
    tags=st.dictionaries(NAMES, TEXT, max_size=2),
    axes=st.dictionaries(AXES, st.none() | NUMBERS, max_size=4),
    decision=TEXT,
    reasons=st.lists(TEXT, max_size=2).map(tuple),
    view_tokens=COUNTS,
    available_tokens=COUNTS,
    budget_tokens=st.none() | COUNTS,
    usage=st.dictionaries(st.sampled_from(["ingest", "recall", "answer"]), USAGE, max_size=3),
    timing=st.dictionaries(st.sampled_from(["ingest_s", "score_s"]), st.floats(0, 1e6)),
    error=TEXT,
)
TABLES = st.lists(ROWS, min_size=1, max_size=6, unique_by=lambda row: row.key)


def row(case: str = "c1", **changed: object) -> Row:
    return dataclasses.replace(
        Row(
            case_id=case,
            arm="bm25",
            axes={"mrr": 0.5, "kappa": None},
            tags={"type": "bridge"},
            usage={"answer": Usage(calls=1, tokens_in=9, cost_usd=0.25, paid_usd=0.5, seconds=2.0)},
            timing={"recall_s": 0.125},
        ),
        **changed,  # type: ignore[arg-type]
    )


@given(ROWS)
def test_a_row_comes_back_from_json(original: Row) -> None:
    plain = json.loads(canonical_json(to_plain(original)))
    assert from_plain(plain) == original


@pytest.mark.slow
@settings(max_examples=40)
@given(TABLES)
def test_rows_come_back_from_parquet(rows: list[Row]) -> None:
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as place:
        write_parquet(rows, Path(place) / "rows.parquet")
        assert [p.name for p in Path(place).iterdir()] == ["rows.parquet"]
        table = pq.read_table(Path(place) / "rows.parquet").to_pylist()
    flat = measured(rows)
    assert len(table) == len(flat)
    for line, expected in zip(table, flat, strict=True):
        found = {name: value for name, value in line.items() if is_measured(name)}
        assert {k: v for k, v in found.items() if v is not None} == {
            k: v for k, v in expected.items() if v is not None
        }


@pytest.mark.slow
@given(TABLES, st.randoms())
def test_the_order_of_writing_leaves_no_trace(rows: list[Row], rng: random.Random) -> None:
    shuffled = rows[:]
    rng.shuffle(shuffled)
    assert in_order(shuffled) == in_order(rows)
    assert measured_digest(shuffled) == measured_digest(rows)


@given(ROWS, st.floats(0, 1e6))
def test_time_and_spend_are_not_measured(original: Row, other: float) -> None:
    usage = {
        phase: dataclasses.replace(u, paid_usd=other, seconds=other)
        for phase, u in original.usage.items()
    }
    again = dataclasses.replace(original, usage=usage, timing={"recall_s": other})
    assert measured_digest([again]) == measured_digest([original])


@pytest.mark.parametrize(
    "changed",
    [
        {"axes": {"mrr": 0.5000000000000001, "kappa": None}},
        {"axes": {"mrr": 0.5, "kappa": 0.0}},
        {"axes": {"mrr": 0.5}},
        {"decision": "DENY"},
        {"view_tokens": 1},
        {"error": "RuntimeError: x"},
        {"tags": {"type": "comparison"}},
        {"budget_tokens": 0},
        {"usage": {"answer": Usage(calls=1, tokens_in=10, cost_usd=0.25)}},
        {"usage": {"answer": Usage(calls=1, tokens_in=9, cost_usd=0.26)}},
        {"trial": 1},
        {"state": "does not fit: 8,229 of 8,192 tokens"},
    ],
    ids=lambda changed: "-".join(changed),
)
def test_everything_else_is_measured(changed: dict[str, object]) -> None:
    assert measured_digest([row(**changed)]) != measured_digest([row()])


def test_columns_are_key_first_and_timing_last(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write_parquet([row("c2"), row("c1", axes={"eda": 1.0})], tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet")
    assert tuple(table.column_names[: len(KEY)]) == KEY
    assert table.column("case_id").to_pylist() == ["c1", "c2"]
    assert table.column("mrr").to_pylist() == [None, 0.5]
    assert table.column("tag_type").to_pylist() == ["bridge", "bridge"]
    assert table.column("cost_usd").to_pylist() == [0.25, 0.25]
    unmeasured = [name for name in table.column_names if not is_measured(name)]
    assert unmeasured == table.column_names[-len(unmeasured) :]
    assert set(unmeasured) == {"model", "paid_usd", "timing_answer_model_s", "timing_recall_s"}
    described = table.schema.metadata[b"decisionbench.measured"].decode().split(",")
    assert described == table.column_names[: -len(unmeasured)]


def test_measured_columns_are_the_same_bytes_in_a_repetition(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    slow = [row("c2", timing={"recall_s": 9.0}), row("c1", timing={"recall_s": 8.0})]
    write_parquet([row("c1"), row("c2")], tmp_path / "one.parquet")
    write_parquet(slow, tmp_path / "two.parquet")
    one, two = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("one", "two"))
    names = [name for name in one.column_names if is_measured(name)]
    assert one.select(names).equals(two.select(names))
    assert not one.equals(two)


def test_no_rows_are_an_empty_table(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write_parquet([], tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 0


def test_every_column_of_a_row_that_is_no_axis_is_taken() -> None:
    (flat,) = measured([row()])
    assert {name for name in flat if not is_taken(name)} == {"mrr", "kappa"}


@pytest.mark.parametrize("name", ["decision", "cost_usd", "tag_form", "timing_x", "judge_calls"])
def test_an_axis_named_like_another_column_is_refused(name: str) -> None:
    from framework.contracts import Axis
    from framework.registry import NoSettings, register

    with pytest.raises(ValueError, match=f"a column of every row is named '{name}'"):

        @register("axis", "named_like_a_column")
        class Named(Axis[NoSettings]):
            names = ("fine", name)
            higher_is_better: ClassVar[Mapping[str, bool | None]] = {"fine": True, name: True}


@pytest.mark.parametrize(
    ("axes", "tags", "stratum", "said"),
    [
        ({"kappa": 1.0, "leak": None}, {"depth": "3"}, "all", (1.0, True, 3)),
        ({"kappa": None, "leak": 0.0, "p_ret": 0.0}, {}, "d12", (0.0, False, 12)),
        ({"p_ret": 1.0}, {"form": "d1"}, "dense", (None, True, None)),
        ({"mrr": 1.0}, {"depth": "deep"}, "d", (None, None, None)),
    ],
)
def test_a_row_of_before_says_what_its_columns_told(
    axes: dict[str, float | None],
    tags: dict[str, str],
    stratum: str,
    said: tuple[float | None, bool | None, int | None],
) -> None:
    plain = to_plain(row("c1", axes=axes, tags=tags, stratum=stratum))
    for name in ("success", "sufficient", "all_retained", "determined", "depth"):
        del plain[name]
    read = from_plain(plain)
    assert (read.success, read.all_retained, read.depth) == said
    assert read.sufficient is read.all_retained
    assert read.determined is None
    assert from_plain({**plain, "axes": {"default_rate": 1.0}}).determined is False


def test_the_names_of_before_are_read() -> None:
    plain = to_plain(row("c1", trial=2, repeat=3))
    old = {{"trial": "variant", "repeat": "sample"}.get(n, n): v for n, v in plain.items()}
    assert from_plain(old) == from_plain(plain) == row("c1", trial=2, repeat=3)


def test_texts_that_rows_have_in_common_are_one_object() -> None:
    text = json.dumps(
        to_plain(Row(case_id="c" * 30, arm="a", history_id="c" * 30, tags={"t": "v w"}))
    )
    one, other = (from_plain(json.loads(text)) for _ in range(2))
    assert one == other
    assert one.case_id is one.history_id is other.case_id
    assert one.tags["t"] is other.tags["t"]
    assert next(iter(one.tags)) is next(iter(other.tags))
