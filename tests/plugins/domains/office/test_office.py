"""An office keeps several files: each case is one of them, and no other tells of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from statistics import fmean
from typing import Any

import pytest

from framework.contracts import Profile
from framework.errors import UserError
from framework.records import ABSTAIN, Case, Event
from framework.testing.domain_conformance import check_domain
from framework.text.tokens import count_tokens
from plugins.domains.office.domain import Office, OfficeSettings
from plugins.models.rule_based.reading.files import own_documents
from plugins.models.rule_based.reading.read import read

SEED = 23
SPECS = ("loan", "claims", "prior_authorization")
SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"spec": "claims", "files": 3, "aliases": 1.0},
    {
        "spec": "prior_authorization",
        "files": 2,
        "aliases": 0.0,
        "filler_share": 0.3,
        "tokens": 3_000,
    },
)


@cache
def office(**settings: Any) -> Office:
    return Office(OfficeSettings(**settings))


@cache
def cases(n: int = 24, **settings: Any) -> tuple[Case, ...]:
    return tuple(office(**settings).cases(n, SEED))


@cache
def events(history_id: str, **settings: Any) -> dict[str, Event]:
    """The events of a history by id, in order of arrival."""
    return {event.id: event for event in office(**settings).history(history_id)}


def under(event: Event) -> str:
    """What an event is filed under."""
    found = re.search(r"^Filed under: (.+)$", event.text, re.MULTILINE)
    assert found
    return found[1]


def number(case: Case) -> str:
    return case.task.query.partition(":")[0].removeprefix("File ")


def everything(case: Case) -> frozenset[str]:
    return frozenset(item.id for item in case.gold.items)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_keeps_the_contract_of_a_domain(shape: dict[str, Any]) -> None:
    check_domain(Office, OfficeSettings(**shape), 9)


@pytest.mark.parametrize(
    "wrong", [{"files": 1}, {"tokens": 1_999}, {"aliases": 1.1}, {"filler_share": 0.96}]
)
def test_settings_out_of_bounds_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        OfficeSettings(**wrong)


def test_what_is_of_no_history_is_refused() -> None:
    for name in ("loan-s7-000000", "office-loan-s7-00000-08", "office-claims-s7-00000"):
        with pytest.raises(UserError, match="no history"):
            office().history(name)
    with pytest.raises(UserError, match="no history"):
        list(office().history("office-loan-s7-00000-01"))
    with pytest.raises(UserError, match="without end"):
        next(office().cases(None, 7))


@pytest.mark.parametrize("spec", SPECS)
def test_a_history_is_as_long_as_is_said(spec: str) -> None:
    domain = office(spec=spec)
    for case in cases(spec=spec)[::8]:
        found = sum(count_tokens(e.text) for e in events(case.history_id, spec=spec).values())
        assert found == pytest.approx(domain.nominal_tokens, rel=0.05)


def test_files_of_a_history_are_open_at_the_same_time_and_worded_alike() -> None:
    for start in range(0, 24, 8):
        together = cases()[start : start + 8]
        assert len({case.history_id for case in together}) == 1
        assert len({case.tags["form"] for case in together}) == 1
        days = [
            sorted(e.time for e in events(case.history_id).values() if under(e) == number(case))
            for case in together
        ]
        assert max(first for first, *_ in days) < min(last for *_, last in days)


def test_ids_are_places_in_the_history() -> None:
    for case in cases()[::8]:
        there = list(events(case.history_id))
        assert there == [f"doc-{n:04d}" for n in range(1, len(there) + 1)]
        targets = {t for event in events(case.history_id).values() for _, t in event.edges}
        assert targets <= set(there)


def test_no_document_is_named_as_one_of_another_file() -> None:
    for start in range(0, 24, 8):
        together = cases()[start : start + 8]
        there = events(together[0].history_id)
        names: Counter[str] = Counter()
        for case in together:
            (sheet,) = [item for item in case.gold.items if item.id == "names"]
            own = [there[id] for id in case.gold.evidence]
            said = sheet.spans[0].text
            assert number(case) in said
            assert all(under(event) in said for event in own)
            names.update({under(event) for event in own})
        assert max(names.values()) == 1


def test_two_files_never_have_one_number() -> None:
    domain = office(spec="prior_authorization", files=100)
    numbers = [number(case) for case in list(domain.cases(400, 5))[300:]]
    assert "PA-65121-2" in numbers, "the history is one in which a number was drawn twice"
    assert len(set(numbers)) == 100


@pytest.mark.parametrize("aliases", [0.0, 0.3, 1.0])
def test_as_many_bear_another_name_as_is_said(aliases: float) -> None:
    there = [
        event
        for case in cases(aliases=aliases)[::8]
        for event in events(case.history_id, aliases=aliases).values()
        if "Intake sheet" not in event.text
    ]
    share = fmean(not re.fullmatch(r"HL-\d{5}", under(event)) for event in there)
    assert share == pytest.approx(aliases, abs=0.06)


def test_all_that_is_gold_decides() -> None:
    for spec in SPECS:
        domain = office(spec=spec)
        for case in cases(spec=spec):
            held = everything(case)
            assert domain.decision_from(case, held) == case.gold.decision
            assert domain.suffices(case, held)
            assert domain.sufficient(case, dict.fromkeys(held, True))


def test_a_figure_of_an_unknown_file_decides_nothing() -> None:
    domain = office()
    for case in cases():
        heads = frozenset(id for id in everything(case) if id.startswith("filed:"))
        decision = domain.decision_from(case, everything(case) - heads)
        assert decision == ABSTAIN
        held = {id: id not in heads for id in everything(case)}
        assert not domain.sufficient(case, held)


def test_the_intake_sheet_is_needed_where_the_number_is_not_on_every_document() -> None:
    for aliases, needed in ((0.0, False), (1.0, True)):
        domain = office(aliases=aliases)
        for case in cases(aliases=aliases):
            without = domain.sufficient(case, {id: id != "names" for id in everything(case)})
            assert without is not needed


def test_only_what_an_intake_sheet_says_whole_states_it() -> None:
    case = cases()[0]
    (sheet,) = [item for item in case.gold.items if item.id == "names"]
    said = sheet.spans[0].text
    assert office().states(case, sheet, f"Note: {said}")
    assert not office().states(case, sheet, said.replace(number(case), "HL-1"))


@pytest.mark.parametrize("spec", SPECS)
def test_the_rule_based_model_reads_the_file_that_is_asked_about(spec: str) -> None:
    chosen = {"spec": spec, "forms": "development"}
    right = []
    for case in cases(16, **chosen):
        view = "\n".join(event.text for event in events(case.history_id, **chosen).values())
        own = own_documents(view, case.task.query)
        assert all(
            (line in own) == ("Filed" not in line)
            for id in case.gold.evidence
            for line in events(case.history_id, **chosen)[id].text.splitlines()
        )
        found = read(view, case.task, Profile()).outcome()
        right.append((found.decision or ABSTAIN) == case.gold.decision)
    assert fmean(right) >= 0.9


def test_without_the_intake_sheet_the_model_leaves_out_what_bears_another_name() -> None:
    view = (
        "2026-03-02 | Worksheet | A. Lee\nFiled under: HL-1\nThe DTI was 21.5 percent.\n"
        "2026-03-03 | Worksheet | A. Lee\nFiled under: Reese Kimball\nThe LTV was 60 percent.\n"
        "2026-03-04 | Worksheet | A. Lee\nFiled under: HL-2\nThe LTV was 70 percent.\n"
    )
    sheet = (
        "2026-03-01 | Intake sheet | B. Ray\nFiled under: HL-1\n"
        "File HL-1 is that of Reese Kimball, 3 Elm.\n"
    )
    own = own_documents(view, "File HL-1: Should it be approved?")
    assert "21.5" in own
    assert "60" not in own
    assert "70" not in own
    own = own_documents(sheet + view, "File HL-1: Should it be approved?")
    assert "60 percent" in own
    assert "70" not in own
    assert own_documents(view, "Should it be approved?") == view
