"""The table of third-party systems: a drawn part is replayed without them; LoCoMo is read."""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from benchmarks import memories
from benchmarks.memory_tables import BUDGETS, by_depth, differences
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import open_domain
from framework.statistics.comparison import CaseMeans
from framework.store.state import read_run
from plugins.archs.external._mapping import EVENT
from tests.launching import run

RECORDED = json.loads(memories.ROWS.read_text())
ROWS = RECORDED["rows"]


def drawn() -> tuple[memories.Setting, str, str]:
    """A recorded system on cases that need no file, at a budget: drawn by the recording itself."""
    there = [
        (setting, arm, budget)
        for setting in memories.SETTINGS
        if not setting.file and not setting.small  # those ask a model: below
        for arm in sorted(ROWS.get(setting.name, {}))
        if (memories.RECORDED / arm.partition("(")[0] / setting.name).is_dir()
        for budget in BUDGETS
    ]
    number = int(hashlib.sha256(memories.ROWS.read_bytes()).hexdigest(), 16)
    return there[number % len(there)]


@pytest.mark.slow
def test_a_drawn_part_of_the_table_is_replayed_bit_for_bit(
    capsys: pytest.CaptureFixture[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replayed(capsys, runs_dir, monkeypatch, *drawn())


@pytest.mark.local
@pytest.mark.parametrize("setting", [one for one in memories.SETTINGS if one.small])
def test_what_a_system_asked_the_packaged_model_is_replayed_bit_for_bit(
    setting: memories.Setting,
    capsys: pytest.CaptureFixture[str],
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    data = request.getfixturevalue("data_dir") if setting.file else runs_dir
    words = memories.cases_of(setting, data, runs_dir)
    assert words is not None
    (arm,) = (arm for arm in ROWS[setting.name] if arm.startswith("mem0_1"))
    asks = (*shlex.split(memories.MODEL), "protocol=retrieve")
    asking = replace(setting, overrides=(*words, *asks))
    replayed(capsys, runs_dir, monkeypatch, asking, arm, "moderate", whole=True)


def replayed(
    capsys: pytest.CaptureFixture[str],
    runs_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    setting: memories.Setting,
    arm: str,
    budget: str,
    whole: bool = False,
) -> None:
    """Run an arm from its recorded exchanges, and hold its rows against those recorded."""
    monkeypatch.chdir(runs_dir)
    name = arm.partition("(")[0]  # its settings stand behind it
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = run(
        capsys,
        *setting.overrides,
        *([] if whole else [f"n_cases={memories.HEAD}"]),
        *([f"arch.limit={setting.limit}"] if setting.limit else []),
        f"arch={name}",
        f"arch.exchanges={memories.RECORDED / name / setting.name}",
        "arch.replay=true",
        f"budget={budget}",
        "extra_axes=[traced]",
        "tracking=none",
        "report=false",
        "max_errors=100",
    )
    assert done.status == 0, done.err
    rows = read_run(done.directory).rows
    assert whole or len(rows) == memories.HEAD
    found = memories.rows_digest(rows, RECORDED["axes"][setting.name])
    recorded = ROWS[setting.name][arm]["rows" if whole else "first"]
    assert found == recorded[budget], (setting.name, arm)


def test_a_row_that_is_not_as_recorded_is_told() -> None:
    found = {"x": {"rows": {"tight": "a", "loose": "b"}}, "y": {"rows": {"tight": "c"}}}
    recorded = {"x": {"rows": {"tight": "a", "loose": "other"}}}
    failed = {"z": "no such exchange"}
    told = ["z: no such exchange", "x, loose", "y, tight"]
    assert memories.differing(found, recorded, failed) == told
    assert memories.differing(found, found, {}) == []
    lost = {"x": {"rows": {"tight": "a"}}}
    assert memories.differing(lost, found, {}) == ["x, loose"]


SYSTEM = memories.System(name="x", version="1", asks=False, missing="")


@pytest.mark.parametrize(
    ("said", "status", "failing", "missing"),
    [
        ("pass  facts  24 of 24\nx: all passed\n", 0, [], ""),
        ("FAIL  question     none\n      of it\nFAIL  limit  x\nx: 2 failed\n", 1,
         ["question", "limit"], ""),
        ("pass  facts  24 of 24\n", 1, None, "error: x ended"),
    ],
)  # fmt: skip
def test_canaries_are_run_before_a_system_is_measured(
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    status: int,
    failing: list[str] | None,
    missing: str,
) -> None:
    asked: list[list[str]] = []

    def run(words: list[str], **_: object) -> Any:
        asked.append(words[3:])
        return SimpleNamespace(returncode=status, stdout=said, stderr="error: x ended\n")

    monkeypatch.setattr("benchmarks.memories.subprocess.run", run)
    found: dict[str, list[str]] = {}
    assert memories.probed(SYSTEM, found, ["embedder=e5"]).missing == missing
    assert found.get("x") == failing
    assert asked == [["probe", "x", "embedder=e5"]]
    for other in (replace(SYSTEM, asks=True), replace(SYSTEM, missing="no key")):
        assert memories.probed(other, found, []) == other
    assert len(asked) == 1


def test_a_system_is_set_beside_the_arm_of_ours_by_the_same_cases() -> None:
    def job(arm: str, values: str) -> Any:
        cases = {f"c{n}": float(value) for n, value in enumerate(values)}
        means = CaseMeans(
            values={("loose", arm): {"p_ret": cases}},
            cases={("loose", arm): sorted(cases)},
            clusters=dict.fromkeys(cases),
        )
        summary = {"run": {"seed": 7}}
        return SimpleNamespace(arm=arm, budget="loose", means=means, summary=summary)

    jobs = [job("dense(lexical)", "1100110011"), job("reme", "1111"), job("bm25", "1111")]
    setting = memories.SETTINGS[0]
    (line,) = differences(setting.name, jobs)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:5] == ["governance", "reme", "bm25", "–", "–"]
    assert cells[5].startswith("+0.00")
    assert cells[5].endswith("(0 of 4 differ)")
    jobs.append(job("mem0_raw(lexical)", "1000000011"))
    line, _ = differences(setting.name, jobs)
    assert "| -0.30 " in line
    assert "(3 of 10 differ)" in line


def test_retention_by_depth_is_of_one_budget_and_of_cases_that_have_depths() -> None:
    def job(arm: str, budget: str, means: tuple[float, ...]) -> Any:
        strata = {
            f"stratum=d{d}": {"p_ret": {"mean": m, "n": 15, "ci_low": 0.0, "ci_high": 1.0}}
            for d, m in enumerate(means, start=1)
        }
        summary = {"run": {"arch": arm, "embedder": ""}, "budget_use": {}, "strata": strata,
                   "axes": {"p_ret": {"kind": "rule-based" if arm == "reme" else "model-free"}},
                   "depths": {name: d for d, name in enumerate(strata, start=1)}}  # fmt: skip
        return SimpleNamespace(arm=arm, budget=budget, summary=summary)

    jobs = [job("bm25", b, (0.4, 0.1)) for b in ("tight", "moderate")]
    jobs += [job("reme", "moderate", (0.9, 0.2)), job("none", "moderate", ())]
    lines = by_depth("governance", jobs, (1, 2))
    assert [line.strip("| ").split(" | ")[:2] for line in lines] == [
        ["governance", "reme"], ["governance", "bm25"]
    ]  # fmt: skip
    assert "| 0.90† .00–1.0 (n 15) | 0.20† .00–1.0 (n 15) |" in lines[0]
    assert "| 0.40 .00–1.0 (n 15) | 0.10 .00–1.0 (n 15) |" in lines[1]


def test_a_file_that_was_only_begun_is_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "RECORDED", tmp_path)
    setting = memories.SETTINGS[0]
    system = memories.System(name="x", version="1", asks=False, missing="")
    file = tmp_path / "x" / setting.name / "one.jsonl.gz"
    file.parent.mkdir(parents=True)
    file.touch()
    replay = argparse.Namespace(replay=True, recorded=False)
    assert memories.missing(system, setting, replay)
    file.write_bytes(b"x")
    assert not memories.missing(system, setting, replay)


def test_the_first_conversation_and_of_a_small_setting_its_first_sessions(tmp_path: Path) -> None:
    turn = {"speaker": "Ann", "text": "I went to Oslo."}
    sessions = {
        f"session_{n}{end}": value
        for n in range(1, 13)
        for end, value in (
            ("", [{**turn, "dia_id": f"D{n}:1"}]),
            ("_date_time", f"1:56 pm on {n} May, 2023"),
        )
    }
    asked = [
        {"question": f"Where? {n}", "answer": "Oslo", "evidence": evidence, "category": 4}
        for n, evidence in enumerate([["D1:1"], ["D12:1"], ["D2:1; D4:1"], ["D3:1", "D2:1"], []])
    ]
    first = {
        "sample_id": "one",
        "conversation": {"speaker_a": "Ann", "speaker_b": "Bo", **sessions},
        "qa": asked,
    }
    file = tmp_path / "file.json"
    file.write_text(json.dumps([first, {"sample_id": "another"}]))
    assert json.loads(memories.first_conversation(file, small=False)) == [first]
    (small,) = json.loads(memories.first_conversation(file, small=True))
    assert [one["question"] for one in small["qa"]] == ["Where? 0", "Where? 3"]
    assert sorted(name for name in small["conversation"] if "session" in name) == sorted(
        name for n in (1, 2, 3) for name in (f"session_{n}", f"session_{n}_date_time")
    )


@pytest.mark.parametrize("setting", memories.SETTINGS, ids=lambda setting: setting.name)
def test_the_cases_of_a_setting_open(
    setting: memories.Setting, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data: Path = request.getfixturevalue("data_dir") if setting.file else tmp_path
    words = memories.cases_of(setting, data, tmp_path)
    assert words is not None
    with composer():
        plan = compose_plan(list(words))
    domain = open_domain(plan)
    cases = list(domain.cases(plan.top.n_cases, plan.top.seed))
    histories = {case.history_id for case in cases}
    if setting.small:  # a system of these asks a model at every write
        assert sum(len(list(domain.history(one))) for one in histories) <= 400
    else:
        assert len(cases) >= 12


def fields_sent(name: str) -> set[str]:
    """The fields of an event that a mapping's calls, or its driver's code, take."""
    mapping = yaml.safe_load((memories.ROOT / "conf" / "arch" / f"{name}.yaml").read_text())
    if "write" in mapping:
        return set(re.findall(r"\{(\w+)\}", json.dumps(mapping["write"]))) & set(EVENT)
    base = next((one for one in mapping["defaults"] if one not in ("process", "_self_")), None)
    command = " ".join(mapping.get("command") or ())
    if "{system}/" not in command:
        return fields_sent(str(base))
    driver = re.findall(r"\{system\}/(\w+\.py)", command)[0]
    code = (memories.ROOT / "plugins" / "archs" / "external" / "systems" / driver).read_text()
    return set(re.findall(r"""event(?:\.get\(|\[)["'](\w+)["']""", code)) & set(EVENT)


def test_the_page_says_what_of_an_event_reaches_each_system() -> None:
    page = (memories.ROOT / "docs" / "results" / "memories.md").read_text()
    part = page.partition("## What each was told\n")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:3] for line in part.splitlines() if line.startswith("| `")]
    said = {
        name: set(re.findall(r"`(\w+)`", of))
        for names, of in lines
        for name in re.findall(r"`(\w+)`", names)
    }
    recorded = {folder.name for folder in memories.RECORDED.iterdir() if folder.is_dir()}
    assert said.keys() == recorded
    assert said == {name: fields_sent(name) for name in said}


def test_no_recorded_system_asked_a_model_more_than_400_times() -> None:
    asked = dict.fromkeys((f.name for f in memories.RECORDED.iterdir() if f.is_dir()), 0)
    for file in memories.RECORDED.rglob("*.jsonl.gz"):
        lines = gzip.decompress(file.read_bytes()).splitlines()
        used = (json.loads(line).get("usage") or {} for line in lines if b'"usage"' in line)
        asked[file.relative_to(memories.RECORDED).parts[0]] += sum(one["calls"] for one in used)
    assert max(asked.values()) <= 400
    assert {name for name, n in asked.items() if n} == {"mem0_1"}


@pytest.mark.parametrize("setting", [one for one in memories.SETTINGS if one.name in ROWS])
def test_what_is_recorded_is_of_the_domain_s_version(setting: memories.Setting) -> None:
    """Rows hold it: a new version asks for rows of its own, or `REPLAY=1` tells each of them."""
    with composer():
        plan = compose_plan([word for word in setting.overrides if word.startswith("domain=")])
    version = plan.parts["domain"].plugin.cls.version
    assert {own["version"] for own in ROWS[setting.name].values()} == {version}
