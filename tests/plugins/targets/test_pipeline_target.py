"""Any pipeline as a target: what is correct, and for which reader its prompts are."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Outcome
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
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
        provides = ("evidence",)

    with pytest.raises(UserError, match=r"target\.success: .*name one of its columns: .*mrr"):
        column(None, Unanswered(domain("governance").settings))


def test_evidence_says_what_the_answer_states_of_the_facts() -> None:
    async def outcomes() -> list[Outcome]:
        with composer():
            plan = compose_plan(
                [
                    "protocol=improve",
                    "target=pipeline",
                    "domain=loan",
                    "domain.query_form=labels",  # so that BM25 finds facts in a few cases
                    "arch=bm25",
                    "tracking=none",
                ]
            )
        loan = plan.parts["domain"].create()
        target = plan.parts["target"].create().on(loan)
        pipeline = replace(build_pipeline(plan, loan), traces_sources=True)
        cases = {case.id: case for case in loan.cases(4, 5)}
        rows = pipeline.rows(cases.values(), frozenset(), answer=True, k=None)
        return [target.outcome(cases[row.case_id], row, record) async for row, record in rows]

    pieces = [piece for outcome in asyncio.run(outcomes()) for piece in outcome.turns]
    assert {piece.used for piece in pieces} == {True, False, None}
    assert all(piece.in_view for piece in pieces if piece.used)
