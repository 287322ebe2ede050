"""Sessions on the page of their sweep: Depth's tables 14 to 19 and figures 65 and 66."""

from __future__ import annotations

from collections.abc import Iterator

from framework.analysis.evidence import Evidence, Group
from framework.contracts.section import AddFigure, Section
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Heading, Text


@register("section", "sessions")
class Sessions(Section):
    """Costs of sessions by turn, when tasks were resolved, win rates, and quality against cost.

    One model and budget at a time, where `typed_graph` and another arm were run: those with more
    have the recipes `sessions/...`.
    """

    place = 240

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        groups = [group for group in evidence.groups if _has_sessions(group)]
        if len(groups) != 1 or len(groups[0].arms) < 2:
            return
        from plugins.recipes.depth._knobs import words
        from plugins.recipes.depth.session_costs import QualityCost, WinRate
        from plugins.recipes.depth.sessions import Collapse, Losses, Resolution

        found: list[Block] = []
        try:
            for recipe in (Collapse, Resolution, WinRate, QualityCost, Losses):
                made = recipe()
                found.append(Heading(text=made.title, anchor=f"session-{made.file}", level=3))
                found.append(Text(f"Beside {made.source}."))
                found += made.content(groups[0].jobs, add_figure)
        except UserError as lacking:  # the arm that others are matched with, say
            found = [Text(f"Sessions are not set side by side: {lacking}.")]
        yield Heading(text="Sessions", anchor="sessions")
        yield from words(groups[0].jobs)
        yield from found


def _has_sessions(group: Group) -> bool:
    return any("session_tokens" in job.summary["axes"] for job in group.jobs)
