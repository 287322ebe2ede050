"""The Depth paper's curves: axes against depth, drift, size, scatter, edges and the other knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from framework.errors import UserError
from framework.reporting.evidence import Job
from framework.reporting.recipes import Hang, needs, recipe
from framework.reporting.recipes.knobs import (
    Curve,
    by_depth,
    by_setting,
    curves_block,
    draw,
    jobs_of,
    words,
)
from framework.reporting.report.blocks import NOTHING, Block, Cell, Table, Text
from framework.theory.decay import DecayFit, Measured, fit_decays
from framework.theory.depth import similarity_ceiling, traversal_recall

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@recipe("depth/F016", "Depth, Figure 16", "Depth crossover", needs("crossover"))
def crossover(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Recall, compliance and kappa against depth, one curve an arm."""
    jobs = jobs_of(sources)
    axes = ("recall", "compliance", "kappa")
    curves: dict[str, dict[str, Curve]] = {
        axis: {job.arm: curve for job in jobs if (curve := by_depth(job, axis))} for axis in axes
    }
    curves = {axis: found for axis, found in curves.items() if found}
    if not curves:
        raise UserError("the runs have no cases by depth")
    yield from words(jobs)
    shown = {axis: _few(found) for axis, found in curves.items() if axis != "kappa"}
    yield from hang(
        draw(
            "depth-crossover",
            "Depth crossover",
            shown,
            "depth (links)",
            "Means with 95% intervals over cases, clustered by corpus. Arms that stay within .15 "
            "of nothing at every depth are left to the tables.",
        )
    )
    for axis, found in curves.items():
        yield curves_block(f"by-depth-{axis}", f"{axis} by depth", "depth", found)


def _few(curves: Mapping[str, Curve]) -> dict[str, Curve]:
    """The curves that rise above the floor somewhere; all of them where none does."""
    kept = {arm: curve for arm, curve in curves.items() if max(p.mean for p in curve) > 0.15}
    return kept or dict(curves)


