"""The checks that a domain executes become columns; what it does not check stays undefined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from framework.records import Answer, Case
from tests.plugins.axes.helpers import DENIAL, SmallDomain, score, scored, values


class _Checked(SmallDomain):
    """Checks what the edit says, and counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        self.asked += 1
        return {"compliance": answer.edit == "right", "asserted_only": None}


@pytest.mark.parametrize(("edit", "held"), [("right", 1.0), ("wrong", 0.0)])
def test_the_domains_checks_become_columns_in_one_call(edit: str, held: float) -> None:
    domain = _Checked()
    found = score("compliance", replace(scored(Answer(edit=edit)), domain=domain))
    assert found.values == {"compliance": held, "merge_ready": None, "asserted_only": None}
    assert domain.asked == 1
    assert found.evidence == (f"compliance: {'yes' if held else 'no'}",)


def test_a_domain_without_checks_of_its_own_has_its_success() -> None:
    assert values("compliance", Answer(decision=DENIAL.decision))["compliance"] == 1.0
    assert values("compliance", Answer(decision="APPROVE"))["compliance"] == 0.0


def test_without_an_answer_nothing_is_checked() -> None:
    domain = _Checked()
    found = score("compliance", replace(scored(None), domain=domain))
    assert set(found.values.values()) == {None}
    assert domain.asked == 0
