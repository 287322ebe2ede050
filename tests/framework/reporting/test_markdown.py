"""Markdown tables of a sweep: one a setting, none mixed with another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.analysis.evidence import of_sweep
from framework.analysis.summary import SETTING
from framework.reporting.markdown import blocks_markdown
from framework.reporting.sections.overview import main_tables


def job(domain: str, budget: str, arch: str, mean: float) -> dict[str, Any]:
    axis = {"mean": mean, "ci_low": mean, "ci_high": mean, "kind": "model-free"}
    told = dict.fromkeys(("sees_task", "knows_schema", "gold_edges", "sees_gold"), False)
    return {
        "directory": arch,
        "run": {
            **dict.fromkeys(SETTING, "x"),
            "domain": domain,
            "budget": budget,
            "arch": arch,
            "model": "extractive",
            "model_kind": "rule-based",
            "reader": "commit",
            "n_cases": 3,
        },
        "headline": ["recall"],
        "axes": {"recall": axis},
        "budget_use": {
            **told,
            "unbudgeted": False,
            "query": "task",
            "budget_at": "none",
            "budget_tokens": 100,
            "mean_view_tokens": 99.0,
        },
    }


JOBS = [
    job("plain", "tight", "bm25", 0.5),
    job("masked", "tight", "bm25", 0.25),
    job("plain", "loose", "bm25", 0.75),
]


def sweep_table(sweep: Mapping[str, Any], budget: str | None = None) -> str:
    return blocks_markdown(main_tables(of_sweep({**sweep, "comparisons": []}), budget), brief=True)


def test_domains_and_budgets_have_a_table_each() -> None:
    text = sweep_table({"jobs": JOBS})
    titles = [line for line in text.splitlines() if line.startswith("**")]
    assert [title.split(",")[0] for title in titles] == ["**plain", "**plain", "**masked"]
    assert [line.split("|")[2].split()[0] for line in text.splitlines() if "| bm25" in line] == [
        "0.50",
        "0.75",
        "0.25",
    ]


def test_one_budget_of_several() -> None:
    text = sweep_table({"jobs": JOBS}, "tight")
    assert text.count("**plain") == 1
    assert sweep_table({"jobs": JOBS}, "wide") == ""
