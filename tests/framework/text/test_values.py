from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.text.values import canonical, contains, find_values, parse_value, same_value

AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2, allow_nan=False)
DAYS = st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31))


def found(text: str) -> list[tuple[str, str, str]]:
    return [(value.type, value.canonical, value.unit) for value in find_values(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paid $147,500 in full.", [("money", "147500", "")]),
        ("Paid $8,500.25.", [("money", "8500.25", "")]),
        ("a total of 147,500 dollars", [("money", "147500", "")]),
        ("USD 147,500", [("money", "147500", "")]),
        ("a debit of -$20", [("money", "-20", "")]),
        ("$147.5k or $1.2 million", [("money", "147500", ""), ("money", "1200000", "")]),
        ("1.2 million dollars", [("money", "1200000", "")]),
        ("33.4%, or 33.40 percent", [("percent", "33.4", ""), ("percent", "33.4", "")]),
        ("on 2026-03-12.", [("date", "2026-03-12", "")]),
        ("on March 12, 2026.", [("date", "2026-03-12", "")]),
        ("on 12 March 2026.", [("date", "2026-03-12", "")]),
        ("on 03/12/2026.", [("date", "2026-03-12", "")]),
        ("The score is 779.", [("score", "779", "")]),
        ("score of 779 exceeds the floor", [("score", "779", "")]),
        ("within 14 days", [("count", "14", "day")]),
        ("a 26-month record", [("count", "26", "month")]),
        ("3 visits and 2 late payments", [("count", "3", "visit"), ("count", "2", "late payment")]),
        ("policy POL-716597", [("identifier", "POL-716597", "")]),
        ("UP-2. Deny if", [("provision", "UP-2", "")]),
        ("under Exclusion 9.", [("provision", "EXCLUSION 9", "")]),
        ("under Condition 4.1.", [("provision", "CONDITION 4.1", "")]),
        ("12 CFR 1002.9(b)(2) applies", [("provision", "12 CFR 1002.9(B)(2)", "")]),
    ],
)
def test_each_form_is_found_with_its_type(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    ["no value here", "on 2026-02-30", "1,234,5678", "8,50", "tel. 212-555-0134", "3.5.2", "10:30"],
)
def test_malformed_values_are_not_found_in_part(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "anchor", "type"),
    [
        ("paid $18,500 in all", "$8,500", "money"),
        ("paid $8,500.25 in all", "$8,500", "money"),
        ("paid 8,500 in all", "$8,500", "money"),
        ("see 1002.9 for this", "1002", "score"),
        ("under Exclusion 9", "9", "score"),
        ("under Exclusion 9.1", "Exclusion 9", "provision"),
        ("under Exclusion 19", "Exclusion 9", "provision"),
        ("under UP-21", "UP-2", "provision"),
        ("POL-716597-A", "POL-716597", "identifier"),
        ("on 2026-03-12", "12", "score"),
        ("133.4%", "33.4%", "percent"),
        ("14 months", "14 days", "count"),
        ("a townhouse", "house", "category"),
    ],
)
def test_a_value_is_not_matched_inside_another(text: str, anchor: str, type: str) -> None:
    assert not contains(text, anchor, type)


@pytest.mark.parametrize(
    ("text", "anchor", "type"),
    [
        ("paid USD 8,500.00 in all", "$8,500", "money"),
        ("(33.40 percent)", "33.4%", "percent"),
        ("on March 12, 2026", "2026-03-12", "date"),
        ("Visits: 3.", "3 visits", "count"),
        ("a 14-day window", "14 days", "count"),
        ("a score of 779 points", "779", "score"),
        ("by exclusion 9.", "Exclusion 9", "provision"),
        ("a Single  Family home", "single family", "category"),
        ("policy pol-716597.", "POL-716597", "identifier"),
    ],
)
def test_a_value_is_matched_in_any_form(text: str, anchor: str, type: str) -> None:
    assert contains(text, anchor, type)


def test_a_known_type_needs_no_sign_and_admits_one_value() -> None:
    assert canonical("147500", "money") == "147500"
    assert canonical("about 33.4", "percent") == "33.4"
    assert canonical("779 or 780", "score") is None
    assert canonical("779, that is 779", "score") == "779"
    assert canonical("unknown", "money") is None
    assert canonical("  Single  Family. ", "category") == "single family"
    assert canonical("policy #POL-716597", "identifier") == "POL-716597"
    assert canonical("", "category") is None
    with pytest.raises(ValueError, match="colour"):
        parse_value("red", "colour")


def test_units_differ_only_where_both_are_named() -> None:
    assert same_value("14", "14 days", "count")
    assert same_value("14 day", "14 days", "count")
    assert not same_value("14 months", "14 days", "count")
    assert not same_value("15 days", "14 days", "count")
    assert same_value("3 stays", "3 inpatient stays", "count")
    assert not same_value("3 days", "3 inpatient stays", "count")
    assert not contains("after 3 days", "3 inpatient stays", "count")
    assert contains("after 3 inpatient stays", "3 inpatient stays", "count")


@given(AMOUNTS)
def test_money_reads_the_same_in_every_form(amount: Decimal) -> None:
    forms = [f"${amount:,}", f"${amount}", f"{amount:,} dollars", f"USD {amount:,}"]
    for form in forms:
        (value,) = find_values(f"The amount ({form}) was recorded.")
        assert value.type == "money"
        assert Decimal(value.canonical) == amount
        assert value.canonical == canonical(str(amount), "money")


@given(DAYS)
def test_dates_read_the_same_in_every_form(day: date) -> None:
    forms = [f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%B} {day.year}", f"{day:%m/%d/%Y}"]
    for form in [*forms, day.isoformat()]:
        assert found(f"Dated {form}.") == [("date", day.isoformat(), "")]


@given(st.text(alphabet="$ 0123456789.,-/%()UPk daysMarch:\n", max_size=60))
def test_values_lie_in_the_text_in_order_and_apart(text: str) -> None:
    end = 0
    for value in find_values(text):
        assert end <= value.start < value.end <= len(text)
        assert text[value.start : value.end] == value.text
        assert contains(text, value.text, value.type)
        end = value.end


@given(AMOUNTS, st.integers(0, 9))
def test_one_more_digit_is_another_value(amount: Decimal, digit: int) -> None:
    assert not contains(f"paid ${amount}{digit or 1} then", f"${amount}", "money")
    assert not contains(f"paid ${digit or 1}{amount} then", f"${amount}", "money")
