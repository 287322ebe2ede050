"""The Depth paper's curves: axes against size, look-alikes, scatter, edges and other knobs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from framework.contracts.recipe import AddFigure, Recipe
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Text
from plugins.recipes.depth._cases import kept
from plugins.recipes.depth._hops import traversal_recall
from plugins.recipes.depth._knobs import (
    Curve,
    by_setting,
    curves_block,
    jobs_of,
    needs,
    words,
)
from plugins.recipes.depth._panels import draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Knob(Recipe):
    """Axes against a setting that the experiment sweeps."""

    key: ClassVar[str]
    xlabel: ClassVar[str]
    axes: ClassVar[Sequence[str]] = ("recall",)
    logarithmic: ClassVar[bool] = False
    note: ClassVar[str] = ""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        panels = {axis: by_setting(jobs, self.key, axis) for axis in self.axes}
        yield from words(jobs)
        if self.note:
            yield Text(self.note)
        file = self.name.replace("/", "-")
        title = (type(self).__doc__ or "").rstrip(".")
        caption = f"Means with 95% intervals over cases, against {self.key}."
        yield from add_figure(
            draw(file, title, panels, self.xlabel, caption, logarithmic=self.logarithmic)
        )
        for axis, curves in panels.items():
            yield curves_block(f"{file}-{axis}", f"{axis} by {self.key}", self.xlabel, curves)


@register("recipe", "depth/F042")
class CorpusSize(_Knob):
    """Corpus size."""

    source = "Depth, Figure 13"
    needs = needs("corpus_size")
    key = "domain.items"
    xlabel = "records in the corpus (N)"
    logarithmic = True


@register("recipe", "depth/F040")
class LookAlikes(Recipe):
    """Look-alike chains.

    Recall by look-alike chains, what is kept of it, and what of the view they take.
    """

    source = "Depth, Figures 20 and 21"
    needs = needs("distractors")

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        key, xlabel = "domain.distractors", "look-alike chains a task"
        jobs = jobs_of(sources)
        panels = {axis: by_setting(jobs, key, axis) for axis in ("recall", "distractor_share")}
        retention = {
            arm: found for arm, curve in panels["recall"].items() if (found := _kept(curve))
        }
        if not retention:
            raise UserError(f"no arm was run with {key}=0 and recalled something there")
        panels["recall kept"] = retention
        yield from words(jobs)
        yield Text(
            "recall kept: recall over that of the same arm on the same tasks without look-alikes, "
            "with 95% limits by the delta method, which counts that the two are paired. "
            "distractor_share: of what the view holds, the share that is look-alikes."
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


@register("recipe", "depth/F089")
class Supersession(_Knob):
    """Supersession by length of the chain."""

    source = "Depth, Figure 23 and Table 8"
    needs = needs("supersession")
    key = "domain.versions"
    xlabel = "versions of the governing decision"
    axes = ("supersession", "recall")
    note = "The paper prints 92.3% for its typed store and 64.1 to 68.7% for similarity, on pairs."


@register("recipe", "depth/capture")
class Capture(_Knob):
    """Capture ladder."""

    source = "Depth, Table 5"
    needs = needs("capture")
    key = "domain.capture"
    xlabel = "how decisions were captured"
    axes = ("recall", "compliance")


@register("recipe", "depth/F046")
class Hops(_Knob):
    """Hop budget."""

    source = "Depth, Figure 26"
    needs = needs("hops")
    key = "arch.hops"
    xlabel = "hops walked"
    note = "The paper prints recall at d = 3 of .72, .90 and 1.00 for 1, 2 and 3 hops."


@register("recipe", "depth/decay")
class EdgeDecay(_Knob):
    """Recency of edges."""

    source = "Depth, Figure 27"
    needs = needs("decay_ablation")
    key = "arch.decay"
    xlabel = "recency weight of edges (decay)"


@register("recipe", "depth/edge_noise")
class EdgeNoise(_Knob):
    """Kinds of wrong edges."""

    source = "Depth, assumption 5"
    needs = needs("edge_noise")
    key = "domain.edge_noise"
    xlabel = "what becomes of a wrong edge"


@register("recipe", "depth/visibility")
class Visibility(_Knob):
    """Visibility of the entry record."""

    source = "Depth, section 9.3"
    needs = needs("visibility")
    key = "domain.visibility"
    xlabel = "share of the ticket's phrases that the entry has"
    axes = ("recall", "entry_rank")


class _Overlaid(Recipe):
    """Recall against a setting, with what the theory says drawn as a grey line."""

    key: ClassVar[str]
    xlabel: ClassVar[str]

    @abstractmethod
    def predict(self, curves: Mapping[str, Curve]) -> tuple[Callable[[Axes], None], str]:
        """What draws the line, and what the theory says."""

    def blocks(self, sources: Sequence[Path], add_figure: AddFigure) -> Iterator[Block]:
        jobs = jobs_of(sources)
        curves = by_setting(jobs, self.key, "recall")
        line, said = self.predict(curves)
        yield from words(jobs)
        yield Text(said)
        file = self.name.replace("/", "-")
        title = (type(self).__doc__ or "").rstrip(".")
        yield from add_figure(
            draw(
                file, title, {"recall": curves}, self.xlabel,
                "Measured means with 95% intervals; the grey line is a prediction, not measured.",
                overlay={"recall": line},
            )
        )  # fmt: skip
        yield curves_block(file, f"recall by {self.key}", self.xlabel, curves)


def _line(xs: np.ndarray, ys: np.ndarray) -> Callable[[Axes], None]:
    def add(panel: Axes) -> None:
        panel.plot(xs, ys, color="#777777", lw=2.5, alpha=0.5, zorder=1)

    return add


@register("recipe", "depth/fidelity")
class Fidelity(_Overlaid):
    """Fidelity of the edges."""

    source = "Depth, Theorem 9"
    needs = needs("fidelity")
    key = "domain.fidelity"
    xlabel = "fidelity q of an edge"

    def predict(self, curves: Mapping[str, Curve]) -> tuple[Callable[[Axes], None], str]:
        qs = np.linspace(0.3, 1, 50)
        depth = 3
        return _line(qs, np.array([traversal_recall(depth, q) for q in qs])), (
            f"Theorem 9 predicts recall q^d for an arm that follows edges from a known entry: here "
            f"q^{depth}, in grey. An arm that also finds decisions by their text can do better."
        )


@register("recipe", "depth/scatter")
class Scatter(_Overlaid):
    """Scatter."""

    source = "Depth, Theorem 11 and figure 12"
    needs = needs("scatter")
    key = "domain.scatter"
    xlabel = "fragments a decision (sigma)"

    def predict(self, curves: Mapping[str, Curve]) -> tuple[Callable[[Axes], None], str]:
        first = [c[0].mean for c in curves.values() if c[0].x == 1]
        p = max(first, default=1.0)
        xs = np.linspace(1, max(float(pt.x) for c in curves.values() for pt in c), 50)
        return _line(xs, p**xs), (
            f"Theorem 11 predicts p^sigma where fragments surface independently; in grey with "
            f"p = {p:.2f}, the best recall measured at sigma = 1. Fragments that surface together "
            "do better than that, and fragments of which few have the query's words do worse."
        )
