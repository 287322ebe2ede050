"""Margins of a loan's facts from a published file of the Home Mortgage Disclosure Act (HMDA)."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Final

from framework.errors import DataError, UserError
from framework.text.canonical import digest, digest_file
from framework.text.reading import no_stream
from plugins.domains.data_file import BadRecordError, Faults
from plugins.domains.regulated.spec import Distribution, Spec

POINTS: Final = 101
"""Quantiles that a margin is told by, the least and the greatest value among them."""

FEWEST: Final = 20
"""Values of a column below which no margin is taken from it."""

DECIDED: Final = frozenset({"1", "2", "3"})
"""`action_taken`: originated, approved but not accepted, denied."""

PURCHASE: Final = "1"
"""`loan_purpose`: home purchase, which the spec's documents are of."""

_NO: Final = "2"
_LEFT_OUT: Final = (
    "reverse_mortgage",
    "open-end_line_of_credit",
    "open_end_line_of_credit",
    "business_or_commercial_purpose",
)
"""Where such a column is there, it must say no: other loans are left out."""

_UNSAID: Final = frozenset({"", "NA", "Exempt", "1111", "8888", "9999"})
"""Not applicable, exempt by law, and the codes of other years for either."""

_RATIO: Final = ("combined_loan_to_value_ratio", "loan_to_value_ratio")
"""The column's name, which changed between years."""

