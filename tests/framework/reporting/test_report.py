"""The report of a real sweep: one page that stands alone and says what the files say."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import run as command
from framework.analysis.evidence import Evidence, load
from framework.analysis.outcomes import PARTS
from framework.cli import main as framework
from framework.records import ABSTAIN
from framework.reporting import page as write
from framework.reporting.sections.conditions import gate_verdict
from plugins.prereg.section import Predictions
from plugins.sections._outcomes import outcomes
from plugins.sections.comparisons import outcome_of
from tests.launching import read_json, run

pytestmark = pytest.mark.slow

ARMS = ("none", "bm25", "oracle")
GIVEN = (
    *("domain=loan", f"arch={','.join(ARMS)}", "budget=tight,moderate", "n_cases=12"),
    *("tracking=none", "baseline=bm25", "smallest_effect=0.2", "hydra.sweep.dir=runs/swept"),
)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished sweep of three arms at two budgets, with the report that it ended in."""
    place = tmp_path_factory.mktemp("reported")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(place)
        assert command.main(["-m", *GIVEN]) == 0
        yield place / "runs" / "swept"


@pytest.fixture(scope="module")
def tree(sweep: Path) -> ElementTree.Element:
    """The page as XML: parsing fails unless it is well-formed."""
    return ElementTree.fromstring((sweep / "report.html").read_text(encoding="utf-8"))


def table(tree: ElementTree.Element, anchor: str) -> list[dict[str, ElementTree.Element]]:
    """The rows of a table by column name."""
    (found,) = (t for t in tree.iter("table") if t.get("id") == anchor)
    names = ["".join(th.itertext()) for th in found.iter("th") if th.get("scope") == "col"]
    rows = [tr for tr in found.iter("tr") if tr.find("th[@scope='row']") is not None]
    return [dict(zip(names, tr, strict=True)) for tr in rows]


def text(cell: ElementTree.Element) -> str:
    return "".join(cell.itertext())


def value(cell: ElementTree.Element) -> float:
    return float(cell.attrib["data-value"])


# ------------------------------------------------------------------------------------- the page


def test_the_page_stands_alone(tree: ElementTree.Element) -> None:
    assert not list(tree.iter("script"))
    assert not list(tree.iter("link"))
    ids = [e.attrib["id"] for e in tree.iter() if "id" in e.attrib]
    assert [name for name, n in Counter(ids).items() if n > 1] == []
    links = [a.attrib["href"] for a in tree.iter("a")]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(ids), "links within the page only"
    for element in tree.iter():
        assert element.get("src", "data:").startswith("data:")
        named = (element.get("aria-labelledby") or "").split()
        assert set(named) <= set(ids)
    (style,) = tree.iter("style")
    assert "url(" not in (style.text or "")
    assert "@import" not in (style.text or "")


def test_every_picture_says_what_it_shows_and_what_kind_of_evidence_it_is(
    tree: ElementTree.Element, sweep: Path
) -> None:
    figures = list(tree.iter("figure"))
    assert {f.attrib["id"] for f in figures} == {
        f"figure-{name}-0"
        for name in (
            "forest",
            "decomposition",
            "failures",
            "commitment",
            "pareto",
            "strata",
            "ranks",
        )
    }
    for figure in figures:
        (image,), (caption,) = figure.iter("img"), figure.iter("figcaption")
        assert len(image.attrib["alt"]) > 40
        assert "rule-based" in text(caption).lower(), "a rule-based model read"
    files = {path.name for path in (sweep / "figures").iterdir()}
    names = {f.attrib["id"].removeprefix("figure-") for f in figures}
    assert files == {f"{name}.{kind}" for name in names for kind in ("svg", "png")}


def test_the_rule_based_model_is_told_on_top(tree: ElementTree.Element) -> None:
    (main,) = tree.iter("main")
    heading, verdict, first, note = list(main)[:4]
    assert text(heading) == "Verdict"
    assert "No language model took part" in text(verdict)
    assert "3 arms (none, bm25, oracle) on 12 cases of loan" in text(first)
    assert "no language model was called" in text(note)


