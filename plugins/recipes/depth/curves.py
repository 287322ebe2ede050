"""The Depth paper's curves: axes against size, look-alikes, scatter, edges and other knobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Text
from plugins.recipes.depth._cases import kept
from plugins.recipes.depth._hops import traversal_recall
from plugins.recipes.depth._knobs import Curve, Sweep, by_setting, curves_block, needs
from plugins.recipes.depth._panels import draw

Curves = Mapping[str, Curve]
Line = tuple[Sequence[float], Sequence[float]]
"""Values of the setting, and of recall."""


class _Knob(Sweep):
    """Axes against a setting that the experiment sweeps. note : what is said of them."""

    key: ClassVar[str]
    xlabel: ClassVar[str]
    axes: ClassVar[Sequence[str]] = ("recall",)
    logarithmic: ClassVar[bool] = False
    note: ClassVar[str] = ""
    caption: ClassVar[str] = "Means with 95% intervals over cases, against {key}."

    def panels(self, jobs: Sequence[Job]) -> dict[str, Curves]:
        """The curves, by what is measured."""
        return {axis: by_setting(jobs, self.key, axis) for axis in self.axes}

    def theory(self, curves: Curves) -> tuple[Line | None, str]:
        """Recall as the theory has it where it says something, and what is said beside."""
        return None, self.note

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        panels = self.panels(jobs)
        line, said = self.theory(panels["recall"])
        if said:
            yield Text(said)
        yield from add_figure(
            draw(
                self.file, self.title, panels, self.xlabel, self.caption.format(key=self.key),
                logarithmic=self.logarithmic, line=line,
            )
        )  # fmt: skip
        for axis, curves in panels.items():
            anchor = f"{self.file}-{axis.replace(' ', '-')}"
            yield curves_block(anchor, f"{axis} by {self.key}", self.xlabel, curves)


@register("recipe", "depth/F042")
class CorpusSize(_Knob):
    """Corpus size."""

    source = "Depth, Figure 13"
    needs = needs("corpus_size")
    key = "domain.items"
    xlabel = "records in the corpus (N)"
    logarithmic = True


@register("recipe", "depth/F040")
class LookAlikes(_Knob):
    """Look-alike chains.

    Recall by look-alike chains, what is kept of it, and what of the view they take.
    """

    source = "Depth, Figures 20 and 21"
    needs = needs("distractors")
    key = "domain.distractors"
    beside = ("figure_20",)
    xlabel = "look-alike chains a task"
    axes = ("recall", "distractor_share")
    note = (
        "recall kept: recall over that of the same arm on the same tasks without look-alikes, "
        "with 95% limits by the delta method, which counts that the two are paired. "
        "distractor_share: of what the view holds, the share that is look-alikes."
    )
    caption = "Means with 95% intervals, clustered by corpus, against {key}."

    def panels(self, jobs: Sequence[Job]) -> dict[str, Curves]:
        panels = super().panels(jobs)
        shares = {arm: found for arm, curve in panels["recall"].items() if (found := _kept(curve))}
        if not shares:
            raise UserError(f"no arm was run with {self.key}=0 and recalled something there")
        return {**panels, "recall kept": shares}


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
    beside = ("table_8",)


@register("recipe", "depth/capture")
class Capture(_Knob):
    """Capture ladder."""

    source = "Depth, Table 5"
    needs = needs("capture")
    key = "domain.capture"
    beside = ("table_5",)
    xlabel = "how decisions were captured"
    axes = ("recall", "compliance")


@register("recipe", "depth/F046")
class Hops(_Knob):
    """Hop budget."""

    source = "Depth, Figure 26"
    needs = needs("hops")
    key = "arch.hops"
    xlabel = "hops walked"
    beside = ("figure_26",)


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


_OVERLAID = "Measured means with 95% intervals; the grey line is a prediction, not measured."


@register("recipe", "depth/fidelity")
class Fidelity(_Knob):
    """Fidelity of the edges."""

    source = "Depth, Theorem 9"
    needs = needs("fidelity")
    key = "domain.fidelity"
    xlabel = "fidelity q of an edge"
    caption = _OVERLAID

    def theory(self, curves: Curves) -> tuple[Line, str]:
        qs = np.linspace(0.3, 1, 50).tolist()
        depth = 3
        return (qs, [traversal_recall(depth, q) for q in qs]), (
            f"Theorem 9 predicts recall q^d for an arm that follows edges from a known entry: here "
            f"q^{depth}, in grey. An arm that also finds decisions by their text can do better."
        )


@register("recipe", "depth/scatter")
class Scatter(_Knob):
    """Scatter."""

    source = "Depth, Theorem 11 and figure 12"
    needs = needs("scatter")
    key = "domain.scatter"
    xlabel = "fragments a decision (sigma)"
    caption = _OVERLAID

    def theory(self, curves: Curves) -> tuple[Line, str]:
        p = max((c[0].mean for c in curves.values() if c[0].x == 1), default=1.0)
        last = max(float(point.x) for curve in curves.values() for point in curve)
        xs = np.linspace(1, last, 50)
        return (xs.tolist(), (p**xs).tolist()), (
            f"Theorem 11 predicts p^sigma where fragments surface independently; in grey with "
            f"p = {p:.2f}, the best recall measured at sigma = 1. Fragments that surface together "
            "do better than that, and fragments of which few have the query's words do worse."
        )
