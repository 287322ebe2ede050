"""Sessions turn by turn: where their tokens go, when tasks are resolved, and what was lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.records import Row, Usage
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Table, Text
from framework.reporting.blocks import Cell as Shown
from framework.reporting.figures.style import Drawing, canvas, marks
from framework.store.state import load_state
from plugins.recipes._cells import measured, shown
from plugins.recipes._paper_values import printed
from plugins.recipes.depth._knobs import Sweep
from plugins.recipes.depth._sessions import (
    BILLED,
    NEEDS,
    Cell,
    Ended,
    billed,
    by_arm,
    focus_of,
    matchups,
    model_of,
    of_paper,
    restricted,
    times,
    unresolved,
    with_sessions,
)

_COLUMNS: Final = 3
"""Turns that have a column of their own."""
_SAMPLE: Final = 12


@register("recipe", "sessions/table14")
class Collapse(Sweep):
    """Tokens turn by turn.

    What each turn of a session takes by arm, on the mean and for one task.
    """

    source = "Depth, Table 14"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        jobs = with_sessions(jobs)
        yield Text(
            "Tokens in and out of models, of memory, choice and answer; the ingest of the history "
            "is left out. A turn that no session reached counts 0 in the mean. What the paper "
            "prints are single traces of a model, a task and layers that are not public. By "
            "phase: a write is what the memory took more than without the newest events, its "
            "seconds those of building it again; the ingest is of a history, whose sessions share "
            "it."
        )
        yield Table(
            anchor="turns-mean",
            caption="Mean tokens of a session by turn",
            columns=(*_heads(), "session", "USD", "turns", "resolved", "sessions"),
            rows=[_mean_row(job) for job in jobs],
        )
        yield Table(
            anchor="turns-phase",
            caption="Tokens of a session by phase, with calls of models and seconds",
            columns=("", "ingest of the history", "recall", "answer", "write", "writes",
                     "write's share"),
            rows=[_phase_row(job) for job in jobs],
        )  # fmt: skip
        arms = by_arm(jobs)
        cell = _median(arms[focus_of(arms)])
        yield Table(
            anchor="turns-one",
            caption=f"One task, {cell[1]}: that of the median tokens of {focus_of(arms)}",
            columns=(*_heads(), "session", "outcome"),
            rows=[row for job in jobs if (row := _trace(job, cell)) is not None],
        )
        yield of_paper("table_14", "turns-printed", (*_heads(), "session", "USD", "outcome"))


def _heads() -> tuple[str, ...]:
    return ("", *(f"turn {n + 1}" for n in range(_COLUMNS)), f"turn {_COLUMNS + 1} and later")


def _median(sessions: dict[Cell, Ended]) -> Cell:
    """The cell whose tokens are the median; the first by name of equals."""
    ordered = sorted(sessions, key=lambda cell: (sessions[cell].tokens, cell))
    return ordered[(len(ordered) - 1) // 2]


def _turns(job: Job) -> dict[tuple[str, int, int], list[Row]]:
    """By session of a pooled case, its turns in order."""
    kept = {
        (row.case_id, row.trial, row.repeat)
        for row in job.good
        if row.axes.get("session_tokens") is not None
    }
    found: dict[tuple[str, int, int], list[Row]] = {}
    for row in sorted(load_state(job.path).rows, key=lambda row: row.key):
        if (row.case_id, row.trial, row.repeat) in kept:
            found.setdefault((row.case_id, row.trial, row.repeat), []).append(row)
    return found


def _by_turn(turns: Sequence[Row]) -> list[float]:
    """Tokens of the first turns, and of all others together."""
    tokens = [sum(billed(row, "tokens_in", "tokens_out")) for row in turns]
    first = [*tokens, *[0.0] * _COLUMNS][:_COLUMNS]
    return [*first, sum(tokens[_COLUMNS:])]


def _mean_row(job: Job) -> list[Shown | str]:
    sessions = _turns(job)
    means = np.mean([_by_turn(turns) for turns in sessions.values()], axis=0)
    axes = job.summary["axes"]
    usd = sum(sum(billed(row, "cost_usd")) for turns in sessions.values() for row in turns)
    return [
        job.arm,
        *(Shown(text=f"{mean:,.0f}", value=float(mean)) for mean in means),
        shown(measured(axes["session_tokens"]), 0),
        Shown(text=f"{usd / len(sessions):.4f}", value=usd / len(sessions)) if usd else NOTHING,
        shown(measured(axes["turns"]), 1),
        shown(measured(axes["resolved"])),
        str(len(sessions)),
    ]


def _phase_row(job: Job) -> list[Shown | str]:
    """A session's means by phase, and those of a history's ingest: tokens over calls, seconds."""
    sessions = list(_turns(job).values())
    cells: list[Shown | str] = [_phase([turns[:1] for turns in sessions], "ingest", "")]
    cells += [_phase(sessions, phase, f"{phase}_s") for phase in BILLED]
    wrote = [sum(row.timing.get("write_s", 0.0) > 0 for row in turns) for turns in sessions]
    rows = [row for turns in sessions for row in turns]
    every = sum(sum(billed(row, "tokens_in", "tokens_out")) for row in rows)
    booked = (row.usage.get("write", Usage()) for row in rows)
    write = sum(took.tokens_in + took.tokens_out for took in booked)
    often = float(np.mean(wrote))
    return [
        job.arm,
        *cells,
        Shown(text=f"{often:.1f}", value=often),
        Shown(text=f"{write / every:.0%}", value=write / every) if every else NOTHING,
    ]


def _phase(sessions: Sequence[Sequence[Row]], phase: str, timed: str) -> Shown:
    """Mean over sessions of a phase's tokens, over its calls and, where they are told, seconds."""
    used = [[row.usage.get(phase, Usage()) for row in turns] for turns in sessions]
    tokens = float(np.mean([sum(u.tokens_in + u.tokens_out for u in of) for of in used]))
    calls = float(np.mean([sum(u.calls for u in of) for of in used]))
    took = [sum(row.timing.get(timed, 0.0) for row in turns) for turns in sessions]
    seconds = f", {np.mean(took):.2f} s" if timed else ""
    return Shown(text=f"{tokens:,.0f}", under=f"{calls:.1f} calls{seconds}", value=tokens)


