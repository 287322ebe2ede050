"""What was predicted before the runs, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.analysis.evidence import Evidence
from framework.contracts.section import AddFigure, Section, no_figure
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Heading, Listing, Note, Text
from framework.reporting.cells import bounded, count, number_cell, p_cell
from framework.reporting.tables import table


@register("section", "predictions")
class Predictions(Section):
    """The verdicts on the sweep's pre-registration, as stored in sweep.json."""

    place, place_at_end = 850, 600
    paged = True

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        if found := evidence.sweep.get("prereg"):
            yield from judgement(found)

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from self.blocks(evidence, no_figure)


def judgement(found: Mapping[str, Any]) -> Iterator[Block]:
    """The verdicts on a pre-registration, from their plain data."""
    plan = found.get("plan")
    named = f"Pre-registration {plan['name']}: {plan['title']}" if plan else "Pre-registration"
    yield Heading(named, "predictions")
    verdicts = found.get("verdicts", [])
    if verdicts:
        yield table(
            "predictions-table",
            "Differences in the predicted direction, with the bounds that verdicts use.",
            {
                "hypothesis": ("hypothesis", lambda hypothesis: hypothesis["name"]),
                "verdict": "outcome",
                "difference": lambda v: bounded(v["estimate"], v["low"], v["high"], sign="+"),
                "level": ("level", lambda level: number_cell(level, 4)),
                "p": ("p", p_cell),
                "n": ("n", count),
                "by the estimates alone": _by_point,
            },
            verdicts,
        )
        yield Listing([_hypothesis_line(verdict) for verdict in verdicts])
    flags = found.get("flags", [])
    if flags:
        yield Note("What weakens this pre-registration:")
        yield Listing([f"FLAG {flag}" for flag in flags])
    else:
        yield Text("No flags: locked before every run, and unchanged since.")


def _by_point(verdict: Mapping[str, Any]) -> Cell:
    published = verdict["hypothesis"].get("published")
    under = f"published as {published}" if published else ""
    return Cell(text=verdict.get("by_point", ""), under=under)


def _hypothesis_line(verdict: Mapping[str, Any]) -> str:
    """What was predicted, in full, and why the verdict is what it is."""
    h = verdict["hypothesis"]
    asked = f"{'not worse' if h['test'] == 'noninferiority' else h['direction']} by {h['margin']:g}"
    here, there = _setting(h["setting"]), _setting(h["against_setting"])
    return (
        f"{h['name']} ({h['role']}): {h['claim']} {h['arm']}{here} against "
        f"{', '.join(h['against'])}{there}: {h['axis']} at {h['budget']} {asked}. "
        f"{verdict['outcome']}: {verdict['reason']}"
    )


def _setting(setting: Mapping[str, Any]) -> str:
    """A setting after an arm's name; nothing where it is the base."""
    return f" ({', '.join(f'{k}={v}' for k, v in setting.items())})" if setting else ""
