"""The pre-registration on noise in capture: locked as it is, for the run that its experiment is."""

from __future__ import annotations

from pathlib import Path

from framework.engine.compose import compose_plan, composer
from framework.store.hypotheses import read_file
from framework.store.register import locks
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.settings import GovernanceSettings

CONF = Path(__file__).resolve().parents[4] / "conf"


def test_it_is_what_was_locked_and_the_experiment_runs_it() -> None:
    plan, _ = read_file(CONF / "prereg" / "capture_noise.yaml")
    (entry,) = [e for e in locks(CONF / "prereg" / "register.jsonl") if e.name == plan.name]
    assert entry.digest == plan.digest
    assert plan.data_digest == Governance(GovernanceSettings()).digest()
    with composer():
        composed = compose_plan(["+experiment=depth/capture_noise", "arch=bm25"])
    assert composed.top.seed == plan.seed
    assert {h.n for h in plan.hypotheses} == {composed.top.n_cases}
    domain = composed.parts["domain"].settings
    for key, value in plan.base.items():
        found = domain
        for part in key.split(".")[1:]:
            found = getattr(found, part)
        assert found == value, key