def _trace(job: Job, cell: Cell) -> list[Shown | str] | None:
    turns = next((t for key, t in _turns(job).items() if key[0] == cell[1]), None)
    if turns is None or model_of(job) != cell[0]:
        return None
    tokens = _by_turn(turns)
    return [
        job.arm,
        *(Shown(text=f"{n:,.0f}", value=n) if n else NOTHING for n in tokens),
        Shown(text=f"{sum(tokens):,.0f}", value=sum(tokens)),
        f"{len(turns)} turns, {_end(turns[-1])}",
    ]


def _end(last: Row) -> str:
    ends = ("resolved", "given_up", "out_of_turns", "out_of_tokens")
    return next((end.replace("_", " ") for end in ends if last.axes.get(end)), "failed")


@register("recipe", "sessions/resolution")
class Resolution(Sweep):
    """When tasks are resolved.

    Kaplan-Meier over turns and over tokens: curves, restricted means, and the log-rank test.
    """

    source = "Depth, section 18; the paper gives no curve and censors nothing"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        jobs = with_sessions(jobs)
        arms = by_arm(jobs)
        focus = focus_of(arms)
        yield Text(
            "To resolution, with sessions that were not resolved censored: where they ran out of "
            "turns or tokens, and, given up, at the end of the scale. The restricted mean is the "
            "area under the curve up to there: what a task took, cut off at the limit. p is of the "
            f"log-rank test against {focus}; it takes sessions as independent, though all arms "
            "have the same tasks, and is described, not concluded from."
        )
        for name, unit in (("turns", "turns"), ("session_tokens", "tokens")):
            rows = {
                (job.arm, model_of(job)): [r for r in job.good if r.axes.get(name) is not None]
                for job in jobs
            }
            limit = max(r.axes[name] or 0.0 for own in rows.values() for r in own)
            yield Table(
                anchor=f"resolution-{unit}",
                caption=f"{unit.capitalize()} to resolution, restricted to {limit:,.0f}",
                columns=("", "resolved", f"restricted mean of {unit}", "median", "log-rank p",
                         "sessions"),
                rows=[_resolution_row(job, rows, focus, name, limit) for job in jobs],
            )  # fmt: skip
            yield from add_figure(_curves(rows, name, unit, limit))