def _knob(
    name: str,
    source: str,
    title: str,
    experiment: str,
    key: str,
    xlabel: str,
    axes: Sequence[str],
    *,
    logarithmic: bool = False,
    note: str = "",
) -> None:
    """A recipe: axes against a setting that the experiment sweeps."""

    def make(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
        jobs = jobs_of(sources)
        panels = {axis: by_setting(jobs, key, axis) for axis in axes if _has(jobs, axis)}
        if not panels:
            raise UserError(f"the runs have none of {', '.join(axes)}")
        yield from words(jobs)
        if note:
            yield Text(note)
        file = name.replace("/", "-")
        caption = f"Means with 95% intervals over cases, against {key}."
        yield from hang(draw(file, title, panels, xlabel, caption, logarithmic=logarithmic))
        for axis, curves in panels.items():
            yield curves_block(f"{file}-{axis}", f"{axis} by {key}", xlabel, curves)

    recipe(name, source, title, needs(experiment))(make)


def _has(jobs: Sequence[Job], axis: str) -> bool:
    return any((job.summary["axes"].get(axis) or {"mean": None})["mean"] is not None
               for job in jobs)  # fmt: skip


_knob(
    "depth/F042", "Depth, Figure 13", "Corpus size", "corpus_size",
    "domain.items", "records in the corpus (N)", ("recall",), logarithmic=True,
)  # fmt: skip
_knob(
    "depth/F040", "Depth, Figures 20 and 21", "Look-alike chains", "distractors",
    "domain.distractors", "look-alike chains a task", ("recall", "distractor_retention"),
)  # fmt: skip
_knob(
    "depth/F089", "Depth, Figure 23 and Table 8", "Supersession by length of the chain",
    "supersession", "domain.versions", "versions of the governing decision",
    ("supersession", "recall"),
    note="The paper prints 92.3% for its typed store and 64.1 to 68.7% for similarity, on pairs.",
)  # fmt: skip
_knob(
    "depth/capture", "Depth, Table 5", "Capture ladder", "capture",
    "domain.capture", "how decisions were captured", ("recall", "compliance"),
)  # fmt: skip
_knob(
    "depth/F046", "Depth, Figure 26", "Hop budget", "hops", "arch.hops", "hops walked",
    ("recall",),
    note="The paper prints recall at d = 3 of .72, .90 and 1.00 for 1, 2 and 3 hops.",
)  # fmt: skip
_knob(
    "depth/decay", "Depth, Figure 27", "Recency of edges", "decay_ablation", "arch.decay",
    "recency weight of edges (decay)", ("recall",),
)  # fmt: skip
_knob(
    "depth/edge_noise", "Depth, assumption 5", "Kinds of wrong edges", "edge_noise",
    "domain.edge_noise", "what becomes of a wrong edge", ("recall",),
)  # fmt: skip
_knob(
    "depth/visibility", "Depth, section 9.3", "Visibility of the entry record", "visibility",
    "domain.visibility", "share of the ticket's phrases that the entry has",
    ("recall", "entry_rank"),
)  # fmt: skip


def _overlaid(
    name: str,
    source: str,
    title: str,
    experiment: str,
    key: str,
    xlabel: str,
    predict: Callable[[Mapping[str, Curve]], tuple[Callable[[Axes], None], str]],
    depth: int | None = None,
) -> None:
    """A recipe: recall against a setting, with what the theory says drawn as a grey line."""

    def make(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
        jobs = jobs_of(sources)
        curves = by_setting(jobs, key, "recall", depth)
        line, said = predict(curves)
        yield from words(jobs)
        yield Text(said)
        file = name.replace("/", "-")
        yield from hang(
            draw(
                file, title, {"recall": curves}, xlabel,
                "Measured means with 95% intervals; the grey line is a prediction, not measured.",
                overlay={"recall": line},
            )
        )  # fmt: skip
        yield curves_block(file, f"recall by {key}", xlabel, curves)

    recipe(name, source, title, needs(experiment))(make)


def _line(xs: np.ndarray, ys: np.ndarray) -> Callable[[Axes], None]:
    def add(panel: Axes) -> None:
        panel.plot(xs, ys, color="#777777", lw=2.5, alpha=0.5, zorder=1)

    return add


def _fidelity(curves: Mapping[str, Curve]) -> tuple[Callable[[Axes], None], str]:
    qs = np.linspace(0.3, 1, 50)
    depth = 3
    return _line(qs, np.array([traversal_recall(depth, q) for q in qs])), (
        f"Theorem 9 predicts recall q^d for an arm that follows edges from a known entry: here "
        f"q^{depth}, in grey. An arm that also finds decisions by their text can do better."
    )


def _scatter(curves: Mapping[str, Curve]) -> tuple[Callable[[Axes], None], str]:
    first = [c[0].mean for c in curves.values() if c[0].x == 1]
    p = max(first, default=1.0)
    xs = np.linspace(1, max(float(pt.x) for c in curves.values() for pt in c), 50)
    return _line(xs, p**xs), (
        f"Theorem 11 predicts p^sigma where fragments surface independently; in grey with "
        f"p = {p:.2f}, the best recall measured at sigma = 1. Fragments that surface together do "
        "better than that, and fragments of which few have the query's words do worse."
    )


_overlaid(
    "depth/fidelity", "Depth, Theorem 9", "Fidelity of the edges", "fidelity",
    "domain.fidelity", "fidelity q of an edge", _fidelity,
)  # fmt: skip
_overlaid(
    "depth/scatter", "Depth, Theorem 11 and figure 12", "Scatter", "scatter",
    "domain.scatter", "fragments a decision (sigma)", _scatter,
)  # fmt: skip


@recipe("depth/F036", "Depth, Figure 11", "Drift by depth: predicted and measured",
        needs("phase"))  # fmt: skip
def phase(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """The advantage of traversal over the best similarity arm, by drift and depth."""
    jobs = jobs_of(sources)
    depths = sorted({int(point.x) for job in jobs for point in by_depth(job, "recall")})
    if not depths:
        raise UserError("the runs have no cases by depth")
    graph = [job for job in jobs if job.arm.startswith("typed_graph")]
    others = [job for job in jobs if not job.arm.startswith("typed_graph") and job.arm != "oracle"]
    if not graph or not others:
        raise UserError("the runs lack typed_graph or an arm to compare it with")
    yield from words(jobs)
    yield Text(
        "Each cell: recall of typed_graph minus that of the best similarity arm there; under it "
        "equation 9 with s0 and rho as the corpora were made (similarity kept at each link) and "
        "q = 1. The formula has no fitted part here, so a gap between the two is a finding about "
        "the formula."
    )
    rhos = sorted({float(p.x) for c in by_setting(graph, "domain.rho", "recall").values()
                   for p in c})  # fmt: skip
    rows: list[list[Cell | str]] = []
    for rho in rhos:
        row: list[Cell | str] = [f"rho = {rho:g}"]
        for depth in depths:
            ours = _mean_at(graph, rho, depth)
            best = _mean_at(others, rho, depth)
            entry = 0.9
            predicted = 1 - similarity_ceiling(depth, entry, max(rho, 1e-3))
            row.append(
                Cell(
                    text=NOTHING if ours is None or best is None else f"{ours - best:+.2f}",
                    under=f"predicted {predicted:+.2f}",
                    value=None if ours is None or best is None else ours - best,
                )
            )
        rows.append(row)
    yield Table(
        anchor="phase",
        caption="Advantage of traversal by drift (rows) and depth (columns)",
        columns=("", *(f"d = {d}" for d in depths)),
        rows=rows,
    )
    for depth in (depths[len(depths) // 2],):
        curves = by_setting(jobs, "domain.rho", "recall", depth)
        yield from hang(
            draw(
                "depth-phase", f"Recall by drift at d = {depth}", {"recall": curves},
                "share of phrases kept at each link (rho)",
                "Measured means with 95% intervals; drift is that of the generator's phrases.",
            )
        )  # fmt: skip


def _mean_at(jobs: Sequence[Job], rho: float, depth: int) -> float | None:
    means = [
        point.mean
        for curve in by_setting(jobs, "domain.rho", "recall", depth).values()
        for point in curve
        if point.x == rho
    ]
    return max(means, default=None)


@recipe("depth/F035", "Depth, Figure 35 and Table 37", "Decay laws by depth",
        needs("crossover"))  # fmt: skip
def decay(sources: Sequence[Path], hang: Hang) -> Iterator[Block]:
    """Laws of decay fitted to recall at every depth, with AICc and the error out of sample."""
    jobs = jobs_of(sources)
    yield from words(jobs)
    yield Text(
        "Binomial maximum likelihood on recall by depth. AICc counts depths, so that laws of many "
        "parameters pay; held out: each depth predicted from the others; extrapolated: the deepest "
        "third predicted from the rest. The paper fitted three depths, at which no such choice can "
        "be made (its Table 37 prints AIC of -34.2, -15.9 and -0.9 for a stretched exponential, a "
        "power law and a geometric law)."
    )
    rows: list[list[Cell | str]] = []
    for job in jobs:
        curve = by_depth(job, "recall")
        if len(curve) < 4 or max(point.mean for point in curve) < 0.1:
            continue
        points = [
            Measured(depth=float(p.x), recalled=p.mean * p.n, cases=p.n) for p in curve if p.n
        ]
        fits = fit_decays(points)
        rows += [_fit_row(job.arm if place == 0 else "", fit, fits[0])
                 for place, fit in enumerate(fits)]  # fmt: skip
    if not rows:
        raise UserError("no arm has recall at four depths")
    yield Table(
        anchor="decay",
        caption="Laws by arm, the best by AICc first",
        columns=("", "law", "parameters", "AICc above best", "error", "held out", "extrapolated"),
        rows=rows,
    )


def _fit_row(label: str, fit: DecayFit, best: DecayFit) -> list[Cell | str]:
    parameters = ", ".join(f"{name} {value:.2f}" for name, value in fit.parameters.items())
    beyond = fit.extrapolated_error
    return [
        label,
        fit.law.replace("_", " "),
        parameters,
        Cell(text=f"{fit.aicc - best.aicc:.1f}", value=fit.aicc - best.aicc),
        Cell(text=f"{fit.error:.3f}", value=fit.error),
        Cell(text=f"{fit.held_out_error:.3f}", value=fit.held_out_error),
        Cell(text=NOTHING if beyond is None else f"{beyond:.3f}", value=beyond),
    ]
