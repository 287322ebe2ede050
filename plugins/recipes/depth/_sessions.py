"""Sessions as recipes count them: who won a matchup, and when a task was resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from framework.analysis.evidence import Job
from framework.errors import UserError
from framework.records import Row, Usage
from framework.reporting.blocks import NOTHING, Table
from framework.statistics.clusters import FloatArray
from framework.statistics.intervals import mean_interval
from plugins.recipes._cells import Measured, of_interval
from plugins.recipes._paper_values import printed

if TYPE_CHECKING:
    from scipy.stats import CensoredData

NEEDS: Final = "its sweep: decisionbench +experiment=sessions"
"""What recipes of sessions are given, with the command that makes it."""
FOCUS: Final = "typed_graph"
"""The arm that stands for the paper's own layer: it follows typed links between decisions."""
SECONDS: Final = ("recall_s", "answer_s", "write_s")
BILLED: Final = ("recall", "answer", "write")
"""Phases whose tokens a session is billed for."""
Cell = tuple[str, str]
"""The model, and the case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A session that ended, or the mean of several of one arm on one cell.

    tokens : in and out. turns : taken. resolved : share of the sessions that were. usd : at list
    price. seconds : of memory, model and environment. compliance : of the last answer.
    """

    cluster: str
    tokens: float
    turns: float
    resolved: float
    usd: float
    seconds: float
    compliance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wins:
    """Matchups of two arms on the cells of both: how many were won, lost and tied.

    rate : a tie counts half; with limits of 95% over clusters of cases.
    """

    wins: int
    losses: int
    ties: int
    rate: Measured

    @property
    def n(self) -> int:
        """Matchups."""
        return self.wins + self.losses + self.ties


def with_sessions(jobs: Sequence[Job]) -> list[Job]:
    """The jobs with sessions. Raises UserError where there are none, or of two arms by one name."""
    found = [job for job in jobs if "session_tokens" in job.summary["axes"]]
    if not found:
        raise UserError("no run with protocol=sessions")
    names = [(job.arm, model_of(job)) for job in found]
    if len(set(names)) < len(names):
        raise UserError("the runs vary something else than the arm and the model")
    return found


def model_of(job: Job) -> str:
    """The label of the model that acted."""
    return str(job.summary["run"]["model"])


def by_arm(jobs: Sequence[Job]) -> dict[str, dict[Cell, Ended]]:
    """By arm, its sessions by cell, repeats and trials averaged; those with an error left out."""
    found: dict[str, dict[Cell, Ended]] = {}
    for job in jobs:
        rows: dict[Cell, list[Row]] = {}
        for row in job.good:
            if row.axes.get("session_tokens") is not None:
                rows.setdefault((model_of(job), row.case_id), []).append(row)
        own = found.setdefault(job.arm, {})
        own.update({cell: _ended(of) for cell, of in sorted(rows.items())})
    return found


def focus_of(arms: Iterable[str]) -> str:
    """The arm that the others are matched with. Raises UserError where it was not run."""
    for arm in arms:
        if arm.partition("(")[0] == FOCUS:
            return arm
    raise UserError(f"the runs lack arch={FOCUS}, which the others are matched with")


def of_paper(name: str, anchor: str, columns: tuple[str, ...]) -> Table:
    """A table of the paper as it prints it; nothing of it is measured here."""
    table = printed("depth")[name]
    rows = table.values
    if isinstance(rows, dict):
        rows = [[label, *values] for label, values in rows.items()]
    return Table(
        anchor=anchor,
        caption=f"{table.source} of the paper, {table.standing} there and not measured here",
        columns=columns,
        rows=[[text or NOTHING for text in row] for row in rows],
    )


def _ended(rows: Sequence[Row]) -> Ended:
    def mean(values: Iterable[float]) -> float:
        return float(np.mean(list(values)))

    complied = [v for row in rows if (v := row.axes.get("compliance")) is not None]
    return Ended(
        cluster=rows[0].cluster or rows[0].case_id,
        tokens=mean(row.axes["session_tokens"] or 0.0 for row in rows),
        turns=mean(row.axes["turns"] or 0.0 for row in rows),
        resolved=mean(row.axes["resolved"] or 0.0 for row in rows),
        usd=mean(sum(billed(row, "cost_usd")) for row in rows),
        seconds=mean(sum(row.timing.get(name, 0.0) for name in SECONDS) for row in rows),
        compliance=mean(complied) if complied else None,
    )


def billed(row: Row, *names: str) -> list[float]:
    """Of the phases that a session is billed for, these counts of a row."""
    used = [row.usage.get(phase, Usage()) for phase in BILLED]
    return [float(getattr(usage, name)) for usage in used for name in names]


def fewer_tokens(a: Ended, b: Ended) -> float:
    """1 where a took fewer tokens than b, 0.5 where as many, else 0: the paper's matchup."""
    return 0.5 if a.tokens == b.tokens else float(a.tokens < b.tokens)


