"""How far an LLM judge agrees with itself under another wording and another order, on the server.

The server answers as the rules do, or is told to change its mind: then the figures must say so.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework.engine.dry_run import dry_run_of
from framework.models.dry_run import prompt_key
from framework.testing.server import ModelServer
from tests.launching import framework, run

SHORT = ("-m", "domain=loan", "tracking=none", "gate=open", "arch=oracle,bm25", "n_cases=12")
WAYS = {
    "plain": (),
    "paraphrased": ("judge.prompts=paraphrase",),
    "reversed": ("judge.order=reversed",),
}


class Judging:
    """What the server says: the verdicts of a dry run, or under some wordings another mind."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}
        self.fickle: set[str] = set()
        for way in WAYS.values():
            asked = dry_run_of([*SHORT, "judge=openai", *way]).answers
            if way == WAYS["paraphrased"]:
                self.fickle = asked.keys() - self.answers.keys()
            self.answers |= asked
        self.minds = 0.0

    def __call__(self, operation: str, system: str, user: str) -> str | None:
        key = prompt_key(system, user)
        text = self.answers.get(key)
        changed = hashlib.sha256(key.encode()).digest()[0] < 256 * self.minds
        if text is None or key not in self.fickle or not changed:
            return text
        said = json.loads(text)
        for verdict in said["verdicts"]:
            verdict["met"] = not verdict["met"]
            verdict["quotes"] = []
        return json.dumps(said)


@pytest.fixture(scope="module")
def judging() -> Judging:
    return Judging()


@pytest.fixture
def served(
    judging: Judging, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModelServer]:
    monkeypatch.chdir(tmp_path)
    with ModelServer(judging) as server:
        yield server


def agreements(
    capsys: pytest.CaptureFixture[str], server: ModelServer
) -> dict[tuple[str, str], dict[str, Any]]:
    """Figures by axis and way, each way beside the plain one; every answer is the same."""
    address = ("judge=openai", f"judge.model.base_url={server.url}/v1", "judge.model.cache=null")
    done = run(capsys, *SHORT, *address, "run_name=plain")
    assert done.status == 0, done.err
    for way in ("paraphrased", "reversed"):
        again = framework(
            capsys, "rescore", "runs/plain", *address, *WAYS[way], "--out", f"runs/{way}"
        )
        assert again.status == 0, again.err
    places = [f"runs/{way}" for way in WAYS]
    compared = framework(capsys, "judges", *places, "--axes", "rcs,crr", "--json")
    assert compared.status == 0, compared.err
    found = json.loads(compared.out)["agreement"]
    names = dict.fromkeys(name for row in found for name in (row["judge_a"], row["judge_b"]))
    ways = dict(zip(names, WAYS, strict=True))
    return {
        (row["axis"], ways[row["judge_b"]]): row for row in found if ways[row["judge_a"]] == "plain"
    }


@pytest.mark.slow
def test_a_steady_judge_agrees_with_itself_under_paraphrase_and_swapped_order(
    judging: Judging, served: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judging.minds = 0.0
    found = agreements(capsys, served)
    assert set(found) == {(a, w) for a in ("rcs", "crr") for w in ("paraphrased", "reversed")}
    for row in found.values():
        assert row["mean_absolute_disagreement"] == 0
        assert row["n"] > 0
    rcs = found["rcs", "paraphrased"]
    assert (rcs["pearson"], rcs["cohens_kappa_above"], rcs["alpha"]) == pytest.approx(
        (1.0, 1.0, 1.0)
    )
    assert served.counts.calls > 0


@pytest.mark.slow
def test_a_judge_that_changes_its_mind_with_the_wording_is_found_out(
    judging: Judging, served: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    judging.minds = 0.5
    found = agreements(capsys, served)
    unsteady, steady = found["rcs", "paraphrased"], found["rcs", "reversed"]
    assert unsteady["mean_absolute_disagreement"] > 0.1
    assert unsteady["cohens_kappa_above"] < 0.8
    assert unsteady["limits"]["mean_absolute_disagreement"][0] > 0
    assert steady["mean_absolute_disagreement"] == 0
