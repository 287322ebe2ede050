"""Where a gain in compliance comes from, and posterior rates: associations, beside the tests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from framework.analysis.evidence import Evidence, Group, Job, printed_names
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.reporting.figures.labels import label_of, under
from framework.reporting.figures.style import (
    BLUE,
    ORANGE,
    Drawing,
    canvas,
    handles,
    legend,
    legend_height,
    marks,
    rows_axis,
    whisker,
)
from framework.statistics.effects import cohens_h
from plugins.recipes._cells import Measured, shown
from plugins.recipes.depth._cases import has_edges, is_fair, values
from plugins.recipes.depth._knobs import Sweeps, needs
from plugins.recipes.depth._mediation import Mediation, mediation
from plugins.recipes.depth._superiority import PRIOR, beta_superiority

_DEEP: Final = 3


class _TypedAgainstOthers(Sweeps):
    """A page of the typed graphs against the arms without edges, under the same budget."""

    needs = needs("paper_geometry")

    def of(self, sources: Sequence[Evidence], add_figure: AddFigure) -> Iterator[Block]:
        done = False
        for group in (group for evidence in sources for group in evidence.groups):
            jobs = [job for job in group.jobs if is_fair(job)]
            typed = [job for job in jobs if has_edges(job)]
            others = [job for job in jobs if not has_edges(job) and values(job, "compliance")]
            if typed and others:
                done = True
                yield from self.page(group, typed, others, add_figure)
        if not done:
            raise UserError("the sweep lacks an arm with edges, or one without to compare with")

    @abstractmethod
    def page(
        self, group: Group, typed: Sequence[Job], others: Sequence[Job], add_figure: AddFigure
    ) -> Iterator[Block]:
        """The blocks of one setting."""


@register("recipe", "depth/F038")
class ThroughRecall(_TypedAgainstOthers):
    """How much of the gain in compliance runs through recall.

    Baron and Kenny's decomposition of every typed graph against every arm without edges, over
    corpora.
    """

    source = "Depth, Figure 24"

    def page(
        self, group: Group, typed: Sequence[Job], others: Sequence[Job], add_figure: AddFigure
    ) -> Iterator[Block]:
        found = {
            (_name(a), _name(b)): effect
            for a in typed
            for b in others
            if (effect := _effect(a, b)) is not None
        }
        if not found:
            raise UserError("no typed graph shares cases with an arm without edges")
        yield Text(
            "An association, and no proof: that recall causes compliance is assumed. What it does "
            "when the gold is put into a view is `depth/causal_use`. Limits of 95%, percentile "
            "bootstrap over corpora. The paper has a total of +0.075 against `dense`, most of it "
            "through recall."
        )
        yield from add_figure(_paths(group, found, f"{self.file}-{group.index}"))
        yield Table(
            anchor=f"mediation-{group.index}",
            caption="Gain in compliance, and what of it runs through recall",
            columns=("", "minus", "total", "through recall", "direct", "share through recall", "n",
                     "interval"),
            rows=[
                [*pair, shown(Measured(value=one.total), 3, sign="+"), _indirect(one),
                 shown(Measured(value=one.direct), 3, sign="+"),
                 shown(Measured(value=one.proportion, low=one.proportion_low,
                                high=one.proportion_high)), str(one.n), one.method]
                for pair, one in found.items()
            ],
        )  # fmt: skip


def _name(job: Job) -> str:
    return printed_names([job.summary]).get(job.arm, job.arm)


def _effect(a: Job, b: Job) -> Mediation | None:
    recalls = [values(job, "recall") for job in (a, b)]
    outcomes = [values(job, "compliance") for job in (a, b)]
    cases = set.intersection(*(set(one) for one in (*recalls, *outcomes)))
    if not cases:
        return None
    kept = [{case: one[case] for case in cases} for one in (*recalls, *outcomes)]
    seed = int(a.summary["run"]["seed"])
    return mediation(*kept, clusters=a.means.clusters, seed=seed)


def _indirect(one: Mediation) -> Cell:
    found = Measured(value=one.indirect, low=one.indirect_low, high=one.indirect_high)
    return shown(found, 3, sign="+")


def _paths(group: Group, found: dict[tuple[str, str], Mediation], name: str) -> Drawing:
    pairs = [" − ".join(pair) for pair in found]
    width = 5.0 + 0.07 * max(map(len, pairs))
    labels = ["through recall", "direct"]
    with canvas(width, 0.9 + 0.27 * len(pairs)) as (figure, ((panel,),)):
        for at, one in enumerate(found.values()):
            for value, off, colour, hatch in (
                (one.indirect, -0.18, BLUE, ""),
                (one.direct, 0.18, ORANGE, "////"),
            ):
                if value is not None:
                    panel.barh(at + off, value, height=0.34, color=colour, hatch=hatch,
                               edgecolor="#222222", lw=0.5)  # fmt: skip
            whisker(panel, at - 0.18, one.indirect_low, one.indirect_high)
        panel.axvline(0, color="#222222", lw=0.8)
        rows_axis(panel, pairs)
        panel.set_xlabel("gain in compliance")
        from matplotlib.patches import Patch

        patches = [Patch(fc=BLUE, ec="#222222"), Patch(fc=ORANGE, ec="#222222", hatch="////")]
        legend(figure, patches, labels)
    return Drawing(
        name=name,
        title="Gain in compliance through recall",
        caption="Blue: the part that runs through recall, with 95% limits; hatched: the rest "
        f"({under(group)}). {label_of(group, ['compliance', 'recall'])}",
        alt="; ".join(
            f"{pair}: {one.indirect:+.2f} through recall, {one.direct:+.2f} direct"
            for pair, one in zip(pairs, found.values(), strict=True)
            if one.indirect is not None and one.direct is not None
        ),
        figure=figure,
    )


@register("recipe", "depth/F025")
class Posteriors(_TypedAgainstOthers):
    """Posterior rates of compliance at depth 3.

    Beta posteriors under Jeffreys' prior, and the probability that a typed graph's rate is higher.
    """

    source = "Depth, Figure 49"

    def page(
        self, group: Group, typed: Sequence[Job], others: Sequence[Job], add_figure: AddFigure
    ) -> Iterator[Block]:
        counts = {job.arm: counted for job in (*typed, *others) if (counted := _counts(job))}
        pairs = [(a.arm, b.arm) for a in typed for b in others
                 if a.arm in counts and b.arm in counts]  # fmt: skip
        if not pairs:
            raise UserError(f"no compliance of 0 or 1 at depth {_DEEP}")
        yield Text(
            "Every task of every arm is taken for an independent trial: arms share tasks, and "
            "tasks share corpora, so that no decision rests on these densities; "
            "paired differences are `depth/F024`. The paper prints .81 against its best other arm."
        )
        yield from add_figure(_densities(group, counts, f"{self.file}-{group.index}"))
        yield Table(
            anchor=f"posteriors-{group.index}",
            caption=f"P(rate of the typed graph is higher) at depth {_DEEP}",
            columns=("", "complied", "of", "against", "complied", "of", "P"),
            rows=[
                [a, *map(str, counts[a]), b, *map(str, counts[b]),
                 shown(Measured(value=beta_superiority(*counts[a], *counts[b])), 3)]
                for a, b in pairs
            ],
        )  # fmt: skip


def _counts(job: Job) -> tuple[int, int] | None:
    """Complied, and tasks, at depth 3; None without tasks, or where one is neither 0 nor 1."""
    found = list(values(job, "compliance", _DEEP).values())
    if not found or any(value not in (0, 1) for value in found):
        return None
    return int(sum(found)), len(found)


def _densities(group: Group, counts: dict[str, tuple[int, int]], name: str) -> Drawing:
    from scipy.special import betaln

    rates = np.linspace(0.001, 0.999, 500)
    styles = marks(list(counts))
    bounded: list[float] = []
    width = 6.4
    with canvas(width, 3.0 + legend_height(width, list(counts))) as (figure, ((panel,),)):
        for number, (arm, (successes, n)) in enumerate(counts.items()):
            a, b = successes + PRIOR, n - successes + PRIOR
            density = np.exp((a - 1) * np.log(rates) + (b - 1) * np.log1p(-rates) - betaln(a, b))
            mark = styles[arm]
            if 0 < successes < n:
                bounded.append(float(density.max()))
            panel.plot(rates, density, color=mark.colour, ls=mark.line, marker=mark.marker,
                       mfc=mark.face, markevery=(7 * number % 50, 50), lw=1.3)  # fmt: skip
        panel.set(xlabel=f"compliance at depth {_DEEP}", ylabel="density", xlim=(0, 1))
        # Of an arm that never or always complied the density has no bound: it is cut off.
        panel.set_ylim(0, 1.1 * max(bounded, default=12.0))
        legend(figure, handles(styles.values(), line=True), list(counts))
    return Drawing(
        name=name,
        title="Posterior rates of compliance",
        caption=f"Beta posteriors under Jeffreys' prior, tasks taken for independent "
        f"({under(group)}). {label_of(group, ['compliance'])}",
        alt="; ".join(f"{arm}: {a} of {n}" for arm, (a, n) in counts.items()),
        figure=figure,
    )


@register("recipe", "depth/figure50")
class EffectSizes(_TypedAgainstOthers):
    """Cohen's h of the typed graphs against the arms without edges, by axis."""

    source = "Depth, Figure 50"

    def page(
        self, group: Group, typed: Sequence[Job], others: Sequence[Job], add_figure: AddFigure
    ) -> Iterator[Block]:
        yield Text(
            "h = 2 arcsin sqrt(p) of one less that of the other; .2, .5 and .8 are called small, "
            "medium and large. It is made for proportions of two independent samples: these arms "
            "share their tasks, so that no decision rests on it, and the paired differences are "
            "`depth/F024`. The paper prints 1.16 to 1.21 against its best other arm."
        )
        yield Table(
            anchor=f"effect-sizes-{group.index}",
            caption="Cohen's h by axis",
            columns=("", "against", *_AXES),
            rows=[
                [_name(a), _name(b), *(shown(Measured(value=_h(a, b, axis)), sign="+")
                                       for axis in _AXES)]
                for a in typed
                for b in others
            ],
        )  # fmt: skip


_AXES: Final = ("compliance", "recall", "precision", "f1", "merge_ready", "chain_recovery")
"""Those of the paper's figure that are shares."""


def _h(a: Job, b: Job, axis: str) -> float | None:
    mine, other = values(a, axis), values(b, axis)
    both = mine.keys() & other.keys()
    if not both:
        return None
    return cohens_h(*(sum(one[case] for case in both) / len(both) for one in (mine, other)))
