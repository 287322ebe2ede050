"""`shards=N`: the rows of the run without it, also after kills, under caps, and what is damaged."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from framework import cli
from framework.engine.compose import composer
from framework.engine.domains import one_domain
from framework.engine.sweep import each_apart, plan_jobs
from framework.engine.work import with_baselines
from framework.rows import measured
from framework.store import verify_run
from framework.store.atomic import held
from framework.store.shards import SHARDS
from framework.store.state import load_state, read_summary
from hydra_plugins import decisionbench_launch as launch
from plugins.sharding import run as sharding
from plugins.tracking.mlflow import Mlflow
from tests.framework.models.serving import SPENDING, of, server, spent
from tests.killing import command, finish, kill_after
from tests.launching import everything_in, framework, run

RUN = ("domain=governance", "arch=random_context", "arch.trials=2", "repeats=2", "n_cases=36",
       "tracking=none", "report=false")  # fmt: skip
CHEAP = ("domain=loan", "arch=bm25", "protocol=retrieve", "n_cases=24", "tracking=none",
         "report=false")  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def at(name: str) -> str:
    return f"run_name={name}"


def files_of(path: Path) -> list[bytes]:
    """What two runs of one identity have in common, byte for byte."""
    return [(path / name).read_bytes() for name in ("answers.jsonl",)]


def test_who_waits_is_told_about_how_many_rows_a_shard_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = dict[str | None, int | None]()

    @contextlib.contextmanager
    def rows_of(self: Any, plan: Any, expected: int | None, done: int) -> Any:
        told[plan.top.part] = expected
        yield lambda rows, failed: None

    monkeypatch.setattr("framework.cli.progress.Progress.rows_of", rows_of)
    assert run(capsys, *RUN, at("shown"), "shards=3").status == 0
    assert told == {"shard:1/3": 48, "shard:2/3": 48, "shard:3/3": 48, None: 144}


def assert_same(one: Path, other: Path) -> None:
    """The same measured rows in the same order, the same records, and the same figures."""
    rows, others = load_state(one).rows, load_state(other).rows
    assert [row.key for row in rows] == [row.key for row in others]
    assert measured(rows) == measured(others)
    assert files_of(one) == files_of(other)
    figures = [{k: v for k, v in read_summary(p).items() if k != "ledger"} for p in (one, other)]
    assert figures[0] == figures[1]


@pytest.mark.slow
def test_shards_give_the_rows_of_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *RUN, at("whole")).status == 0
    done = run(capsys, *RUN, at("merged"), "shards=3")
    assert done.status == 0, done.err
    assert done.directory == Path("runs/merged")
    merged = done.directory
    assert_same(Path("runs/whole"), merged)
    assert sorted(p.name for p in Path("runs").iterdir() if p.name[0] != ".") == ["merged", "whole"]
    known = load_state(merged).started[SHARDS]
    assert len(known) == 3
    for shard in known:  # each an ordinary run, with whole histories
        place = merged / SHARDS / shard["name"]
        assert verify_run(place, shard["head"]).ok
        assert len(load_state(place).rows) == shard["rows"] > 0
    histories = [{r.history_id for r in load_state(merged / SHARDS / s["name"]).rows}
                 for s in known]  # fmt: skip
    assert sum(map(len, histories)) == len(set().union(*histories)), "ingested once"

    before = everything_in(merged)
    assert run(capsys, f"resume={merged}").status == 0
    after = everything_in(merged)
    assert {k: v for k, v in after.items() if k != "job.log"} == {
        k: v for k, v in before.items() if k != "job.log"
    }
    assert framework(capsys, "verify", str(merged)).out.startswith("ok: ")
    assert framework(capsys, "report", str(merged)).status == 0
    first = min(load_state(merged / SHARDS / shard["name"]).began for shard in known)
    assert first < load_state(merged).began
    assert f"| begun | {first[:19].replace('T', ' ')} UTC |" in (merged / "report.md").read_text()
    assert framework(capsys, "replay", str(merged)).out.startswith("same: 144 rows")
    assert framework(capsys, "verify", str(merged)).status == 0, "the page changes nothing"
    assert run(capsys, *RUN[:1], "arch=none", *RUN[3:], at("none")).status == 0
    compared = framework(capsys, "compare", "runs/merged", "runs/none", "--json")
    plain = framework(capsys, "compare", "runs/whole", "runs/none", "--json")
    assert compared.status == 0, compared.err
    found = [json.loads(said.out)["comparisons"] for said in (compared, plain)]
    assert found[0] == found[1] != []
    assert "tracking=none" in framework(capsys, "sync", str(merged)).mistake


def of_tamperings(shards: list[Path]) -> dict[str, Callable[[], Any]]:
    """By name, what is done to the shards of a run."""
    one, other = shards[0], shards[1]

    def edited() -> None:
        text = (one / "journal.jsonl").read_bytes()
        (one / "journal.jsonl").write_bytes(text.replace(b'"trial":0', b'"trial":9', 1))

    def answered() -> None:
        text = (one / "answers.jsonl").read_bytes()
        (one / "answers.jsonl").write_bytes(text.replace(b"a", b"e", 1))

    def swapped() -> None:
        one.rename("aside")
        other.rename(one)
        Path("aside").rename(other)

    def in_place_of() -> None:
        shutil.rmtree(other)
        shutil.copytree(one, other)

    return {
        "edited": edited,
        "answers edited": answered,
        "missing": lambda: shutil.rmtree(one),
        "doubled": lambda: shutil.copytree(one, one.with_name("twice")),
        "in place of another": in_place_of,
        "swapped": swapped,
    }


@pytest.mark.slow
def test_what_is_done_to_a_shard_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = sharding._merge

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sharding, "_merge", killed)
    assert run(capsys, *CHEAP, "shards=4", at("m")).status == 130
    monkeypatch.setattr(sharding, "_merge", own)
    work = Path("runs/m.shards")
    with held(work / "sweep_plan.json", 1, "it"):
        told = run(capsys, f"resume={work}").mistake
        assert told == f"the sweep {work} has been held for 5 s by a process"
    names = sorted(path.parent.name for path in work.glob("*/journal.jsonl"))
    assert len(names) == 4
    shutil.copytree(work, "kept")
    for name, tamper in of_tamperings([work / name for name in names]).items():
        if name in ("doubled", "missing"):  # no shard is made of the one, the other is run again
            continue
        tamper()
        assert run(capsys, f"resume={work}").mistake, name
        assert not Path("runs/m").exists(), name
        shutil.rmtree(work)
        shutil.copytree("kept", work)
    assert run(capsys, f"resume={work}").status == 0

    merged = Path("runs/m")
    shutil.copytree(merged, "whole")
    assert cli.main(["verify", str(merged)]) == 0
    shards = [merged / SHARDS / name for name in names]
    for name, tamper in of_tamperings(shards).items():
        tamper()
        assert cli.main(["verify", str(merged)]) == 1, name
        shutil.rmtree(merged)
        shutil.copytree("whole", merged)
    assert cli.main(["verify", str(merged)]) == 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    given = (*CHEAP, "hydra.launcher.workers=2")
    finish(tmp_path, *given, at("whole"))
    seconds = finish(tmp_path, *given, at("merged"), "shards=4")
    rng = random.Random(19)
    hit = 0
    for attempt in range(12):  # as many as it takes: how fast a machine is changes while it runs
        if attempt >= 3 and hit >= 4:
            break
        path = Path(f"runs/cut-{attempt}")
        work = Path(f"{path}.shards")
        rows: dict[str, list[bytes]] = {}
        for _ in range(2):
            begun = (f"resume={work if work.exists() else path}",)
            argv = begun if work.exists() or path.exists() else (*given, at(path.name), "shards=4")
            moment = rng.uniform(0.3, 1.05 if argv[0] == given[0] else 0.7) * seconds
            if not kill_after(moment, tmp_path, *argv):
                seconds *= 0.8  # the machine is faster than it was
                break
            hit += 1
            for journal in work.glob("*/journal.jsonl"):
                lines = [n for n in journal.read_bytes().splitlines() if b"case.finished" in n]
                known = rows.get(journal.parent.name, [])
                assert lines[: len(known)] == known, "what was measured is not measured again"
                rows[journal.parent.name] = lines
        if work.exists():
            finish(tmp_path, f"resume={work}")
        elif path.exists():
            finish(tmp_path, f"resume={path}")
        else:
            finish(tmp_path, *given, at(path.name), "shards=4")
        assert_same(Path("runs/whole"), path)
        for name, lines in rows.items():
            journal = path / SHARDS / name / "journal.jsonl"
            assert [n for n in journal.read_bytes().splitlines() if b"case.finished" in n][
                : len(lines)
            ] == [line for line in lines if line.endswith(b"}")][: len(lines)]
        assert verify_run(path).ok
        assert not work.exists()
    assert hit >= 4


SERVED = ("domain=loan", "arch=bm25", "n_cases=24", "model=openai", "model.max_tokens=600",
          "gate=open", "report=false", "tracking=none")  # fmt: skip


def submitted_in(place: Path) -> list[int]:
    """Jobs of submitit's local executor that are at work in a place."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and b"submitit.core" in (entry / "cmdline").read_bytes():
                found += [int(entry.name)] if (entry / "cwd").readlink() == place else []
    return found


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_job_that_a_cluster_loses_is_gone_on_with(tmp_path: Path) -> None:
    """Under submitit, whose local executor stands for a cluster."""
    large = [*CHEAP, "n_cases=150"]
    finish(tmp_path, *large, at("whole"))
    sent = [*large, at("r"), "shards=2", "hydra/launcher=submitit_local"]
    process = subprocess.Popen(
        command(*sent), cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 120
    journals = "runs/r.shards/*/journal.jsonl"
    while time.monotonic() < until:
        if min([f.read_bytes().count(b"case.fin") for f in tmp_path.glob(journals)], default=0) > 3:
            break
        time.sleep(0.05)
    os.kill(submitted_in(tmp_path)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("hydra/launcher=submitit_local: UncompletedJobError: ")
    assert said.endswith("go on with resume=runs/r.shards\n")
    while submitted_in(tmp_path) and time.monotonic() < until:
        time.sleep(0.1)
    assert not (tmp_path / "runs" / "r").exists()
    finish(tmp_path, "resume=runs/r.shards", "hydra/launcher=submitit_local")
    assert_same(tmp_path / "runs" / "whole", tmp_path / "runs" / "r")
    assert cli.main(["verify", str(tmp_path / "runs" / "r")]) == 0


TOKENS: Final = "max_tokens_total"
DOLLARS: Final = "max_cost_usd"


def worst_case(tmp_path: Path, *sent_to: str, cap: str = TOKENS) -> float:
    """The most that one call could take, as the run says that makes none under hardly any cap."""
    own, least = "model.cache=worst.sqlite", {TOKENS: "1", DOLLARS: "0.000001"}[cap]
    finish(tmp_path, *SERVED, *sent_to, own, f"{cap}={least}", at("none"), statuses=(1,))
    lines = (tmp_path / "runs/none/journal.jsonl").read_text(encoding="utf-8").splitlines()
    reason = json.loads(lines[-1])["payload"]["reason"]
    return float(re.search(r"could take \$?([\d.]+)", reason)[1])  # type: ignore[index]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("unit", [TOKENS, DOLLARS])
def test_eight_processes_under_a_cap_of_ten_calls_make_ten(tmp_path: Path, unit: str) -> None:
    with server(*SERVED[1:], tokens=lambda text: 500) as running:
        sent_to = of(running, "openai")
        finish(tmp_path, *SERVED, *sent_to, "model.cache=other.sqlite", at("whole"))
        (account,) = spent(Path("runs") / SPENDING)
        calls = account.calls
        assert running.counts.calls == calls > 20
        # What nine calls take, the most that a tenth could, and half a call: no eleventh fits in.
        took = {TOKENS: account.tokens, DOLLARS: account.usd}[unit]
        most = 9.5 * took / calls + worst_case(tmp_path, *sent_to, cap=unit)
        cap = f"{most:.0f}" if unit == TOKENS else f"{most:.6f}"
        given = (*SERVED, *sent_to, "hydra.launcher.workers=8", at("m"), "shards=8")
        finish(tmp_path, *given, f"{unit}={cap}", statuses=(1,))
        assert running.counts.calls == calls + 10
        again = ("resume=runs/m.shards", "hydra.launcher.workers=8")
        finish(tmp_path, *again, statuses=(1,))
        assert running.counts.calls == calls + 10, "never the eleventh"
        finish(tmp_path, *again, f"{unit}=null")
        assert running.counts.calls == 2 * calls
        assert set(running.counts.requests.values()) == {2}, "no run pays for a request twice"
    whole, merged = (load_state(Path("runs") / name).rows for name in ("whole", "m"))
    assert measured(merged) == measured(whole)
    assert [one.calls for one in spent(Path("runs") / SPENDING)].count(calls) == 2


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_shards_apart_have_each_its_part_of_the_cap_and_files_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(*SERVED[1:], tokens=lambda text: 500) as running:
        sent_to = of(running, "openai")
        cap = 3 * (300 + int(worst_case(tmp_path, *sent_to)))
        monkeypatch.setattr(launch, "_HERE", ())  # as if the launcher had many machines
        given = (*SERVED, *sent_to, at("m"), "shards=3", f"max_tokens_total={cap}")
        work = Path("runs/m.shards")
        assert run(capsys, *given).status == 1
        for _ in range(3):  # of shards in one process, the first that meets a cap ends the others
            assert run(capsys, f"resume={work}").status == 1
        accounts = [one for path in work.glob(f".own/*/{SPENDING}") for one in spent(path)]
        assert sum(one.calls for one in accounts) == running.counts.calls == 1, "its part is spent"
        assert all(one.tokens <= cap // 3 for one in accounts)
        assert not Path(".cache").exists()
        raised = run(capsys, f"resume={work}", "max_tokens_total=1000000")
        assert raised.status == 0, raised.err
        calls = running.counts.calls
        assert calls > 20
        assert max(running.counts.requests.values()) == 1, "nothing is paid twice"
    assert f"{calls} calls" in raised.err
    assert cli.main(["verify", "runs/m"]) == 0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_jobs_of_a_sweep_on_many_machines_share_no_file_and_no_cap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = [word for word in SERVED if not word.startswith("arch=")] + ["arch=none,bm25"]
    with server("-m", *swept, tokens=lambda text: 500) as running:
        sent_to = of(running, "openai")
        cap = 2 * (300 + int(worst_case(tmp_path, *sent_to)))
        monkeypatch.setattr(launch, "_HERE", ())  # as if the launcher had many machines
        given = ("-m", *swept, *sent_to, f"max_tokens_total={cap}")
        assert run(capsys, *given, "hydra.sweep.dir=s").status == 1
        accounts = [one for path in Path("s").glob(f".own/*/{SPENDING}") for one in spent(path)]
        assert sum(one.calls for one in accounts) == running.counts.calls > 0
        assert all(one.tokens <= cap // 2 for one in accounts), "each its half of the cap"
        assert not Path(".cache").exists()
        assert not Path(SPENDING).exists()
        planned = json.loads(Path("s/sweep_plan.json").read_text())
        assert planned["account"] is None
        assert len({str(job["overrides"][-1]) for job in planned["jobs"]}) == 2
        raised = run(capsys, "resume=s", "max_tokens_total=1000000")
        assert raised.status == 0, raised.err
        assert max(running.counts.requests.values()) == 1, "nothing is paid twice"
    assert cli.main(["verify", "s"]) == 0


def test_a_sweep_of_one_machine_goes_on_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word for word in CHEAP if not word.startswith("arch=")]
    assert run(capsys, "-m", *words, "arch=none,bm25", "hydra.sweep.dir=s").status == 0
    monkeypatch.setattr(launch, "_HERE", ())
    assert run(capsys, "resume=s").status == 0, "nothing is left to run anywhere"
    shutil.rmtree(next(Path("s").glob("*bm25*")))
    assert "share one account and cache" in run(capsys, "resume=s").mistake
    tuned = run(capsys, "+experiment=tune", "hydra/launcher=basic", "hydra.sweep.dir=t")
    assert "a tuned sweep shares one account and cache" in tuned.mistake


def test_a_gates_baseline_has_files_and_a_part_of_the_cap_of_its_own(tmp_path: Path) -> None:
    words = [word for word in CHEAP[2:] if "protocol" not in word]
    model = ("model=openai", "model.api_key_env=null", "max_tokens_total=9000", "arch.cache=idx")
    gate = ("gate=noninferiority", "gate.baseline=summ_only", "gate.axes=[eda]")
    given = ("domain=loan", *words, *model, *gate)
    with composer(), one_domain():
        jobs = plan_jobs([[*given, f"arch={arch}"] for arch in ("bm25", "typed_graph")])
        n = len(with_baselines(jobs))
        assert n == 4, "beside them the baseline and the floor"
        apart = plan_jobs(each_apart(tmp_path, jobs, n))
        work = with_baselines(apart, tmp_path)
        caches = {job.name: job.plan.parts["model"].settings.cache for job in work}
        assert len(set(caches.values())) == n
        assert all(f"/.own/{name}/" in str(cache) for name, cache in caches.items())
        assert {job.plan.top.max_tokens_total for job in work} == {9000 // n}
        kept = {job.plan.parts["arch"].settings.cache for job in work if not job.only_baseline}
        assert kept == {"idx"}, "an index is there whole or not at all: all may share it"


def responses_in(path: Path) -> int:
    """How many responses a cache has."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return int(db.execute("SELECT count(*) FROM responses").fetchone()[0])


@pytest.mark.slow
def test_shards_apart_embed_each_into_a_file_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("domain=loan", "arch=dense", *CHEAP[2:3], "n_cases=4", *CHEAP[4:])
    with server(*given[:2]) as running:
        own = ("embedder=openai", f"embedder.base_url={running.url}/v1", "embedder.dimension=64")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        whole = run(capsys, *given, *own, at("whole"), "embedder.cache=other.sqlite")
        assert whole.status == 0, whole.err
        once = dict(running.counts.requests)
        assert set(once.values()) == {1}
        monkeypatch.setattr(launch, "_HERE", ())  # as if the launcher had many machines
        monkeypatch.setattr(sharding, "_remove", lambda work: None)
        done = run(capsys, *given, *own, at("m"), "shards=2")
        assert done.status == 0, done.err
        again = running.counts.requests - Counter(once)
    own_caches = sorted(Path("runs/m.shards").glob(".own/*/responses.sqlite"))
    assert len(own_caches) == 2, "a file for each"
    held = [responses_in(path) for path in own_caches]
    assert all(held)
    assert sum(held) == again.total(), "each was asked once by the shard whose file has it"
    # The checks before the shards open the common file and put nothing in it.
    assert responses_in(Path(".cache/responses.sqlite")) == 0
    assert_same(Path("runs/whole"), Path("runs/m"))


@pytest.mark.slow
def test_the_whole_alone_is_uploaded_also_when_it_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    uploaded: list[str] = []

    def upload(self: Mlflow, directory: Path, sweep: Path | None) -> str:
        uploaded.append(f"{directory.name} to {self.settings.uri}")
        return "somewhere"

    monkeypatch.setattr(Mlflow, "upload_run", upload)
    tracked = [word for word in CHEAP if word != "tracking=none"]
    tracked += ["tracking=mlflow", "tracking.uri=sqlite:///x.db"]
    done = run(capsys, *tracked, at("m"), "shards=2")
    assert done.status == 0, done.err
    assert uploaded == ["m to sqlite:///x.db"]
    with monkeypatch.context() as patch:
        patch.setattr(sharding, "_run", lambda *_: False)
        assert run(capsys, *tracked, at("n"), "shards=2").status == 1
    assert run(capsys, "resume=runs/n.shards", "tracking.uri=sqlite:///y.db").status == 0
    assert uploaded[1:] == ["n to sqlite:///y.db"]


@pytest.mark.slow
def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for given, said in (
        ((*CHEAP, "shards=1"), "shards: 1 given, at least 2 expected"),
        ((*CHEAP, "shards=x"), "shards: 'x' given"),
        ((*CHEAP, "shards=25"), "shards=25: there are 24 histories"),
        (("domain=codebase", *CHEAP[1:], "shards=2"), "shards=2: there is 1 history, and"),
        ((*CHEAP, "arch=bm25,none", "shards=2"), "shards: for one run only; these are 2"),
        ((*CHEAP, "shards=2,3"), "shards=2,3: several values"),
        ((*CHEAP, "part=tuning", "shards=2"), "part=tuning is not"),
        (("domain=codebase", "protocol=sessions", "tracking=none", "shards=2"), "by itself"),
        ((*CHEAP, "part=shard"), "number/total expected"),
        ((*CHEAP, "part=tuning:1/2"), "tuning takes no value after a colon"),
        ((*CHEAP, "part=shards:1/2"), "no part 'shards'"),
        (("+experiment=tune", *CHEAP, "shards=2"), "shards: not of a tuned sweep"),
    ):
        assert said in run(capsys, *given).mistake, given
    assert not Path("runs").exists()
