"""The sets `reasons` and `notices`: what is right and wrong in them is so by construction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from framework.contracts import Judge, Verdict
from framework.contracts.calibration import CalibrationSet
from framework.errors import UserError
from framework.records import Answer, ReasoningPoint, Standard
from framework.registry import NoSettings
from plugins.calibrations.notices import (
    FCRANotices,
    Letters,
    Notices,
    NoticesSettings,
    Quotes,
    _with,
)
from plugins.calibrations.reasons import Reasons, ReasonsSettings
from plugins.commands._calibration import Calibration, calibration, verdicts
from plugins.judges.rules import Rules

SPECS = ("loan", "claims", "prior_authorization")


def of(made: type[CalibrationSet[Any]], spec: str, n_cases: int) -> CalibrationSet[Any]:
    settings = ReasonsSettings if made is Reasons else NoticesSettings
    domain = {"plugin": "regulated", "spec": spec}
    return made(settings(domain=domain, n_cases=n_cases))


def tried(judge: Judge[Any], chosen: CalibrationSet[Any]) -> Calibration:
    answers = list(chosen.answers())
    said = asyncio.run(verdicts(judge, answers, None))  # type: ignore[arg-type]
    return calibration("j", "s", answers, said, chosen.demand)


class Yes(Judge[NoSettings]):
    """Passes whatever it is shown, and counts what it is asked."""

    kind = "rule-based"
    asked = 0

    def entail(
        self, rationale: str, points: Sequence[ReasoningPoint], client: Any
    ) -> Sequence[Verdict]:
        self.asked += 1
        return [Verdict(id=point.id, met=True) for point in points]

    def audit(self, answer: Answer, standard: Standard, client: Any) -> Sequence[Verdict]:
        self.asked += 1
        return [Verdict(id=item.id, met=True) for item in standard.items]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("made", [Reasons, Notices])
def test_the_rules_pass_what_is_right_and_nothing_else(
    made: type[CalibrationSet[Any]], spec: str
) -> None:
    found = tried(Rules(NoSettings()), of(made, spec, 60))
    assert found.right.passed == found.right.n >= 14
    assert found.wrong.passed == 0
    assert found.wrong.n > 2 * found.right.n
    assert found.tells is True
    assert found.rates.demand == made.demand


@pytest.mark.slow
def test_letters_in_other_words_stand_in_the_place_that_they_are_of() -> None:
    letters = list(of(Letters, "loan", 40).answers())
    forms = {one.notice for one in of(Notices, "loan", 40).answers() if one.sort == "right"}
    assert {one.right for one in letters} == {True, False}
    assert not {one.notice for one in letters} & forms
    for one in letters:
        assert one.sort.startswith("right" if one.right else "wrong")
        if "We hereby approve" in one.notice:
            assert "decided to deny" in one.notice, "beside the letter"
        if "turned down" in one.notice:
            assert "decided to deny" not in one.notice, "in the place of the action"
    assert tried(Rules(NoSettings()), of(Letters, "loan", 40)).tells is True
    with pytest.raises(UserError, match="no line for the set letters"):
        _with("Dear applicant", "action", "No.", "length of employment")


@pytest.mark.slow
def test_the_rules_pass_letters_with_what_fcra_demands_and_none_without() -> None:
    found = tried(Rules(NoSettings()), of(FCRANotices, "loan", 200))
    assert found.right.passed == found.right.n >= 10
    assert found.wrong.passed == 0
    assert found.wrong.n > 2 * found.right.n
    assert found.rates.demand == "audit_fcra"
    assert "wrong: without fcra_dispute" in found.sorts
    with pytest.raises(UserError, match="no notice of"):
        list(of(FCRANotices, "claims", 40).answers())


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "least"), [("claims", 9), ("prior_authorization", 4)])
def test_the_rules_pass_letters_that_quote_word_for_word_and_no_others(
    spec: str, least: int
) -> None:
    answers = list(of(Quotes, spec, 40).answers())
    found = tried(Rules(NoSettings()), of(Quotes, spec, 40))
    assert found.right.passed == found.right.n >= 3 * least
    assert found.wrong.passed == 0
    assert found.wrong.n > 2 * found.right.n
    assert found.rates.demand == "audit_quote"
    letters = {one.notice for one in answers if one.sort == "right"}
    spoilt = [one for one in answers if one.sort == "wrong: without a word"]
    assert len(spoilt) == len(letters) >= least
    assert not {one.notice for one in spoilt} & letters


def test_a_domain_whose_standard_asks_for_no_quotation_is_named() -> None:
    assert Quotes.Settings().domain["spec"] == "claims"
    with pytest.raises(UserError, match="no notice of"):
        list(of(Quotes, "loan", 10).answers())


@pytest.mark.parametrize("made", [Reasons, Notices])
def test_a_judge_that_always_agrees_is_no_better_than_chance(
    made: type[CalibrationSet[Any]],
) -> None:
    judge = Yes(NoSettings())
    found = tried(judge, of(made, "loan", 40))
    assert found.wrong.passed == found.wrong.n
    assert found.rates.discrimination == 0
    assert found.tells is None
    # What one rationale is asked about is asked for at once.
    assert judge.asked < found.right.n + found.wrong.n or made is Notices


def test_a_wrong_rationale_has_no_right_wording_of_its_point() -> None:
    of_sort: dict[str, int] = {}
    for known in of(Reasons, "loan", 60).answers():
        of_sort[known.sort] = of_sort.get(known.sort, 0) + 1
        (point,) = (one for one in known.points if one.id == known.point)
        stated = point.text in known.rationale
        assert stated is known.right, known.sort
    assert min(of_sort.values()) >= 30
    assert {sort for sort in of_sort if sort.startswith("right")} == {
        "right", "right, in many words", "right, others left out",
    }  # fmt: skip


@pytest.mark.parametrize("made", [Reasons, Notices])
def test_a_domain_without_such_gold_is_named(made: type[CalibrationSet[Any]]) -> None:
    settings = {Reasons: ReasonsSettings, Notices: NoticesSettings}[made]
    domain = {"plugin": "longmemeval_synthetic"}
    with pytest.raises(UserError, match="longmemeval_synthetic has no"):
        list(made(settings(domain=domain, n_cases=4)).answers())
