"""What a constant answer earns on the published data: the floor of an arm without a memory."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from framework.contracts import Domain
from framework.records import ABSTAIN, Answer, Case
from framework.registry import find, settings_of
from plugins.domains.bank_support.actions import parsed

DOCS = Path(__file__).resolve().parents[3] / "docs" / "results"
FILES: dict[str, dict[str, str]] = {
    "veterans": {"path": "vetclaims/decisions_50.json"},
    "bank_support": {"path": "tau2_banking/documents.json", "tasks": "tau2_banking/tasks.json"},
    "airline_fees": {"path": "rulearena/airline"},
    "regulation_updates": {"path": "regulation_b/regulation_b_1002.tar.xz"},
    "hotpotqa": {"path": "hotpotqa/hotpotqa_train.json"},
    "longmemeval": {"path": "longmemeval/snapshot.json"},
    "locomo": {
        "path": "locomo/locomo_first5.json",
        "errata": "locomo_audit/errors_first5.json",
    },
}
FLOORS = {
    "veterans": 30 / 54,
    "bank_support": 2 / 97,
    "airline_fees": 3 / 300,
    "hotpotqa": 7 / 100,
    "longmemeval": 2 / 12,
    "locomo": 237 / 999,
}
TOLD = {
    "hotpotqa": ".07 of HotpotQA's 100 answers",
    "longmemeval": ".167 of LongMemEval's twelve",
    "locomo": ".237 of LoCoMo's, by abstaining",
}


def best(domain: Domain[Any], cases: list[Case]) -> int:
    """The most cases that one answer is right on: a frequent answer, an abstention, or nothing."""
    given = Counter((case.gold.decision, case.gold.answer) for case in cases).most_common(40)
    tried = [Answer(decision=decision, text=text) for (decision, text), _ in given]
    tried += [Answer(decision=ABSTAIN), Answer()]
    return max(sum(domain.success(one, case.gold) for case in cases) for one in tried)


def opened(name: str, data_dir: Path) -> tuple[Domain[Any], list[Case]]:
    plugin = find("domain", name)
    values = {key: str(data_dir / file) for key, file in FILES[name].items()}
    domain: Domain[Any] = plugin.cls(settings_of(plugin, values))
    return domain, list(domain.cases(None, 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FLOORS))
def test_a_constant_answer_earns_the_floor_that_is_told(name: str, data_dir: Path) -> None:
    domain, cases = opened(name, data_dir)
    assert best(domain, cases) / len(cases) == pytest.approx(FLOORS[name], abs=1e-9)
    if name in TOLD:
        assert TOLD[name] in " ".join((DOCS / "benchmarks.md").read_text().split())
    else:
        row = rf"\| `{name}` \| {len(cases)} \|.*\| \.{round(FLOORS[name] * 1_000):03d} \|"
        assert re.search(row, (DOCS / "real_decisions.md").read_text())


def test_one_tool_for_every_customer_earns_what_is_told(data_dir: Path) -> None:
    """A constant plan's F1 of the tools' names, over the tasks that want any tool."""
    _, cases = opened("bank_support", data_dir)
    wanted = [[a.name for a in parsed(case.gold.answer)] for case in cases]
    has = [names for names in wanted if names]
    f1 = fmean(2 * ("log_verification" in names) / (1 + len(names)) for names in has)
    precision = fmean("log_verification" in names for names in has)
    told = f"earns .{round(f1 * 1_000)}, and its precision is .{round(precision * 1_000)}"
    assert told in (DOCS / "real_decisions.md").read_text()


def test_the_floor_of_regulation_updates_is_that_of_each_kind_of_question(data_dir: Path) -> None:
    domain, cases = opened("regulation_updates", data_dir)
    kinds = defaultdict(list)
    for case in cases:
        kinds[case.stratum].append(case)
    floor = sum(best(domain, found) for found in kinds.values()) / len(cases)
    assert f"| .{round(floor * 1_000):03d} |" in (DOCS / "real_decisions.md").read_text()