def resolved_then_tokens(a: Ended, b: Ended) -> float:
    """1 where a was resolved and b was not, or both were and a took fewer tokens; 0.5 for a tie.

    Two that were both not resolved tie, whatever they took: nothing was bought.
    """
    if a.resolved != b.resolved:
        return float(a.resolved > b.resolved)
    return fewer_tokens(a, b) if a.resolved else 0.5


def matchups(
    own: Mapping[Cell, Ended], other: Mapping[Cell, Ended], *, both_resolved: bool = False
) -> list[tuple[Ended, Ended]]:
    """The sessions of two arms on the cells of both, in the cells' order."""
    pairs = [(own[cell], other[cell]) for cell in sorted(own.keys() & other.keys())]
    return [(a, b) for a, b in pairs if not both_resolved or (a.resolved and b.resolved)]


def wins(pairs: Sequence[tuple[Ended, Ended]], score: Any, seed: int) -> Wins:
    """Won, lost and tied, cell by cell, and the rate with its limits."""
    points = [score(a, b) for a, b in pairs]
    found = mean_interval(points, [a.cluster for a, _ in pairs], seed=seed)
    return Wins(
        wins=points.count(1.0),
        losses=points.count(0.0),
        ties=points.count(0.5),
        rate=of_interval(found),
    )


def token_rate_by_ranks(pairs: Sequence[tuple[Ended, Ended]]) -> float | None:
    """The rate of `fewer_tokens` computed another way: from mid-ranks within each cell.

    Of two, the one with fewer tokens has rank 1, equal ones 1.5 each: the rate is 2 minus the mean
    rank. Both are printed, and a difference is an error of ours.
    """
    from scipy.stats import rankdata

    if not pairs:
        return None
    ranks = rankdata([[a.tokens, b.tokens] for a, b in pairs], axis=1)
    return float(2 - ranks[:, 0].mean())


def permuted_rate(
    pairs: Sequence[tuple[Ended, Ended]], score: Any, seed: int, draws: int = 2_000
) -> tuple[float, float]:
    """The mean rate where the arms' labels are swapped at random, and p of the rate observed.

    Labels are swapped for all cells of a cluster at once. p is two-sided: the share of draws at
    least as far from one half, the observed one among them (Phipson and Smyth 2010).
    """
    rng = np.random.default_rng(seed)
    points = np.array([score(a, b) for a, b in pairs])
    names, member = np.unique([a.cluster for a, _ in pairs], return_inverse=True)
    swapped = rng.random((draws, len(names)))[:, member] < 0.5
    rates = np.where(swapped, 1 - points, points).mean(axis=1)
    far = np.abs(rates - 0.5) >= abs(points.mean() - 0.5) - 1e-12
    return float(rates.mean()), float((far.sum() + 1) / (draws + 1))


def times(rows: Sequence[Row], name: str, limit: float) -> CensoredData:
    """When the sessions of some rows were resolved, on the scale of an axis: turns, or tokens.

    One that was not is censored where it ended; one that was given up stays at risk to the end
    (`limit`), since nothing would have resolved it (Fine and Gray, JASA 94 (1999), 496-509).
    """
    from scipy.stats import CensoredData

    at = [
        limit if row.axes.get("given_up") else min(float(row.axes[name] or 0.0), limit)
        for row in rows
    ]
    return CensoredData.right_censored(at, [not row.axes["resolved"] for row in rows])


def unresolved(found: CensoredData) -> tuple[FloatArray, FloatArray]:
    """The Kaplan-Meier curve of what is not yet resolved: its steps, and the share from each on."""
    from scipy.stats import ecdf

    curve = ecdf(found).sf
    return np.asarray(curve.quantiles, float), np.asarray(curve.probabilities, float)


def restricted_mean(found: CensoredData, limit: float) -> float:
    """The area under the curve up to `limit`: turns, or tokens, to resolution, cut off there."""
    at, share = unresolved(found)
    inside = at < limit
    edges = np.concatenate([[0.0], at[inside], [limit]])
    heights = np.concatenate([[1.0], share[inside]])
    return float(np.diff(edges) @ heights)


def restricted(rows: Sequence[Row], name: str, limit: float, seed: int) -> Measured:
    """The restricted mean with limits of 95% over clusters, by jackknife pseudo-values.

    Source: Andersen, Hansen and Klein, Lifetime Data Analysis 10 (2004), 335-350.
    """
    whole = restricted_mean(times(rows, name, limit), limit)
    n = len(rows)
    if n < 2:
        return Measured(value=whole)
    pseudo = []
    for left_out in range(n):
        rest = [*rows[:left_out], *rows[left_out + 1 :]]
        pseudo.append(n * whole - (n - 1) * restricted_mean(times(rest, name, limit), limit))
    found = mean_interval(
        pseudo, [row.cluster or row.case_id for row in rows], seed=seed, amount=True
    )
    return Measured(value=whole, low=found.low, high=found.high)
