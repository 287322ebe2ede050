"""The recorded loops of the Regimes runs: reading `regimes_seed*.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError, UserError
from framework.text.reading import read_json

CORRECT: Final = "correct"
"""The label of a question that was answered right; any other label is a failure's regime."""
_PATTERN: Final = "regimes_seed*.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """One promoted candidate. `transitions`: (question, regime before, regime after) on CONFIRM."""

    seam: str
    confirm_delta: float
    transitions: tuple[tuple[str, str, str], ...]

    @property
    def gained(self) -> frozenset[str]:
        """Questions that went from wrong to right."""
        return frozenset(q for q, old, new in self.transitions if old != CORRECT == new)

    @property
    def lost(self) -> frozenset[str]:
        """Questions that went from right to wrong."""
        return frozenset(q for q, old, new in self.transitions if old == CORRECT != new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One recorded loop. Baselines are accuracies in [0, 1], `n_confirm` counts questions.

    attempts : what became of each authored candidate: `promoted`, `static_rejected`, `discarded`
        (on OPTIMIZE) or `discarded:confirm_regression`.
    seams : the seam of each of them.
    """

    seed: int
    n_confirm: int
    optimize_base: float
    confirm_base: float
    promotions: tuple[Promotion, ...]
    attempts: tuple[str, ...]
    seams: tuple[str, ...]

    @property
    def final(self) -> Promotion:
        """The last promotion, by which the paper reports the loop's final state."""
        return self.promotions[-1]

    @property
    def delta(self) -> float:
        """Change of accuracy that the final state's flips amount to."""
        return (len(self.final.gained) - len(self.final.lost)) / self.n_confirm

    def count(self, outcome: str) -> int:
        """How many attempts ended so."""
        return self.attempts.count(outcome)


def read_loops(directory: Path) -> tuple[Loop, ...]:
    """The loops recorded in a directory, in the order in which the paper lists their seeds.

    Raises UserError when there is none and DataError naming the file that is not such a record.
    """
    files = sorted(directory.glob(_PATTERN)) if directory.is_dir() else []
    if not files:
        raise UserError(f"{directory}: holds no {_PATTERN}")
    order = {seed: place for place, seed in enumerate((7, 11, 23, 5, 101))}
    loops = sorted(map(_loop, files), key=lambda loop: (order.get(loop.seed, 99), loop.seed))
    return tuple(loops)


def _loop(file: Path) -> Loop:
    try:
        data = read_json(file.read_text(encoding="utf-8-sig"))
        loop = Loop(
            seed=int(data["seed"]),
            n_confirm=int(data["n_confirm"]),
            optimize_base=float(data["opt_base"]),
            confirm_base=float(data["confirm_base_final"]),
            promotions=tuple(map(_promotion, data["promotions"])),
            attempts=tuple(str(attempt[1]) for attempt in data["log"]),
            seams=tuple(str(attempt[0]) for attempt in data["log"]),
        )
    except OSError as error:
        raise DataError(file, None, f"can't be read: {error.strerror}") from None
    except KeyError as error:
        raise DataError(file, None, f"has no {error}") from None
    except (ValueError, TypeError, IndexError) as error:
        raise DataError(file, None, f"is not a record of a loop: {error}") from None
    if not loop.promotions or loop.n_confirm < 1:
        raise DataError(file, None, "promoted nothing: it has no final state")
    return loop


def _promotion(data: Mapping[str, Any]) -> Promotion:
    return Promotion(
        seam=str(data["type"]),
        confirm_delta=float(data["confirm_delta"]),
        transitions=tuple((str(q), str(a), str(b)) for q, a, b in data["confirm_transitions"]),
    )