DEBT_BINS: Final[Mapping[str, tuple[float, float]]] = {
    "<20%": (0, 20),
    "20%-<30%": (20, 30),
    "30%-<36%": (30, 36),
    **{str(percent): (percent, percent + 1) for percent in range(36, 50)},
    "50%-60%": (50, 60),
    ">60%": (60, 100),
}
"""`debt_to_income_ratio` is published in these bins; within one, every value is as likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """What a column says: its quantiles from 0 to 1 in equal steps, in the unit of the fact.

    of : the formula that they are multiplied by; empty where they are the fact itself.
    """

    column: str
    values: tuple[float, ...]
    of: str = ""


def calibrated(spec: Spec, path: str) -> Spec:
    """`spec` with the margins of a file in place of its own; its digest covers both.

    Income, appraised value and rate are drawn from their columns, the loan by the ratio of loan to
    value, the monthly debt by that of debt to income. Each is a margin alone: how they hang
    together is the spec's. What lies beyond the spec's ranges is drawn again.

    Raises UserError for a spec without these facts, DataError for a file that is not HMDA's.
    """
    asked = ("income", "monthly_debt", "appraised_value", "loan_amount", "locked_rate")
    missing = [name for name in asked if name not in spec.facts]
    if missing:
        raise UserError(
            f"domain.calibration: the spec {spec.name} has no fact {missing[0]}; HMDA's files are "
            "of loans (spec=loan)"
        )
    file = Path(path).expanduser()
    margins = margins_of(file)
    facts = {
        key: replace(fact, distribution=_distribution(margins[key], file))
        if key in margins
        else fact
        for key, fact in spec.facts.items()
    }
    return replace(spec, facts=facts, digest=digest([spec.digest, digest_file(file)]))


def margins_of(file: Path) -> dict[str, Margin]:
    """By fact, its margin over the decided applications for home purchase.

    `file` : a CSV of public loan/application records with the documented names in its first line
    (FFIEC, "Public HMDA - LAR Data Fields", from 2018 on). Read line by line. Raises DataError.
    """
    counts: dict[str, Counter[float]] = {
        key: Counter() for key in ("income", "appraised_value", "loan_amount", "locked_rate")
    }
    bins: Counter[str] = Counter()
    faults = Faults(file)
    try:
        with no_stream(file).open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            ratio = _check_header(file, reader.fieldnames)
            for row in reader:
                with faults.of(reader.line_num):
                    _count(row, ratio, counts, bins)
    except OSError as error:
        raise DataError(file, None, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise DataError(file, None, "not UTF-8 text") from None
    except csv.Error as error:
        raise DataError(file, None, f"not CSV: {error}") from None
    faults.check()
    columns = {
        "income": "income",
        "appraised_value": "property_value",
        "loan_amount": ratio,
        "locked_rate": "interest_rate",
    }
    for key, column in columns.items():
        _check_enough(file, column, counts[key].total())
    _check_enough(file, "debt_to_income_ratio", bins.total())
    formulas = {"loan_amount": "appraised_value"}
    found = {
        key: Margin(column=column, values=quantiles(counts[key]), of=formulas.get(key, ""))
        for key, column in columns.items()
    }
    found["monthly_debt"] = Margin(
        column="debt_to_income_ratio", values=binned_quantiles(bins), of="income / 12"
    )
    return found


def quantiles(counts: Mapping[float, int]) -> tuple[float, ...]:
    """`POINTS` quantiles of values that stand so often each.

    Between the values in order, linearly (Hyndman and Fan 1996, definition 7).
    """
    ordered = sorted(counts.items())
    ends = list(accumulate(count for _, count in ordered))
    values = [value for value, _ in ordered]
    found, place = [], 0
    for point in range(POINTS):
        whole, part = divmod(point * (ends[-1] - 1), POINTS - 1)
        while ends[place] <= whole:
            place += 1
        last = ends[place] > whole + 1 or place + 1 == len(values)
        after = values[place] if last else values[place + 1]
        found.append(values[place] + (after - values[place]) * part / (POINTS - 1))
    return tuple(found)


def binned_quantiles(bins: Mapping[str, int]) -> tuple[float, ...]:
    """`POINTS` quantiles, as shares, of percentages that are known by `DEBT_BINS` alone."""
    held = [(DEBT_BINS[name], bins[name]) for name in DEBT_BINS if bins.get(name)]
    total = sum(count for _, count in held)
    found, place, before = [], 0, 0
    for point in range(POINTS):
        wanted = point * total / (POINTS - 1)
        while place + 1 < len(held) and before + held[place][1] < wanted:
            before += held[place][1]
            place += 1
        (low, high), count = held[place]
        found.append((low + (high - low) * (wanted - before) / count) / 100)
    return tuple(found)


def _distribution(margin: Margin, file: Path) -> Distribution:
    return Distribution(
        kind="share_quantiles" if margin.of else "quantiles",
        values=margin.values,
        of=margin.of,
        source=f"HMDA, column {margin.column} of {file.name}",
    )


def _check_header(file: Path, names: Sequence[str] | None) -> str:
    """The name of the column of loan to value. Raises DataError for a column that is missing."""
    given = set(names or ())
    ratio = next((name for name in _RATIO if name in given), _RATIO[0])
    needed = (
        "action_taken", "loan_purpose", "income", "property_value", ratio, "debt_to_income_ratio",
        "interest_rate",
    )  # fmt: skip
    missing = [name for name in needed if name not in given]
    if missing:
        problem = f"no column {', '.join(missing)}: a CSV of HMDA's public records is expected"
        raise DataError(file, 1, problem)
    return ratio


def _count(
    row: Mapping[str, str | None],
    ratio: str,
    counts: Mapping[str, Counter[float]],
    bins: Counter[str],
) -> None:
    """Add what a record says. Raises BadRecordError."""
    if None in row or None in row.values():
        raise BadRecordError("another number of columns than the first line has")
    said = {key: (value or "").strip() for key, value in row.items()}
    if said["action_taken"] not in DECIDED or said["loan_purpose"] != PURCHASE:
        return
    if any(said.get(name, _NO) != _NO for name in _LEFT_OUT):
        return
    for key, column, factor in (
        ("income", "income", 1000.0),
        ("appraised_value", "property_value", 1.0),
        ("loan_amount", ratio, 0.01),
        ("locked_rate", "interest_rate", 1.0),
    ):
        if said[column] in _UNSAID:
            continue
        value = _number(column, said[column])
        if value > 0:
            counts[key][value * factor] += 1
    ratio_of_debt = said["debt_to_income_ratio"]
    if ratio_of_debt in DEBT_BINS:
        bins[ratio_of_debt] += 1
    elif ratio_of_debt not in _UNSAID:
        told = repr(ratio_of_debt[:20])
        raise BadRecordError(f"debt_to_income_ratio: {told} is none of the published bins")


def _number(column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise BadRecordError(f"{column}: a number expected, {text[:20]!r} found") from None
    if not -1e9 < value < 1e9:
        raise BadRecordError(f"{column}: {text[:20]!r} is no such amount")
    return value


def _check_enough(file: Path, column: str, values: int) -> None:
    if values < FEWEST:
        problem = f"{column}: {values} values of decided applications for home purchase"
        raise DataError(file, None, f"{problem}, at least {FEWEST} are needed")
