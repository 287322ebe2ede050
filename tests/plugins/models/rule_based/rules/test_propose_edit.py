"""A structured edit from ticket, plan and view alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from framework.contracts import Profile, answer_by_rule
from framework.operations.answering import AnswerRequest, answering
from framework.operations.propose_edit import ProposeEdit
from framework.records import TaskCard

PLAN = {
    "component": "cx-01f4a",
    "settings": [
        {"setting": "page_length", "label": "page length", "unit": "lines", "options": [],
         "least": 10, "greatest": 500, "value": "120", "status": "proposed"},
        {"setting": "cipher_profile", "label": "cipher profile", "unit": "",
         "options": ["bluefin", "cygnet"], "least": 0, "greatest": 0, "value": "cygnet",
         "status": "asked"},
    ],
}  # fmt: skip
TICKET = "Extend the pooled ledger so that it reaches the nightly rollup."
ENTRY = "Component cx-01f4a is built under the Amber Heron covenant."
LINK = "The Amber Heron covenant implements the Bold Owl canon."
RULE = "Under the Bold Owl canon, the page length must be 40 lines."
OTHER = (
    "The Calm Crane charter covers the pooled ledger. "
    "The Calm Crane charter fixes the page length at 300 lines."
)
TASK = TaskCard(
    instruction="Fill in the plan.",
    query=TICKET,
    operation="propose_edit",
    material={"change_plan": json.dumps(PLAN)},
)


def edit(*view: str, profile: Profile | None = None) -> dict[str, str]:
    operation = ProposeEdit()
    request = AnswerRequest(task=TASK, view="\n".join(view))
    response = answer_by_rule(operation, request, profile or Profile())
    assert {change.component for change in response.edit} == {"cx-01f4a"}
    return {change.setting: change.value for change in response.edit}


def test_without_a_decision_in_view_it_is_the_naive_edit() -> None:
    assert edit() == {"page_length": "120", "cipher_profile": "cygnet"}
    assert edit(ENTRY, LINK) == edit()


def test_the_decision_that_the_component_stands_under_governs_wherever_it_stands() -> None:
    for view in ((OTHER, RULE, LINK, ENTRY), (ENTRY, LINK, RULE, OTHER)):
        assert edit(*view)["page_length"] == "40"


def test_what_is_asked_for_is_kept() -> None:
    rule = "Under the Bold Owl canon, the cipher profile must be bluefin."
    assert edit(ENTRY, LINK, rule)["cipher_profile"] == "cygnet"


def test_where_no_links_are_in_view_the_likest_line_counts() -> None:
    assert edit(RULE, OTHER)["page_length"] == "300"
    assert edit(RULE)["page_length"] == "40"


@pytest.mark.parametrize("links", [(ENTRY, LINK), ()])
def test_what_was_replaced_no_longer_holds(links: tuple[str, ...]) -> None:
    newer = (
        "The Deep Finch stance supersedes the Bold Owl canon.",
        "The Deep Finch stance requires the page length to be 200 to 240 lines.",
    )
    assert edit(*links, RULE, *newer)["page_length"] == "200"
    assert edit(*links, RULE, newer[0])["page_length"] == "120"
    assert edit(*links, RULE)["page_length"] == "40"


def test_a_range_that_holds_the_proposal_keeps_it() -> None:
    rule = "Under the Bold Owl canon, the page length must be 100 to 140 lines."
    assert edit(ENTRY, LINK, rule)["page_length"] == "120"


def test_the_nearest_of_two_governs() -> None:
    above = (
        "The Bold Owl canon implements the Calm Crane charter.",
        "The Calm Crane charter fixes the page length at 300 lines.",
    )
    assert edit(ENTRY, *above, LINK, RULE)["page_length"] == "40"


def test_another_unit_or_an_unknown_option_is_not_taken() -> None:
    assert edit("Under the Bold Owl canon, the page length must be 40 days.") == edit()


def test_a_blind_reader_goes_by_the_value() -> None:
    rule = "Under the Bold Owl canon, the sheet size must be 40 lines."
    assert edit(rule) == edit()
    assert edit(rule, profile=Profile(style="blind"))["page_length"] == "40"


def test_held_out_wordings_are_not_read() -> None:
    assert edit("The Bold Owl canon settled on 40 lines as the page length.") == edit()


def test_it_answers_the_tasks_that_name_it() -> None:
    operation = answering(TASK)
    response = answer_by_rule(operation, AnswerRequest(task=TASK, view=f"{ENTRY}\n{LINK}\n{RULE}"))
    answer = operation.answer_of(response, TASK)
    assert json.loads(answer.edit)[0] == {
        "component": "cx-01f4a",
        "setting": "page_length",
        "value": "40",
    }
    assert answer.provisions == ("Bold Owl canon",)
    assert "40 lines" in answer.rationale


def test_the_prompt_shows_ticket_plan_and_record_and_an_answer_is_read_back() -> None:
    operation = ProposeEdit()
    request = AnswerRequest(task=TASK, view=RULE)
    text = operation.prompt(request).text
    assert all(part in text for part in (TICKET, RULE, '"page_length"', "change plan:"))
    response = answer_by_rule(operation, request)
    assert operation.parse(operation.render(response), request) == response


@pytest.mark.parametrize(
    "text",
    [
        '{"edit": [], "decisions": [], "rationale": ""}',
        '{"edit": [{"component": "c"}], "decisions": [], "rationale": "", "confidence": null}',
        '{"edit": [], "decisions": [], "rationale": "", "confidence": 2}',
        '{"edit": "none", "decisions": [], "rationale": "", "confidence": null}',
    ],
)
def test_what_is_not_of_the_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"edit|keys|confidence|component"):
        ProposeEdit().parse(text, AnswerRequest(task=TASK, view=""))


@pytest.mark.parametrize("plan", ["", "[]", '{"component": "c", "settings": [{"setting": "x"}]}'])
def test_a_plan_of_another_form_is_told(plan: str) -> None:
    request = AnswerRequest(
        task=TaskCard(instruction="", query="", material={"change_plan": plan}), view=""
    )
    with pytest.raises(ValueError, match="change_plan"):
        answer_by_rule(ProposeEdit(), request)


def test_the_form_is_held_to_the_plan() -> None:
    schema = ProposeEdit().schema(AnswerRequest(task=TASK, view=""))
    assert schema is not None
    form = schema["properties"]["edit"]
    assert (form["minItems"], form["maxItems"]) == (2, 2)
    assert form["items"]["properties"] == {
        "component": {"type": "string", "enum": ["cx-01f4a"]},
        "setting": {"type": "string", "enum": ["page_length", "cipher_profile"]},
        "value": {"type": "string", "maxLength": len("bluefin")},
    }
    without = ProposeEdit().schema(AnswerRequest(task=replace(TASK, material={}), view=""))
    assert without is not None
    assert "enum" not in str(without)
    assert "enum" not in str(ProposeEdit().files.schema)
    assert set(schema["required"]) == set(schema["properties"])
    assert schema["additionalProperties"] is form["items"]["additionalProperties"] is False
