"""Rows for the paper's tables: recorded by its authors, or measured here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from framework.analysis.evidence import Job, load
from framework.analysis.forms import of_read_forms
from framework.reporting.blocks import Block, Note, Text
from plugins.recipes.longhorizon._rows import Recorded, read_rows

ARMS: Final = {
    "summ_only": "Summ-only",
    "retr_only_fifo": "Retr-only",
    "typed_routing": "TMC",
    "typed_routing_full": "TMC-full",
    "misrouted": "Misrouted",
    "sam": "SAM",
    "dpm": "DPM",
}
"""Our arms by the names that the paper gives them."""
_AXES: Final = {"FRP": "frp", "RCS": "rcs", "EDA": "eda", "CRR": "crr_published"}
_VERIFIED: Final = "verified"
NEEDS: Final = (
    "the recorded rows (CSV), or a sweep: decisionbench -m domain=loan budget=loose,moderate,tight "
    "arch=summ_only,retr_only_fifo,typed_routing,typed_routing_full,misrouted,sam,dpm"
)
NEEDS_VERIFIED: Final = (
    "the recorded rows (CSV), or sweeps: decisionbench -m domain=loan budget=moderate "
    "arch=summ_only reader=commit, and the same with reader=verified "
    "reader.strictness=strict,moderate,permissive"
)


def rows_of(sources: Sequence[Path]) -> list[Recorded]:
    """The rows of recorded CSV files and of runs and sweeps, as the paper names their arms.

    Of a measured run a case counts once at each budget: its axes averaged over repeats and draws,
    the decision that of its first row. A case that failed scores 0 on every axis; one in a form
    that the reader was not made to read is left out, as on every page.
    """
    rows: list[Recorded] = []
    for source in sources:
        if source.is_file():
            rows += read_rows(source)
        else:
            for job in load(source).jobs:
                rows += _measured(job)
    return rows


def _measured(job: Job) -> Iterator[Recorded]:
    run = job.summary["run"]
    arch, reader = str(run["arch"]), str(run["reader"])
    if reader.startswith(_VERIFIED) and arch == "summ_only":
        strictness = strictness_of(reader)
        arms = [f"VM ({strictness})"]
        if strictness == "moderate":  # table 7 reports the verified reader as it is
            arms.append("VM")
    elif reader == "commit" and arch in ARMS:
        arms = [ARMS[arch]]
    else:
        return
    means = job.means.values.get((job.budget, job.arm), {})
    seen: set[str] = set()
    for row in of_read_forms(job.rows):
        if row.case_id in seen:
            continue
        seen.add(row.case_id)
        for arm in arms:
            yield Recorded(
                stage="measured",
                case_id=row.case_id,
                arm=arm,
                budget=job.budget,
                gold=str(row.tags.get("decision", "")),
                label=row.decision,
                axes={a: means.get(ours, {}).get(row.case_id, 0.0) for a, ours in _AXES.items()},
            )


def strictness_of(reader: str) -> str:
    """Of `verified`, of `verified(strictness=strict)` or of the option `verified_strict`."""
    given = reader.removeprefix(_VERIFIED).strip("()_").removeprefix("strictness=")
    return given or "moderate"


def origin(rows: Sequence[Recorded]) -> Block:
    if any(row.stage != "measured" for row in rows):
        return Text(
            "From the rows that the authors recorded (a language model read and judged them); "
            "`reanalyze longhorizon` lists what a correct convention changes."
        )
    n = len({row.case_id for row in rows})
    return Note(
        f"Measured here on {n} generated cases, which are not the paper's ten: the printed numbers "
        "stand beside for orientation, and equal ones would prove nothing. With a rule-based model "
        "or judge these are rule-based, no evidence about language models."
    )
