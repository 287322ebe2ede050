"""Small corpora, and what tests ask of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from framework.records import Case, Event
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.edges import PART_OF
from plugins.domains.governance.settings import GovernanceSettings


def domain(**settings: Any) -> Governance:
    """The domain with these knobs."""
    return Governance(GovernanceSettings(**settings))


def cases(n: int, seed: int = 7, **settings: Any) -> list[Case]:
    """The first cases of a seed."""
    return list(domain(**settings).cases(n, seed))


def events_of(case: Case, made: Governance) -> dict[str, Event]:
    """The events of a case's corpus by id."""
    return {event.id: event for event in made.history(case.history_id)}


def hops_to(events: Iterable[Event], start: str, goal: str) -> int | None:
    """Fewest typed links, associations aside, between two events; None where none lead there."""
    near: dict[str, list[str]] = {}
    for event in events:
        for relation, target in event.edges:
            if relation not in ("relates_to", "supersedes"):
                near.setdefault(event.id, []).append(target)
                near.setdefault(target, []).append(event.id)
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        if node == goal:
            return found[node]
        for other in near.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return None


def edge_fidelity(given: Iterable[Event], intact: Iterable[Event]) -> float:
    """Share of the links of an intact corpus that another capture of it has; parts aside."""
    right = {(e.id, *edge) for e in intact for edge in e.edges if edge[0] != PART_OF}
    have = {(e.id, *edge) for e in given for edge in e.edges}
    return len(right & have) / len(right) if right else 1.0
