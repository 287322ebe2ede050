"""The task that inspect_ai runs: its scores are those of our own run on the same answers."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

import run as command
from framework.engine.dry_run import dry_run_of
from framework.records import Row
from framework.registry import plugins
from framework.store.state import load_finished
from framework.testing.server import ModelServer
from tests.extras import needs_inspect
from tests.plugins.domains.regulated.support import SPECS

pytestmark = pytest.mark.inspect

ROOT = Path(__file__).resolve().parent.parent.parent
CASES = 8
RUNS = {
    "loan": ("domain=loan", "arch=bm25", "budget=loose"),
    "verified": ("domain=loan", "arch=oracle", "budget=loose", "reader=verified"),
    "codebase": ("domain=codebase", "arch=typed_graph", "budget=moderate"),
    "agentic": ("domain=loan", "arch=bm25", "budget=tight", "reader=agentic"),
}
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Measured:
    """The rows of our own runs, and what inspect's logs hold of the same answers, by name."""

    place: Path
    texts: Mapping[str, Texts]
    rows: Mapping[str, Mapping[str, Row]]
    logs: Mapping[str, Any]


def answers(*overrides: str) -> Texts:
    """The rule-based answers to what a run asks; some with another decision, some unreadable."""
    given = [f"n_cases={CASES}", "tracking=none", "model=openai", *overrides]
    asked = sorted(dry_run_of(given).answers.items())
    return {key: _spoilt(text, number) for number, (key, text) in enumerate(asked)}


def _spoilt(text: str, number: int) -> str:
    if number % 4 == 1:
        return "I would rather not say."
    said = json.loads(text)
    if number % 4 == 2 and "decision" in said:
        said["decision"] = "DENY" if said["decision"] != "DENY" else "APPROVE"
    return json.dumps(said)


def rows_of(texts: Texts, place: Path, *overrides: str) -> dict[str, Row]:
    """The rows of the first trial of our own run, whose model answers with these texts."""
    fixed = (f"n_cases={CASES}", "tracking=none", "report=false", "model=openai", "max_errors=100")
    with ModelServer(texts) as server:
        own = (f"model.base_url={server.url}/v1", f"hydra.run.dir={place}")
        assert command.main([*fixed, *own, *overrides]) == 0
    return {row.case_id: row for row in load_finished(place).rows if row.trial == 0}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Every run by us and by inspect, whose data and caches stay in a folder of their own."""
    needs_inspect()
    place = tmp_path_factory.mktemp("inspect")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        texts = {name: answers(*given) for name, given in RUNS.items()}
        rows = {name: rows_of(texts[name], place / name, *RUNS[name]) for name in RUNS}
        asked = {
            name: {
                "texts": texts[name],
                "given": {"n_cases": CASES, "overrides": list(given)},
                "other_solver": False,
            }
            for name, given in RUNS.items()
        }
        asked["other solver"] = {**asked["loan"], "other_solver": True}
        asked["mistake"] = {**asked["loan"], "given": {"domain": "loann"}}
        found = json.loads(
            inspecting(
                [sys.executable, str(ROOT / "tests" / "decisionbench" / "inspecting.py"), "logs"],
                place,
                said=json.dumps(asked),
            ).splitlines()[-1]
        )
        logs = {n: _read(Path(said)) if "Error" not in said else said for n, said in found.items()}
        yield Measured(place=place, texts=texts, rows=rows, logs=logs)


def inspecting(words: list[str], place: Path, said: str = "", **more: str) -> str:
    """What a command of inspect's prints."""
    own = {f"XDG_{name}_HOME": str(place / name) for name in ("DATA", "CACHE", "STATE")}
    # Without a path of tests: inspect names a task by the installed package that it is from.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        words,
        cwd=place,
        env={**env, **own, **more},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def _read(path: Path) -> Any:
    log = json.loads(path.read_text(encoding="utf-8"))
    assert log["status"] == "success", log.get("error")
    return log


def agree(log: Any, rows: Mapping[str, Row]) -> None:
    """Every axis of every case has the value of our own row, NaN standing for None."""
    assert {sample["id"] for sample in log["samples"]} == rows.keys()
    defined = 0
    for sample in log["samples"]:
        row = rows[sample["id"]]
        score = sample["scores"]["axes"]
        ours = {**row.axes, "success": row.success}
        for name, value in score["value"].items():
            own = ours.get(name)
            assert value == own if own is not None else math.isnan(value), (row.case_id, name)
            defined += own is not None
        assert {name for name, value in ours.items() if value is not None} <= set(score["value"])
        assert (score.get("explanation") or "") == (row.error or row.state)
        assert score["metadata"]["view_tokens"] == row.view_tokens
    assert defined > 5 * len(rows)


@pytest.mark.parametrize("name", RUNS)
def test_each_axis_has_the_value_that_our_own_run_gives_to_the_same_answers(
    measured: Measured, name: str
) -> None:
    agree(measured.logs[name], measured.rows[name])


