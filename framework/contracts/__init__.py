"""The abstract base class of each plugin group: the whole surface that a plugin author meets.

A plugin is a class under `@register(group, name)` whose settings are a frozen dataclass, named as
the parameter of its base: `class BM25(Arch[BM25Settings])`. Methods that may call a model may be
`async def`; the pipeline awaits what is awaitable, so a plugin that calls none stays plain.
"""

from __future__ import annotations

from framework.contracts.arch import Arch, ArchContext, Mutable, Query
from framework.contracts.awaiting import maybe_await
from framework.contracts.axes import axis_plugins
from framework.contracts.domain import PROVIDED, REPORTED, Domain, ProtectedGroups, Provenance
from framework.contracts.embedder import Embedder
from framework.contracts.extractor import Extractor
from framework.contracts.improve import (
    Assignment,
    Author,
    Diagnosis,
    Evidence,
    Failure,
    Outcome,
    Patch,
    Regime,
    Route,
    Routing,
    Sizes,
    Target,
    Taxonomy,
)
from framework.contracts.judge import Judge, Verdict
from framework.contracts.measure import Axis, Scored
from framework.contracts.model import Client, Model, Operation, Prompt, Reply, Req, Res
from framework.contracts.operator import Operator
from framework.contracts.part import Part
from framework.contracts.reading import Budget, Reader
from framework.contracts.rule import PLAIN, Profile, Rule, answer_by_rule
from framework.contracts.run import (
    Gate,
    GateOutcome,
    Pipeline,
    ProtocolContext,
    RowKey,
    RunProtocol,
    Tracker,
    Views,
)
from framework.contracts.session import Guessable, Interactive, Turn

__all__ = [
    "PLAIN",
    "PROVIDED",
    "REPORTED",
    "Arch",
    "ArchContext",
    "Assignment",
    "Author",
    "Axis",
    "Budget",
    "Client",
    "Diagnosis",
    "Domain",
    "Embedder",
    "Evidence",
    "Extractor",
    "Failure",
    "Gate",
    "GateOutcome",
    "Guessable",
    "Interactive",
    "Judge",
    "Model",
    "Mutable",
    "Operation",
    "Operator",
    "Outcome",
    "Part",
    "Patch",
    "Pipeline",
    "Profile",
    "Prompt",
    "ProtectedGroups",
    "ProtocolContext",
    "Provenance",
    "Query",
    "Reader",
    "Regime",
    "Reply",
    "Req",
    "Res",
    "Route",
    "Routing",
    "RowKey",
    "Rule",
    "RunProtocol",
    "Scored",
    "Sizes",
    "Target",
    "Taxonomy",
    "Tracker",
    "Turn",
    "Verdict",
    "Views",
    "answer_by_rule",
    "axis_plugins",
    "maybe_await",
]
