"""Regimes by people: a sheet of a loop's failures without their regimes, and the agreement.

Regimes, table 2: the labels are those of predicates over gold evidence, and what they are worth is
for people to say who see the same evidence.
"""

from __future__ import annotations

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.canonical import digest
from framework.contracts.improve import UNCLASSIFIED
from framework.engine.directory import load_plan
from framework.errors import DataError, UserError
from framework.journal import JOURNAL, read
from framework.registry import nearest

__all__ = ["COLUMNS", "Failed", "compare", "failures_of", "read_labels", "write_sheet"]

COLUMNS: Final = ("id", "kind", "evidence", "truncated", "view", "answer", "label", "comment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A failure of the bare pipeline on OPTIMIZE: what a person sees of it, and its regime.

    evidence : a line a piece of gold evidence: its rank, and what packing made of it.
    """

    id: str
    kind: str
    evidence: str
    truncated: bool
    view: str
    answer: str
    regime: str


def failures_of(run: Path) -> tuple[list[Failed], dict[str, str]]:
    """The failures that the loop diagnosed first, and what each regime means.

    Raises UserError for a run that is no loop.
    """
    plan = load_plan(run)
    if "target" not in plan.parts:
        raise UserError(f"{run}: protocol={plan.label('protocol')} diagnoses no regimes")
    taxonomy = plan.parts["target"].create().taxonomy
    meanings = {regime.name: regime.meaning for regime in taxonomy.regimes}
    meanings[UNCLASSIFIED] = "none of these"
    first = None
    failures = []
    for event in read(run / JOURNAL):
        payload = event.payload
        if event.type == "evaluation.started" and first is None:
            first = payload["evaluation"]
        elif event.type == "evaluation.recorded" and payload["evaluation"] == first:
            break
        elif event.type == "case.evaluated" and not payload["correct"]:
            failures.append(_failed(payload))
    return failures, meanings


def write_sheet(failures: Sequence[Failed], n: int, seed: int, path: Path) -> int:
    """Write at most `n` failures, drawn evenly over the regimes; how many there are.

    The sheet does not tell the regimes, and its order says nothing of them. Raises UserError where
    there are none, or the file exists: labels must not be lost.
    """
    if not failures:
        raise UserError("the loop began without a failure: there is nothing to label")
    generator = random.Random(f"regimes:{seed}")
    by_regime: dict[str, list[Failed]] = defaultdict(list)
    for failed in generator.sample(list(failures), len(failures)):
        by_regime[failed.regime].append(failed)
    drawn: list[Failed] = []
    while len(drawn) < min(n, len(failures)):
        for members in by_regime.values():
            if members and len(drawn) < n:
                drawn.append(members.pop())
    generator.shuffle(drawn)
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            for failed in drawn:
                known = {name: getattr(failed, name) for name in COLUMNS[:6]}
                writer.writerow({**known, "label": "", "comment": ""})
    except FileExistsError:
        raise UserError(f"{path} exists already: it may hold labels") from None
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None
    return len(drawn)


def read_labels(path: Path, regimes: Mapping[str, str]) -> dict[str, str]:
    """Regime by id, of the filled rows.

    Raises DataError for an unknown regime or a missing column.
    """
    labels: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if not {"id", "label"} <= set(rows.fieldnames or ()):
                raise DataError(path, 1, "the columns id and label are missing")
            for number, row in enumerate(rows, start=2):
                label = (row["label"] or "").strip()
                if label and label not in regimes:
                    raise DataError(path, number, f"no regime {label!r}{nearest(label, regimes)}")
                if label:
                    labels[row["id"]] = label
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    return labels


def compare(failures: Sequence[Failed], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """By regime of the predicates, and over all: labelled, agreed, and the commonest confusion.

    The line over all has Cohen's kappa. Raises UserError where no failure is labelled.
    """
    from framework.statistics.agreement import cohens_kappa
    from framework.statistics.intervals import wilson

    pairs = [(f.regime, labels[f.id]) for f in failures if f.id in labels]
    if not pairs:
        raise UserError("no label of the sheet is of a failure of this loop")
    rows = []
    for regime in [*sorted({mine for mine, _ in pairs}), None]:
        those = [(a, b) for a, b in pairs if regime in (None, a)]
        agreed = sum(a == b for a, b in those)
        confused = Counter(f"{a} as {b}" for a, b in those if a != b)
        low, high = wilson(agreed, len(those))
        rows.append(
            {
                "regime": regime or "all",
                "n": len(those),
                "agreed": agreed,
                "share": agreed / len(those),
                "ci_low": low,
                "ci_high": high,
                "confusion": confused.most_common(1)[0][0] if confused else "",
                "kappa": None
                if regime
                else cohens_kappa([a for a, _ in those], [b for _, b in those]),
            }
        )
    return rows


def _failed(payload: Mapping[str, Any]) -> Failed:
    shown = payload.get("shown", {})
    lines = [
        f"{level} {number}: {_place(piece)}"
        for level in ("turns", "sessions")
        for number, piece in enumerate(payload[level], start=1)
    ]
    return Failed(
        id=digest(payload["case"])[7:19],
        kind=payload["kind"],
        evidence="\n".join(lines) or "no gold evidence",
        truncated=payload["truncated"],
        view=shown.get("view", ""),
        answer=shown.get("answer", ""),
        regime=payload["regime"],
    )


def _place(piece: Mapping[str, Any]) -> str:
    rank = "not recalled" if piece["rank"] is None else f"rank {piece['rank']}"
    if piece["in_view"]:
        return f"{rank}, in the view"
    return f"{rank}, {'did not fit' if piece['considered'] else 'never come to'}"
