"""The A/A run: by how much the bare pipeline differs from itself on CONFIRM.

A reader that answers the same request in the same way always agrees with itself, which says nothing
of how much hangs on the wording of a case. So cases are asked in other words where the domain has
some, and the same cases again, for another sample of the model's answers, where it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from framework.contracts import Domain
from framework.improve.course import Course
from framework.improve.events import Payload
from framework.improve.flips import flips
from framework.improve.measure import Task
from framework.improve.plateau import least_net_flips
from framework.records import Case

__all__ = ["record_noise", "rerendered"]

_AGAIN: Final = 1
"""Which rendering of a case, and which sample of an answer; CONFIRM itself is 0."""


async def record_noise(course: Course, domain: Domain[Any]) -> Payload:
    """Measure CONFIRM again; the event, with the least net flips that are more than noise.

    kind : `rerendered` or `resampled`. discordant : cases that came out otherwise, in either
    direction; net, those that became right less those that became wrong.
    """
    cases = rerendered(domain, course.splits.confirm)
    task = Task(
        purpose="noise",
        stack=course.stack,
        split="confirm",
        cases=course.splits.confirm if cases is None else cases,
        sample=_AGAIN,
    )
    pairs = flips(course.confirm, await course.bench.evaluate(task))
    discordant = len(pairs.fixed) + len(pairs.broken)
    return course.log.emit(
        "noise.recorded",
        {
            "kind": "resampled" if cases is None else "rerendered",
            "discordant": discordant,
            "net": pairs.net,
            "least_net_flips": least_net_flips(discordant, course.settings.min_net_flips),
        },
    )


def rerendered(domain: Domain[Any], cases: Sequence[Case]) -> list[Case] | None:
    """The cases in other words; None unless the domain has some for every one of them."""
    found = [domain.rerendered(case, _AGAIN) for case in cases]
    others = [case for case in found if case is not None]
    return others if len(others) == len(found) else None
