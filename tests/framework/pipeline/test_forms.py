"""The forms of wording that a rule-based model reads, where it only builds or searches a memory."""

from __future__ import annotations

import pytest

from framework.engine.compose import compose_plan, composer
from tests.framework.pipeline.test_pipeline import run


@pytest.mark.parametrize(
    ("arch", "read"), [("grep_agentic", {"development"}), ("bm25", {"development", "held_out"})]
)
def test_what_a_model_searches_is_of_the_forms_that_it_reads_though_nothing_is_answered(
    arch: str, read: set[str]
) -> None:
    with composer():
        words = ["domain=governance", "protocol=retrieve", f"arch={arch}", "tracking=none"]
        plan = compose_plan([*words, "budget=absolute", "n_cases=40"])
    rows = run(plan, answer=False)
    assert not [row.error for row in rows if row.error]
    assert {row.tags["form"] for row in rows} == {"development", "held_out"}
    assert {row.tags["form"] for row in rows if row.form_read} == read
