"""Recall by how far a gold document lies from the one asked of."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.axes.hops import Hops, Stepped
from plugins.domains.corpus.domain import DecisionCorpus, DecisionCorpusSettings
from tests.launching import read_json, run

FIXTURE = Path(__file__).parents[2] / "fixtures" / "decision_corpus" / "harbour.jsonl"


@pytest.mark.slow
def test_a_view_without_what_lies_two_edges_away_is_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = {}
    for arm in ("none", "typed_graph_no_edges", "oracle"):
        done = run(
            capsys,
            *("domain=decision_corpus", f"domain.path={FIXTURE}", "domain.task=requires"),
            *(f"arch={arm}", "budget=absolute", "budget.tokens=120", "protocol=retrieve"),
            *("tracking=none", f"run_name={arm}", "n_cases=null"),
        )
        assert done.status == 0, done.err
        axes = read_json(done.directory / "summary.json")["axes"]
        found[arm] = [(axes[name]["mean"], axes[name]["n"]) for name in Hops.higher_is_better]
    assert found["none"] == [(0.0, 3), (0.0, 1), (None, 0)]
    assert found["oracle"] == [(1.0, 3), (1.0, 1), (None, 0)]
    assert found["typed_graph_no_edges"][0][1] == 3


def test_a_domain_that_knows_no_distance_has_no_value() -> None:
    domain = DecisionCorpus(DecisionCorpusSettings(path=str(FIXTURE)))
    assert isinstance(domain, Stepped)
    assert not isinstance(object(), Stepped)
