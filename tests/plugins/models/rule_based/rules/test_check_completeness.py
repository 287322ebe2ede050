"""What each strictness demands of a view."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from framework.contracts import answer_by_rule
from framework.operations.check_completeness import (
    CheckCompleteness,
    CompletenessRequest,
    CompletenessResponse,
    Strictness,
)
from framework.records import TaskCard

CHECK = CheckCompleteness()


def gaps(task: TaskCard, view: str, strictness: Strictness) -> tuple[str, ...]:
    request = CompletenessRequest(task=task, view=view, strictness=strictness)
    response = answer_by_rule(CHECK, request)
    return response.gaps


def test_a_whole_case_has_no_gaps(
    loan: TaskCard, loan_view: str, claim: TaskCard, claim_view: str
) -> None:
    for strictness in get_args(Strictness):
        assert gaps(loan, loan_view, strictness) == ()
        assert gaps(claim, claim_view, strictness) == ()


def test_only_strict_asks_for_what_no_rule_needs(claim: TaskCard, claim_view: str) -> None:
    view = claim_view.replace(" Policy number: POL-716597.", "")
    assert gaps(claim, view, "strict") == ("the policy number",)
    assert gaps(claim, view, "moderate") == ()


def test_moderate_asks_for_what_the_amount_needs(claim: TaskCard, claim_view: str) -> None:
    view = claim_view.replace(" and the deductible was $1,000", "")
    assert gaps(claim, view, "moderate") == ("the deductible",)
    assert gaps(claim, view, "permissive") == ()


def test_moderate_does_not_ask_beyond_the_deciding_rules(loan: TaskCard, loan_view: str) -> None:
    view = loan_view.replace("score is 702", "score is 602").replace(
        "Occupancy: owner-occupied", ""
    )
    assert gaps(loan, view, "moderate") == ()
    assert gaps(loan, view, "strict") == ("the occupancy",)


def test_gaps_name_conflicts_and_unseen_rules(loan: TaskCard, loan_view: str) -> None:
    found = gaps(loan, f"{loan_view}\nCredit score: 690", "moderate")
    assert found == ("the credit score is in conflict: 702 or 690",)
    start = loan_view.index("UP-3.")
    cut = loan_view[:start] + loan_view[loan_view.index("UP-4.") :]
    assert "the text of UP-3" in gaps(loan, cut, "moderate")


def test_a_stricter_check_never_passes_what_a_looser_one_refuses(
    loan: TaskCard, loan_view: str
) -> None:
    lines = loan_view.splitlines()
    for left_out in range(len(lines)):
        view = "\n".join(lines[:left_out] + lines[left_out + 1 :])
        strict, moderate, permissive = (
            gaps(loan, view, strictness) for strictness in ("strict", "moderate", "permissive")
        )
        assert set(permissive) <= set(moderate) <= set(strict)


def test_round_trip(loan: TaskCard) -> None:
    request = CompletenessRequest(task=loan, view="", strictness="strict")
    for response in (
        CompletenessResponse(),
        CompletenessResponse(gaps=("the income",)),
    ):
        assert CHECK.parse(CHECK.render(response), request) == response


@pytest.mark.parametrize(
    "data",
    [
        {"complete": True, "gaps": ["x"]},
        {"complete": False, "gaps": []},
        {"complete": "yes", "gaps": []},
        {"complete": 1, "gaps": []},
        {"complete": True},
        {"complete": True, "gaps": [], "note": ""},
    ],
)
def test_parse_refuses_what_is_not_of_the_form(loan: TaskCard, data: dict[str, object]) -> None:
    request = CompletenessRequest(task=loan, view="", strictness="strict")
    with pytest.raises(ValueError, match=r"."):
        CHECK.parse(json.dumps(data), request)


def test_the_prompt_states_the_demand(loan: TaskCard) -> None:
    prompts = {
        CHECK.prompt(CompletenessRequest(task=loan, view="v", strictness=strictness)).text
        for strictness in get_args(Strictness)
    }
    assert len(prompts) == 3