def test_the_same_rows_give_the_same_bytes(sweep: Path) -> None:
    names = [
        "report.html",
        "report.md",
        *(f"figures/{p.name}" for p in (sweep / "figures").iterdir()),
    ]
    before = {name: (sweep / name).read_bytes() for name in names}
    (sweep / "figures" / "left-over.svg").write_text("of an earlier report")
    write.write_report(sweep)
    assert {p.name for p in (sweep / "figures").iterdir()} == {
        Path(name).name for name in names if name.startswith("figures/")
    }
    for name, content in before.items():
        assert (sweep / name).read_bytes() == content, name


def test_markdown_says_the_same_numbers(tree: ElementTree.Element, sweep: Path) -> None:
    markdown = (sweep / "report.md").read_text(encoding="utf-8")
    cells = [text(td) for td in tree.iter("td")]
    assert len(cells) > 500
    lines = [
        re.sub(r"\\([\\`*\[\]<>|])", r"\1", line)
        for line in markdown.splitlines()
        if line[:1] == "|"
    ]
    joined = "".join(lines).replace(" ", "")
    for cell in cells:
        assert cell.replace(" ", "") in joined, cell
    for path in re.findall(r"\]\((figures/[^)]+)\)", markdown):
        assert (sweep / path).is_file()


# ------------------------------------------------------------------------------------ the numbers


def test_results_are_those_of_each_summary(tree: ElementTree.Element, sweep: Path) -> None:
    seen = 0
    for number, budget in enumerate(("tight", "moderate")):
        rows = table(tree, f"results-0-{number}")
        assert [text(row["arm"]) for row in rows] == list(ARMS)
        for row in rows:
            summary = summary_of(sweep, text(row["arm"]), budget)
            for axis in summary["headline"]:
                entry = summary["axes"][axis]
                if entry["mean"] is None:
                    assert text(row[axis]) == "–"
                    continue
                seen += 1
                assert value(row[axis]) == entry["mean"]
                shown = text(row[axis])
                assert shown.startswith(f"{entry['mean']:.3f}")
                assert ("†" in shown) is (entry["kind"] == "rule-based")
                assert f"[{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]" in shown
            assert value(row["view tokens"]) == summary["budget_use"]["mean_view_tokens"]
    assert seen > 40


def test_the_page_names_the_head_that_each_run_ends_with(
    tree: ElementTree.Element, sweep: Path
) -> None:
    runs = {path.parent.name: path.read_bytes() for path in sweep.glob("*/journal.jsonl")}
    last = {name: json.loads(events.splitlines()[-1]) for name, events in runs.items()}
    shown = {text(row["run"]): text(row["head hash"]) for row in table(tree, "heads")}
    assert shown == {name: event["hash"] for name, event in last.items()}


def test_the_page_says_when_each_run_was_made(tree: ElementTree.Element, sweep: Path) -> None:
    runs = {path.parent.name: path.read_text() for path in sweep.glob("*/journal.jsonl")}
    made = {}
    for name, journal in runs.items():
        times = [json.loads(line)["time"] for line in journal.splitlines()]
        made[name] = [f"{time[:19].replace('T', ' ')} UTC" for time in (times[0], times[-1])]
    shown = {
        text(row["run"]): [text(row["begun"]), text(row["finished"])]
        for row in table(tree, "heads")
    }
    assert shown == made
    whole = {text(row[""]): text(row["value"]) for row in table(tree, "provenance-table")}
    assert whole["begun"] == min(began for began, _ in made.values())
    assert whole["finished"] == max(ended for _, ended in made.values())


