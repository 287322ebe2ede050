"""Shards on a Ray cluster of two nodes, one of which is lost; `make ray` installs Ray first."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from framework.rows import measured
from framework.store import JOURNAL, verify_run
from framework.store.state import load_state
from tests.framework.models.serving import of, server
from tests.killing import command, finish
from tests.launching import HOTPOT, run

CASES, SHARDS = 2_000, 16
RUN = ("domain=loan", "arch=bm25", "budget=tight", f"n_cases={CASES}", "tracking=none",
       "report=false")  # fmt: skip


CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
other = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
if sys.stdin.readline():
    cluster.remove_node(other, allow_graceful=False)
    sys.stdin.readline()
cluster.shutdown()
"""


def piped(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def measured_cases(place: Path) -> int:
    return sum(
        path.read_bytes().count(b'"type":"case.finished"')
        for path in place.glob(f"runs/r.shards/*/{JOURNAL}")
    )


def resumed_shards(run_directory: Path) -> int:
    """Shards of a merged run that went on after they had been left in the midst of their cases."""
    return sum(
        b'"type":"run.resumed"' in path.read_bytes()
        for path in run_directory.glob(f"shards/*/{JOURNAL}")
    )


def test_what_is_missing_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    for given in (["-m"], ["shards=2"]):
        done = run(capsys, *given, *HOTPOT, "arch=none", "hydra/launcher=ray")
        assert done.mistake == "hydra/launcher=ray: pip install 'decisionbench[ray]'"
        assert not list(tmp_path.iterdir()), "nothing is written for a mistake"


@pytest.mark.ray
@pytest.mark.timeout(1500)
def test_a_node_that_is_lost_loses_nothing_and_pays_nothing_twice(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    # Ray asks for this machine's own address, by a way that tests refuse.
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with server(*RUN, tokens=lambda text: 500) as running:
        sent_to = (*of(running, "openai"), "model.concurrency=1")
        finish(tmp_path, *RUN, *sent_to, "model.cache=other.sqlite", "run_name=whole", timeout=600)
        calls = running.counts.calls
        began = time.monotonic()
        with (
            subprocess.Popen(
                [sys.executable, "-c", CLUSTER], env=alone, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            ) as cluster,
            subprocess.Popen(
                command(*RUN, *sent_to, "run_name=r", f"shards={SHARDS}", "hydra/launcher=ray"),
                cwd=tmp_path, env={**alone, "RAY_ADDRESS": piped(cluster.stdout).readline()[:-1]},
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            ) as process,
        ):  # fmt: skip
            try:
                while measured_cases(tmp_path) < CASES / 3 and process.poll() is None:
                    time.sleep(0.2)
                assert process.poll() is None
                print("lose one", file=cluster.stdin, flush=True)
                _, said = process.communicate(timeout=1_000)
            finally:
                process.kill()
                piped(cluster.stdin).close()
        assert process.returncode == 0, said
        # The one call that was under way on the lost node came to no answer.
        assert calls <= running.counts.calls - calls <= calls + 1
    took, resumed = time.monotonic() - began, resumed_shards(tmp_path / "runs" / "r")
    print(f"{took:.0f} s, {calls} calls, {CASES} cases, {SHARDS} shards, {resumed} resumed")
    assert resumed >= 1, "no job was at work on the lost node"
    runs = [load_state(tmp_path / "runs" / name) for name in ("whole", "r")]
    assert len(runs[1].rows) == CASES
    assert measured(runs[1].rows) == measured(runs[0].rows)
    assert len(runs[1].started["shards"]) == SHARDS
    assert verify_run(runs[1].path).ok
