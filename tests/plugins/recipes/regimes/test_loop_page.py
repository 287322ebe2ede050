"""The loop on a report's page: why each draft ended as it did, and what TEST says."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import run as command
from framework.analysis.evidence import load
from framework.analysis.summary import summarize
from framework.contracts import GateOutcome
from framework.engine.compose import compose_plan, composer
from framework.reporting import page as write
from framework.reporting.blocks import Cell, Heading, Table
from framework.reporting.page import print_sweep, write_report
from framework.reporting.terminal import print_blocks
from framework.store.atomic import write_json
from plugins.recipes.regimes import loop_page as section
from plugins.recipes.regimes.loop_page import one_loop, unanswered, unreached
from plugins.recipes.regimes.loop_tables import final_states, read_loop, why
from tests.launching import framework, read_json, run
from tests.plugins.protocols.improve.scripted import Finished, prompt, run_script, script_plan

RIGHT = {
    "base": {"optimize": "0-4", "confirm": "0-6", "test": "0-3"},
    "a": {"optimize": "0-6", "confirm": "0-17", "test": "0-9"},
    "b": {"optimize": "0-2", "confirm": "0-19", "test": "0-9"},
    "c": {"optimize": "0-7", "confirm": "0-3", "test": "0-3"},
}
DRAFTS = [prompt("b"), "no draft", prompt("a"), prompt("c"), prompt("same")]
SMALL = (
    *("protocol=improve", "domain=loan", "arch=bm25", "tracking=none", "author=scripted"),
    *("protocol.pool=24", "protocol.optimize=8", "protocol.confirm=8", "protocol.test=8"),
    "author.drafts=[{seam: score, expression: similarity + recency},no draft]",
    *("routing=none", "gate=open"),
)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One promotion, a loss on CONFIRM, one on OPTIMIZE, a draft that is none; with its report."""
    done = run_script(script_plan(RIGHT, DRAFTS), tmp_path_factory.mktemp("loop") / "run")
    write_report(done.path)
    return done


@pytest.fixture(scope="module")
def page(loop: Finished) -> ElementTree.Element:
    return parsed(loop.path)


