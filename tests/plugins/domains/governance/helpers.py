"""Small corpora, and what tests ask of them."""

from __future__ import annotations

from typing import Any

from framework.records import Case, Event
from plugins.domains.governance.domain import Governance
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
