"""What a generator knows of the decisions that it draws."""

from __future__ import annotations

from collections.abc import Sequence

from framework.analysis.evidence import Job
from framework.errors import UserError
from framework.registry import find
from plugins.recipes.depth._knobs import setting


def known(jobs: Sequence[Job], what: str) -> float:
    """What the domain of the jobs says of its decisions under this name, as `blind_success()`.

    Raises UserError where it says nothing, or where it holds of other decisions than these.
    """
    names = {str(setting(job, "domain.plugin")) for job in jobs}
    (name,) = names if len(names) == 1 else (None,)
    found = getattr(find("domain", name).cls, what, None) if name else None
    if found is None:
        raise UserError("only runs of governance say what decisions are drawn from")
    if any(int(setting(job, "domain.versions")) != 1 for job in jobs):
        raise UserError(
            "what is drawn is known only for decisions with one version: domain.versions=1"
        )
    return float(found())