def parsed(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring((path / "report.html").read_text(encoding="utf-8"))


def words(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def table(page: ElementTree.Element, anchor: str) -> list[dict[str, str]]:
    """The rows of a table: what stands in each cell, by column."""
    (found,) = (t for t in page.iter("table") if t.get("id") == anchor)
    names = [words(th) for th in found.iter("th") if th.get("scope") == "col"]
    rows = [tr for tr in found.iter("tr") if tr.find("th[@scope='row']") is not None]
    return [dict(zip(names, map(words, tr), strict=True)) for tr in rows]


@pytest.mark.slow
def test_a_second_opening_of_test_is_on_the_pages_of_both(tmp_path: Path) -> None:
    for name in ("first", "second"):
        run_script(script_plan(RIGHT, DRAFTS), tmp_path / name)
        write_report(tmp_path / name)
        assert ("opened before, by first" in words(parsed(tmp_path / name))) == (name == "second")
    write_report(tmp_path / "first")
    assert "TEST was opened again since, by second." in words(parsed(tmp_path / "first"))
    (tmp_path / "openings.jsonl").unlink()
    write_report(tmp_path / "first")
    assert "openings.jsonl is missing" in words(parsed(tmp_path / "first"))


def test_every_draft_says_why_it_ended_as_it_did(loop: Finished, page: ElementTree.Element) -> None:
    rows = table(page, "loop-0-drafts")
    assert len(rows) == len(loop.results["candidates"])
    assert {row["draft"].split()[0]: row["outcome"] for row in rows} == {
        f"#{entry['number']}": entry["outcome"] for entry in loop.results["candidates"]
    }
    of = {row["draft"].split()[0]: row for row in rows}
    assert of["#0"]["why"] == "optimize: no failure of assemble-internal became correct"
    assert of["#1"]["why"].startswith("static: ")
    promoted = next(e for e in loop.results["candidates"] if e["outcome"] == "promoted")
    confirm = promoted["confirm"]
    assert of["#2"]["why"] == f"bound {confirm['bound']:+.4f} above +0.0000, net +11 of at least 2"
    assert of["#2"]["OPTIMIZE"] == "+2 −02 of 5"
    assert of["#3"]["why"].startswith("confirm: ")
    assert all(row["why"] for row in rows)
    assert any("guidance: a" in row["edit"] for row in table(page, "loop-0-edits"))


def test_interim_analyses_funnel_and_cases_are_those_of_the_loop(
    loop: Finished, page: ElementTree.Element
) -> None:
    analyses = table(page, "loop-0-interim-analyses")
    assert [row["draft"] for row in analyses] == [
        f"#{e['number']}" for e in loop.results["analyses"]
    ]
    assert [row["passed"] for row in analyses].count("yes") == 1
    (funnel,) = table(page, "loop-0-funnel")
    for stage, n in loop.results["funnel"].items():
        assert funnel[stage.removeprefix("seam_")] == str(n)
    states = {row["cases"]: row for row in table(page, "loop-0-states")}
    assert states["TEST"]["wrong to right"] == "6"
    assert states["CONFIRM"]["wrong to right"] == "11"
    (kind,) = table(page, "loop-0-by-kind")
    assert kind["TEST"] == "+6 −04 → 10 of 10"
    assert {row[""] for row in table(page, "loop-0-by-regime")} == {"assemble-internal", "correct"}


def test_looks_at_confirm_that_were_of_no_draft_are_told_apart(loop: Finished) -> None:
    """Consolidating looks at CONFIRM too, and these looks are no drafts'."""
    drafts, stopped = len(loop.results["analyses"]), loop.results["stopped"]
    for more, said in ((0, ""), (1, "1 more time to"), (7, "7 more times to")):
        found = {**loop.results, "stopped": {**stopped, "analyses": drafts + more}}
        text = section._in_words(found)
        assert f"; {drafts} of them reached an interim analysis" in text
        assert ("more time" in text) == bool(said)
        assert said in text


def test_test_confirms_or_not(loop: Finished, page: ElementTree.Element) -> None:
    text = words(page)
    assert "TEST: 0.400 before, 1.000 after, +0.600" in text
    assert "it confirms the gain" in text
    assert f"({loop.results['stopped']['reason']})" in text
    ids = {e.get("id") for e in page.iter("figure")}
    assert {"figure-loop-0-flips", "figure-loop-0-trajectory"} <= ids


def test_clusters_are_what_a_claim_is_over(loop: Finished) -> None:
    test = {**loop.results["test"], "clusters": 12, "permutation_p": 0.03}
    states = final_states([("", {**loop.results, "test": test})])
    row = dict(zip(states.columns, states.rows[0], strict=True))
    assert row["n"] == Cell(text="10", under="12 clusters", value=10)
    assert row["permutation p"] == Cell(text=".0300", value=0.03)


@pytest.mark.parametrize(
    ("interval", "p", "said"),
    [
        ([0.01, 0.1], 0.01, "it confirms the gain"),
        ([0.01, 0.1], 0.11, "neither confirms nor refutes"),
        ([-0.1, -0.01], 0.01, "refutes the gain"),
        ([-0.01, 0.1], 0.2, "contains 0: it neither"),
        ([None, None], 0.01, "no interval is claimed"),
    ],
)
def test_a_verdict_asks_for_interval_and_test(
    loop: Finished, interval: list[float | None], p: float, said: str
) -> None:
    test = {**loop.results["test"], "clusters": None, "interval": interval, "mcnemar_p": p}
    assert said in section.verdict({**loop.results, "test": test}, "test")
    test = {**test, "clusters": 30, "permutation_p": p, "mcnemar_p": 0.5}
    assert said in section.verdict({**loop.results, "test": test}, "test")


def test_without_a_promotion_there_is_nothing_to_confirm(tmp_path: Path) -> None:
    write_report(run_script(script_plan(RIGHT, [prompt("b")]), tmp_path / "run").path)
    text = words(parsed(tmp_path / "run"))
    assert "nothing was kept, so there is nothing to confirm" in text
    assert "answer differently: none." in text


def test_in_the_terminal(loop: Finished, capsys: pytest.CaptureFixture[str]) -> None:
    print_blocks(one_loop(loop.results))
    out = capsys.readouterr().out
    assert "above +0.0000, net +11 of at least 2" in out
    results = dict(loop.results)
    results["candidates"] = [e for e in results["candidates"] if e["number"] != 3]
    results["stopped"] = {**results["stopped"], "walls": ["scoring-error", "unclassified"]}
    print_blocks(one_loop(results))
    out = " ".join(capsys.readouterr().out.split())
    assert "none for #3" in out
    assert "these count as attempts" in out
    assert "walls, which no seam reaches: scoring-error;" in out
    assert unanswered(results)[0] == 3
    assert unreached(results) == (["scoring-error"], ["unclassified"])


@pytest.mark.parametrize(
    ("confirm", "said"),
    [
        ({"bound": None, "threshold": None}, "the gate judged nothing"),
        (
            {"bound": -0.01, "threshold": 0.02, "delta": 0.03, "net": 3},
            "gain +0.0300 reaches +0.0200 (bound -0.0100), net +3 of at least 2",
        ),
    ],
)
def test_why_by_gate(confirm: Mapping[str, Any], said: str) -> None:
    entry = {"outcome": "promoted", "confirm": confirm}
    assert why(entry, 2) == said
    assert why({**entry, "outcome": "consolidated"}, 2).startswith(f"{said}; dropped after")


# ------------------------------------------------------------------------------------ as it is run


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two seeds, with the report that they ended in."""
    place = tmp_path_factory.mktemp("loops")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(place)
        assert command.main(["-m", *SMALL, "seed=7,8", "hydra.sweep.dir=swept"]) == 0
        yield place / "swept"


@pytest.mark.slow
def test_a_sweep_shows_its_loops_by_seed(sweep: Path) -> None:
    page = parsed(sweep)
    ((_, found),) = read_json(sweep / "improve.json")["arms"].items()
    tests = {row["cases"]: row for row in table(page, "loop-0-states")}
    for entry in found["seeds"]:
        row = tests[f"seed {entry['seed']}, TEST"]
        assert row["wrong to right"] == str(entry["test"]["wrong_to_right"])
    pooled = {row["cases"]: row for row in table(page, "loop-0-pooled")}
    assert pooled["TEST"]["wrong to right"] == str(found["pooled"]["test"]["wrong_to_right"])
    assert table(page, "loop-0-0-drafts")
    assert table(page, "loop-0-1-drafts")


@pytest.mark.slow
def test_what_a_sweep_says_of_its_loops_is_verified(
    sweep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert framework(capsys, "verify", str(sweep)).status == 0
    edited = tmp_path / "swept"
    shutil.copytree(sweep, edited)
    found = read_json(edited / "improve.json")
    ((_, arm),) = found["arms"].items()
    arm["pooled"]["test"]["wrong_to_right"] += 1
    write_json(edited / "improve.json", found)
    problem = f"{edited / 'improve.json'}: not what the runs give\n"
    assert framework(capsys, "verify", str(edited)).out.endswith(problem)
    (edited / "improve.json").unlink()
    done = framework(capsys, "verify", str(edited))
    assert (done.status, done.out.splitlines()[-1:]) == (1, [problem.strip()])


@pytest.mark.slow
def test_arms_of_a_sweep_have_a_part_each(sweep: Path) -> None:
    evidence = load(sweep)
    first, second = (job.path.name for job in evidence.jobs)
    arms = {"gate=open": {"seeds": [{"directory": first}]},
            "gate=heldout": {"seeds": [{"directory": second}]}}  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        known = {sweep: {"arms": arms}}
        patch.setattr(section, "read_loop", lambda path: known.get(path) or read_loop(path))
        blocks = list(section.loops(evidence, lambda drawing: iter(())))
    heads = [block.text for block in blocks if isinstance(block, Heading)]
    assert heads == ["The loops", "gate=open", "gate=heldout"]
    anchors = [block.anchor for block in blocks if isinstance(block, Table)]
    assert {"loop-0-drafts", "loop-1-drafts"} <= set(anchors)
    assert len(set(anchors)) == len(anchors)


@pytest.mark.slow
def test_tables_of_several_seeds_name_the_seed(
    sweep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_sweep(read_json(sweep / "sweep.json"))
    titles = [line for line in capsys.readouterr().out.splitlines() if ", budget " in line]
    assert titles
    assert sum("seed 7" in title for title in titles) == sum("seed 8" in t for t in titles)
    assert all("seed" in title for title in titles)


def test_loops_that_differ_are_no_repeats_of_one_another() -> None:
    """What a loop's rows are hangs on its author, routing and gate: none is pooled with another."""
    with composer():
        plans = [compose_plan([*SMALL, f"gate={gate}"]) for gate in ("open", "heldout")]
    gate = GateOutcome(name="open", passed=None, reason="")
    labels = [summarize(plan, [], gate)["run"]["protocol"] for plan in plans]
    assert all("author=scripted" in label for label in labels)
    assert labels[0].endswith("gate=open")
    assert labels[0] != labels[1]


@pytest.mark.slow
def test_a_single_loop_ends_with_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(capsys, *SMALL)
    assert done.status == 0, done.err
    last = done.out.splitlines()[-1]
    assert last == f"run: {done.directory}"
    assert f"page: {done.directory}/report.html" in done.out
    assert table(parsed(done.directory), "loop-0-drafts")
    assert (done.directory / "report.md").is_file()


@pytest.mark.slow
def test_a_loop_without_a_page_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: object) -> Path:
        raise ZeroDivisionError("no ink")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(write, "write_report", broken)
    done = run(capsys, *SMALL)
    assert done.status == 0
    assert "report: ZeroDivisionError: no ink" in done.err
    assert "report:" not in done.out
