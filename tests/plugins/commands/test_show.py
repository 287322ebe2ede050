"""`show`: a case with its gold marked, and what became of it in a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.chaos.hostile import answers, serving
from framework.engine.compose import compose_plan, composer
from framework.store.answers import answer_records
from framework.store.state import load_state
from framework.text.printable import printable
from plugins.archs.bm25 import BM25
from tests.launching import HOTPOT, LOAN, QUESTIONS, framework, run
from tests.plugins.commands.leaderboard.forging import read_events, write_events

HOTPOT_CASES = (
    *("domain=hotpotqa", f"domain.path={QUESTIONS}", "domain.unknown_file=true"),
    "protocol=retrieve",
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_case_is_shown_with_its_gold_marked(capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "show", *HOTPOT_CASES, "case=0")
    assert done.status == 0
    out = re.sub(r"\s+", " ", done.out)
    assert "case fx01 stratum bridge" in out
    assert "In which town was the designer of Aldermoor Bridge born?" in out
    assert ">>She was born in Port Verrin in 1832.<<" in out
    assert "answer Port Verrin" in out


def test_an_error_without_end_is_shown_in_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_end(self: BM25, query: object, k: int) -> object:
        raise ValueError("x\n" * 100_000)

    monkeypatch.setattr(BM25, "recall", without_end)
    stopped = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=stopped")
    assert stopped.status == 1
    (last,) = (line for line in stopped.err.splitlines() if "the last: ValueError: x x" in line)
    assert len(last) < 700
    given = ("-m", *HOTPOT, "arch=bm25,none", "n_cases=2", "max_errors=9", "hydra.sweep.dir=s")
    swept = run(capsys, *given)
    assert swept.status == 0
    failed = next(path.parent for path in Path("s").glob("*bm25*/rows.parquet"))
    shown = framework(capsys, "show", str(failed), "case=0")
    assert shown.status == 0
    for text in (stopped.err, swept.out, swept.err, shown.out):
        assert "\nx\nx\n" not in text
        assert len(text) < 20_000
    assert "ERROR ValueError: x x" in shown.out


def test_a_case_is_found_by_index_and_by_id(capsys: pytest.CaptureFixture[str]) -> None:
    by_index = framework(capsys, "show", *HOTPOT_CASES, "case=1")
    by_id = framework(capsys, "show", *HOTPOT_CASES, "case=fx02")
    assert by_index.out == by_id.out
    assert by_index.out.startswith("case fx02")


def test_an_id_of_digits_is_an_id_before_it_is_an_index(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    questions = json.loads(QUESTIONS.read_bytes())
    for question, own in zip(questions, "201345", strict=True):
        question["_id"] = own
    (place / "digits.json").write_text(json.dumps(questions))
    given = (HOTPOT_CASES[0], "domain.path=digits.json", *HOTPOT_CASES[2:])
    for own in "2015":
        shown = framework(capsys, "show", *given, f"case={own}").out
        assert shown.startswith(f"case {own} "), own
    assert framework(capsys, "show", *given, "case=²").mistake == "show: no case '²'"


@pytest.mark.slow
def test_every_gold_item_of_a_loan_case_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    with composer():
        plan = compose_plan([*LOAN])
    domain = plan.parts["domain"].create()
    for index, case in enumerate(domain.cases(3, plan.top.seed)):
        out = framework(capsys, "show", *LOAN, f"case={index}").out
        assert f"decision {case.gold.decision}" in out
        for item in case.gold.items:
            for span in item.spans[:1]:
                flat = re.sub(r"\s+", " ", out)
                # A span that another one holds is marked inside of it.
                assert re.sub(r"\s+", " ", span.text)[:20] in flat, (case.id, item.id)
            assert f"{item.kind:<8} {item.key}" in out
        assert out.count(">>") >= len({s for i in case.gold.items for s in i.spans}) * 0.5


def test_what_became_of_a_case_in_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, *LOAN, "arch=bm25", "n_cases=2", "hydra.run.dir=r")
    for row in load_state(Path("r")).rows:
        done = framework(capsys, "show", "r", f"case={row.case_id}")
        assert done.status == 0
        assert f"case {row.case_id}   arm bm25   trial 0   repeat 0" in done.out
        assert f"VIEW ({row.view_tokens} tokens of {row.budget_tokens})" in done.out
        for word in (
            "ASKED\n",
            "RECALLED",
            "RETAINED",
            f"ANSWER {row.decision}",
            "AXES",
            "EVIDENCE",
        ):
            assert word in done.out
        for axis, value in row.axes.items():
            assert re.search(rf"{axis} +{'-' if value is None else f'{value:.3f}'}", done.out)
        assert re.search(r"\bin +\d+", done.out), "what is in the view"
        assert re.search(r"\bout +0/", done.out), "and what is not"


def test_where_a_gold_item_is_and_what_became_of_one_that_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, *LOAN, "arch=bm25", "budget=moderate", "n_cases=1", "hydra.run.dir=r")
    (record,) = answer_records(Path("r"))
    with composer():
        plan = compose_plan([*LOAN, "n_cases=1"])
    (case,) = plan.parts["domain"].create().cases(1, plan.top.seed)
    out = framework(capsys, "show", "r", "case=0").out.partition("\nRETAINED ")[2]
    told = re.sub(r"\n {5,}", " ", out.partition("\n\n")[0])
    lines = {line.split()[1]: line for line in told.splitlines()[1:]}
    texts = {item["id"]: item["text"] for item in record["view"]}
    recalled = {source: entry for entry in record["trace"] for source in entry["source_ids"]}
    assert set(record["retained"].values()) == {True, False}
    for item in case.gold.items:
        line, kept = lines[item.id], record["retained"][item.id]
        assert line.split()[0] == ("yes" if kept else "NO")
        for span in item.spans:
            entry = recalled.get(span.source_id)
            if kept and span.text in texts.get(span.source_id, ""):
                assert span.source_id in line.partition(" in ")[2]
            elif not kept and entry is not None:
                assert f"{span.source_id}: rank {entry['rank']}, {entry['placed']}" in line
            elif not kept:
                assert f"{span.source_id}: not recalled" in line


def test_a_run_whose_data_are_gone_or_others_is_shown_without_their_gold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("own.json").write_bytes(QUESTIONS.read_bytes())
    other = json.dumps(json.loads(QUESTIONS.read_bytes())[::-1])
    given = ("domain.path=own.json", "arch=none", "n_cases=1")
    run(capsys, *HOTPOT, *given, "hydra.run.dir=r")
    shown = framework(capsys, "show", "r", "case=fx01").out.partition("\nAXES")[0]
    assert ": not recalled" in shown
    for change in (lambda: Path("own.json").write_text(other), Path("own.json").unlink):
        change()
        plain = framework(capsys, "show", "r", "case=fx01").out.partition("\nAXES")[0]
        assert ": not recalled" not in plain
        assert plain.count("\n  NO   ") == shown.count("\n  NO   ") > 0


def test_a_run_is_shown_where_its_arm_is_not_installed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, *LOAN, "arch=bm25", "n_cases=2", "hydra.run.dir=r")
    here = [framework(capsys, "show", "r", case).out for case in ("case=0", "case=1")]
    events = read_events(Path("r"))
    events[0]["payload"]["config"]["arch"] = {"plugin": "of_another_package", "size": 3}
    write_events(Path("r"), events)
    for said, case in zip(here, ("case=0", "case=1"), strict=True):
        done = framework(capsys, "show", "r", case)
        assert (done.status, done.out) == (0, said), done.err


def test_an_answer_in_words_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("domain=longmemeval_synthetic", "arch=full_context", "tracking=none")
    run(capsys, *given, "n_cases=1", "hydra.run.dir=r")
    (row,) = load_state(Path("r")).rows
    told = framework(capsys, "show", "r", f"case={row.case_id}").out.partition("\nANSWER ")[2]
    answer = told.partition("\n\n")[0].strip()
    assert answer
    assert "\n" not in answer


def test_every_draw_and_sample_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("arch=random_context", "arch.trials=2", "repeats=2", "n_cases=1")
    run(capsys, *HOTPOT, *given, "hydra.run.dir=r")
    out = framework(capsys, "show", "r", "case=fx01").out
    assert out.count("case fx01") == 4
    assert "ANSWER" not in out


def test_an_arm_is_chosen_by_its_label(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "arch.k1=2", "n_cases=1", "hydra.run.dir=r")
    assert framework(capsys, "show", "r", "case=fx01", "arm=bm25(k1=2)").status == 0
    other = framework(capsys, "show", "r", "case=fx01", "arm=bm25")
    assert "r has no arm 'bm25'; did you mean 'bm25(k1=2)'?" in other.mistake
    for wrong in ("arn=bm25(k1=2)", "other"):
        done = framework(capsys, "show", "r", "case=fx01", wrong)
        assert f"show: {wrong}: with a run give only case=ID" in done.mistake


def test_a_case_that_failed_shows_its_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from plugins.axes.ranking import Ranking

    def failing(self: Ranking, scored: object) -> None:
        raise RuntimeError("told to fail")

    monkeypatch.setattr(Ranking, "score", failing)
    run(capsys, *HOTPOT, "arch=bm25", "n_cases=1", "max_errors=5", "hydra.run.dir=r")
    assert "ERROR RuntimeError: told to fail" in framework(capsys, "show", "r", "case=fx01").out


def test_of_a_domain_without_a_case_where_its_data_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = framework(capsys, "show", *HOTPOT_CASES).out
    assert "licence      not stated" in out
    assert out.splitlines()[-1].startswith("case=N shows one of its cases")
    with_none = framework(capsys, "show", "domain=hotpotqa")
    assert "not read     domain.path: no file given" in with_none.out
    assert "main score   answer_f1" in with_none.out
    assert "known file   hotpot_dev_distractor_v1.json" in with_none.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["domain=hotpotqa", "domain.path=none.json"], "none.json: no such file"),
        (["case=1"], "show: say which domain"),
        ([*HOTPOT_CASES, "case=99"], "show: no case '99'"),
        ([*HOTPOT_CASES, "case=fx99"], "show: no case 'fx99'"),
        (["domain=loam", "case=1"], "domain: no option 'loam'; did you mean 'loan'?"),
        ([*HOTPOT_CASES, "case=1", "domain.corpus=all"], "domain.corpus (domain=hotpotqa): 'all'"),
        (["nope", "case=1"], "nope is not a run directory"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], given: list[str], said: str) -> None:
    assert framework(capsys, "show", *given).mistake.startswith(said)


OLD = "hotpotqa_path=questions.json_-bm25_k1=1.2,b=0.5_-tight-0123456789ab"
"""A directory as they were once named."""


@pytest.mark.slow
def test_directories_are_named_so_that_no_command_takes_them_for_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = run(capsys, *HOTPOT, "arch=bm25", "arch.k1=1.2", "arch.b=0.5")
    name = done.directory.name
    assert re.fullmatch(r"[\w.-]+", name), name
    assert "hotpotqa_path_questions.json_unknown_file_true-bm25_b_0.5_k1_1.2-tight" in name
    shown = framework(capsys, "show", str(done.directory), "case=fx01").out
    done.directory.rename(OLD)
    assert framework(capsys, "show", OLD, "case=fx01").out == shown
    gated = run(capsys, *HOTPOT, "arch=none", f"gate.baseline={OLD}", "gate.axes=[mrr]")
    assert gated.status == 3, gated.err
    assert framework(capsys, "verify", OLD).status == 0


def test_a_sweep_names_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "-m", *HOTPOT, "arch=bm25,none", "hydra.sweep.dir=s")
    told = framework(capsys, "show", "s", "case=fx01").mistake
    jobs = [path.name for path in Path("s").iterdir() if path.is_dir()]
    assert told.startswith("s is a sweep; name one of its runs: ")
    assert all(job in told for job in jobs)
    for job in jobs:
        assert framework(capsys, "show", f"s/{job}", "case=fx01").out.startswith("case fx01")


@pytest.mark.slow
def test_a_sweep_names_its_runs_without_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "-m", *HOTPOT, "arch=bm25,none", "hydra.sweep.dir=s")
    told = framework(capsys, "show", "s").mistake
    assert told.startswith("s is a sweep; name one of its runs: hotpotqa")


@pytest.mark.slow
def test_a_case_of_a_run_is_found_by_the_index_that_the_domain_gives_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "n_cases=3", "hydra.run.dir=r")
    for index in range(3):
        by_index = framework(capsys, "show", "r", f"case={index}").out
        shown = framework(capsys, "show", *HOTPOT_CASES, f"case={index}").out
        assert by_index.split()[:2] == shown.split()[:2] == ["case", f"fx0{index + 1}"]
    told = framework(capsys, "show", "r", "case=3").mistake
    assert told == "r has no case 'fx04': it has 3 cases, fx01 to fx03"
    assert framework(capsys, "show", "r", "case=99").mistake == "show: no case '99'"


def test_what_a_terminal_would_obey_is_shown_and_not_done() -> None:
    assert printable("a\x1b[31mb\u202ec\td\ne\x9b") == "a\\x1b[31mb\\u202ec\td\ne\\x9b"


@pytest.mark.slow
def test_a_record_of_any_text_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    given = (*HOTPOT_CASES[:3], "tracking=none", "report=false")
    with serving(answers("Caf\xe9 \u2028\x1b[31m", "\x85")) as url:
        asking = ("model=openai", f"model.base_url={url}/v1", "n_cases=1", "arch=none")
        assert run(capsys, *given, *asking, "hydra.run.dir=r").status == 0
    done = framework(capsys, "show", "r", "case=0")
    assert done.status == 0
    assert "Caf\xe9" in done.out
    assert "\x1b" not in done.out
