from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.models.rule_based.sessions.turns import names, statements_of, stems
from plugins.models.rule_based.sessions.when import elapsed, month_shift, phrase, resolve, window

ANCHOR = date(2023, 5, 31)  # a Wednesday
DAYS = st.dates(date(1990, 1, 1), date(2060, 1, 1))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I went today.", "2023-05-31"),
        ("I went yesterday.", "2023-05-30"),
        ("I went 3 days ago.", "2023-05-28"),
        ("I went two weeks ago.", "2023-05-17"),
        ("I went a month ago.", "2023-04-30"),
        ("I went last Saturday.", "2023-05-27"),
        ("I went last Wednesday.", "2023-05-24"),
        ("I went this past weekend.", "2023-05-27"),
        ("I went on March 3.", "2023-03-03"),
        ("I went on December 3.", "2022-12-03"),
        ("I went in March.", "2023-03-01"),
        ("I went on March 3, 2021, not today.", "2021-03-03"),
        ("I went there.", None),
    ],
)
def test_a_day_told_relative_to_another(text: str, day: str | None) -> None:
    assert resolve(text, ANCHOR) == (date.fromisoformat(day) if day else None)
    assert bool(phrase(text)) is (day is not None)


@pytest.mark.parametrize(
    ("question", "span"),
    [
        ("What did I do in the past 2 weeks?", ("2023-05-17", "2023-05-31")),
        ("What did I do last month?", ("2023-04-30", "2023-05-31")),
        ("What did I do last weekend?", ("2023-05-27", "2023-05-28")),
        ("What did I do in March?", ("2023-03-01", "2023-03-31")),
        ("What did I do yesterday?", ("2023-05-30", "2023-05-30")),
        ("What did I do?", None),
    ],
)
def test_a_span_of_time(question: str, span: tuple[str, str] | None) -> None:
    days = tuple(map(date.fromisoformat, span)) if span else None
    assert window(question, ANCHOR) == days


@given(DAYS, st.integers(0, 4000))
def test_days_and_weeks_between(day: date, days: int) -> None:
    later = day + timedelta(days=days)
    assert elapsed(day, later, "day") == elapsed(later, day, "day") == days
    assert elapsed(day, later, "week") == days // 7


@given(DAYS, st.integers(-300, 300))
def test_a_month_shifted_keeps_the_day_where_there_is_one(day: date, months: int) -> None:
    shifted = month_shift(day, months)
    assert (shifted.year - day.year) * 12 + shifted.month - day.month == months
    assert shifted.day == day.day or (shifted + timedelta(days=1)).month != shifted.month
    if day.day <= 28:
        assert elapsed(day, shifted, "month") == abs(months)


def test_turns_have_their_session_and_speaker() -> None:
    view = (
        "Loose text.\n2023/05/29 (Mon) 01:53 | user\nOne. Two!\n"
        "2023-06-01 | assistant\nThree\nfour | five"
    )
    found = [(s.text, str(s.date or ""), s.role) for s in statements_of(view)]
    assert found == [
        ("Loose text.", "", ""),
        ("One.", "2023-05-29", "user"),
        ("Two!", "2023-05-29", "user"),
        ("Three", "2023-06-01", "assistant"),
        ("four | five", "2023-06-01", "assistant"),
    ]


def test_stems_bring_forms_of_a_word_together() -> None:
    assert stems("visited visits visiting visit") == stems("visit")
    assert stems("running run") == stems("run")
    assert stems("serviced the service") == stems("service")
    assert stems("How many days ago did I do it?") == frozenset()


def test_names_are_titles_and_what_has_a_capital_within_the_sentence() -> None:
    assert names("I visited the Harbour Museum on Monday with Elif.") == ["Harbour Museum", "Elif"]
    assert names('Reading "A Room of One\'s Own" in May.') == ["A Room of One's Own"]
    assert names("Yesterday was fine.") == []
