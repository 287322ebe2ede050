"""The table of the language model is the one that its recorded answers give, bit for bit."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from benchmarks import language_model
from benchmarks.language_model import (
    ANSWERED_CASES,
    FURTHER,
    NEED_ENCODER,
    NEED_FILES,
    RECORDED,
    agreement,
    main,
    measured,
)
from framework.errors import UserError
from framework.reporting.markdown import between_markers
from framework.store.state import FinishedRun, State, load_state
from framework.text.reading import read_json
from tests.launching import framework
from tests.measuring import measured_digest

PUBLISHED = {
    "hotpotqa": "hotpotqa/hotpotqa_train.json",
    "answers_airline_fees": "rulearena/airline",
    "answers_hotpotqa": "hotpotqa/hotpotqa_train.json",
    "answers_locomo": "locomo/locomo_first5.json",
    "answers_regulation_updates": "regulation_b/regulation_b_1002.tar.xz",
    "answers_veterans": "vetclaims/decisions_50.json",
}
"""The files of measured sweeps that are no part of the package."""
PAGE = language_model.ROOT / "docs" / "results" / "language-model.md"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_replay_without_the_model_gives_the_table_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    digests = []
    for _ in range(2):
        assert main(["--replay"]) == 0
        assert capsys.readouterr().out.strip() == between_markers(str(PAGE))
        jobs = sorted(path.parent for path in tmp_path.glob("runs/*/*/journal.jsonl"))
        assert len(jobs) == len(language_model.ARMS) + len(language_model.INTERVENED)
        digests.append([measured_digest(load_state(job).rows) for job in jobs])
    assert digests[0] == digests[1]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in FURTHER if name not in NEED_ENCODER])
def test_a_further_sweep_is_replayed_as_the_page_has_it(
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--all", name, "--replay"]
    if name in NEED_FILES:
        data: Path = request.getfixturevalue("data_dir")
        words += ["--path", str(data / PUBLISHED[name])]
    assert main(words) == 0
    made = capsys.readouterr().out.strip()
    assert made == between_markers(f"{PAGE}#{name.replace('_', '-')}")
    (sweep,) = tmp_path.glob("runs/*/sweep.json")
    planned = read_json(sweep.with_name("sweep_plan.json").read_text())
    jobs = [path.parent for path in tmp_path.glob("runs/*/*/journal.jsonl")]
    assert len(jobs) == len(planned["jobs"]) > 0
    assert all(load_state(job).rows for job in jobs)
    assert framework(capsys, "verify", str(sweep.parent)).status == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NEED_ENCODER)
def test_where_vectors_are_not_shipped_the_other_arms_are_replayed_without_an_encoder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [word for word in FURTHER[name] if not word.startswith("arch=")]
    words += [f"n_cases={ANSWERED_CASES}", f"domain.path={data_dir / PUBLISHED[name]}"]
    arms = ("none", "bm25", "oracle")
    made = measured("some", [*words, f"arch={','.join(arms)}"], True, RECORDED / "further")
    page = between_markers(f"{PAGE}#{name.replace('_', '-')}").splitlines()
    rows = [line for line in made.splitlines() if line.startswith(tuple(f"| {a} " for a in arms))]
    assert len(rows) == len(arms)
    assert set(rows) <= set(page)


def test_the_front_page_has_columns_of_the_page_s_table() -> None:
    page = between_markers(str(PAGE))
    front = between_markers(f"{language_model.ROOT}/README.md#language-model-short")
    assert front == language_model.short(page)
    rows = [line for line in front.splitlines() if line.startswith("|")]
    assert rows[0].strip("| ").split(" | ") == list(language_model.SHORT)
    assert len(rows) == 2 + len(language_model.ARMS)


def test_a_sweep_that_is_not_recorded_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="its answers are not recorded"):
        measured("another", [], True, tmp_path)
    with pytest.raises(UserError, match=r"no sweep nowhere; there are hotpotqa, "):
        main(["--all", "nowhere"])
    for option in ("--into", "--path"):
        with pytest.raises(UserError, match=f"{option}: .* name one sweep"):
            main(["--all", option, "x.md"])


def test_a_sweep_whose_file_is_not_given_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--all", *language_model.NEED_FILES]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{name}: left out without --path FILE" for name in language_model.NEED_FILES
    ]


def test_the_share_that_differs_is_told(tmp_path: Path) -> None:
    for name, texts, sure in (
        ("here", "abcde", [None, 1, 1, 0.5, 1]),
        ("there", "axcd", [None, 1, 1, 1]),
    ):
        with sqlite3.connect(tmp_path / name) as db:
            db.execute("CREATE TABLE responses (key TEXT, response TEXT)")
            rows = [
                (str(i), json.dumps({"text": text, "confidence": confidence}))
                for i, (text, confidence) in enumerate(zip(texts, sure, strict=True))
            ]
            db.executemany("INSERT INTO responses VALUES (?, ?)", rows)
    told = agreement(tmp_path / "here", tmp_path / "there")
    assert told == "2 of 4 answers are those recorded (0.600 of all differ or are new); 1 are new"
    assert "no recorded answers" in agreement(tmp_path / "here", tmp_path / "nowhere")


def test_what_is_shipped_is_a_few_megabytes() -> None:
    sizes = [path.stat().st_size for path in RECORDED.rglob("*") if path.is_file()]
    assert len(sizes) == 5
    assert all(sizes)
    assert sum(sizes) < 8_000_000


def test_an_answer_that_was_asked_for_again_is_one_answer() -> None:
    def run(calls: int, repairs: int, unreadable: int) -> FinishedRun:
        total = {"calls": calls, "repairs": repairs, "unreadable": unreadable}
        return FinishedRun(
            state=State(path=Path(), started={}), summary={"ledger": {"total": total}}
        )

    told = language_model._readable([run(7, 2, 1), run(5, 0, 0), run(0, 0, 0)])
    assert told == "Readable: 9 of 10 answers, 0.900 (0.596 to 0.982)."
    assert language_model._readable([run(0, 0, 0)]) == "Nothing was asked of it."


def test_an_empty_field_is_counted_in_every_answer_that_was_asked_for(tmp_path: Path) -> None:
    def asked(phase: str, response: str) -> dict[str, str]:
        return {"operation": "decide", "phase": phase, "response": response}

    full = json.dumps({"evidence": "It is.", "answer": "7"})
    empty = json.dumps({"evidence": "", "answer": "7"})
    records = [
        {"prompts": [asked("answer", full), asked("control", empty), asked("control", full)]},
        {"prompts": [asked("ingest", empty), asked("answer", "cut o")], "error": "unreadable"},
        {"state": "does not fit: 9 of 8 tokens"},
        {"prompts": [asked("answer", empty)]},
    ]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    run = FinishedRun(state=State(path=tmp_path, started={}), summary={})
    told = language_model._filled([run])
    assert told == " No required field empty: 2 of 4 answers, 0.500 (0.150 to 0.850)."
    (tmp_path / "answers.jsonl").write_text(f"{json.dumps(records[2])}\n", encoding="utf-8")
    assert language_model._filled([run]) == ""


@pytest.mark.parametrize(
    ("said", "filled"),
    [
        (
            {"decision": "DENY", "facts": {"a": "1", "b": None}, "rationale": "r", "notice": ""},
            True,
        ),
        ({"decision": "DENY", "facts": {"a": None, "b": ""}, "rationale": "r"}, False),
        ({"decision": "DENY", "facts": {}, "rationale": "r", "amount": None, "reasons": []}, True),
        ({"decision": "DENY", "facts": {}, "rationale": " "}, False),
        ({"edit": [{"component": "c", "setting": "s", "value": "1"}], "decisions": []}, True),
        ({"edit": [{"component": "c", "setting": "s", "value": ""}]}, False),
        ({"edit": []}, False),
        ({"evidence": ["it is", ""], "answer": "7", "abstains": False}, False),
    ],
)
def test_a_field_is_filled_down_to_the_values_of_an_edit(
    said: dict[str, object], filled: bool
) -> None:
    assert language_model._is_filled(said) is filled


def test_each_sweep_has_its_number_of_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def keep(name: str, *_: object, **__: object) -> str:
        made.append(name)
        return ""

    monkeypatch.setattr(language_model, "measured", keep)
    assert main(["--all", "summ_only", "governance", "extraction"]) == 0
    assert main(["--all", "answers_locomo", "--path", "x"]) == 0
    assert made == [
        "lm_all_5_summ_only",
        "lm_all_4_governance",
        "lm_all_10_extraction",
        "lm_all_24_answers_locomo",
    ]