def test_among_the_answers_are_right_wrong_and_unreadable_ones(measured: Measured) -> None:
    rows = [row for name in ("loan", "codebase") for row in measured.rows[name].values()]
    assert any("unreadable after a repair" in row.error for row in rows)
    found = [row.success for rows in measured.rows.values() for row in rows.values()]
    assert {0.0, 1.0} <= set(found)


def test_the_mean_of_an_axis_is_over_the_cases_that_have_a_value(measured: Measured) -> None:
    rows = measured.rows["loan"].values()
    scores = {score["name"]: score for score in measured.logs["loan"]["results"]["scores"]}
    for axis in ("eda", "crr", "surface_ceiling"):
        values = [v for row in rows if (v := row.axes.get(axis)) is not None]
        assert len(values) > 0
        found = scores[axis]["metrics"]["mean"]["value"]
        assert found == pytest.approx(sum(values) / len(values)), axis


def test_another_solver_s_last_text_is_scored(measured: Measured) -> None:
    agree(measured.logs["other solver"], measured.rows["loan"])


def test_a_mistake_is_told_in_one_line(measured: Measured) -> None:
    told = measured.logs["mistake"]
    assert told.startswith("PrerequisiteError: ")
    assert "loann" in told
    assert "\n" not in told


def test_the_command_finds_the_task_and_its_log_says_what_was_asked(measured: Measured) -> None:
    words = [word for part in (*RUNS["loan"], f"n_cases={CASES}") for word in ("-T", part)]
    with ModelServer(measured.texts["loan"]) as server:
        inspecting(
            [
                str(Path(sys.executable).with_name("inspect")),
                *("eval", "decisionbench/domain", *words, "--model", "openai-api/own/any"),
                *("--display", "plain", "--log-format", "json", "--log-dir", "typed"),
            ],
            measured.place,
            OWN_API_KEY="none",
            OWN_BASE_URL=f"{server.url}/v1",
        )
    (path,) = (measured.place / "typed").glob("*.json")
    log, rows = _read(path), measured.rows["loan"]
    agree(log, rows)
    assert log["eval"]["task"] == "decisionbench/domain"
    for sample in log["samples"]:
        row, said = rows[sample["id"]], sample["metadata"]
        assert [turn["role"] for turn in sample["input"]] == ["system", "user"]
        assert sample["target"] == row.expected
        assert (said["case"], said["history"]) == (row.case_id, row.history_id)
        assert (said["domain"], said["domain_version"]) == ("loan", row.domain_version)
        assert said["licence"]


def test_a_log_is_scored_again_from_what_it_holds(measured: Measured) -> None:
    task = measured.logs["loan"]["eval"]["task_id"]
    (path,) = (measured.place / "logs").glob(f"*{task}*.json")
    again = measured.place / "again.json"
    given = ",".join((f"n_cases={CASES}", *RUNS["loan"]))
    words = ["score", str(path), "--output-file", str(again), "--action", "overwrite"]
    # Of a package's scorer a log keeps the name without the package.
    words += ["--scorer", "decisionbench/axes", "-S", f"overrides={given}"]
    inspecting([str(Path(sys.executable).with_name("inspect")), *words], measured.place)
    agree(_read(again), measured.rows["loan"])


def generated() -> list[str]:
    """Domains that ship, are measured case by case, and need no data of the user's."""
    found = []
    for one in plugins("domain"):
        shipped = one.cls.__module__.startswith("plugins.")  # other tests register their own
        needs_data = "sha256" in {field.name for field in fields(one.settings)}
        if shipped and not needs_data and "evaluate" in one.cls.protocols:
            found.append(one.name)
    return [*found, *SPECS]


def test_every_generated_domain_is_a_task(tmp_path: Path) -> None:
    needs_inspect()
    code = (
        "import json, sys; from decisionbench.inspect_task import domain; "
        "made = {name: domain(name, 'bm25', n_cases=2).dataset for name in sys.argv[1:]}; "
        "print(json.dumps({n: [[s.id, s.input[-1].text, s.target] for s in d] "
        "for n, d in made.items()}))"
    )
    names = generated()
    assert {"loan", "codebase", "governance", "text_to_sql"} <= set(names)
    found = json.loads(inspecting([sys.executable, "-c", code, *names], tmp_path).splitlines()[-1])
    assert found.keys() == set(names)
    for name, samples in found.items():
        assert len({id_ for id_, _, _ in samples}) == 2, name
        assert all(question.strip() for _, question, _ in samples), name


def test_a_protocol_that_asks_a_case_otherwise_is_refused(tmp_path: Path) -> None:
    needs_inspect()
    code = (
        "import sys\nfrom decisionbench.inspect_task import domain\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n        domain('loan', 'bm25', n_cases=2, overrides=f'protocol={name}')\n"
        "    except Exception as error:\n        print(type(error).__name__, error.message)\n"
    )
    others = ("retrieve", "sessions", "intervene")
    said = inspecting([sys.executable, "-c", code, "evaluate", *others], tmp_path)
    told = "a task answers each case once, protocol=evaluate only"
    assert said.splitlines() == [f"PrerequisiteError protocol={o}: {told}" for o in others]
