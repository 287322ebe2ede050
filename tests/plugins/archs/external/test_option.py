"""A system is one YAML mapping: `arch=NAME`, and its rows have that name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from framework.store.state import load_state, read_run
from tests.launching import HOTPOT, LOAN, Done, framework, run
from tests.plugins.archs.external.systems import SHELL, TOY


def started(capsys: pytest.CaptureFixture[str], place: Path, *words: str, **mapping: Any) -> Done:
    """A run with `arch=mine`, whose mapping is written first."""
    (place / "arch").mkdir(exist_ok=True)
    text = json.dumps({"defaults": ["process", "_self_"], **mapping})
    (place / "arch/mine.yaml").write_text(text)
    return run(capsys, *HOTPOT, "--config-dir", str(place), "arch=mine", *words)


def measured(done: Done) -> list[Any]:
    rows = read_run(done.directory).rows
    return sorted((row.case_id, row.error, row.view_tokens, str(row.axes)) for row in rows)


@pytest.mark.slow
def test_the_arm_is_the_yamls_name_and_a_repetition_gives_the_same_rows(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    once, again = (
        started(capsys, runs_dir, f"run_name={name}", command=SHELL, version="1")
        for name in ("once", "again")
    )
    assert once.status == again.status == 0, once.err + again.err
    assert {row.arm for row in read_run(once.directory).rows} == {"mine"}
    assert all(row.view_tokens > 0 and not row.error for row in read_run(once.directory).rows)
    assert measured(once) == measured(again)


def test_a_system_that_fails_is_rows_with_its_error(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    command = [*TOY, "--fault", "crash"]
    done = started(capsys, runs_dir, "max_errors=100", command=command)
    rows = read_run(done.directory).rows
    assert len(rows) == 6
    assert all("retrieve: it ended with status 1: out of memory" in row.error for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["empty_recall", "invents"])
def test_a_system_that_keeps_nothing_of_use_is_suspected(
    fault: str, capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    (runs_dir / "arch").mkdir()
    command = [*TOY, "--fault", fault]
    if fault == "invents":  # of a history that it never took in
        answer = '{"ok": true, "items": [{"text": "x"}]}'
        command = ["sh", "-c", f"while read -r line; do echo '{answer}'; done"]
    mapping = {"defaults": ["process", "_self_"], "command": command}
    (runs_dir / "arch/mine.yaml").write_text(json.dumps(mapping))
    done = run(capsys, *HOTPOT, "--config-dir", str(runs_dir), "-m", "arch=none,bm25,mine")
    assert done.status == 0, done.err
    shown = " ".join((done.out + done.err).split())
    assert "Suspected adapter fault (no better than no memory): mine at tight (" in shown
    assert "`decisionbench probe mine`" in shown


@pytest.mark.slow
def test_what_a_mapping_declares_is_on_the_page(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    for name, declared in (("said", True), ("not said", False)):
        done = started(capsys, runs_dir, f"run_name={name}", command=SHELL, deterministic=declared)
        use = read_run(done.directory).summary["budget_use"]
        assert (use["adapted"], use["deterministic"]) == (True, declared)
        assert framework(capsys, "report", str(done.directory)).status == 0
        page = (done.directory / "report.md").read_text()
        assert "said to be deterministic" in page
        assert "Third-party systems: mine. Each was tested with known facts before its run." in page


@pytest.mark.slow
def test_canaries_come_before_the_first_case_and_are_kept_where_all_passed(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    first, again = (
        started(capsys, runs_dir, f"run_name={name}", command=[*TOY], version="1")
        for name in ("first", "again")
    )
    asked = "the memory's canaries come before the first case"
    assert [asked in done.err for done in (first, again)] == [True, False]
    told = [read_run(done.directory) for done in (first, again)]
    findings = [run_.state.started["probed"] for run_ in told]
    assert findings[0] == findings[1][:-1]
    assert findings[1][-1]["name"] == "kept"
    checks = [one for one in findings[0] if one["passed"] is not None]
    assert len(checks) > 15
    assert all(one["passed"] for one in checks)
    assert [run_.summary["checks"] for run_ in told] == [len(checks)] * 2
    assert told[0].summary["warnings"] == []
    for changed in ({"version": "2"}, {"version": "1", "deterministic": True}):
        done = started(capsys, runs_dir, command=[*TOY], **changed)
        assert asked in done.err

    faulty = [*TOY, "--fault", "wrong_order"]
    for name in ("faulty", "still"):  # nothing that failed is kept
        done = started(capsys, runs_dir, f"run_name={name}", command=faulty, version="1")
        assert asked in done.err
        (warning,) = read_run(done.directory).summary["warnings"]
        assert warning.endswith(" before the run failed: order")
        assert "Warning: 1 of" in " ".join(done.out.split())


@pytest.mark.slow
def test_a_merged_run_and_one_that_goes_on_have_what_was_found_before_their_first_case(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    mapping = {"defaults": ["process", "_self_"], "command": [*TOY], "version": "1"}
    (runs_dir / "arch").mkdir()
    (runs_dir / "arch/mine.yaml").write_text(json.dumps(mapping))
    words = (*LOAN, "protocol=retrieve", "n_cases=4", "shards=2")
    done = run(capsys, *words, "--config-dir", str(runs_dir), "arch=mine")
    merged = read_run(done.directory)
    assert merged.summary["checks"] > 15
    assert merged.state.started["probed"][0]["name"] == "answers"

    faulty = [*TOY, "--fault", "crash"]
    stopped = started(capsys, runs_dir, "max_errors=0", "run_name=cut", command=faulty)
    assert stopped.status == 1
    here = Path("runs/cut")
    assert "probed" in load_state(here).started
    again = run(capsys, "--config-dir", str(runs_dir), f"resume={here}", "max_errors=100")
    assert "canaries" not in again.err
    assert read_run(here).summary["checks"] == 1

    mapping["command"] = [*TOY, "--fault", "wrong_order"]
    (runs_dir / "arch/mine.yaml").write_text(json.dumps(mapping))
    done = run(capsys, *LOAN, "n_cases=2", "--config-dir", str(runs_dir), "arch=mine")
    found = read_run(done.directory).state.started["probed"]
    assert "probed" not in json.loads((done.directory / "manifest.json").read_text())
    config = ("--config-dir", str(runs_dir))
    repeated = framework(capsys, *config, "replay", str(done.directory))
    assert (repeated.status, "canaries" in repeated.err) == (0, False), repeated.err
    judged = framework(capsys, *config, "rescore", str(done.directory), "--axes", "traced")
    assert read_run(judged.directory).state.started["probed"] == found
    assert read_run(judged.directory).summary["warnings"]


def test_what_was_not_tested_with_known_facts_is_told(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    done = started(capsys, runs_dir, command=SHELL, canaries=False)
    (finding,) = read_run(done.directory).state.started["probed"]
    assert finding == {
        "name": "canaries", "passed": None, "text": "not asked: arch.canaries=false",
    }  # fmt: skip
    shown = " ".join(done.out.split())
    assert "Not tested with known facts before the run: mine; `decisionbench probe" in shown


def test_a_key_that_a_system_prints_is_in_no_file_of_the_run(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    monkeypatch.setenv("MY_KEY", "not-a-key-12345678")
    command = ["sh", "-c", 'read -r line; echo "no such key: $KEY" >&2; exit 1']
    mapping = {"command": command, "environment": {"KEY": "{env.MY_KEY}"}}
    done = started(capsys, runs_dir, "max_errors=100", **mapping)
    assert all("no such key: ***" in row.error for row in read_run(done.directory).rows)
    files = [file for file in done.directory.rglob("*") if file.is_file()]
    assert files
    assert not any(b"not-a-key" in file.read_bytes() for file in files)
    assert "not-a-key" not in done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize("sweep", [[], ["-m", "budget=tight,moderate"]])
def test_an_estimate_starts_nothing_and_says_so_in_one_line(
    sweep: list[str], capsys: pytest.CaptureFixture[str], runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(runs_dir)
    mark = runs_dir / "started"
    command = ["sh", "-c", f"touch '{mark}'"]
    done = started(capsys, runs_dir, "dry_run=true", *sweep, command=command)
    assert "a third-party system can't be estimated" in done.mistake
    assert not mark.exists()


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({}, "arch.command: a command that starts the system is required"),
        ({"command": ["sh"], "limit": 0}, "arch=mine: limit: 0 given"),
        ({"command": ["no-such-program"]}, "arch.command: 'no-such-program' is not installed"),
        ({"command": ["sh", "{there}/x"]}, "arch=mine: command: no placeholder {there}; did"),
        ({"command": "sh"}, "arch.command (arch=mine): 'sh' given, a list of text expected"),
        ({"comand": ["sh"]}, "arch.comand (arch=mine): no such setting; did you mean"),
        ({"command": ["sh"], "environment": {"A_KEY": "sk-0123456789"}}, "arch.environment: A_KEY"),
        ({"command": ["sh", "--api-key", "sk-0123456789"]}, "arch.command: --api-key: a mapping"),
        ({"command": ["sh"], "environment": {"URL": "http://h?token=0123456789ab"}},
         "arch.environment: token: a mapping is stored"),
        ({"command": ["sh", "{env.NO_SUCH}"]}, "arch.command: {env.NO_SUCH}: NO_SUCH is not set"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_mapping_is_one_line_and_nothing_is_written(
    mapping: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str], runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(runs_dir)
    assert said in started(capsys, runs_dir, **mapping).mistake
    assert not (runs_dir / "runs").exists()


@pytest.mark.parametrize(
    ("arch", "said"),
    [
        ("none,mine", "arch=mine: arch.command: 'no-such-program' is not installed"),
        ("none,process", "error: arch.command: a command that starts the system is required"),
    ],
)
def test_a_mapping_of_a_sweep_that_can_not_be_started_is_named(
    arch: str, said: str, capsys: pytest.CaptureFixture[str], runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(runs_dir)
    done = started(capsys, runs_dir, "-m", f"arch={arch}", command=["no-such-program"])
    assert said in done.err


def test_a_key_that_is_too_short_to_be_hidden_is_told(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    monkeypatch.setenv("SHORT_KEY", "1234567")
    done = started(capsys, runs_dir, command=SHELL, environment={"K": "{env.SHORT_KEY}"})
    said = "arch.environment: the value of SHORT_KEY has fewer than 8 characters, so it is not"
    assert done.err.count(said) == 1


def test_a_file_beside_the_caller_is_named_as_such(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runs_dir)
    (runs_dir / "memory.sh").write_text("exit 1\n")
    told = started(capsys, runs_dir, command=["sh", "memory.sh"]).mistake
    assert "arch.command: 'memory.sh' would be looked for in the system's fresh home" in told
    assert "write '{here}/memory.sh'" in told