def test_every_comparison_is_there_with_its_p_values(
    tree: ElementTree.Element, sweep: Path
) -> None:
    composed = read_json(sweep / "sweep.json")["comparisons"]
    rows = table(tree, "comparisons-table-0")
    assert len(rows) == len(composed) == 2 * 2 * 9
    for row, expected in zip(rows, composed, strict=True):
        assert text(row["pair"]) == f"{expected['arm_a']} − {expected['arm_b']}"
        assert (text(row["budget"]), text(row["axis"])) == (expected["budget"], expected["axis"])
        for column, key in (
            *(("difference", "delta"), ("p", "permutation_p"), ("Holm p", "holm_p")),
            *(("least p", "smallest_holm_p"), ("n", "n")),
        ):
            if expected[key] is None:
                assert text(row[column]) == "–"
            else:
                assert value(row[column]) == expected[key]


def test_the_scorecard_leaves_no_comparison_out(tree: ElementTree.Element, sweep: Path) -> None:
    composed = read_json(sweep / "sweep.json")["comparisons"]
    rows = {text(row["arm"]): row for row in table(tree, "scorecard-0")}
    assert sum(value(row["all"]) for row in rows.values()) == 2 * len(composed)
    for arm in ARMS:
        own = [r for r in composed if arm in (r["arm_a"], r["arm_b"])]
        equivalent = sum(r["conclusion"] == "equivalent" for r in own)
        assert value(rows[arm]["near-tie"]) == equivalent
        assert value(rows[arm]["all"]) == len(own)
    assert value(rows["none"]["win"]) == value(rows["bm25"]["loss"]) - value(rows["oracle"]["win"])


@pytest.mark.parametrize(
    ("axis", "conclusion", "of_a", "of_b"),
    [
        ("frp", "a better", "win", "loss"),
        ("frp", "b better", "loss", "win"),
        ("frp", "equivalent", "near-tie", "near-tie"),
        ("frp", "undecided", "undecided", "undecided"),
        ("frp", "cannot conclude", "cannot conclude", "cannot conclude"),
        ("commit_rate", "a better", "differs", "differs"),
    ],
)
def test_what_a_comparison_is_to_each_arm(axis: str, conclusion: str, of_a: str, of_b: str) -> None:
    row = {"axis": axis, "conclusion": conclusion, "arm_a": "x", "arm_b": "y"}
    assert (outcome_of(row, "x"), outcome_of(row, "y")) == (of_a, of_b)


def test_what_became_of_the_cases_adds_up(sweep: Path) -> None:
    for job in load(sweep).jobs:
        split = outcomes(job)
        assert split is not None
        axes = job.summary["axes"]
        p_ret = axes["p_ret_read"]["mean"]
        parts = {name: split.parts[name].mean or 0.0 for name in PARTS}
        assert sum(parts.values()) == pytest.approx(1.0)
        decided = [row for row in job.good if row.expected != ABSTAIN and row.form_read]
        lucky = [row.axes["right_undetermined"] == 1.0 and row.sufficient for row in decided]
        suffices = parts["retained_right"] + parts["retained_wrong"] + sum(lucky) / len(decided)
        assert suffices == pytest.approx(p_ret)
        used = p_ret * (axes["kappa"]["mean"] or 0.0)
        leaked = (1 - p_ret) * (axes["leak"]["mean"] or 0.0)
        assert parts["retained_right"] == pytest.approx(used)
        assert parts["leaked"] == pytest.approx(leaked)
        lucky_all = axes["right_undetermined"]["mean"]
        assert parts["right_undetermined"] == pytest.approx(lucky_all)
        assert split.success.mean == pytest.approx(used + leaked + lucky_all)


# ---------------------------------------------------------------------------- other directories


def test_a_single_run_has_a_page_too(sweep: Path) -> None:
    (job,) = (d for d in sweep.iterdir() if d.name.startswith("loan-bm25-tight"))
    assert framework(["report", str(job)]) == 0
    page = ElementTree.fromstring((job / "report.html").read_text(encoding="utf-8"))
    (row,) = table(page, "results-0-0")
    assert value(row["frp"]) == read_json(job / "summary.json")["axes"]["frp"]["mean"]
    assert not any(e.get("id") == "comparisons" for e in page.iter())
    assert framework(["verify", str(job)]) == 0, "a report is no part of what is sealed"


