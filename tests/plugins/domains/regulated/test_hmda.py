"""Margins of a loan's facts from HMDA's public records: by hand, by numpy, and bad files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from framework.errors import DataError, UserError
from framework.testing.domain_conformance import check_domain
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.facts import sample_facts
from plugins.domains.regulated.hmda import (
    DEBT_BINS,
    POINTS,
    binned_quantiles,
    calibrated,
    margins_of,
    quantiles,
)
from plugins.domains.regulated.loading import find_spec, load_spec
from plugins.domains.regulated.settings import RegulatedSettings
from tests.launching import run

FIXTURE = Path(__file__).parents[4] / "tests" / "fixtures" / "hmda" / "lar.csv"
LINES = FIXTURE.read_text().splitlines()
LOAN = load_spec(find_spec("loan"))


def kept() -> list[dict[str, str]]:
    """The records that count, told by other code: decided, home purchase, an ordinary loan."""
    with FIXTURE.open(newline="") as file:
        records = list(csv.DictReader(file))
    plain = ("reverse_mortgage", "open-end_line_of_credit", "business_or_commercial_purpose")
    return [
        record
        for record in records
        if record["action_taken"] in "123"
        and record["loan_purpose"] == "1"
        and all(record[name] == "2" for name in plain)
    ]


@pytest.mark.parametrize(
    ("fact", "column", "factor"),
    [
        ("income", "income", 1000.0),
        ("appraised_value", "property_value", 1.0),
        ("loan_amount", "combined_loan_to_value_ratio", 0.01),
        ("locked_rate", "interest_rate", 1.0),
    ],
)
def test_a_margin_is_the_column_s_quantiles(fact: str, column: str, factor: float) -> None:
    said = [r[column] for r in kept() if r[column] not in ("NA", "Exempt", "")]
    values = [float(text) * factor for text in said if float(text) > 0]
    margin = margins_of(FIXTURE)[fact]
    assert margin.column == column
    assert margin.values == pytest.approx(np.quantile(values, np.linspace(0, 1, POINTS)), abs=1e-9)


def test_quantiles_of_few_values_by_hand() -> None:
    # 10, 20, 20, 40: the median lies between the second and the third, both 20; the quantile .25
    # three quarters of the way from the first to the second: 10 + .75 x 10; that of .9 seven tenths
    # of the way from the third to the fourth: 20 + .7 x 20.
    found = quantiles({20.0: 2, 10.0: 1, 40.0: 1})
    assert [found[0], found[25], found[50], found[90], found[100]] == pytest.approx(
        [10, 17.5, 20, 34, 40], abs=1e-9
    )


def test_quantiles_of_bins_by_hand() -> None:
    # 1 of 4 under 20%, 2 in 36, 1 in 50%-60%: a quarter of the way up is the end of the first bin,
    # a half the middle of the second, nine tenths six tenths of the way through the last.
    found = binned_quantiles({"<20%": 1, "36": 2, "50%-60%": 1})
    assert [found[0], found[25], found[50], found[90], found[100]] == pytest.approx(
        [0, 0.20, 0.365, 0.56, 0.60], abs=1e-9
    )
    assert list(DEBT_BINS)[3] == "36"


def test_facts_are_drawn_from_the_margins() -> None:
    """The rates of the file lie within the spec's range: the mean drawn is that of the margin.

    Of 2,000 draws the mean has a standard error of .015.
    """
    spec, margins = calibrated(LOAN, str(FIXTURE)), margins_of(FIXTURE)
    rng = Random(3)
    drawn = [
        sample_facts(spec, rng, spec.calendar.first, ("P-1",))["locked_rate"] for _ in range(2_000)
    ]
    low, high = LOAN.facts["locked_rate"].range
    quantiles_of = margins["locked_rate"].values
    assert low <= min(quantiles_of)
    assert max(quantiles_of) <= high
    assert drawn
    mean = float(np.mean(np.array(drawn, float)))
    assert mean == pytest.approx(np.trapezoid(quantiles_of, dx=1 / (POINTS - 1)), abs=0.06)
    for key in ("income", "monthly_debt", "appraised_value", "loan_amount", "locked_rate"):
        distribution = spec.facts[key].distribution
        assert distribution is not None
        assert distribution.source.startswith("HMDA, column ")
        assert distribution.values == margins[key].values
    assert spec.facts["fico_score"] == LOAN.facts["fico_score"]  # HMDA does not publish scores
    assert spec.digest != LOAN.digest


def test_conformance_and_provenance() -> None:
    settings = RegulatedSettings(calibration=str(FIXTURE))
    check_domain(Regulated, settings, n=6)
    domain, plain = Regulated(settings), Regulated(RegulatedSettings())
    assert "margins of lar.csv, HMDA" in domain.provenance.citation
    assert domain.digest() != plain.digest()
    assert [c.task for c in domain.cases(3, 0)] == [c.task for c in plain.cases(3, 0)]
    assert [c.gold for c in domain.cases(3, 0)] != [c.gold for c in plain.cases(3, 0)]


def test_only_loans_have_these_facts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=r"the spec claims has no fact income; .*spec=loan"):
        calibrated(load_spec(find_spec("claims")), str(FIXTURE))
    words = ("domain=loan", "domain.calibration=no.csv", "tracking=none", "report=false")
    assert run(capsys, *words).mistake == "no.csv: cannot be read: No such file or directory"


def put(column: str, value: str) -> Callable[[], bytes]:
    """Another value in the first record."""

    def make() -> bytes:
        place = LINES[0].split(",").index(column)
        cells = LINES[1].split(",")
        cells[place] = value
        return "\n".join([LINES[0], ",".join(cells), *LINES[2:]]).encode()

    return make


def without(column: str) -> Callable[[], bytes]:
    return lambda: "\n".join([LINES[0].replace(column, "other"), *LINES[1:]]).encode()


def raw(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def all_of(column: str, value: str) -> Callable[[], bytes]:
    def make() -> bytes:
        place = LINES[0].split(",").index(column)
        rows = [line.split(",") for line in LINES[1:]]
        for cells in rows:
            cells[place] = value
        return "\n".join([LINES[0], *map(",".join, rows)]).encode()

    return make


AMOUNTS = ("income", "property_value", "combined_loan_to_value_ratio", "interest_rate")
MALFORMED: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (raw(b""), ":1: no column action_taken, loan_purpose, income"),
    "a blank line": (raw(b"\n"), ":1: no column"),
    "text": (raw(b"dear reader"), ":1: no column"),
    "json": (raw(b'{"action_taken": 1}'), ":1: no column"),
    "a header alone": (raw(LINES[0].encode()), "income: 0 values of decided"),
    "a few records": (raw("\n".join(LINES[:9]).encode()), "income: 8 values .* at least 20"),
    "pipes": (raw("\n".join(LINES).replace(",", "|").encode()), ":1: no column"),
    "tabs": (raw("\n".join(LINES).replace(",", "\t").encode()), ":1: no column"),
    "not utf-8": (raw("\n".join(LINES).encode() + b"\n\xff\xfe"), "not UTF-8 text"),
    "utf-16": (raw("\n".join(LINES).encode("utf-16")), "not UTF-8 text"),
    "a zip": (raw(b"PK\x03\x04" + bytes(range(128, 256)) * 9), "not UTF-8 text"),
    "an open quote": (raw(("\n".join(LINES) + '\n"2031').encode()), "not CSV: unexpected end"),
    "a quote inside": (put("lei", '"A"B'), "not CSV: ',' expected after '\"'"),
    "a huge cell": (put("lei", "x" * 200_000), "not CSV: field larger than field limit"),
    "null characters": (put("income", "\0\0"), "income: a number expected|not CSV"),
    "a cell too few": (raw("\n".join([LINES[0], "2031,A"]).encode()), ":2: another number of col"),
    "a cell too many": (raw(f"{LINES[0]}\n{LINES[1]},x".encode()), ":2: another number of columns"),
    "no names": (raw("\n".join(LINES[1:]).encode()), ":1: no column"),
    "names in capitals": (raw("\n".join([LINES[0].upper(), *LINES[1:]]).encode()), ":1: no column"),
    **{
        f"without {column}": (without(column), f":1: no column {column}")
        for column in ("action_taken", "loan_purpose", *AMOUNTS, "debt_to_income_ratio")
    },
    **{
        f"{column} {name}": (put(column, value), f":2: {column}: {told}")
        for column in AMOUNTS
        for name, value, told in (
            ("in words", "much", "a number expected, 'much' found"),
            ("nan", "nan", "'nan' is no such amount"),
            ("infinite", "inf", "'inf' is no such amount"),
            ("beyond", "1e300", "'1e300' is no such amount"),
            ("of many digits", "9" * 5_000, "'99999999999999999999' is no such amount"),
        )
    },
    "debt in words": (put("debt_to_income_ratio", "high"), "'high' is none of the published bins"),
    "debt below the bins": (put("debt_to_income_ratio", "35"), "'35' is none of the published"),
    "debt with a share": (put("debt_to_income_ratio", "0.41"), "'0.41' is none of the published"),
    "all withdrawn": (all_of("action_taken", "4"), "income: 0 values of decided"),
    "all refinanced": (all_of("loan_purpose", "31"), "income: 0 values of decided"),
    "all reverse": (all_of("reverse_mortgage", "1"), "income: 0 values of decided"),
    "no income": (all_of("income", "NA"), "income: 0 values"),
    "no value": (all_of("property_value", "Exempt"), "property_value: 0 values"),
    "no ratio": (all_of("combined_loan_to_value_ratio", "NA"), "_to_value_ratio: 0 values"),
    "no rate": (all_of("interest_rate", "NA"), "interest_rate: 0 values"),
    "no debt": (all_of("debt_to_income_ratio", "NA"), "debt_to_income_ratio: 0 values"),
    "nothing above 0": (all_of("income", "-1"), "income: 0 values"),
}


def test_there_are_fifty_malformed_variants() -> None:
    assert len(MALFORMED) >= 50


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    make, told = MALFORMED[name]
    path = tmp_path / "lar.csv"
    path.write_bytes(make())
    with pytest.raises(DataError, match=told) as caught:
        margins_of(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2_000


def test_the_ratio_s_column_has_two_names_and_a_byte_order_mark_is_passed_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "lar.csv"
    text = "\n".join(LINES).replace("combined_loan_to_value_ratio", "loan_to_value_ratio")
    path.write_text("\ufeff" + text)
    assert margins_of(path)["loan_amount"].values == margins_of(FIXTURE)["loan_amount"].values
