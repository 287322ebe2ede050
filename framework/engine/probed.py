"""What is checked of an arm before a run's first case, and what came of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from framework.config import Plan
from framework.contracts import ArchContext
from framework.contracts.probe import Probe
from framework.engine.account import check_prices, served_of
from framework.models.client import ModelClient
from framework.registry import plugins
from framework.text.counting import counted

PROBED: Final = "probed"
"""In a run's first event, what was checked of its arm before it."""
_log = logging.getLogger(__name__)


def probe_context(plan: Plan) -> ArchContext:
    """What the arm is opened with: the plan's model, and its embedder where the arm uses one."""
    embedder = plan.used["embedder"].create() if "embedder" in plan.used else None
    model = plan.parts["model"].create()
    check_prices(plan, served_of(model, None, embedder))
    client = ModelClient(model, plan.prompts)
    return ArchContext(budget_tokens=None, client=client, embedder=embedder)


def probed(plan: Plan) -> list[dict[str, Any]]:
    """What each probe finds that fits the plan's arm, as plain data; empty where none has any.

    Only an adapted arm has, what is behind which is not ours.
    """
    part = plan.parts["arch"]
    if not part.plugin.cls.adapted:
        return []
    probes: list[Probe] = [plugin.cls() for plugin in plugins("probe")]
    findings = [
        asdict(finding)
        for each in probes
        if each.fits(part.plugin.cls)
        for finding in each.before_run(part.plugin.cls, part.settings, lambda: probe_context(plan))
    ]
    for line in outcome_of(findings)[1]:
        _log.warning("arch=%s: %s", plan.label("arch"), line)
    return findings


def found_before(started: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What was found before a run, by what it was begun with."""
    found: Sequence[Mapping[str, Any]] = started.get(PROBED, ())
    return found


def outcome_of(findings: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """How many checks there were, and as warnings which of them failed."""
    checked = [one for one in findings if one["passed"] is not None]
    failed = [str(one["name"]) for one in checked if not one["passed"]]
    of = counted(len(checked), "check")
    line = f"{len(failed)} of {of} before the run failed: {', '.join(failed)}"
    return len(checked), [line] if failed else []