def test_a_report_leaves_the_sweep_sound(sweep: Path) -> None:
    assert framework(["verify", str(sweep)]) == 0


def test_no_finished_run_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert framework(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_fails_does_not_take_the_sweep_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: object) -> Path:
        raise ZeroDivisionError("no ink")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(write, "write_report", broken)
    done = run(capsys, "-m", "domain=loan", "arch=none,bm25", "n_cases=2", "tracking=none")
    assert done.status == 0
    assert (done.directory / "sweep.json").is_file()
    again = f"`decisionbench report {done.directory}` tries again"
    assert f"report: ZeroDivisionError: no ink; {again}" in done.err


def test_judges_of_the_same_answers_stand_side_by_side(sweep: Path) -> None:
    assert framework(["rescore", str(sweep), "judge=llm", "--out", "runs/again"]) == 0
    page = ElementTree.fromstring(Path("runs/again/report.html").read_text(encoding="utf-8"))
    rows = {text(row["axis"]): row for row in table(page, "judges-table")}
    assert set(rows) >= {"rcs", "crr"}
    assert text(rows["rcs"]["judges"]) == "rules, llm"
    assert value(rows["rcs"]["n"]) == 72
    (drawn,) = (f for f in page.iter("figure") if f.get("id") == "figure-judges-0")
    assert "rule-based" in text(drawn).lower()


def test_predictions_are_shown_with_their_flags() -> None:
    hypothesis: dict[str, Any] = {
        "name": "H1",
        "role": "primary",
        "claim": "a holds",
        "arm": "a",
        "against": ["b"],
        "axis": "frp",
        "budget": "tight",
        "direction": "higher",
        "margin": 0.1,
        "test": "paired",
        "setting": {"domain.rho": 0.3},
        "against_setting": {},
    }
    verdict = {
        "hypothesis": hypothesis,
        "outcome": "reversed",
        "estimate": -0.2,
        "low": -0.3,
        "high": -0.1,
        "p": 0.01,
        "n": 40,
        "reason": "the opposite holds",
    }
    found = {"verdicts": [verdict], "flags": ["locked twice"]}
    evidence = Evidence(path=Path(), jobs=[], sweep={"prereg": found}, plan={})
    shown = repr(list(Predictions().at_end(evidence)))
    for word in (
        *("H1", "reversed", "[-0.300, -0.100]", "the opposite holds", "locked twice"),
        "a (domain.rho=0.3) against b: frp at tight higher by 0.1",
    ):
        assert word in shown


def summary_of(sweep: Path, arm: str, budget: str) -> dict[str, Any]:
    (path,) = sweep.glob(f"loan-{arm}-{budget}-*/summary.json")
    found: dict[str, Any] = read_json(path)
    return found


