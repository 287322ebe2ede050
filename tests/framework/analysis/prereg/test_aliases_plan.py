"""The third pre-registration on depth: locked as it is, with the digest of what generates it."""

from __future__ import annotations

from pathlib import Path

from framework.statistics.noninferiority import cases_needed
from framework.store.hypotheses import read_file
from framework.store.register import locks
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.settings import GovernanceSettings

CONF = Path(__file__).resolve().parents[4] / "conf" / "prereg"


def test_it_is_what_was_locked_with_a_digest_and_its_cases_are_enough() -> None:
    plan, _ = read_file(CONF / "depth_aliases.yaml")
    (entry,) = [entry for entry in locks(CONF / "register.jsonl") if entry.name == plan.name]
    assert entry.digest == plan.digest
    assert plan.data_digest is not None
    assert plan.data_digest.startswith("sha256:")
    primary = [h for h in plan.hypotheses if h.role == "primary"]
    for h in primary:
        if h.test == "noninferiority":
            assert h.n >= 2 * cases_needed(h.margin, h.alpha / len(primary) / 2)


def test_the_digest_is_of_what_is_generated_and_the_same_for_all_settings() -> None:
    one, other = (Governance(GovernanceSettings(rho=rho)).digest() for rho in (0.3, 0.95))
    assert one == other != lexicon().digest
