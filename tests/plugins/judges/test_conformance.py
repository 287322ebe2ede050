"""The rules judge keeps the contract."""

from __future__ import annotations

from framework.registry import NoSettings
from framework.testing.judge_conformance import check_judge
from plugins.judges.rules import Rules


def test_the_rules_judge_keeps_the_contract() -> None:
    check_judge(Rules, NoSettings())
