"""sweep.json from hand-made rows: what is compared, on which cases, and what is flagged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework.analysis.evidence import Evidence, Job, of_sweep
from framework.analysis.sweep import sweep_summary
from framework.errors import UserError
from framework.records import Row, Usage
from framework.reporting.blocks import Cell, Note, Table
from framework.reporting.page import print_sweep
from framework.reporting.sections.overview import main_tables, notes
from plugins.sections.corpus import Corpus, Extraction

Values = Mapping[str, Sequence[float | None]]


def job(
    arm: str, values: Values, *, errors: Sequence[int] = (), **changed: Any
) -> tuple[dict[str, Any], list[Row]]:
    """A summary and the rows behind it; value number i is that of case number i."""
    n = max((len(v) for v in values.values()), default=0)
    run = {
        **{key: key for key in ("domain", "reader", "model", "judge", "protocol")},
        "prompts": "default@0",
        "arch": arm,
        "budget": "tight",
        "seed": 7,
        "n_cases": n,
        "repeats": 1,
        "model_kind": "rule-based",
        "judge_kind": "rule-based",
        "digest": arm,
    }
    fairness = {
        "unbudgeted": False,
        "budget_tokens": 1000,
        "mean_view_tokens_could_fill": None,
        **{k: v for k, v in changed.items() if k not in run},
    }
    run.update({k: v for k, v in changed.items() if k in run})
    rows = [
        Row(case_id=f"c{i}", arm=arm, error="RuntimeError: x")
        if i in errors
        else Row(case_id=f"c{i}", arm=arm, axes={axis: v[i] for axis, v in values.items()})
        for i in range(n)
    ]
    means = {axis: [x for x in v if x is not None] for axis, v in values.items()}
    summary = {
        "run": run,
        "headline": list(values),
        "axes": {
            axis: {"mean": sum(m) / len(m) if m else None, "ci_low": None, "ci_high": None,
                   "n": len(m), "method": "", "kind": "model-free"}
            for axis, m in means.items()
        },
        "budget_use": fairness,
        "ledger": {},
        "gate": {"name": "open", "passed": None, "findings": [], "reason": ""},
        "errors": {"n": len(errors), "kinds": {}},
    }  # fmt: skip
    return summary, rows


def combine(*jobs: tuple[dict[str, Any], list[Row]], **options: Any) -> dict[str, Any]:
    return sweep_summary(
        [summary for summary, _ in jobs],
        [rows for _, rows in jobs],
        [f"job{i}" for i in range(len(jobs))],
        **options,
    )


def pairs(found: dict[str, Any]) -> set[tuple[str, str, str, str]]:
    return {(r["budget"], r["axis"], r["arm_a"], r["arm_b"]) for r in found["comparisons"]}


ALL = [1.0] * 8
NONE = [0.0] * 8
HALF = [1.0, 0.0] * 4


def test_every_pair_of_arms_is_compared_on_the_same_cases() -> None:
    found = combine(job("x", {"eda": ALL}), job("y", {"eda": NONE}), job("z", {"eda": HALF}))
    assert pairs(found) == {("tight", "eda", *p) for p in (("x", "y"), ("x", "z"), ("y", "z"))}
    (row,) = (r for r in found["comparisons"] if (r["arm_a"], r["arm_b"]) == ("x", "y"))
    assert row["delta"] == 1.0
    assert row["permutation_p"] == pytest.approx(2 / 2**8)
    assert row["smallest_p"] == pytest.approx(2 / 2**8)
    assert row["holm_p"] == pytest.approx(3 * 2 / 2**8)
    assert row["mcnemar_p"] == pytest.approx(2 / 2**8)
    assert row["cohens_h"] == pytest.approx(3.14159265, abs=1e-6)
    assert row["conclusion"] == "a better"
    assert row["n"] == 8


def test_a_case_that_failed_in_one_arm_is_left_out_of_the_pair() -> None:
    found = combine(job("x", {"eda": ALL}, errors=[3]), job("y", {"eda": NONE}))
    (row,) = found["comparisons"]
    assert (row["n"], row["n_undefined"]) == (7, 1)


def test_an_arm_that_fails_in_every_case_leaves_the_pairs_of_the_others() -> None:
    """Its summary has no axes, wherever it stands among the jobs."""
    sound = [job("x", {"eda": ALL}), job("y", {"eda": NONE})]
    failed, rows = job("z", {"eda": ALL}, errors=range(8))
    failed["axes"] = {}
    for at in range(3):
        found = combine(*sound[:at], (failed, rows), *sound[at:])
        (row,) = (r for r in found["comparisons"] if (r["arm_a"], r["arm_b"]) == ("x", "y"))
        assert (row["n"], row["conclusion"]) == (8, "a better")


def test_too_few_cases_say_so() -> None:
    found = combine(job("x", {"eda": [1.0] * 5}), job("y", {"eda": [0.0] * 5}))
    (row,) = found["comparisons"]
    assert row["conclusion"] == "cannot conclude"
    assert row["smallest_p"] == pytest.approx(0.0625)


def test_where_lower_is_better_the_lower_arm_wins() -> None:
    """`wrongful_adverse` counts wrong denials."""
    found = combine(job("x", {"wrongful_adverse": ALL}), job("y", {"wrongful_adverse": NONE}))
    (row,) = found["comparisons"]
    assert row["delta"] == 1.0
    assert row["conclusion"] == "b better"


def test_an_axis_without_a_better_direction_has_no_winner() -> None:
    """`leak` tells luck from use: more of it is neither better nor worse."""
    found = combine(job("x", {"leak": ALL}), job("y", {"leak": NONE}))
    (row,) = found["comparisons"]
    assert (row["conclusion"], row["delta"]) == ("differs", 1.0)


@pytest.mark.parametrize(
    "other",
    [{"budget": "loose"}, {"reader": "verified"}, {"model": "m"}, {"seed": 8}, {"domain": "d"},
     {"repeats": 2}, {"protocol": "p"}, {"judge": "j"}],
    ids=lambda other: next(iter(other)),
)  # fmt: skip
def test_arms_are_compared_only_where_all_else_is_equal(other: dict[str, Any]) -> None:
    found = combine(job("x", {"eda": ALL}), job("y", {"eda": NONE}, **other))
    assert found["comparisons"] == []
    assert [j["directory"] for j in found["jobs"]] == ["job0", "job1"]


def test_one_arm_at_two_budgets_is_two_groups() -> None:
    found = combine(
        job("x", {"eda": ALL}),
        job("x", {"eda": HALF}, budget="loose"),
        job("y", {"eda": NONE}),
        job("y", {"eda": HALF}, budget="loose"),
    )
    assert pairs(found) == {("tight", "eda", "x", "y"), ("loose", "eda", "x", "y")}
    deltas = {r["budget"]: r["delta"] for r in found["comparisons"]}
    assert deltas == {"tight": 1.0, "loose": 0.0}


def test_a_baseline_and_axes_can_be_chosen() -> None:
    jobs = [job(arm, {"eda": ALL, "frp": HALF}) for arm in ("x", "y", "z")]
    found = combine(*jobs, baseline="y", axes=["frp"])
    assert pairs(found) == {("tight", "frp", "x", "y"), ("tight", "frp", "z", "y")}


def test_another_arm_changes_no_existing_interval() -> None:
    two = combine(job("x", {"eda": HALF}), job("y", {"eda": ALL}))
    three = combine(job("x", {"eda": HALF}), job("y", {"eda": ALL}), job("z", {"eda": NONE}))
    for key in ("delta", "ci_low", "ci_high", "permutation_p", "mcnemar_p", "cohens_h"):
        (before,) = (r[key] for r in two["comparisons"])
        after = [r[key] for r in three["comparisons"] if (r["arm_a"], r["arm_b"]) == ("x", "y")]
        assert after == [before]


def test_axes_are_correlated_over_cases_and_not_over_repeats() -> None:
    summary, rows = job("x", {"eda": [1, 0, 1, 0, 1, 1], "frp": [0.9, 0.1, 0.8, 0.3, 0.7, 0.6]})
    once = combine((summary, rows))["correlation"]
    import dataclasses

    repeats = [dataclasses.replace(row, repeat=s) for row in rows for s in range(4)]
    assert combine((summary, repeats))["correlation"] == once
    assert once["axes"] == ["eda", "frp"]
    assert once["n"] == [[6, 6], [6, 6]]
    assert once["rho"][0][1] == once["rho"][1][0] == pytest.approx(0.8281, abs=1e-3)


def test_a_constant_axis_has_no_correlation() -> None:
    found = combine(job("x", {"eda": ALL, "frp": HALF}))["correlation"]
    assert found["rho"][0][1] is None


@pytest.mark.parametrize(
    ("tokens", "flagged"), [((1000, 991), False), ((1000, 989), True), ((1000, None), False)]
)
def test_arms_that_could_fill_the_budget_and_differ_by_more_than_a_percent_are_flagged(
    tokens: tuple[float, float | None], flagged: bool
) -> None:
    jobs = [
        job(arm, {"eda": ALL}, mean_view_tokens_could_fill=t)
        for arm, t in zip("xy", tokens, strict=True)
    ]
    assert bool(combine(*jobs)["budget_flags"]) is flagged
    if flagged:
        assert "mean view of y is 989.0 tokens" in combine(*jobs)["budget_flags"][0]


@pytest.mark.parametrize(
    ("adapted", "why"), [(False, ""), (True, ", perhaps as its mapping asks for no more")]
)
def test_an_arm_that_offers_less_than_the_budget_is_flagged(adapted: bool, why: str) -> None:
    use = {"mean_view_tokens": 400, "could_fill": 0.25, "adapted": adapted}
    (flag,) = combine(job("x", {"eda": ALL}, **use))["budget_flags"]
    said = "tight: x offered less than the budget in 75% of its rows; its mean view is 400 of 1000"
    assert flag == f"{said} tokens{why}{' (arch.limit=null)' if adapted else ''}"


def test_an_unbudgeted_arm_is_not_flagged() -> None:
    jobs = [
        job("x", {"eda": ALL}, mean_view_tokens_could_fill=1000),
        job("y", {"eda": ALL}, mean_view_tokens_could_fill=9000, unbudgeted=True),
    ]
    assert combine(*jobs)["budget_flags"] == []


def test_models_are_compared_over_the_means_of_the_arms() -> None:
    def half(k: int) -> list[float]:
        return [1.0] * k + [0.0] * (8 - k)

    weak = [
        job(arm, {"eda": half(k)}, model="weak") for arm, k in zip("xyz", (1, 4, 6), strict=True)
    ]
    strong = [
        job(arm, {"eda": half(k)}, model="strong") for arm, k in zip("xyz", (2, 8, 7), strict=True)
    ]
    elsewhere = job("x", {"eda": half(0)}, model="strong", budget="loose")
    (found,) = combine(*weak, *strong, elsewhere)["model_agreement"]
    assert (found["budget"], found["axis"]) == ("tight", "eda")
    assert (found["model_a"], found["model_b"], found["n"]) == ("weak", "strong", 3)
    assert (found["same_order"], found["pairs"]) == (2, 3)
    assert found["largest_difference"] == 0.5
    assert found["largest_arm"] == "y"
    assert combine(*weak)["model_agreement"] == []
    other_judge = [(s | {"run": s["run"] | {"judge": "other"}}, rows) for s, rows in strong]
    assert combine(*weak, *other_judge)["model_agreement"] == []


def test_a_published_convention_stands_beside_ours() -> None:
    jobs = [
        job("x", {"eda": ALL}, errors=[3]),
        job("y", {"eda": NONE}),
        job("x", {"eda": ALL}, budget="loose"),
        job("y", {"eda": HALF}, budget="loose"),
    ]
    assert combine(*jobs)["published_convention"] is None
    found = combine(*jobs, published_convention="longhorizon")["published_convention"]
    (row,) = found["comparisons"]
    assert (row["arm_a"], row["arm_b"], row["n"]) == ("x", "y", 15)
    assert row["domain"] == "domain"
    assert (
        combine(*jobs, published_convention="longhorizon")["comparisons"]
        == combine(*jobs)["comparisons"]
    )
    with pytest.raises(UserError, match="did you mean 'longhorizon'"):
        combine(*jobs, published_convention="longhorizn")


def test_what_was_measured_of_the_corpus_and_extracted_is_kept_and_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of = {"precision": 0.5, "recall": 0.25, "found": 4, "given": 8}
    extra = {"corpus": {"drift": 0.31}, "extraction": {"edges": {"supersedes": of}},
             "warnings": ["mind this"]}  # fmt: skip
    one, rows = job("a", {"x": [1.0, 0.0]})
    found = combine(({**one, **extra}, rows), job("b", {"x": [1.0, 1.0]}))
    first, second = found["jobs"]
    assert {key: first[key] for key in extra} == extra
    assert (second["corpus"], second["extraction"], second["warnings"]) == ({}, {}, [])
    print_sweep(found)
    out = capsys.readouterr().out
    rows = [re.split(r"  +", line.strip()) for line in out.splitlines()]
    assert ["drift", "0.31"] in rows
    assert ["supersedes", "0.500", "0.250", "4", "8"] in [row[4:] for row in rows]
    assert "Warning: mind this" in out
    jobs = [
        Job(path=Path(), summary={**summary, **more}, manifest={}, rows=[])
        for (summary, _), more in ((job("a", {"x": [1.0]}), extra), (job("b", {"x": [1.0]}), {}))
    ]
    evidence = Evidence(path=Path(), jobs=jobs, sweep=found, plan={"jobs": []})
    _, table = Corpus().at_end(evidence)
    assert isinstance(table, Table)
    assert table.rows == [["drift", Cell(text="0.31", value=0.31)]]
    *_, edges = Extraction().at_end(evidence)
    assert isinstance(edges, Table)
    (row,) = edges.rows
    assert row[:5] == ["a", "domain", "tight", "edges", "supersedes"]
    assert [cell.value for cell in row[5:] if isinstance(cell, Cell)] == [0.5, 0.25, 4, 8]


def test_orders_are_of_one_setting_each() -> None:
    """Two readers order the arms otherwise: neither stands for both."""
    jobs = [
        job(arm, {"eda": ALL if arm == high else NONE}, model=model, reader=reader)
        for reader, high in (("commit", "x"), ("verified", "y"))
        for model in ("weak", "strong")
        for arm in "xy"
    ]
    found = combine(*jobs)["reader_agreement"]
    assert {one["reader"]: one["surviving"] for one in found} == {
        "commit": [["x", "y"]],
        "verified": [["y", "x"]],
    }


def test_what_a_session_costs_is_of_all_its_turns() -> None:
    def session(arm: str, tokens: int) -> tuple[dict[str, Any], list[Row]]:
        summary, _ = job(arm, {"eda": ALL})
        usage = {"answer": Usage(calls=1, tokens_in=tokens)}
        rows = [
            Row(case_id=f"c{i}", arm=arm, turn=turn, usage=usage, success=1.0, axes={"eda": 1.0})
            for i in range(len(ALL))
            for turn in (0, 1)
        ]
        return summary, rows

    (found,) = combine(session("x", 100), session("y", 200))["cost_effectiveness"]
    assert (found["mean_a"], found["mean_b"]) == (5.0, 2.5)


def test_a_sweep_says_of_how_many_cases_a_model_s_figures_are() -> None:
    """And what a constant answer earns: the terminal and `table` have sweep.json alone."""
    summary, rows = job("x", {"eda": ALL})
    known = {"unread": 3, "constants": {"DENY": 0.6, "PAY": 0.4}, "states": {"not offered": 2}}
    known["errors"] = {"n": 0, "of": len(ALL), "kinds": {}}
    evidence = of_sweep(combine((summary | known, rows), job("y", {"eda": NONE})))
    (found,) = main_tables(evidence)
    assert "always DENY would be right in at most 0.60" in found.caption
    assert f"figures with † are of {len(ALL) - 3}" in found.caption
    said = [block.text for block in notes(evidence) if isinstance(block, Note)]
    assert any(
        "x at tight: in 2 of 8 rows no answer was asked for (not offered)" in s for s in said
    )


def test_a_sweep_knows_which_systems_of_others_were_tested_before_their_runs() -> None:
    def said(found: dict[str, Any]) -> str:
        return " ".join(block.text for block in notes(of_sweep(found)) if isinstance(block, Note))

    theirs, other = (job(arm, {"eda": ALL}, adapted=True) for arm in ("theirs", "other"))
    for summary, _ in (theirs, other):
        summary["checks"] = {"keeps": {"passed": True}}
    found = combine(theirs, other)
    assert "Each was tested with known facts before its run." in said(found)
    del other[0]["checks"]
    assert "Not tested with known facts before the run: other;" in said(combine(theirs, other))
    for entry in found["jobs"]:
        del entry["checks"]
    assert "tested" not in said(found), "an older sweep.json does not say"
