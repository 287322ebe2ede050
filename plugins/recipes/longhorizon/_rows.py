"""The recorded rows of the LongHorizon runs: reading them, and labels read strictly."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from framework.errors import DataError, UserError

AXES: Final = ("FRP", "RCS", "EDA", "CRR")
BUDGETS: Final = ("loose", "moderate", "tight")
ABSTAIN: Final = "ABSTAIN"
ADVERSE: Final = frozenset({"DENY", "PARTIAL PAY"})
"""Decisions that need a notice: denials, and for claims partial payments as well."""

_MAIN_STAGES: Final = frozenset(
    {"stage2", "stage3_sam", "stage4_ext", "stage4_sprint", "stage5_vm"}
)
_LABELS: Final = {"PAY IN FULL": "PAY"}
_ABSTAINING: Final = ("ABSTAIN", "UNABLE", "INSUFFICIENT", "PENDING")
_COLUMNS: Final = ("stage", "case_id", "condition", "budget", "strictness", "gt", "decision", *AXES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One recorded decision. `arm` is the condition, with its strictness where swept.

    `axes` are the recorded FRP, RCS, EDA and CRR, each in [0, 1]; `label` is the decision read
    strictly, `gold` the true one.
    """

    stage: str
    case_id: str
    arm: str
    budget: str
    gold: str
    label: str
    axes: dict[str, float]

    @property
    def correct(self) -> bool:
        """Whether the decision, read strictly, is the true one."""
        return self.label == self.gold


def strict(decision: str) -> str:
    """The decision set's label of a recorded text; words of abstention make it `ABSTAIN`.

    "PAY in full" is PAY. PARTIAL PAY is not PAY, and an empty text is no decision.
    """
    text = " ".join(decision.upper().split())
    if any(word in text for word in _ABSTAINING):
        return ABSTAIN
    return _LABELS.get(text, text)


def read_rows(path: Path) -> list[Recorded]:
    """Read the recorded rows.

    Raises:
        UserError: no such file.
        DataError: no CSV, a missing column, a value that is not a number in [0, 1], or a row that
            appears twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise DataError(path, 1, f"no column {missing[0]}")
            rows = [_row(path, reader.line_num, line) for line in reader]
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(path, None, f"not a CSV file: {error}") from None
    seen: set[tuple[str, str, str]] = set()
    for number, row in enumerate(rows, start=2):
        key = (row.arm, row.budget, row.case_id)
        if key in seen:
            raise DataError(path, number, f"{' '.join(key)} appears twice")
        seen.add(key)
    return rows


def column(rows: Iterable[Recorded], arm: str, budget: str, axis: str) -> dict[str, float]:
    """Case id -> recorded value of one arm at one budget."""
    return {r.case_id: r.axes[axis] for r in rows if r.arm == arm and r.budget == budget}


def _row(path: Path, number: int, line: dict[str, str]) -> Recorded:
    axes: dict[str, float] = {}
    for axis in AXES:
        try:
            axes[axis] = float(line[axis])
        except (TypeError, ValueError):
            raise DataError(path, number, f"{axis}: {line[axis]!r} is not a number") from None
        if not 0 <= axes[axis] <= 1:
            raise DataError(path, number, f"{axis}: {axes[axis]} is outside [0, 1]")
    swept = line["stage"] not in _MAIN_STAGES
    return Recorded(
        stage=line["stage"],
        case_id=line["case_id"],
        arm=f"{line['condition']} ({line['strictness']})" if swept else line["condition"],
        budget=line["budget"],
        gold=line["gt"],
        label=strict(line["decision"]),
        axes=axes,
    )
