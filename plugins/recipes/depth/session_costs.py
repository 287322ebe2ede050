"""Who takes fewer tokens, and what they buy: win rates, and quality against cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.reporting.figures.style import BLUE, GREY, Drawing, canvas, marks
from plugins.recipes._cells import Measured, measured, shown
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._knobs import Sweep
from plugins.recipes.depth._sessions import (
    NEEDS,
    Ended,
    Wins,
    by_arm,
    fewer_tokens,
    focus_of,
    matchups,
    of_paper,
    permuted_rate,
    resolved_then_tokens,
    token_rate_by_ranks,
    wins,
    with_sessions,
)

_Pairs = Sequence[tuple[Ended, Ended]]


@register("recipe", "sessions/F065")
class WinRate(Sweep):
    """Win rate on session tokens.

    Matchups of the typed graph with each arm, by cell of model and task; Tables 15 and 16.
    """

    source = "Depth, Tables 15 and 16, Figure 65"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        arms = by_arm(with_sessions(jobs))
        focus = focus_of(arms)
        seed = int(jobs[0].summary["run"]["seed"])
        pairs = {arm: matchups(arms[focus], own) for arm, own in arms.items() if arm != focus}
        both = {
            arm: matchups(arms[focus], own, both_resolved=True)
            for arm, own in arms.items()
            if arm != focus
        }
        everyone = [pair for of in pairs.values() for pair in of]
        together = [pair for of in both.values() for pair in of]
        paper = printed("depth")["table_15"]
        yield Text(
            f"A matchup is one cell of model and task: {focus} against one arm. The paper's winner "
            "took fewer tokens, whatever became of the task, so that giving up at once wins. Two "
            "other rules stand beside it: fewer tokens where both resolved the task; and resolved "
            "before not resolved, then fewer tokens, where two that are both unresolved tie. A tie "
            "counts half. Limits of 95% are over clusters of tasks. By ranks: the first rate "
            "computed another way. Permuted: its mean, with the arms' labels swapped at random by "
            f"cluster, and p. The paper prints a win rate of {paper.row('win rate')['value']} over "
            f"{paper.row('matchups')['value']} matchups and "
            f"{paper.row('ties')['value']} ties, and by layer from 0.686 to 0.867."
        )
        table = {**pairs, "all arms": everyone}
        resolved = {**both, "all arms": together}
        yield Table(
            anchor="win-rates",
            caption=f"Win rate of {focus} on session tokens",
            columns=("against", "matchups", "wins", "losses", "ties", "fewer tokens", "by ranks",
                     "permuted", "both resolved", "n", "resolved, then tokens"),
            rows=[_row(arm, of, resolved[arm], seed) for arm, of in table.items()],
        )  # fmt: skip
        rates = {arm: wins(of, fewer_tokens, seed) for arm, of in pairs.items()}
        yield from add_figure(_bars(focus, rates))
        yield of_paper("table_15", "wins-printed", ("", "all layers"))
        yield of_paper("table_16", "layers-printed", ("", "matchups", "wins", "losses", "win rate"))


def _row(arm: str, of: _Pairs, both: _Pairs, seed: int) -> list[Cell | str]:
    if not of:
        return [arm, *[NOTHING] * 10]
    found = wins(of, fewer_tokens, seed)
    mean, p = permuted_rate(of, fewer_tokens, seed)
    ranked = token_rate_by_ranks(of)
    return [
        arm,
        *(str(n) for n in (found.n, found.wins, found.losses, found.ties)),
        shown(found.rate),
        NOTHING if ranked is None else Cell(text=f"{ranked:.2f}", value=ranked),
        Cell(text=f"{mean:.2f}", under=f"p = {p:.3f}", value=mean),
        shown(wins(both, fewer_tokens, seed).rate) if both else NOTHING,
        str(len(both)),
        shown(wins(of, resolved_then_tokens, seed).rate),
    ]


def _bars(focus: str, rates: Mapping[str, Wins]) -> Drawing:
    names = list(rates)
    with canvas(5.6, 0.9 + 0.34 * len(names)) as (figure, panels):
        panel = panels[0][0]
        for at, name in enumerate(names):
            rate = rates[name].rate
            panel.barh(at, rate.value or 0.0, color=BLUE, height=0.6)
            if rate.low is not None and rate.high is not None:
                panel.plot([rate.low, rate.high], [at, at], color=GREY, linewidth=1.4)
        panel.axvline(0.5, color=GREY, linestyle="--", linewidth=1)
        panel.set_yticks(range(len(names)), names)
        panel.invert_yaxis()
        panel.set(xlim=(0, 1), xlabel=f"share of matchups in which {focus} took fewer tokens")
    told = ", ".join(
        f"{n} {r.rate.value:.2f}" for n, r in rates.items() if r.rate.value is not None
    )
    return Drawing(
        name="depth-session-wins",
        title="Win rate on session tokens by competing arm",
        caption="Whoever took fewer tokens won, whether or not the task was resolved; a tie counts "
        "half. Dashed: one half. Lines: 95% over clusters of tasks, where there are enough.",
        alt=f"Bars: {told}.",
        figure=figure,
    )


@register("recipe", "sessions/F066")
class QualityCost(Sweep):
    """Quality against cost.

    Resolved and compliant sessions beside their tokens, dollars and seconds; Tables 17 and 18.
    """

    source = "Depth, Tables 17 and 18, Figure 66"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        jobs = with_sessions(jobs)
        arms = by_arm(jobs)
        points = {arm: _point(of) for arm, of in arms.items() if of}
        front = frontier(points)
        yield Text(
            "Tokens a resolved point: of a session, over the percent that were resolved (Table 17; "
            "the paper's efficiency score is 100,000 over it). Cost to correct: tokens of memory "
            "and answers over the compliant share. On the front: no arm resolved as much for "
            "fewer tokens. The paper prints for its own layer 0.480 resolved at 12,400 tokens and "
            "0.748 compliant at 1,100, for the others 0.236 to 0.343 at 44,767 to 51,289 and 0.376 "
            "to 0.547 at 2,847 to 3,378, without intervals."
        )
        yield Table(
            anchor="quality-cost",
            caption="Quality and cost of sessions by arm",
            columns=("", "resolved", "at once", "compliance", "tokens", "USD", "seconds",
                     "tokens a resolved point", "compliant per 1,000 tokens", "cost to correct",
                     "on the front", "n"),
            rows=[_quality(job, arms[job.arm], job.arm in front) for job in jobs if arms[job.arm]],
        )  # fmt: skip
        yield from add_figure(_plane(points, front, "resolved", "frontier"))
        complied = {
            arm: (points[arm][0], float(np.mean(found)))
            for arm, of in arms.items()
            if (found := [one.compliance for one in of.values() if one.compliance is not None])
        }
        if complied:
            drawn = _plane(complied, frontier(complied), "compliance of the last answer", "comply")
            yield from add_figure(drawn)
        heads = (
            "",
            "resolved",
            "tokens",
            "USD",
            "tokens a resolved point",
            "minutes",
            "efficiency",
        )
        yield of_paper("table_17", "quality-printed", heads)
        per = ("", "compliance", "tokens", "compliant per 1,000 tokens")
        yield of_paper("table_18", "compliant-printed", per)


def frontier(points: Mapping[str, tuple[float, float]]) -> set[str]:
    """The arms that none beats: as good for fewer tokens, or better for as many.

    points : by arm, mean tokens and quality.
    """
    return {
        arm
        for arm, (tokens, quality) in points.items()
        if not any(
            t <= tokens and q >= quality and (t, q) != (tokens, quality)
            for other, (t, q) in points.items()
            if other != arm
        )
    }


def _point(sessions: Mapping[Any, Ended]) -> tuple[float, float]:
    tokens = float(np.mean([one.tokens for one in sessions.values()]))
    return tokens, float(np.mean([one.resolved for one in sessions.values()]))


_AXES: Final = ("successes_per_1000_tokens", "cost_to_correct")


def _quality(job: Job, sessions: Mapping[Any, Ended], best: bool) -> list[Cell | str]:
    axes = job.summary["axes"]
    tokens, resolved = _point(sessions)
    usd = float(np.mean([one.usd for one in sessions.values()]))
    seconds = float(np.mean([one.seconds for one in sessions.values()]))
    a_point = tokens / (100 * resolved) if resolved else None
    rate, cost = (measured(axes[n]) if n in axes else Measured(value=None) for n in _AXES)
    return [
        job.arm,
        shown(measured(axes["resolved"])),
        shown(measured(axes["resolved_first"])),
        shown(measured(axes["compliance"])) if "compliance" in axes else NOTHING,
        shown(measured(axes["session_tokens"]), 0),
        Cell(text=f"{usd:.4f}", value=usd) if usd else NOTHING,
        Cell(text=f"{seconds:.2f}", value=seconds),
        NOTHING if a_point is None else Cell(text=f"{a_point:,.0f}", value=a_point),
        shown(rate, 3),
        shown(cost, 0),
        "yes" if best else "no",
        str(len(sessions)),
    ]


def _plane(
    points: Mapping[str, tuple[float, float]], front: set[str], quality: str, name: str
) -> Drawing:
    with canvas(5.4, 3.6) as (figure, panels):
        panel = panels[0][0]
        for arm, mark in marks(list(points)).items():
            tokens, reached = points[arm]
            panel.plot(
                [tokens], [reached], linestyle="", marker=mark.marker, color=mark.colour,
                markerfacecolor=mark.colour if arm in front else "white", label=arm,
            )  # fmt: skip
        line = sorted(points[arm] for arm in front)
        panel.plot(*zip(*line, strict=True), color=GREY, linewidth=1, linestyle="--")
        panel.set(xlabel="mean tokens of a session", ylabel=quality, ylim=(-0.02, 1.02))
        panel.legend(loc="best")
    told = ", ".join(f"{arm} {q:.2f} at {t:,.0f}" for arm, (t, q) in points.items())
    return Drawing(
        name=f"depth-session-{name}",
        title=f"Sessions: {quality} against tokens",
        caption="Up and to the left is better. Filled and joined: the arms that no other beats.",
        alt=f"Points: {told}.",
        figure=figure,
    )
