"""The Depth paper's curves: axes against size, look-alikes, scatter, edges and other knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from framework.errors import UserError
from framework.reporting.blocks import Block, Text
from framework.reporting.recipes import AddFigure, needs, recipe
from framework.reporting.recipes.cases import kept
from framework.reporting.recipes.knobs import (
    Curve,
    by_setting,
    curves_block,
    jobs_of,
    words,
)
from framework.reporting.recipes.panels import draw
from framework.theory.depth import traversal_recall

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    def make(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        panels = {axis: by_setting(jobs, key, axis) for axis in axes}
        yield from words(jobs)
        if note:
            yield Text(note)
        file = name.replace("/", "-")
        caption = f"Means with 95% intervals over cases, against {key}."
        yield from add_figure(draw(file, title, panels, xlabel, caption, logarithmic=logarithmic))
        for axis, curves in panels.items():
            yield curves_block(f"{file}-{axis}", f"{axis} by {key}", xlabel, curves)

    recipe(name, source, title, needs(experiment))(make)


_knob(
    "depth/F042", "Depth, Figure 13", "Corpus size", "corpus_size",
    "domain.items", "records in the corpus (N)", ("recall",), logarithmic=True,
)  # fmt: skip


@recipe("depth/F040", "Depth, Figures 20 and 21", "Look-alike chains",
        needs("distractors"))  # fmt: skip
def look_alikes(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
    """Recall by look-alike chains, what is kept of it, and what of the view they take."""
    key, xlabel = "domain.distractors", "look-alike chains a task"
    jobs = jobs_of(sources)
    panels = {axis: by_setting(jobs, key, axis) for axis in ("recall", "distractor_share")}
    retention = {arm: found for arm, curve in panels["recall"].items() if (found := _kept(curve))}
    if not retention:
        raise UserError(f"no arm was run with {key}=0 and recalled something there")
    panels["recall kept"] = retention
    yield from words(jobs)
    yield Text(
        "recall kept: recall over that of the same arm on the same tasks without look-alikes, with "
        "95% limits by the delta method, which counts that the two are paired. distractor_share: "
        "of what the view holds, the share that is look-alikes."
    )
    caption = f"Means with 95% intervals, clustered by corpus, against {key}."
    yield from add_figure(draw("depth-F040", "Look-alike chains", panels, xlabel, caption))
    for axis, curves in panels.items():
        anchor = f"depth-F040-{axis.replace(' ', '-')}"
        yield curves_block(anchor, f"{axis} by {key}", xlabel, curves)


def _kept(curve: Curve) -> Curve:
    """The curve as shares of its value at 0; empty where it has none there, or 0."""
    base = next((point for point in curve if point.x == 0 and point.mean), None)
    if base is None:
        return []
    found = [replace(base, mean=1.0, low=None, high=None)]
    for point in curve:
        if point is not base:
            share = kept(point.job, base.job, "recall")
            assert share.value is not None  # recall at 0 is above 0
            found.append(replace(point, mean=share.value, low=share.low, high=share.high))
    return found


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

    def make(sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        curves = by_setting(jobs, key, "recall", depth)
        line, said = predict(curves)
        yield from words(jobs)
        yield Text(said)
        file = name.replace("/", "-")
        yield from add_figure(
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
