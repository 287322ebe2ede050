"""The router: sentences vote, headers do not."""

from __future__ import annotations

import pytest

from plugins.archs._router import route, vote


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Annual income: $61,000", "fact"),
        ("Occupancy: owner", "fact"),
        ("The credit score is 640.", "fact"),
        ("UP-1. Deny if the debt ratio is above 43%; reason: excessive obligations.", "fact"),
        ("UP-2. Refer where the score is below 600 because of thin file; reason: file.", "fact"),
        ("The gap arose because the applicant cared for a parent.", "reasoning"),
        ("A deposit of $4,500 is explained by the sale of a car.", "reasoning"),
        ("The engineer attributes the cracks to long-term settlement.", "reasoning"),
        ("Kind regards.", None),
        ("The applicant called the office.", None),
    ],
)
def test_vote(sentence: str, expected: str | None) -> None:
    assert vote(sentence) == expected


HEADER = "2026-03-12 | Letter 14 | Hollis Appraisals\n"


def test_the_header_has_no_vote() -> None:
    assert route(HEADER + "The gap is explained by illness.") == "reasoning"
    assert route("The gap is explained by illness.") == "reasoning"


def test_the_majority_decides_and_a_tie_is_a_fact() -> None:
    reason, fact = "The gap is explained by illness. ", "The score is 640. "
    assert route(HEADER + reason + reason + fact) == "reasoning"
    assert route(HEADER + reason + fact + fact) == "fact"
    assert route(HEADER + reason + fact) == "fact"
    assert route(HEADER) == "fact"
    assert route("") == "fact"