def test_models_pairs_and_a_published_convention_have_their_sections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("domain=loan", "domain.pairs=protected", "arch=none,bm25", "n_cases=6")
    models = "model=rule_based,rule_based_blind"
    done = run(capsys, "-m", *given, models, "tracking=none", "compat=longhorizon")
    assert done.status == 0
    assert "report:" not in done.err
    page = ElementTree.fromstring((done.directory / "report.html").read_text(encoding="utf-8"))
    stored = read_json(done.directory / "sweep.json")
    for row, entry in zip(table(page, "models-table"), stored["reader_agreement"], strict=True):
        assert text(row["axis"]) == entry["axis"]
        assert value(row["ordered"]) == entry["ordered_pairs"]
        assert value(row["surviving"]) == len(entry["surviving"])
    published = table(page, "published-table")
    for row, entry in zip(published, stored["published_convention"]["comparisons"], strict=True):
        assert value(row["difference"]) == entry["delta"]
    for number in (0, 1):
        assert any(t.get("id") == f"comparisons-table-{number}" for t in page.iter("table"))
        (row,) = (
            row
            for row in table(page, f"counterfactual-pairs-table-{number}")
            if (text(row["arm"]), text(row["attribute"])) == ("bm25", "all")
        )
        assert value(row["pairs"]) == 3
    ids = [e.attrib["id"] for e in page.iter() if "id" in e.attrib]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("conclusions", "outcome"),
    [
        (["passed"], "passed"),
        (["passed", "undecided"], "NOT PASSED"),
        (["cannot conclude"], "NOT PASSED"),
        (["undecided", "failed"], "FAILED"),
    ],
)
def test_a_gate_that_could_not_decide_is_not_called_failed(
    conclusions: list[str], outcome: str
) -> None:
    findings = [{"axis": "eda", "conclusion": said} for said in conclusions]
    gate = {"name": "g", "passed": outcome == "passed", "reason": "why", "findings": findings}
    run = {"arch": "bm25", "budget": "tight"}
    said = gate_verdict({"gate": gate, "run": run, "axes": {}})
    assert said == f"gate g for bm25 tight: {outcome}. why"


def test_gates_are_told_with_what_they_rest_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("domain=loan", "arch=oracle,bm25", "n_cases=12", "protocol=retrieve", "tracking=none")
    done = run(capsys, "-m", *given, "gate.baseline=oracle", "gate.axes=[surface_ceiling]")
    assert done.status == 3
    page = ElementTree.fromstring((done.directory / "report.html").read_text(encoding="utf-8"))
    (outcome,) = (item for item in map(text, page.iter("li")) if item.startswith("gate "))
    assert "for bm25 " in outcome
    assert ": FAILED." in outcome
    (row,) = table(page, "gates-findings")
    (path,) = done.directory.glob("loan-bm25-*/summary.json")
    (finding,) = read_json(path)["gate"]["findings"]
    assert value(row["difference"]) == finding["delta"]
    assert value(row["bound"]) == finding["bound"]
    assert text(row["axis"]) == "surface_ceiling"


# ------------------------------------------------------------------------- what being right costs


def test_what_being_right_costs_is_that_of_the_rows(tree: ElementTree.Element, sweep: Path) -> None:
    """Successes over tokens, counted by hand from the rows; the differences are of sweep.json."""
    rows = {
        (text(r["arm"]), text(r["budget"])): r for r in table(tree, "cost-effectiveness-table-0")
    }
    jobs = load(sweep).jobs
    assert len(rows) == len(jobs) == 6
    for job in jobs:
        read = [row for row in job.good if row.form_read]
        right = sum(row.axes["eda"] or 0.0 for row in read)
        used = [row.usage["answer"] for row in read]
        tokens = sum(usage.tokens_in + usage.tokens_out for usage in used)
        row = rows[job.arm, job.budget]
        assert value(row["successes_per_1000_tokens"]) == pytest.approx(1000 * right / tokens)
        assert value(row["cost_to_correct"]) == pytest.approx(tokens / right)
        assert value(row["ingest_to_correct"]) == 0.0
        assert text(row["successes_per_1000_tokens"]).count("†") == 1
    found = read_json(sweep / "sweep.json")["cost_effectiveness"]
    assert {(d["arm_a"], d["arm_b"]) for d in found} == {("none", "bm25"), ("oracle", "bm25")}
    shown = table(tree, "cost-effectiveness-pairs-0")
    assert [value(r["difference"]) for r in shown] == [d["delta"] for d in found]
    for delta in found:
        a, b = (value(rows[delta[arm], delta["budget"]]["successes_per_1000_tokens"])
                for arm in ("arm_a", "arm_b"))  # fmt: skip
        assert delta["delta"] == pytest.approx(a - b)
