"""`python run.py` with a mistake in it: one line that helps, status 2, nothing written."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins

import run as command
from framework.store import verify_run
from framework.store.directory import RunDirectory
from plugins.domains.passages.hotpotqa import HotpotQA
from tests.launching import HOTPOT, LOAN, QUESTIONS, everything_in, framework, read_json, run

ROOT = Path(__file__).resolve().parent.parent

MISTAKES = {
    "an unknown option": (["arch=bm52"], ["arch: no option 'bm52'", "'bm25'", " are allowed"]),
    "no option": (["arch="], ["arch: no option ''", "bm25"]),
    "an option that is a number": (["arch=3"], ["arch: no option '3'", "bm25"]),
    "a list of options": (["arch=[bm25,none]"], ["arch: no option '[bm25,none]'", "bm25"]),
    "an unknown group": (["arhc=bm25"], ["arhc: no such key", "'arch'", "budget"]),
    "an unknown group in a folder": (["foo/bar=x"], ["foo/bar: no such key"]),
    "a group taken out": (["~arch"], ["arch: no option chosen"]),
    "a group added twice": (["+arch=none"], ["arch: an option is chosen already"]),
    "an overlay without its plus": (["experiment=x"], ["experiment:", "write +experiment=x"]),
    "an unknown overlay": (["+experiment=quikstart"], ["experiment: no option", "'quickstart'"]),
    "an unknown setting": (["arch.kk=3"], ["arch.kk (arch=typed_graph)", "'k1'", "seeds"]),
    "an unknown setting, added": (["+arch.bogus=1"], ["arch.bogus (arch=typed_graph)", "k1"]),
    "an unknown key, added": (["+bogus=1"], ["bogus: no such key", "n_cases", "arch"]),
    "a setting that is there, added": (["+arch.k1=2"], ["arch.k1: there is a value already"]),
    "a setting taken out that is not there": (["~arch.kk"], ["~arch.kk: there is nothing"]),
    "a wrong type": (["arch.k1=high"], ["arch.k1", "'high' given", "a number"]),
    "a setting of a setting": (["arch.k1.x=1"], ["arch.k1", "{'x': 1} given", "a number"]),
    "a wrong choice": (["budget.packing=half"], ["budget.packing", "'half'", "truncate, whole"]),
    "no cases": (["n_cases=0"], ["n_cases: 0 given", "at least 1"]),
    "cases in words": (["n_cases=two"], ["n_cases: 'two' given", "a whole number or null"]),
    "half a case": (["n_cases=3.5"], ["n_cases: 3.5 given", "a whole number"]),
    "no repeats": (["repeats=0"], ["repeats: 0 given", "at least 1"]),
    "a seed below 0": (["seed=-1"], ["seed: -1 given", "0 or more"]),
    "max_errors below 0": (["max_errors=-0.1"], ["max_errors: -0.1 given", "0 or more"]),
    "max_errors that is no number": (["max_errors=nan"], ["max_errors: nan given"]),
    "a name with a folder": (["run_name=a/b"], ["run_name: 'a/b' given", "without /"]),
    "a name of 300 characters": ([f"run_name={'x' * 300}"], ["run_name: longer than 200 bytes"]),
    "a name of two lines": (["run_name='a\nb'"], ["run_name: 'a\\nb' given", "without /"]),
    "a protocol that does not fit": (
        ["protocol=improve"],
        ["protocol=improve", "retrieve, evaluate"],
    ),
    "no data file": (["domain.path=nope.json"], ["nope.json", "no such file", "domain.path=FILE"]),
    "no path": (["domain.path="], ["domain.path: no file given"]),
    "data that are not JSON": (["domain.path=broken.json"], ["broken.json:3: not JSON"]),
    "a bad record": (["domain.path=bad.json"], ["bad.json: question 2", "question: text expected"]),
    "an empty domain": (["domain.path=empty.json"], ["empty.json: no questions"]),
    "a budget too small": (["budget=absolute", "budget.tokens=1"], ["budget", "1 token,", "event"]),
    "an unknown baseline": (["gate.baseline=bm52"], ["gate.baseline: 'bm52'", "'bm25'"]),
    "a baseline that is no run": (["gate.baseline=./x"], ["gate.baseline: './x' is neither"]),
    "an axis that is nowhere": (["gate.axes=[mmr]"], ["gate.axes: no axis 'mmr'", "'mrr'"]),
    "an axis that is not filled": (
        ["gate.baseline=none", "gate.axes=[recall_at_5,eda]"],
        ["gate.axes: domain=hotpotqa protocol=retrieve", "'eda'", "recall_at_5"],
    ),
    "an axis without a direction": (
        ["gate.axes=[gold_tokens]"],
        ["gate.axes: gold_tokens has no better direction"],
    ),
    "a margin on the wrong side": (["gate.threshold=.1"], ["gate.threshold: 0.1", "below 0"]),
    "no equals sign": (["arch"], ["'arch' is not an override", "key=value"]),
    "no key": (["=3"], ["'=3' is not an override", "no key"]),
    "an open bracket": (["gate.axes=[eda"], ["'gate.axes=[eda' is not an override"]),
    "an open choice": (["n_cases=choice(1,"], ["'n_cases=choice(1,' is not an override"]),
    "an interpolation of nothing": (["n_cases=${foo}"], ["n_cases: ", "'foo' not found"]),
    "a key that Hydra does not have": (["hydra.foo=1"], ["hydra.foo: no such key"]),
    "another launcher": (
        ["hydra/launcher=dask"],
        ["hydra/launcher: no option 'dask'", "basic", "of Hydra or of an installed package"],
    ),
    "an unknown switch": (["--fast"], ["--fast: no such option"]),
    "another main configuration": (["--config-name=x"], ["--config-name: no configuration 'x'"]),
    "a folder of options that is none": (
        ["--config-dir=nope"],
        ["--config-dir:", "nope is not"],
    ),
    "a run below a file": (["hydra.run.dir=bad.json/x"], ["cannot write bad.json/x"]),
    "a directory of an interpolation": (["hydra.run.dir=${foo}"], ["'foo' not found"]),
    "a run to resume that is not there": (["resume=nope"], ["resume=nope: no such directory"]),
    "resuming what is no run": (["resume=."], [". is not a run directory"]),
}
SINGLE_ONLY = {"a run below a file", "a directory of an interpolation"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with data files of several kinds."""
    (tmp_path / "broken.json").write_text('[\n {"_id": "x"},\n nope]')
    (tmp_path / "empty.json").write_text("[]")
    records = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    records[1]["question"] = 5
    (tmp_path / "bad.json").write_text(json.dumps(records))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], place: Path, mistake: str
) -> None:
    given, said = MISTAKES[mistake]
    before = everything_in(place)
    message = run(capsys, *HOTPOT, *given).mistake
    assert [words for words in said if words not in message] == [], message
    assert everything_in(place) == before


