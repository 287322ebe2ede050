"""Recall of memories that are not asked, against the bits that they keep (Depth, Theorem 5)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from framework.analysis.evidence import Job
from framework.contracts.recipe import AddFigure
from framework.errors import UserError
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Table, Text
from framework.store.answers import answer_records
from plugins.recipes._cells import Measured, measured, shown, stands
from plugins.recipes.depth._drawn import known
from plugins.recipes.depth._information import recall_ceiling
from plugins.recipes.depth._knobs import Sweep, needs, placed

_KEY: Final = "domain.items"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What the views of an arm hold: bits, and items, by the mean view."""

    bits: float
    items: float


@register("recipe", "depth/rate")
class Rate(Sweep):
    """Recall against the bits that a memory keeps a decision."""

    source = "Depth, Theorem 5"
    needs = needs("rate")

    def content(self, jobs: Sequence[Job], add_figure: AddFigure) -> Iterator[Block]:
        by_place = placed(jobs, _KEY)
        entropy, values = known(jobs, "decision_bits"), int(known(jobs, "decision_values"))
        blind = {place: job for place, job in by_place.items() if _sees_no_query(job)}
        if not blind:
            raise UserError("no arm under the budget that sees no query (such as chat_log)")
        yield Text(
            f"Theorem 5: a memory that keeps R bits a decision, fewer than its entropy H, recalls "
            f"less than all. H is {entropy:.2f} bits here, of the {values} values that a decision "
            "may fix; that it also names its setting would make H larger and the ceiling lower. "
            "Only arms that do not see what is asked are shown: their view is all that is left of "
            "the corpus, whichever decision is asked for. R is bounded from above by the view, "
            "compressed without loss (DEFLATE), over the records of the corpus; so the ceiling is "
            "never too low, and recall above it would mean that the arm knows what is asked."
        )
        yield Table(
            anchor="rate",
            caption="Recall under the ceiling of the rate",
            columns=("", "records", "bits an item of the view", "bits kept a decision (R)",
                     "ceiling", "recall", "recall is"),
            rows=[_row(arm, int(n), job, entropy, values) for (arm, n), job in blind.items()],
        )  # fmt: skip


def under(recall: Measured, ceiling: float) -> str:
    """What the limits of the recall say of the ceiling, where there is one below 1."""
    return stands(recall, ceiling) if ceiling < 1 else "not bounded"


def compressed_bits(text: str) -> int:
    """Bits of a text without loss: raw DEFLATE at its best, without a header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return 8 * len(packer.compress(text.encode()) + packer.flush())


def _row(arm: str, records: int, job: Job, entropy: float, values: int) -> list[Cell | str]:
    kept = _kept(job)
    rate = kept.bits / records
    ceiling = recall_ceiling(rate, entropy, values)
    recall = measured(job.summary["axes"].get("recall"))
    return [
        arm,
        f"{records:,}",
        f"{kept.bits / kept.items:,.0f}" if kept.items else "–",
        f"{rate:,.2f}",
        f"{ceiling:.3f}",
        shown(recall, 3),
        under(recall, ceiling),
    ]


def _kept(job: Job) -> Kept:
    found = [
        (compressed_bits("\n".join(item["text"] for item in record["view"])), len(record["view"]))
        for record in answer_records(job.path)
        if not record["error"] and "view" in record
    ]
    if not found:
        raise UserError(f"{job.path}: none of its cases was measured")
    bits, items = zip(*found, strict=True)
    return Kept(bits=fmean(bits), items=fmean(items))


def _sees_no_query(job: Job) -> bool:
    """Whether it keeps to the budget, and sees neither what is asked nor the gold."""
    use = job.summary["budget_use"]
    unaware = use["query"] == "none" and not use["sees_task"] and not use["sees_gold"]
    return unaware and not use.get("unbudgeted") and use["max_view_tokens"] > 0
