"""The verdict: made of the numbers; it calls nothing better that is undecided."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest

from framework.analysis.evidence import of_run, of_sweep
from framework.analysis.verdict import leading_job
from framework.errors import UserError
from framework.reporting.blocks import Listing, Note
from framework.reporting.page import write_report
from framework.reporting.sections.verdict import verdict
from plugins.tracking._content import sweep_upload
from tests.framework.analysis.test_sweep_summary import ALL, HALF, NONE, combine, job
from tests.launching import HOTPOT, LOAN, framework, read_json, run

COST = {"ci_low": None, "ci_high": None, "n": 8, "method": "", "kind": "rule-based"}


def said(found: dict[str, Any]) -> str:
    return " ".join(sentences(found))


def sentences(found: dict[str, Any]) -> list[str]:
    (listing,) = (b for b in verdict(of_sweep(found)) if isinstance(b, Listing))
    return list(listing.items)


def test_a_decided_difference_names_the_better_arm_and_by_how_much() -> None:
    text = said(combine(job("x", {"eda": ALL}), job("y", {"eda": NONE}), baseline="y"))
    assert "Highest eda: at tight (1,000 tokens) x, 1.00, better than y by +1.00" in text
    assert "The comparison was decided." in text


def test_an_undecided_arm_is_not_called_better() -> None:
    few = combine(job("x", {"eda": [1.0] * 4}), job("y", {"eda": [0.0] * 4}), baseline="y")
    assert "not shown to be better than y: +1.00" in said(few)
    pairs = combine(*(job(a, {"eda": [float(a == "x")] * 4}) for a in "xyz"))
    assert "x, 1.00, not told apart from y and z" in said(pairs)
    for text in (said(few), said(pairs)):
        assert ", better than" not in text
        assert "because of too few cases" in text


def test_an_interval_without_0_that_decides_nothing_is_explained() -> None:
    means = {"x": [1.0] * 6, "y": [0.0] * 6, "z": [0.0] * 6}
    text = said(combine(*(job(arm, {"eda": m}) for arm, m in means.items()), baseline="y"))
    assert "better than y: +1.00 (+" in text
    assert "undecided after adjustment for all comparisons" in text


def test_where_rules_made_the_best_memory_the_best_without_a_model_is_named_too() -> None:
    arms = [job("ruled", {"eda": ALL}), job("x", {"eda": HALF}), job("y", {"eda": NONE}),
            job("gold", {"eda": ALL}, sees_gold=True)]  # fmt: skip
    arms[0][0]["axes"]["eda"]["kind"] = "rule-based"
    first, *_ = sentences(combine(*arms, baseline="y"))
    assert first.startswith("Highest eda: at tight (1,000 tokens) ruled, 1.00†, better than y")
    assert ", and among arms without † x, 0.50, " in first
    assert "of arms without" not in said(combine(arms[0], arms[1], arms[3]))
    assert "of arms without" not in said(combine(*arms[1:]))


def test_arms_of_one_mean_lead_together() -> None:
    text = said(combine(job("x", {"eda": HALF}), job("y", {"eda": HALF}), job("z", {"eda": NONE})))
    assert "x and y tied, 0.50" in text


def test_a_leader_some_of_whose_rows_failed_is_told_with_them() -> None:
    arms = [job("x", {"eda": ALL}, errors=[0, 3]), job("y", {"eda": NONE}, errors=[1])]
    assert "(1,000 tokens) x, 1.00, not counting 2 failed rows, " in said(combine(*arms))


def test_where_lower_is_better_the_lowest_leads() -> None:
    axis = "wrongful_adverse"
    text = said(combine(job("x", {axis: ALL}), job("y", {axis: NONE}), baseline="x"))
    assert f"Lowest {axis}: at tight (1,000 tokens) y, 0.00, better than x by -1.00" in text


def test_an_axis_without_direction_has_no_leader() -> None:
    assert list(verdict(of_sweep(combine(job("x", {"leak": ALL}), job("y", {"leak": NONE}))))) == []


def test_what_sees_gold_or_has_no_budget_is_no_choice() -> None:
    arms = [job("x", {"eda": HALF}), job("gold", {"eda": ALL}, sees_gold=True),
            job("all", {"eda": ALL}, unbudgeted=True)]  # fmt: skip
    assert "Highest eda: at tight (1,000 tokens) x, 0.50" in said(combine(*arms))


def test_the_cost_is_the_whole_with_what_building_the_memory_takes() -> None:
    arms = [job(arm, {"eda": HALF}) for arm in ("x", "y")]
    for (summary, _), built in zip(arms, (9000.0, 0.0), strict=True):
        summary["axes"]["ingest_to_correct"] = {**COST, "mean": built}
        summary["axes"]["cost_to_correct"] = {**COST, "mean": 1000.0}
    assert "at tight y 1,000, x 10,000 (9,000 to build)" in said(combine(*arms))


def test_an_arm_that_shows_nothing_is_not_the_cheapest_memory() -> None:
    given = (("x", ALL, 900), ("y", HALF, 900), ("empty", NONE, 0))
    arms = [job(arm, {"eda": mean}, max_view_tokens=size) for arm, mean, size in given]
    for (summary, _), whole in zip(arms, (3000.0, 2000.0, 1000.0), strict=True):
        summary["axes"]["ingest_to_correct"] = {**COST, "mean": 0.0}
        summary["axes"]["cost_to_correct"] = {**COST, "mean": whole}
    assert "at tight y 2,000, x 3,000." in said(combine(*arms))
    marked = said({**combine(*arms, baseline="empty"), "baseline": "empty"})
    assert "at tight empty 1,000 (with an empty view), y 2,000, x 3,000." in marked


def _adapted(
    size: int,
    kept: list[float],
    right: list[float],
    *,
    ours: Any = None,
    floor: Sequence[float] = HALF,
    **declared: Any,
) -> str:
    """What is said of a third-party system beside an arm that shows nothing and is right by half.

    ours : the values of an arm of ours that shows something, where there is one.
    """
    arms = []
    beside = [("ours", ours, 900)] if ours else []
    for arm, values, tokens in (
        ("floor", (NONE, floor), 0),
        ("theirs", (kept, right), size),
        *beside,
    ):
        summary, rows = job(
            arm, {"surface_ceiling": values[0], "eda": values[1]}, max_view_tokens=tokens
        )
        summary["headline"], summary["success_axis"] = ["surface_ceiling", "eda"], "eda"
        summary["axes"]["surface_ceiling"]["kind"] = "model-free"
        summary["axes"]["eda"]["kind"] = "rule-based"
        if arm == "theirs":
            summary["budget_use"].update(declared)
        arms.append((summary, rows))
    return said(combine(*arms))


def test_a_system_of_others_that_is_no_better_than_no_memory_is_suspected() -> None:
    suspected = "Suspected adapter fault (no better than no memory): theirs at tight ("
    assert f"{suspected}eda 0.00, floor 0.50)" in _adapted(900, HALF, NONE, adapted=True)
    assert f"{suspected}surface_ceiling 0.00, floor 0.00)" in _adapted(900, NONE, ALL, adapted=True)
    assert f"{suspected}it shows nothing in any case, " in _adapted(0, NONE, HALF, adapted=True)
    assert "`decisionbench probe theirs`" in _adapted(0, NONE, HALF, adapted=True)
    assert "Suspected" not in _adapted(900, HALF, HALF, adapted=True)
    assert "Suspected" not in _adapted(900, HALF, NONE), "an arm of ours has no adapter"
    at_the_floor = _adapted(900, NONE, ALL, adapted=True, ours=(NONE, ALL))
    assert "Suspected" not in at_the_floor, "a budget too small for any arm says nothing of one"
    above_it = _adapted(900, NONE, ALL, adapted=True, ours=(HALF, ALL))
    assert f"{suspected}surface_ceiling 0.00, floor 0.00)" in above_it
    below_it = _adapted(900, HALF, NONE, adapted=True, ours=(NONE, NONE))
    assert "Suspected" not in below_it
    excused = "Worse than no memory, and no arm of ours is above it either: theirs at tight ("
    assert f"{excused}eda 0.00, floor 0.50)." in below_it
    worse = _adapted(900, HALF, NONE, adapted=True, floor=ALL, ours=(HALF, ALL))
    assert f"{suspected}eda 0.00, floor 1.00)" in worse, "an arm of ours is shown to be better"
    arms = []
    for arm, kept, right, size in (
        ("floor", NONE, ALL, 0),
        ("theirs", HALF, NONE, 900),
        ("ours", HALF, NONE, 900),
        ("gold", ALL, ALL, 900),
    ):
        summary, rows = job(arm, {"surface_ceiling": kept, "eda": right}, max_view_tokens=size)
        summary["headline"], summary["success_axis"] = ["surface_ceiling", "eda"], "eda"
        declared = {"theirs": {"adapted": True}, "gold": {"sees_gold": True}}.get(arm, {})
        summary["budget_use"].update(declared)
        arms.append((summary, rows))
    found = combine(*arms, baseline="theirs")
    pair = {"arm_a": "gold", "arm_b": "theirs", "axis": "eda", "conclusion": "a better"}
    assert any(pair.items() <= row.items() for row in found["comparisons"])
    assert f"{excused}eda 0.00, floor 1.00)." in said(found), "gold is no memory of ours"
    both = _adapted(900, NONE, NONE, adapted=True, ours=(HALF, NONE))
    assert f"{suspected}surface_ceiling 0.00, floor 0.00, eda 0.00, floor 0.50, and no" in both


def test_gold_that_keeps_less_than_the_whole_history_is_told() -> None:
    def told(kept: Any, fill: float | None = 0.0, **changed: Any) -> str:
        gold = job("gold", {"p_ret": kept}, sees_gold=True, could_fill=fill, **changed)
        return said(combine(gold, job("all", {"p_ret": ALL}, unbudgeted=True)))

    wrong = "The gold of domain is wrong or incomplete: gold, which shows all of it, "
    assert f"{wrong}has p_ret 0.500 at tight; all has 1.000." in told(HALF)
    assert "The gold of" not in told(ALL)
    assert "The gold of" not in told(HALF, 0.25), "it did not fit"
    assert "The gold of" not in told(HALF, errors=[0]), "they are not of the same cases"
    assert "The gold of" not in told(HALF, budget="loose"), "another budget"


def _rich(arm: str, kind: str, *, failed: bool = False, **changed: Any) -> Any:
    """An arm with two chief axes, a cost and, where all its rows failed, an error for each."""
    mean = ALL if arm == "a" else HALF
    summary, rows = job(arm, {"surface_ceiling": mean, "eda": mean}, **changed)
    summary["success_axis"] = "eda"
    for axis in ("surface_ceiling", "eda"):
        summary["axes"][axis]["kind"] = kind if axis == "surface_ceiling" else "rule-based"
    for axis in ("ingest_to_correct", "cost_to_correct"):
        summary["axes"][axis] = {**COST, "mean": 10.0}
    if failed:
        n = len(rows)
        summary["errors"] = {"n": n, "of": n, "kinds": {}, "commonest": "no answer"}
    return summary, rows


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("n_settings", range(1, 8))
def test_a_verdict_has_three_to_five_sentences(n_settings: int, failed: bool) -> None:
    jobs = [
        _rich(arm, "rule-based" if arm == "a" else "model-free",
              failed=failed, reader=f"r{of}", budget=budget, digest=f"{arm}{of}{budget}")
        for of in range(n_settings)
        for budget in ("tight", "moderate", "loose", "whole")
        for arm in "abcd"
    ]  # fmt: skip
    found = sentences({**combine(*jobs, baseline="b"), "baseline": "b"})
    assert 3 <= len(found) <= 5, found
    assert any("among arms without † " in text for text in found)
    assert not [text for text in found if ". " in text], "each is one sentence"
    told = len([text for text in found if "Highest" in text])
    settings = told if n_settings > 1 else 1
    if n_settings > settings:
        left = n_settings - settings
        assert f"In the tables: {left} more setting{'s' * (left > 1)}." in found
    assert found[-1].startswith("Undecided") or found[-1].startswith("All ")
    assert "model" in found[-2]
    if not failed:
        assert any("including building the memory" in text for text in found)


def test_whether_a_language_model_took_part() -> None:
    axes = {"eda": HALF}
    assert "No model took part: every figure is model-free." in said(combine(job("x", axes)))
    ruled, rows = job("x", axes)
    ruled["axes"]["eda"]["kind"] = "rule-based"
    text = said(combine((ruled, rows)))
    assert "x, 0.50†" in text or "eda: at tight (1,000 tokens) x, 0.50†" in text
    assert "No language model took part" in text
    asked, rows = job("x", axes, model_kind="llm", model="m-1")
    asked["axes"]["eda"]["kind"] = "measured with an LLM"
    assert "A language model took part (m-1)." in said(combine((asked, rows)))
    asked["axes"]["eda"]["kind"] = "judged by rules"
    text = said(combine((asked, rows)))
    assert "x, 0.50§" in text
    assert "A language model took part (m-1); values marked § were judged by rules." in text
    silent, rows = job("x", {"p_ret": HALF}, model_kind="llm", model="m-1")
    assert "m-1 answered nothing: every figure is model-free." in said(combine((silent, rows)))


@pytest.mark.parametrize(
    ("share", "told"), [(0.5, True), (0.75, True), (0.25, False), (None, False)]
)
def test_a_leader_that_is_not_above_one_answer_to_all_is_told_with_it(
    share: float | None, told: bool
) -> None:
    arms = [job("x", {"eda": HALF}), job("y", {"eda": NONE})]
    for summary, _ in arms:
        summary["success_axis"] = "eda"
        summary["constants"] = {} if share is None else {"DENY": share, "APPROVE": 0.1}
    text = said(combine(*arms, baseline="y"))
    assert ("not above" in text) == told
    assert not told or f", not above DENY for every case ({share:.2f})" in text


def test_one_run_says_that_it_compares_nothing() -> None:
    summary, _ = job("x", {"eda": HALF})
    (_, listing, *_) = verdict(of_run(summary))
    assert isinstance(listing, Listing)
    assert listing.items[0] == "eda: at tight (1,000 tokens) x, 0.50."
    assert listing.items[-1].startswith("One arm alone can't be called good or bad")


@pytest.mark.slow
def test_terminal_page_and_tracking_begin_with_the_same_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arms = ("arch=none,bm25", "budget=tight,loose", "baseline=none", "hydra.sweep.dir=many")
    done = run(capsys, "-m", *HOTPOT, *arms, "report=true")
    found = sentences(read_json(tmp_path / "many/sweep.json"))
    assert 3 <= len(found) <= 5
    text = "\n".join(f"- {sentence}" for sentence in found)
    for budget in ("tight", "loose"):
        assert f"at {budget} (" in text
    assert " ".join(done.out.split()).startswith(f"Verdict {' '.join(text.split())}")
    lines = done.out.splitlines()
    assert [line.split(":")[0] for line in lines[-5:]] == ["page", *["next"] * 3, "sweep"]
    for line in lines[-4:-1]:
        command, *words = shlex.split(line.removeprefix("next: "), comments=True)
        assert command == "decisionbench"
        shown = framework(capsys, *words)
        assert shown.status == 0, (line, shown.err)
        if words[0] == "show":
            assert "-bm25-" in words[1], "an arm that kept something"
    write_report(tmp_path / "many")
    page = (tmp_path / "many/report.md").read_text().replace("\\", "")
    assert page.split("\n\n")[1:3] == ["## Verdict", text]
    html = (tmp_path / "many/report.html").read_text()
    assert html.partition("<main>")[2].lstrip().startswith('<h2 id="verdict">Verdict</h2>')
    note = sweep_upload(tmp_path / "many").tags["mlflow.note.content"].replace("\\", "")
    assert note.split("\n\n")[:2] == ["## Verdict", text]


@pytest.mark.slow
def test_a_sweep_that_was_read_says_of_success_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("arch=none,oracle,bm25", "n_cases=12", "hydra.sweep.dir=many")
    assert run(capsys, "-m", *LOAN, *given).status == 0
    text = said(read_json(tmp_path / "many/sweep.json"))
    assert "Highest surface_ceiling: " in text
    assert "Highest eda (right answers): " in text
    assert "Cost of a right answer in model tokens, including building the memory" in text


def told(*jobs: Any, **changed: Any) -> list[str]:
    blocks = verdict(of_sweep(combine(*jobs, **changed)))
    return [block.text for block in blocks if isinstance(block, Note)]


def test_a_result_without_floor_or_ceiling_says_what_to_add() -> None:
    alone = [job("x", {"eda": ALL}), job("y", {"eda": NONE})]
    floor = job("empty", {"eda": NONE}, max_view_tokens=0)
    ceiling = job("gold", {"eda": ALL}, sees_gold=True)
    assert told(*alone) == ["Floor and ceiling not run: add arch=none,oracle."]
    assert told(*alone, floor) == ["Ceiling not run: add arch=oracle."]
    assert told(*alone, ceiling) == ["Floor not run: add arch=none."]
    assert told(*alone, floor, ceiling) == []
    swept = [job("x(hops=1)", {"eda": ALL}), job("x(hops=2)", {"eda": NONE}), floor]
    assert told(*swept) == ["Ceiling not run: add arch=oracle in a run of its own."]


def test_a_protocol_without_such_ends_asks_for_none() -> None:
    pair = [job(arm, {"eda": ALL}, protocol="lifecycle") for arm in "xy"]
    assert told(*pair) == []


def _held(found: dict[str, Any], *arms: str) -> dict[str, Any]:
    """The sweep, where the bounds within the family left its comparisons with arms open."""
    for row in found["comparisons"]:
        if {row["arm_a"], row["arm_b"]} & set(arms):
            row.update(conclusion="undecided", holm_p=0.01)
    return found


def test_why_a_leader_is_not_told_apart_is_said_in_a_few_words() -> None:
    arms = [job(arm, {"eda": ALL if arm == "x" else NONE}) for arm in "xyz"]
    held = "the bounds within the family contain 0"
    text = said(_held(combine(*arms), "x"))
    assert f"x, 1.00, not told apart from y and z ({held})" in text
    alone = said(_held(combine(*arms[:2], baseline="y"), "x"))
    assert f"better than y: +1.00 (+.35 to +1.0), undecided ({held})" in alone
    few = combine(*(job(a, {"eda": [float(a == "x")] * 4}) for a in "xyz"))
    assert "not told apart from y and z (too few cases)" in said(few)
    assert f"not told apart from y (too few cases), nor from z ({held})" in said(_held(few, "z"))


def test_the_undecided_are_told_by_what_left_them_so() -> None:
    found = combine(*(job(arm, {"eda": [1.0, 0.0] * 4}) for arm in "abcd"))
    kinds = [("undecided", 0.6), ("undecided", 0.01), ("cannot conclude", None),
             ("equivalent", 0.5), ("undecided", 0.05), ("a better", 0.01)]  # fmt: skip
    for row, (conclusion, p) in zip(found["comparisons"], kinds, strict=True):
        row.update(conclusion=conclusion, holm_p=p)
    assert sentences(found)[-1] == (
        "Undecided, which does not mean equal: 5 of 6 comparisons (1 because of too few cases, 2 "
        "with p not below .05, 1 because the bounds within the family contain 0, 1 equivalent)."
    )


def test_an_arm_whose_module_is_not_here_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(group: str, name: str) -> NoReturn:
        raise UserError(f"{group}={name}: failed to import")

    monkeypatch.setattr("framework.analysis.verdict.find", missing)
    few = combine(job("bm25", {"eda": HALF}), job("none", {"eda": NONE}))
    assert sentences(few)[0].startswith("Highest eda: at tight (1,000 tokens) bm25, 0.50")


def test_controls_alone_have_no_leader() -> None:
    floor = job("none", {"eda": NONE}, max_view_tokens=0)
    whole = job("full_context", {"eda": HALF}, unbudgeted=True)
    ends = [whole, job("oracle", {"eda": ALL}, sees_gold=True)]
    first, *rest = sentences(combine(floor, *ends))
    assert first == (
        "Only controls were run (none, full_context and oracle), which show the limits: no memory "
        "leads."
    )
    assert "Highest" not in " ".join(rest)
    assert leading_job(of_sweep(combine(floor, *ends)).groups) is None
    assert "Highest eda: at tight (1,000 tokens) x, " in said(
        combine(floor, *ends, job("x", {"eda": HALF}))
    )
