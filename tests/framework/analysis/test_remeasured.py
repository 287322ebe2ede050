"""Runs of several seeds as one: whose cases they are, what is compared, and what stays apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework.analysis.evidence import of_sweep, redacted
from framework.analysis.remeasured import over_seeds
from framework.cli import main
from framework.records import Row
from framework.reporting.sections.verdict import verdict
from framework.store.directory import COMPARISON, SWEEP
from framework.store.former import read_json
from tests.framework.analysis.test_sweep_summary import combine, job
from tests.launching import run

Made = tuple[dict[str, Any], list[Row]]


def of_seed(arm: str, values: Sequence[float], seed: int, *, same: bool = False) -> Made:
    """Ten cases of a seed; of another seed they bear the same ids, and are others unless `same`."""
    summary, rows = job(arm, {"eda": values}, seed=seed)
    summary["ledger"] = {"total": {}}
    history = "h" if same else f"h{seed}"
    return summary, [
        replace(row, history_id=f"{history}{i}", cluster=f"k{i}") for i, row in enumerate(rows)
    ]


ONES, ZEROS = [1.0] * 10, [0.0] * 10


def test_other_cases_of_other_seeds_are_compared_as_one_set_and_clusters_stay_apart() -> None:
    found = combine(
        *(of_seed("x", ONES, seed) for seed in (1, 2, 3)),
        *(of_seed("y", ZEROS, seed) for seed in (1, 2, 3)),
    )
    assert [row["n"] for row in found["comparisons"]] == [10, 10, 10]
    (row,) = found["over_seeds"]["comparisons"]
    assert (row["n"], row["delta"], row["seed"]) == (30, 1.0, "1 to 3")
    x, y = found["over_seeds"]["jobs"]
    assert (x["run"]["n_cases"], x["run"]["seed"]) == (30, "1 to 3")
    assert (x["axes"]["eda"]["mean"], y["axes"]["eda"]["mean"]) == (1.0, 0.0)
    (group,) = of_sweep(found).over_seeds.groups
    assert (group.differs, group.arms) == ("seeds 1 to 3", ["x", "y"])


def test_the_same_cases_under_several_seeds_are_repeats_of_each() -> None:
    found = combine(
        of_seed("x", ONES, 1, same=True),
        of_seed("x", ZEROS, 4, same=True),
        of_seed("y", ZEROS, 1, same=True),
        of_seed("y", ZEROS, 4, same=True),
    )
    (row,) = found["over_seeds"]["comparisons"]
    assert (row["n"], row["delta"], row["seed"]) == (10, 0.5, "1, 4")
    assert found["over_seeds"]["jobs"][0]["axes"]["eda"]["n"] == 10


def test_arms_that_were_not_all_made_with_the_same_seeds_stay_apart() -> None:
    found = combine(of_seed("x", ONES, 1), of_seed("x", ONES, 2), of_seed("y", ZEROS, 1))
    assert found["over_seeds"] is None
    assert of_sweep(found).over_seeds.groups == of_sweep(found).groups


def test_one_seed_has_nothing_to_put_together_and_a_loop_has_rows_of_several_sets() -> None:
    one = [of_seed("x", ONES, 1), of_seed("y", ZEROS, 1)]
    loops = [of_seed("x", ONES, seed) for seed in (1, 2)]
    for summary, _ in loops:
        summary["run"]["protocol"] = "improve"
    for runs in (one, loops):
        assert over_seeds([s for s, _ in runs], [r for _, r in runs]) == ([], [])


def test_an_error_of_one_seed_is_counted_in_the_runs_together() -> None:
    summary, rows = of_seed("x", ONES, 2)
    rows[3] = replace(rows[3], axes={}, error="RuntimeError: x")
    found = combine(of_seed("x", ONES, 1), (summary, rows))
    (x,) = found["over_seeds"]["jobs"]
    assert (x["errors"]["n"], x["errors"]["of"]) == (1, 20)
    assert x["errors"]["commonest"] == "RuntimeError: x"
    assert x["axes"]["eda"]["n"] == 19


def test_a_sweep_over_seeds_says_what_they_give_together_and_verify_makes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("domain=governance", "domain.depth=1", "protocol=retrieve", "budget=absolute")
    done = run(capsys, "-m", *given, "arch=none,oracle", "seed=1,2", "n_cases=20", "tracking=none")
    sweep = read_json((done.directory / SWEEP).read_text(encoding="utf-8"))
    (row,) = (r for r in sweep["over_seeds"]["comparisons"] if r["axis"] == "recall")
    assert row["n"] == 40 == 2 * min(r["n"] for r in sweep["comparisons"])
    assert "Seeds 1, 2 together: " in " ".join(done.out.split())
    page = (done.directory / "report.md").read_text(encoding="utf-8")
    assert "Each seed alone" in page
    assert "40 cases, seeds 1, 2" in page
    assert main(["verify", str(done.directory)]) == 0
    text = (done.directory / SWEEP).read_text(encoding="utf-8")
    forged = text.replace('"seed": "1, 2"', '"seed": "1 to 9"')
    assert forged != text
    (done.directory / SWEEP).write_text(forged, encoding="utf-8")
    capsys.readouterr()
    assert main(["table", str(done.directory)]) == 0
    said = capsys.readouterr().err
    assert f"the comparisons of {SWEEP} are not those of {COMPARISON}" in said
    assert main(["verify", str(done.directory)]) == 1


def test_an_arm_whose_first_seed_failed_has_the_means_of_the_others() -> None:
    summary, rows = of_seed("x", ONES, 1)
    summary["axes"] = {}
    failed = [replace(row, axes={}, error="RuntimeError: x") for row in rows]
    runs = [(summary, failed), of_seed("x", ONES, 2), of_seed("x", ONES, 3)]
    found = combine(*runs, *(of_seed("y", ZEROS, seed) for seed in (1, 2, 3)))
    x = found["over_seeds"]["jobs"][0]
    assert (x["axes"]["eda"]["mean"], x["axes"]["eda"]["n"]) == (1.0, 20)


def test_clusters_of_seeds_that_draw_from_one_set_are_one_whether_or_not_their_cases_meet() -> None:
    """Two draws of one file, of which the second has other cases of the same clusters."""
    first, second = of_seed("x", ONES, 1, same=True), of_seed("x", ONES, 2, same=True)
    others = [replace(row, case_id=f"other{row.case_id}") for row in second[1]]
    summaries, joined = over_seeds([first[0], second[0]], [first[1], others])
    assert summaries[0]["run"]["n_cases"] == 20
    assert len({row.cluster for row in joined[0]}) == 10


def test_a_seed_is_named_at_each_budget_by_the_runs_of_that_budget() -> None:
    tight = [of_seed(arm, ONES, seed) for arm in "xy" for seed in (1, 2)]
    loose = [of_seed(arm, ONES, 1) for arm in "xy"]
    for summary, _ in loose:
        summary["run"]["budget"] = "loose"
    found = combine(*tight, *loose)["over_seeds"]
    assert {(r["budget"], r["seed"]) for r in found["comparisons"]} == {
        ("tight", "1, 2"),
        ("loose", 1),
    }
    assert {(j["run"]["budget"], j["run"]["seed"]) for j in found["jobs"]} == {
        ("tight", "1, 2"),
        ("loose", 1),
    }


def test_words_of_a_case_are_left_out_of_the_runs_together_too() -> None:
    runs = []
    for seed in (1, 2):
        summary, rows = of_seed("x", ONES, seed)
        said = "ValueError: decision 'JOHN DOE' is none"
        failed = [replace(row, axes={}, error=said) for row in rows]
        summary["axes"] = {}
        summary["errors"] = {"n": 10, "of": 10, "kinds": {"ValueError": 10}, "commonest": said}
        runs.append((summary, failed))
    evidence = redacted(of_sweep(combine(*runs)))
    told = " ".join(str(block) for block in verdict(evidence))
    assert "Every row failed, 20 of 20; most often: ValueError" in told
    assert "JOHN DOE" not in told
