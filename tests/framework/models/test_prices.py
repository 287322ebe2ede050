"""What a call costs at list price, and the most that it can cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import DataError
from framework.models.cache import Response
from framework.models.prices import Price, prices

LONG = Price(
    input=2.0, output=10.0, cached=0.2, written=2.5, over=272_000, times_in=2, times_out=1.5
)


def response(tokens_in: int, tokens_out: int, cached: int = 0, written: int = 0) -> Response:
    return Response(
        text="", stop="end", tokens_in=tokens_in, tokens_out=tokens_out,
        tokens_cached=cached, tokens_written=written,
    )  # fmt: skip


def test_a_long_prompt_makes_its_whole_call_dearer() -> None:
    short = LONG.cost(response(272_000, 1_000, cached=100_000, written=50_000))
    assert short == pytest.approx((122_000 * 2 + 100_000 * 0.2 + 50_000 * 2.5 + 10_000) / 1e6)
    longer = LONG.cost(response(272_001, 1_000, cached=100_000, written=50_000))
    assert longer == pytest.approx(
        ((122_001 * 2 + 100_000 * 0.2 + 50_000 * 2.5) * 2 + 10_000 * 1.5) / 1e6
    )


@given(
    st.sampled_from(sorted(prices())),
    st.integers(0, 1_000_000),
    st.integers(0, 100_000),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_no_call_costs_more_than_the_worst(
    name: str, tokens_in: int, tokens_out: int, cached: float, written: float
) -> None:
    price = prices()[name]
    read = int(tokens_in * cached)
    put = int((tokens_in - read) * written)
    cost = price.cost(response(tokens_in, tokens_out, read, put))
    worst = price.worst(tokens_in, tokens_out)
    assert cost <= worst * (1 + 1e-12)
    assert worst <= price.worst(tokens_in + 1, tokens_out)


def test_a_file_of_prices_has_them_and_their_defaults(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "models:\n  short: {input: 1, output: 2}\n"
        "  long: {input: 1, output: 2, cached: 0.1, over: 100_000, times_in: 5, times_out: 5}\n"
    )
    known = prices(file)
    assert known["short"].worst(10**9, 0) == pytest.approx(1000)
    assert known["short"].cached == known["short"].written == 1
    assert known["long"].worst(100_001, 1) == pytest.approx(5 * 100_003 / 1e6)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("over: many", "could not convert"),
        ("over: 1000", "both expected"),
        ("times_in: 2", "both expected"),
        ("over: 1000, times_in: 0.5", "at least 1"),
        ("times_inn: 2", "unexpected keyword argument 'times_inn'"),
    ],
)
def test_a_price_that_is_none_is_one_line(entry: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(f"models:\n  bad: {{input: 1, output: 2, {entry}}}\n")
    with pytest.raises(DataError, match=f"bad: .*{said}"):
        prices(file)
