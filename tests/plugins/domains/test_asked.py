"""What a shipped domain is asked, its tables answer: the headline says whether it is right."""

from __future__ import annotations

from typing import Any, Final

import pytest

from framework.contracts import Domain
from framework.registry import find, settings_of
from tests.plugins.domains.regulated.support import SEED
from tests.plugins.domains.test_sufficiency import shipped

SHOWN_BY: Final = {
    "decide": "decision",
    "answer_question": "answer",
    "answer_from_sessions": "answer",
    "plan_actions": "actions",
    "propose_edit": "edit",
    "write_patch": "edit",
    "write_sql": "query",
}
"""By operation that answers a task, what of `PROVIDED` says whether it was answered right."""


ASKED: Final = [
    (name, values)
    for name, values in shipped()
    if any(find("protocol", p).cls.answers for p in find("domain", name).cls.protocols)
]
"""The domains that a reader answers in."""


def test_two_domains_have_no_reader() -> None:
    without = {name for name, _ in shipped()} - {name for name, _ in ASKED}
    # Whether a task of swe_contextbench is solved takes its repository.
    assert without == {"lifecycle", "swe_contextbench"}


@pytest.mark.parametrize(("name", "values"), ASKED)
def test_what_a_domain_asks_is_in_its_headline(name: str, values: dict[str, Any]) -> None:
    plugin = find("domain", name)
    domain: Domain[Any] = plugin.cls(settings_of(plugin, values))
    axes = [find("axis", axis).cls for axis in domain.axes()]
    for operation in {case.task.operation for case in domain.cases(20, SEED)}:
        asked = SHOWN_BY[operation]
        assert asked in domain.provides
        columns = {column for axis in axes if asked in axis.needs for column in axis.names}
        assert columns & set(domain.headline), (operation, domain.headline)
        assert domain.success_axis in columns
    assert domain.success_axis in domain.headline


@pytest.mark.parametrize(("name", "values"), ASKED)
def test_a_reader_may_answer_in_every_domain(name: str, values: dict[str, Any]) -> None:
    answering = [p for p in find("domain", name).cls.protocols if find("protocol", p).cls.answers]
    assert "evaluate" in answering