def test_what_was_begun_under_a_longer_name_is_named(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    (place / "r[1].shards").mkdir()
    said = run(capsys, "resume='r[1]'").mistake
    assert said == "resume=r[1]: no such directory; resume=r[1].shards is begun"


@pytest.mark.slow
@pytest.mark.parametrize("mistake", sorted(MISTAKES.keys() - SINGLE_ONLY))
def test_a_mistake_in_a_sweep_is_one_line_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], place: Path, mistake: str
) -> None:
    given, said = MISTAKES[mistake]
    before = everything_in(place)
    message = run(capsys, "-m", *HOTPOT, "seed=1,2", *given).mistake
    assert [words for words in said if words not in message] == [], message
    assert everything_in(place) == before


SWEPT = {
    "the last option is unknown": (["arch=bm25,none,bm52"], ["arch: no option 'bm52'", "'bm25'"]),
    "the last value is too small": (["n_cases=3,2,0"], ["n_cases: 0 given"]),
    "the last file is not there": (
        [f"domain.path={QUESTIONS},nope.json"],
        ["nope.json", "no such file"],
    ),
    "the last baseline is unknown": (["gate.baseline=null,bm52"], ["gate.baseline: 'bm52'"]),
    "one job twice": (["arch=bm25,bm25"], ["two jobs of the sweep are the same run"]),
    "one job under two names": (["arch=bm25", "arch.k1=1.5,1.50"], ["are the same run"]),
    "two jobs under one name": (
        ["domain.path=a/q.json,b/q.json"],
        [
            "two jobs of the sweep would have the same name",
            "hotpotqa(path=q.json,unknown_file=true)",
        ],
    ),
    "two parts of the cases": (
        ["part=null,shard:1/2"],
        ["two jobs of the sweep have different cases: part=all, part=shard:1/2"],
    ),
    "a sweep over Hydra itself": (
        ["hydra.verbose=true,false"],
        ["hydra.verbose=true,false", "a key of Hydra's own"],
    ),
    "a baseline that is no arm": (
        ["arch=bm25,none", "baseline=bm52"],
        ["baseline: 'bm52' is not an arm of the sweep", "'bm25'"],
    ),
    "a sweep below a file": (["hydra.sweep.dir=bad.json/x"], ["cannot write bad.json/x"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", SWEPT)
def test_a_mistake_in_one_job_leaves_nothing(
    capsys: pytest.CaptureFixture[str], place: Path, mistake: str
) -> None:
    given, said = SWEPT[mistake]
    records = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    for folder, number in (("a", 6), ("b", 5)):
        (place / folder).mkdir()
        (place / folder / "q.json").write_text(json.dumps(records[:number]))
    before = everything_in(place)
    message = run(capsys, "-m", *HOTPOT, *given).mistake
    assert [words for words in said if words not in message] == [], message
    assert everything_in(place) == before


@pytest.mark.parametrize("name", ["submitit_local", "submitit_slurm"])
@pytest.mark.parametrize("given", [["-m"], ["shards=2"]])
def test_a_launcher_whose_package_is_missing_names_the_extra(
    capsys: pytest.CaptureFixture[str],
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    given: list[str],
) -> None:
    Plugins.instance()  # which stores the launchers that are installed
    monkeypatch.delitem(ConfigStore.instance().repo["hydra"]["launcher"], f"{name}.yaml", False)
    before = everything_in(place)
    message = run(capsys, *given, *HOTPOT, f"hydra/launcher={name}").mistake
    assert message == f"hydra/launcher={name}: pip install 'decisionbench[submitit]'"
    assert everything_in(place) == before


@pytest.mark.parametrize(
    ("launcher", "said"),
    [
        ("hydra.launcher.workers=0", "hydra.launcher.workers: 0 given, at least 1 expected"),
        ("hydra.launcher.foo=1", "hydra.launcher.foo: no such key"),
        ("+hydra.launcher.foo=1", "unexpected keyword argument 'foo'"),
    ],
)
@pytest.mark.parametrize("given", [["-m"], ["shards=2"]])
def test_a_launcher_that_can_run_nothing_leaves_nothing(
    capsys: pytest.CaptureFixture[str], place: Path, given: list[str], launcher: str, said: str
) -> None:
    before = everything_in(place)
    assert said in run(capsys, *given, *HOTPOT, launcher).mistake
    assert everything_in(place) == before


def test_several_values_ask_for_a_sweep(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    for given in ("arch=bm25,none", "n_cases=range(1,3)"):
        before = everything_in(place)
        message = run(capsys, *HOTPOT, given).mistake
        assert message == f"{given}: several values; add -m to sweep over them"
        assert everything_in(place) == before


@pytest.mark.slow
def test_all_cases_of_an_endless_domain(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    before = everything_in(place)
    for switch in ((), ("-m",)):
        message = run(capsys, *switch, *LOAN, "n_cases=null").mistake
        assert message.startswith("n_cases: loan cases are generated without end")
    assert everything_in(place) == before


def test_mistakes_while_showing_the_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--cfg", "job", "arch=bm52").mistake.startswith("arch: no option 'bm52'")
    assert "--cfg" in run(capsys, "--cfg").mistake


@pytest.mark.slow
def test_a_directory_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    """Permission is denied by a stand-in: to the superuser nothing is."""
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    judged = ["gate.axes=[mrr]", "gate.baseline=none"]
    for given in (["hydra.run.dir=x/y"], ["-m", "hydra.sweep.dir=x/y"], judged):
        before = everything_in(place)
        message = run(capsys, *HOTPOT, *given).mistake
        assert message.startswith("cannot write ")
        assert f"no permission to write in {place}" in message
        assert everything_in(place) == before


def test_a_file_system_that_refuses(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    before = everything_in(place)
    message = run(capsys, *HOTPOT, "hydra.run.dir=/proc/nope/run").mistake
    assert message.startswith("cannot write /proc/nope/run: ")
    assert everything_in(place) == before


@pytest.mark.slow
def test_a_directory_that_is_there(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    (place / "full").mkdir()
    (place / "full" / "file").write_text("precious")
    first = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    swept = run(capsys, "-m", *HOTPOT, "arch=bm25", "hydra.sweep.dir=many")
    assert (first.status, swept.status) == (0, 0)
    before = everything_in(place)
    for way in (["hydra.run.dir="], ["-m", "hydra.sweep.dir="]):
        for name, said in (
            ("one", "one exists already; resume it with resume=one"),
            ("many", "many exists already; resume it with resume=many"),
            ("full", "full exists already and holds no run; choose another directory"),
        ):
            *switch, key = way
            # The baseline would be run before the run itself.
            given = ["arch=none", "gate.baseline=bm25", "gate.axes=[mrr]", f"{key}{name}"]
            assert run(capsys, *switch, *HOTPOT, *given).mistake == said
    assert everything_in(place) == before


@pytest.mark.slow
def test_going_on_with_another_configuration(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    run(capsys, "-m", *HOTPOT, "arch=bm25,none", "hydra.sweep.dir=many")
    before = everything_in(place)
    for directory in ("one", "many"):
        for other in ("arch=none", "n_cases=2", "arch.k1=2", "gate=open"):
            message = run(capsys, f"resume={directory}", other).mistake
            assert message.startswith(f"resume: {other} would change the run"), message
            assert "max_errors" in message
        for wrong in ("arch=bm52", "bogus=1", "arch.kk=1"):
            run(capsys, f"resume={directory}", wrong).mistake  # noqa: B018  # it asserts
    assert everything_in(place) == before


@pytest.mark.slow
def test_going_on_with_other_data(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    data = place / "data.json"
    data.write_bytes(QUESTIONS.read_bytes())
    mine = (*HOTPOT, "domain.path=data.json", "gate.baseline=none", "gate.axes=[mrr]")
    run(capsys, *mine, "arch=bm25", "hydra.run.dir=one/run")
    run(capsys, "-m", *mine, "arch=bm25", "hydra.sweep.dir=many")
    data.write_text(json.dumps(json.loads(QUESTIONS.read_bytes())[:4]))
    before = everything_in(place)
    assert "one/run was begun on other data" in run(capsys, "resume=one/run").mistake
    assert "was begun on other data" in run(capsys, "resume=many").mistake
    data.unlink()
    del before["data.json"]
    assert "no such file" in run(capsys, "resume=one/run").mistake
    assert everything_in(place) == before


@pytest.mark.slow
def test_a_damaged_run_is_not_gone_on_with(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    run(capsys, "-m", *HOTPOT, "arch=bm25", "hydra.sweep.dir=many")
    journal = place / "one" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"view_tokens":', '"view_token5":'))
    (place / "many" / "sweep_plan.json").write_text('{"jobs": ')
    before = everything_in(place)
    assert "one/journal.jsonl:2: edited" in run(capsys, "resume=one").mistake
    assert "sweep_plan.json: not the plan of a sweep" in run(capsys, "resume=many").mistake
    assert everything_in(place) == before


@pytest.mark.slow
def test_a_baseline_directory_must_be_comparable_and_finished(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=none", "hydra.run.dir=base")
    given = (*HOTPOT, "arch=bm25", "gate.baseline=base", "gate.axes=[mrr]")
    before = everything_in(place)
    message = run(capsys, *given, "seed=8").mistake
    assert message == "gate.baseline=base: it differs in seed"
    lines = (place / "base" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (place / "base" / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    message = run(capsys, *given).mistake
    assert message == "gate.baseline=base: not finished; resume it with resume=base"
    (place / "base" / "journal.jsonl").write_bytes(b"".join(lines))
    assert everything_in(place) == before


@pytest.mark.slow
def test_a_mistake_writes_no_tracking_run(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    tracked = (*HOTPOT[:-1], "tracking=mlflow")
    before = everything_in(place)
    assert "arch" in run(capsys, *tracked, "arch=bm52").mistake
    assert "arch" in run(capsys, "-m", *tracked, "arch=bm25,bm52").mistake
    assert (
        "tracking=mlflow: uri: scheme"
        in run(capsys, *tracked, "tracking.uri=carrier-pigeon://x").mistake
    )
    assert everything_in(place) == before


@pytest.mark.slow
def test_in_a_process_of_its_own_too(place: Path) -> None:
    before = everything_in(place)
    done = subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *HOTPOT, "arch=bm52"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: arch: no option 'bm52'")
    assert done.stderr.count("\n") == 1
    assert everything_in(place) == before


@pytest.mark.slow
@pytest.mark.parametrize("lines", [0, 1])
def test_a_reader_that_leaves_changes_no_status(place: Path, lines: int) -> None:
    """`python run.py ... | head -1`: the run is done, and its gate has still failed."""
    given = ("arch=none", "gate.baseline=bm25", "gate.axes=[mrr]", "hydra.run.dir=r/one")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *HOTPOT, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(lines):
        assert process.stdout.readline()
    process.stdout.close()
    (said,) = process.stderr.read().splitlines()
    assert said.startswith("gate noninferiority for none tight: FAILED. mrr: ")
    process.stderr.close()
    assert process.wait(60) == 3
    assert (place / "r/one/summary.json").is_file()


@pytest.mark.slow
def test_ctrl_c_in_a_process_of_its_own(place: Path) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, str(ROOT / "run.py"), "domain=loan", "arch=bm25", "n_cases=100000"),
            *("tracking=none", "hydra.run.dir=one"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    journal = place / "one/journal.jsonl"
    while not (journal.exists() and b"case.finished" in journal.read_bytes()):
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert err.splitlines() == [
        "interrupted: finishing what is under way; again to stop now",
        "interrupted; resume it with resume=one",
    ]
    assert verify_run(place / "one").journal.intact


@pytest.mark.slow
def test_switches_may_stand_between_overrides(capsys: pytest.CaptureFixture[str]) -> None:
    done = run(capsys, *HOTPOT, "-m", "arch=none,bm25", "n_cases=1", "hydra.sweep.dir=s")
    assert done.status == 0
    assert len(read_json(Path("s") / "sweep.json")["jobs"]) == 2


@pytest.mark.slow
def test_groups_of_ones_own(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    """`--config-dir` adds options; a run made with them is resumed like any other."""
    (place / "mine" / "arch").mkdir(parents=True)
    (place / "mine" / "arch" / "sharp.yaml").write_text(
        "plugin: bm25\nk1: 0.4\nb: 0.75\nepsilon: 0.25\ntokenizer: words\n"
    )
    given = (*HOTPOT, "--config-dir=mine", "gate.baseline=bm25", "gate.axes=[mrr]", "n_cases=2")
    one = run(capsys, *given, "arch=sharp", "hydra.run.dir=r/one")
    assert one.out.splitlines()[-1] == "run: r/one"
    assert read_json(place / "r/one/summary.json")["run"]["arch"] == "sharp"
    many = run(capsys, "-m", *given, "arch=sharp,none", "hydra.sweep.dir=r/many")
    for directory, done in (("r/one", one), ("r/many", many)):
        again = run(capsys, f"resume={directory}")
        assert (again.status, again.directory) == (done.status, Path(directory))


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    histories = iter(range(1000))
    cases = HotpotQA._case

    def interrupted(self: HotpotQA, question: Any) -> Any:
        if next(histories) == 4:
            raise KeyboardInterrupt
        return cases(self, question)

    monkeypatch.setattr(HotpotQA, "_case", interrupted)
    done = run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    assert (done.status, done.out) == (130, "")
    assert done.err == "interrupted; resume it with resume=one\n"
    assert run(capsys, "resume=one").status == 0
    assert read_json(Path("one") / "summary.json")["run"]["n_cases"] == 6


@pytest.mark.slow
def test_help_is_hydras(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py"])
    with pytest.raises(SystemExit) as left:
        raise SystemExit(command.main(["--help"]))
    assert left.value.code == 0
    listed = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("arch: ")
    )
    assert "bm25" in listed.removeprefix("arch: ").split(", ")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"defaults: bm25\n", "defaults must be a list (got str)"),
        (b"defaults: [[bm25]]\n", "Unsupported type in defaults : ListConfig"),
        (b"defaults: [{a: b, c: d}]\n", "Too many keys in default item {'a': 'b', 'c': 'd'}"),
        (b"plugin: bm25  # caf\xe9\n", "not UTF-8 text"),
        (
            b"defaults: [bm52, _self_]\n",
            "defaults: arch has no option 'bm52'; did you mean 'bm25'?",
        ),
        (b"defaults: [{x: y}]\n", "defaults: arch/x has no option 'y'; allowed: none"),
    ],
)
@pytest.mark.parametrize("sweep", [(), ("-m",)])
def test_a_mistake_in_a_file_of_options_is_told_with_its_name(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: bytes,
    told: str,
    sweep: tuple[str, ...],
) -> None:
    file = tmp_path / "conf/arch/mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    given = (*LOAN, "n_cases=1", "--config-dir", str(tmp_path / "conf"), "arch=mine")
    assert run(capsys, *sweep, *given).mistake.startswith(f"{file}: {told}")
    assert framework(capsys, "estimate", *given).mistake.startswith(f"{file}: {told}")


def test_an_option_without_its_class_and_a_class_that_is_not_found_say_which_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "conf/arch").mkdir(parents=True)
    (tmp_path / "conf/arch/mine.yaml").write_text("plugin: mine\n")
    given = (*LOAN, "n_cases=1", "--config-dir", str(tmp_path / "conf"))
    told = run(capsys, *given, "arch=mine").mistake
    assert told.startswith("arch: no plugin 'mine'")
    assert "no class follows @register('arch', 'mine')" in told
    told = run(capsys, *given, "arch=yours").mistake
    assert told.startswith("arch: no option 'yours'")
    assert "a class under @register('arch', NAME) or a file arch/NAME.yaml" in told


def test_a_python_without_what_is_needed_is_told_in_one_line(tmp_path: Path) -> None:
    bare = [sys.executable, "-I", "-S"]  # no site: nothing that is installed is found
    start = "import runpy, sys; sys.path.insert(0, {0!r}); sys.argv = {1!r}; runpy.{2}"
    for words, how in (
        (["run.py", "domain=loan"], f"run_path({str(ROOT / 'run.py')!r}, run_name='__main__')"),
        (["framework", "list"], "run_module('framework', run_name='__main__')"),
    ):
        code = start.format(str(ROOT), words, how)
        done = subprocess.run([*bare, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith(f"error: {sys.executable} lacks what DecisionBench needs")
        assert "make setup" in done.stderr


def test_a_text_that_no_terminal_can_show_is_shown_all_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(args: object) -> int:
        print("so \ud83d")
        return 0

    monkeypatch.setattr("framework.cli.plugins.list_plugins", shown)
    done = framework(capsys, "list")
    assert (done.status, done.out) == (0, "so \\ud83d\n")


def test_an_option_that_grows_without_end_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    (place / "mine" / "arch").mkdir(parents=True)
    lists = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10))
    (place / "mine" / "arch" / "bomb.yaml").write_text(f"a0: &a0 [1, 2]\n{lists}")
    told = "mine/arch/bomb.yaml: aliases (*) make more than 500,000 values of it"
    assert run(capsys, "--config-dir=mine", *HOTPOT, "arch=bomb").mistake == told
    assert framework(capsys, "--config-dir=mine", "list", "arch").mistake == told


@pytest.mark.slow
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS], ids=["full", "read_only"])
def test_a_place_that_takes_no_more_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str],
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    """The answers of a run, its rows, and its page."""
    run(capsys, *HOTPOT, "hydra.run.dir=r")

    def refuses(*given: object, **named: object) -> None:
        raise OSError(number, os.strerror(number), "r/x")

    with monkeypatch.context() as patch:
        patch.setattr("framework.reporting.page.write_text", refuses)
        assert framework(capsys, "report", "r").mistake == f"r/x: {os.strerror(number)}"
    with monkeypatch.context() as patch:
        patch.setattr("framework.store.directory.write_parquet", refuses)
        done = run(capsys, *HOTPOT, "hydra.run.dir=s")
        assert done.mistake == f"cannot write s: {os.strerror(number)}"
    assert run(capsys, "resume=s").status == 0
    monkeypatch.setattr(RunDirectory, "_put", _full)
    done = run(capsys, *HOTPOT, "hydra.run.dir=t")
    assert done.mistake == "cannot write t/answers.jsonl: No space left on device"


def _full(self: RunDirectory, line: bytes) -> None:
    self._answers.close()
    self._answers = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115, PTH123
    _PUT(self, line)


_PUT = RunDirectory._put