def _curves(
    rows: Mapping[tuple[str, str], list[Row]], name: str, unit: str, limit: float
) -> Drawing:
    """The share not yet resolved, in steps, by arm; a tick where sessions were censored."""
    several = len({model for _, model in rows}) > 1
    names = {key: f"{key[0]}, {key[1]}" if several else key[0] for key in rows}
    told = []
    with canvas(5.6, 3.4) as (figure, panels):
        panel = panels[0][0]
        for (key, own), mark in zip(
            rows.items(), marks(list(names.values())).values(), strict=True
        ):
            at, share = unresolved(times(own, name, limit))
            x, y = [0.0, *at, limit], [1.0, *share, share[-1] if len(share) else 1.0]
            panel.step(x, y, where="post", color=mark.colour, label=names[key], linewidth=1.6)
            cut = [min(row.axes[name] or 0.0, limit) for row in own if not row.axes["resolved"]
                   and not row.axes.get("given_up")]  # fmt: skip
            panel.plot(cut, [y[np.searchsorted(x, c, side="right") - 1] for c in cut], "|",
                       color=mark.colour, markersize=7)  # fmt: skip
            told.append(f"{names[key]} {y[-1]:.2f}")
        panel.set(xlim=(0, limit), ylim=(-0.02, 1.02), xlabel=f"{unit} of a session",
                  ylabel="not yet resolved")  # fmt: skip
        panel.legend(loc="best")
    return Drawing(
        name=f"depth-session-curves-{unit}",
        title=f"Share of tasks not yet resolved by {unit}",
        caption="Kaplan-Meier curves; lower is better. A tick: a session out of turns or tokens. "
        "Sessions that were given up stay unresolved to the end.",
        alt=f"Steps down from 1; at the end: {', '.join(told)}.",
        figure=figure,
    )


def _resolution_row(
    job: Job, rows: Mapping[tuple[str, str], list[Row]], focus: str, name: str, limit: float
) -> list[Shown | str]:
    from scipy.stats import logrank

    own, other = rows[job.arm, model_of(job)], rows.get((focus, model_of(job)), [])
    found = times(own, name, limit)
    half = [at for at, left in zip(*unresolved(found), strict=True) if left <= 0.5]
    p = None
    if other and job.arm != focus and _tells(own, other):
        p = float(logrank(times(other, name, limit), found).pvalue)
    digits = 1 if name == "turns" else 0
    return [
        job.arm,
        shown(measured(job.summary["axes"]["resolved"])),
        shown(restricted(own, name, limit, int(job.summary["run"]["seed"])), digits),
        Shown(text=f"{half[0]:,.0f}", value=float(half[0])) if half else NOTHING,
        NOTHING if p is None else Shown(text=f"{p:.3f}" if p >= 0.0005 else "<0.001", value=p),
        str(len(own)),
    ]


def _tells(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether something was resolved at all, without which there is nothing to test."""
    return any(row.axes["resolved"] for row in (*a, *b))


@register("recipe", "sessions/table19")
class Losses(Sweep):
    """Matchups that the typed graph loses on tokens.

    What the other arm saved, and whether both resolved the task.
    """

    source = "Depth, Table 19"
    needs = NEEDS

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        arms = by_arm(with_sessions(jobs))
        focus = focus_of(arms)
        lost = [
            (cell, other, arms[focus][cell], theirs[cell])
            for other, theirs in arms.items()
            if other != focus
            for cell in sorted(arms[focus].keys() & theirs.keys())
            if theirs[cell].tokens < arms[focus][cell].tokens
        ]
        n = sum(len(matchups(arms[focus], theirs)) for o, theirs in arms.items() if o != focus)
        kinds: dict[str, int] = {}
        for _, _, own, theirs_ in lost:
            kinds[_both(own, theirs_)] = kinds.get(_both(own, theirs_), 0) + 1
        told = "; ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
        yield Text(
            f"{focus} took more tokens in {len(lost)} of {n} matchups. Who resolved the task: "
            f"{told or 'none lost'}. The paper: in essentially all of its "
            f"{printed('depth')['table_15'].row('losses')['value']} both; it prints six of them."
        )
        step = max(1, len(lost) // _SAMPLE)
        yield Table(
            anchor="losses",
            caption=f"Every {step}. of them, by arm and task" if step > 1 else "All of them",
            columns=("model", "task", "fewer tokens", f"{focus}", "other", "saves", "resolved by"),
            rows=[_loss(*one, focus) for one in lost[::step]],
        )
        heads = ("model", "task", "fewer tokens", "Brief", "other", "saves", "resolved by")
        yield of_paper("table_19", "losses-printed", heads)


def _both(own: Ended, theirs: Ended) -> str:
    if own.resolved and theirs.resolved:
        return "both"
    if theirs.resolved:
        return "the other alone"
    return "the typed graph alone" if own.resolved else "neither"


def _loss(cell: Cell, other: str, own: Ended, theirs: Ended, focus: str) -> list[Shown | str]:
    saved = 1 - theirs.tokens / own.tokens
    return [
        *cell,
        other,
        Shown(text=f"{own.tokens:,.0f}", value=own.tokens),
        Shown(text=f"{theirs.tokens:,.0f}", value=theirs.tokens),
        Shown(text=f"{saved:.0%}", value=saved),
        _both(own, theirs).replace("the typed graph", focus),
    ]
