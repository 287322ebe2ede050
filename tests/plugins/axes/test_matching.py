"""Which axes apply to which domain: what it provides meets what they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from framework import registry
from framework.contracts import Axis, Domain, Scored
from framework.records import AxisScore
from framework.registry import find, plugins, register

CHAT = ("answer", "ranking", "retention", "use")
MATCHES = {
    "airline_fees": ("ranking", "retention", "answer", "use"),
    "bank_support": ("ranking", "retention", "use", "actions"),
    "beam": (*CHAT, "session_ranking"),
    "codebase": ("chain", "compliance", "use", "ranking", "retention"),
    "decision_corpus": ("chain", "ranking", "retention", "answer", "use", "hops"),
    "dmr": ("answer",),
    "governance": ("chain", "compliance", "ranking", "retention", "use", "geometry"),
    "hotpotqa": ("ranking", "retention", "answer", "use"),
    "lifecycle": ("lifecycle",),
    "locomo": (*CHAT, "session_ranking"),
    "longmemeval": CHAT,
    "longmemeval_synthetic": CHAT,
    "memory_agent_bench": ("answer",),
    "musique": ("ranking", "retention", "answer", "use"),
    "office": ("frp", "rcs", "eda", "crr", "car", "retention", "use", "robustness"),
    "personamem": ("answer",),
    "precedents": ("chain", "compliance", "correction", "ranking", "retention", "use"),
    "regulated": ("frp", "rcs", "eda", "crr", "car", "retention", "use", "robustness"),
    "regulation_updates": ("ranking", "retention", "answer", "use"),
    "spider": ("execution", "ranking", "retention", "use"),
    "swe_contextbench": ("ranking", "retention"),
    "two_wiki": ("ranking", "retention", "answer", "use"),
    "text_to_sql": ("execution", "ranking", "retention", "use"),
    "veterans": ("eda", "ranking", "retention", "rcs", "use"),
}
"""The axes of each domain in their order, as recorded before there was a match; `decision_corpus`
has had `answer` since a reader answers it, and `hops` since it counts them. Questions over
documents have had `use` since it rests on the verdict that their success does."""
ON_DEMAND = {
    "drift", "intervention", "listed_events", "locomo_published", "operators", "session_outcome",
    "traced",
}  # fmt: skip
"""Axes that only `extra_axes` names, or a protocol that measures them."""


def test_every_domain_has_the_axes_that_it_had() -> None:
    own = [p for p in plugins("domain") if p.cls.__module__.startswith("plugins.")]
    assert {p.name: p.cls.axes() for p in own} == MATCHES


def test_every_axis_applies_somewhere_or_is_asked_for_by_name() -> None:
    own = {p.name for p in plugins("axis") if p.cls.__module__.startswith("plugins.")}
    assert own - {name for names in MATCHES.values() for name in names} == ON_DEMAND


@pytest.fixture
def hedging() -> Iterator[type[Axis[Any]]]:
    class Hedging(Axis[Any]):
        """Whether the answer hedges."""

        names: ClassVar[tuple[str, ...]] = ("hedges",)
        needs: ClassVar[tuple[str, ...]] = ("answer",)
        higher_is_better: ClassVar[Mapping[str, bool | None]] = {"hedges": False}

        def score(self, scored: Scored) -> AxisScore:
            return AxisScore(values={"hedges": None})

    plugins("axis")
    yield register("axis", "hedging")(Hedging)
    registry._plugins.pop(("axis", "hedging"))


@pytest.mark.usefixtures("hedging")
def test_an_axis_of_another_package_applies_wherever_its_needs_are_provided() -> None:
    domains: dict[str, type[Domain[Any]]] = {
        name: find("domain", name).cls for name in ("longmemeval", "hotpotqa", "regulated")
    }
    assert domains["longmemeval"].axes() == ("answer", "hedging", *CHAT[1:])
    assert domains["hotpotqa"].axes() == (*MATCHES["hotpotqa"][:3], "hedging", "use")
    assert domains["regulated"].axes() == MATCHES["regulated"]
