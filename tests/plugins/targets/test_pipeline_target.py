"""Any pipeline as a target: what is correct, and for which reader its prompts are."""

from __future__ import annotations

from typing import Any

import pytest

from framework.errors import UserError
from framework.registry import find, settings_of
from plugins.targets.pipeline import PipelineSettings, PipelineTarget


def domain(name: str, **settings: Any) -> Any:
    plugin = find("domain", name)
    return plugin.cls(settings_of(plugin, settings))


def column(success: str | None, on: Any) -> str:
    return PipelineTarget(PipelineSettings(success=success)).on(on)._success


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("regulated", "eda"),
        ("governance", "compliance"),
        ("codebase", "compliance"),
        ("longmemeval_synthetic", "answer_correct"),
        ("text_to_sql", "execution_correct"),
    ],
)
def test_a_domain_has_its_own_column_of_success(name: str, own: str) -> None:
    settings = {"spec": "loan"} if name == "regulated" else {}
    assert column(None, domain(name, **settings)) == own


def test_another_column_of_the_domain_may_be_named() -> None:
    assert column("merge_ready", domain("governance")) == "merge_ready"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("eda", "no column 'eda'.*allowed: .*compliance"),
        ("complience", "did you mean 'compliance'"),
    ],
)
def test_a_column_that_the_domain_does_not_have_is_refused(given: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        column(given, domain("governance"))


def test_a_domain_without_a_column_of_success_is_told_of_its_columns() -> None:
    class Unanswered(type(domain("governance"))):  # type: ignore[misc]
        axes = ("ranking",)

    with pytest.raises(UserError, match=r"target\.success: .*name one of its columns: .*mrr"):
        column(None, Unanswered(domain("governance").settings))
