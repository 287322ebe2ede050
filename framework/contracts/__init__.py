"""The abstract base class of each plugin group: the whole surface that a plugin author meets.

A plugin is a class under `@register(group, name)` whose nested or assigned `Settings` is a frozen
dataclass. Methods that may call a model may be `async def`; the pipeline awaits what is awaitable,
so a plugin that calls none stays plain.
"""

from __future__ import annotations

from framework.contracts.arch import Arch, ArchContext, Query
from framework.contracts.domain import Domain, Provenance
from framework.contracts.judge import Judge, Verdict
from framework.contracts.measure import Axis, Scored
from framework.contracts.model import Client, Model, Operation, Profile, Prompt, Reply, Req, Res
from framework.contracts.reading import Budget, Reader
from framework.contracts.run import Gate, GateOutcome, Pipeline, RowKey, RunProtocol, Tracker

__all__ = [
    "Arch",
    "ArchContext",
    "Axis",
    "Budget",
    "Client",
    "Domain",
    "Gate",
    "GateOutcome",
    "Judge",
    "Model",
    "Operation",
    "Pipeline",
    "Profile",
    "Prompt",
    "Provenance",
    "Query",
    "Reader",
    "Reply",
    "Req",
    "Res",
    "RowKey",
    "RunProtocol",
    "Scored",
    "Tracker",
    "Verdict",
]
