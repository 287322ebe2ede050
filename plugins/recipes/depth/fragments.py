"""Whether all fragments of a decision come together (Depth, Theorem 6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from framework.analysis.evidence import Job
from framework.analysis.forms import of_memory
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import NOTHING, Block, Cell, Table, Text
from framework.statistics.intervals import Interval, mean_interval
from framework.store.answers import answer_records
from plugins.recipes._cells import Measured, of_interval, shown
from plugins.recipes.depth._cases import is_fair
from plugins.recipes.depth._knobs import Sweep, needs, placed, setting
from plugins.recipes.depth._scatter import assembly, location_bits, paper_location_bits, probes

_KEY: Final = "domain.scatter"
_PART: Final = "part:"
_WHOLE: Final = "decision"

Places = Mapping[tuple[Any, ...], Job]
"""Jobs by arm and sigma."""
Row = list[Cell | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What an arm's views held of decisions in sigma fragments.

    hit : share of the fragments. whole : share of the cases with all of them. Both with 95% limits
    over corpora, where any are claimed.
    """

    sigma: int
    hit: Interval
    whole: Interval

    @property
    def bound(self) -> Measured:
        """Theorem 6's bound on `whole`, hit^sigma, and the same at the limits of `hit`."""
        low, high = (self._of(limit) for limit in (self.hit.low, self.hit.high))
        return Measured(value=self._of(self.hit.mean), low=low, high=high)

    @property
    def stands(self) -> str:
        """What the limits say of the bound, those of `whole` against those of the bound.

        As the two are not independent, and each has its own limits, it is said too seldom rather
        than too often that they differ.
        """
        bound, whole = self.bound, self.whole
        if bound.low is None or bound.high is None or whole.low is None or whole.high is None:
            return "no limits"
        if whole.low > bound.high:
            return "above the bound"
        return "below the bound" if whole.high < bound.low else "not told apart"

    def _of(self, hit: float | None) -> float | None:
        if hit is None:
            return None
        return assembly(self.sigma, hit) if hit > 0 else 0.0


def assembled(
    hits: Mapping[str, Sequence[bool]], clusters: Mapping[str, str | None], seed: int
) -> Assembled:
    """Of the cases, by id, which of its fragments the view held.

    Raises ValueError where cases have not all as many fragments, or where there are none.
    """
    cases = sorted(hits)
    (sigma,) = {len(hits[case]) for case in cases}
    labels = [clusters[case] for case in cases]
    shares = [fmean(hits[case]) for case in cases]
    wholes = [float(all(hits[case])) for case in cases]
    return Assembled(
        sigma=sigma,
        hit=mean_interval(shares, labels, seed=seed),
        whole=mean_interval(wholes, labels, seed=seed),
    )


@register("recipe", "depth/fragments")
class Fragments(Sweep):
    """All fragments of a decision, against the bound of independent hits."""

    source = "Depth, Theorem 6"
    needs = needs("scatter")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        by_place = placed(jobs, _KEY)
        sigmas = sorted({int(sigma) for _, sigma in by_place})
        if sigmas[-1] == 1:
            raise UserError(f"no run with decisions in more than one fragment: {_KEY}")
        measured = {place: _measured(job) for place, job in by_place.items()}
        yield Text(
            "Theorem 6: where the sigma fragments of a decision come into the view independently, "
            "each with probability p, all of them do with p^sigma at most. Here p is the share of "
            "fragments that the view held, measured at the same sigma, so that neither the size of "
            "the corpus nor that of its records, which change with sigma, comes between. Above the "
            "bound, fragments come together, or some decisions are easier to find than others: "
            "hits are not independent, as the theorem has it. It is said where the 95% limits over "
            "corpora of the two do not meet. What views held is measured, not an answer."
        )
        yield Table(
            anchor="fragments",
            caption="Fragments in the view, and decisions of which all are",
            columns=("", "sigma", "fragments held (p)", "all held", "bound p^sigma", "all held is"),
            rows=[
                _row(arm, measured[arm, sigma])
                for arm in dict.fromkeys(job.arm for job in jobs)
                for sigma in sigmas
                if sigma > 1 and (arm, sigma) in measured
            ],
        )
        yield Text(
            "What follows is counted, not measured, and holds of any retriever: the bits that "
            "tell sigma places among the events of a corpus, the theorem's bound on them, and its "
            "least number of probes, sigma / p, for the best p that an arm under the budget has "
            "here. An arm is asked once a task, so that no row says how many probes it would need."
        )
        yield Table(
            anchor="location",
            caption="Bits and probes to locate all fragments",
            columns=("sigma", "events", "bits", "bound on the bits", "best p", "probes at least"),
            rows=[_counted(sigma, by_place, measured) for sigma in sigmas],
        )


def _row(arm: str, one: Assembled) -> Row:
    hit, whole = map(of_interval, (one.hit, one.whole))
    return [
        arm, str(one.sigma), shown(hit, 3), shown(whole, 3), shown(one.bound, 3), one.stands,
    ]  # fmt: skip


def _counted(sigma: int, jobs: Places, measured: Mapping[tuple[Any, ...], Assembled]) -> Row:
    here = {place: job for place, job in jobs.items() if place[1] == sigma}
    events = round(next(iter(here.values())).summary["corpus"]["events_a_corpus"])
    hits = [measured[place].hit.mean or 0.0 for place, job in here.items() if is_fair(job)]
    best = max(hits, default=0.0)
    return [
        str(sigma),
        f"{events:,}",
        f"{location_bits(sigma, events):.1f}",
        f"{paper_location_bits(sigma, events):.1f}",
        f"{best:.3f}",
        f"{probes(sigma, best):.1f}" if best > 0 else NOTHING,
    ]


def _measured(job: Job) -> Assembled:
    """Of a run. Raises UserError where its records don't say which fragments the views held."""
    good = {(row.case_id, row.trial, row.repeat) for row in of_memory(job.good)}
    hits: dict[str, list[bool]] = {}
    for record in answer_records(job.path):
        case, _, trial, repeat, _ = record["key"]
        if (case, trial, repeat) in good and case not in hits:
            kept: Mapping[str, bool] = record.get("retained") or {}
            parts = [held for item, held in kept.items() if item.startswith(_PART)]
            whole = [kept[_WHOLE]] if _WHOLE in kept else []  # as is one that is in one fragment
            hits[case] = parts or whole
    if not hits or {len(parts) for parts in hits.values()} != {int(setting(job, _KEY))}:
        raise UserError(f"{job.path}: its records do not say which fragments the views held")
    return assembled(hits, job.means.clusters, int(job.summary["run"]["seed"]))
