"""`fork` and `replay` as a user types them, on a loop that was composed."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.cli import _parsed, main
from framework.engine.account import account
from framework.engine.compose import compose_plan, composer
from framework.engine.domains import one_domain
from framework.engine.run import execute
from framework.store import verify_run
from framework.store.state import load_state
from plugins.commands._loops import fork
from tests.plugins.protocols.improve.scripted import Finished, finished

SMALL = (
    *("protocol=improve", "domain=loan", "arch=bm25", "tracking=none", "report=false"),
    *("protocol.pool=24", "protocol.optimize=8", "protocol.confirm=8", "protocol.test=8"),
    *("protocol.max_candidates=2", "author=scripted"),
    "author.drafts=[{seam: score, expression: similarity + recency},no draft]",
    "routing=none",
)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    directory = tmp_path_factory.mktemp("loops") / "run"
    with composer(), one_domain():
        execute(compose_plan(SMALL), directory)
    return finished(directory)


@pytest.mark.slow
def test_a_loop_is_replayed_and_forked(
    loop: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(loop.path)]) == 0
    assert f"same: {len(loop.events)} events" in capsys.readouterr().out
    at = next(e.seq for e in loop.events if e.type == "noise.recorded")
    fork = tmp_path / "fork"
    drafts = "author.drafts=[{seam: score, expression: -similarity}]"
    status = main(["fork", str(loop.path), "--at", str(at), drafts, "--out", str(fork)])
    assert status == 0
    out = capsys.readouterr().out
    assert "why" in out  # the table of drafts
    assert f"run: {fork}" in out
    done = finished(fork)
    assert done.results["candidates"][0]["payload"] == {"expression": "-similarity"}
    assert main(["replay", str(fork)]) == 0
    assert not verify_run(fork).problems


def test_a_fork_spends_on_one_account_however_often_it_goes_on(
    loop: Finished, tmp_path: Path
) -> None:
    at = next(e.seq for e in loop.events if e.type == "noise.recorded")
    with composer(), one_domain():
        one, two = (fork(loop.path, at, [], tmp_path / name) for name in ("one", "two"))
    names = []
    for job, directory in ((one, "one"), (one, "one"), (two, "two")):
        state = load_state(tmp_path / directory)
        with account(job.plan, state.path, None, state) as spending:
            names.append(spending.scope)
    assert names[0] == names[1] != names[2]


def test_overrides_stand_before_and_behind_options_and_nothing_else_is_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    args = _parsed(["fork", "RUN", "a=1", "--at", "3", "b=2", "--out", "d", "c=x=y"])
    assert (args.run, args.at, args.out) == ("RUN", 3, "d")
    assert args.overrides == ["a=1", "b=2", "c=x=y"]
    for words in (["--at", "3", "stray"], ["--at", "3", "--outt=d"], ["--at", "3", "a=1", "stray"]):
        with pytest.raises(SystemExit) as stopped:
            _parsed(["fork", "RUN", *words])
        assert stopped.value.code == 2
    with pytest.raises(SystemExit):
        _parsed(["replay", "RUN", "a=1"])
    assert "unrecognized arguments: a=1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("at", "override", "said"),
    [
        ("99999", "gate=open", "nothing may be chosen after test.opened"),
        ("3", "seed=8", "split.made .* is not what the loop comes to"),
    ],
)
def test_a_fork_that_can_not_be_is_told(
    loop: Finished, tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str, override: str,
    said: str,
) -> None:  # fmt: skip
    import re

    status = main(["fork", str(loop.path), override, "--at", at, "--out", str(tmp_path / "f")])
    assert status == 2
    error = capsys.readouterr().err
    assert re.search(said, error)
    assert error.count("\n") == 1
