"""The knobs of governed corpora: each varies with all others held fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

MOST_ITEMS: Final = 100_000
DEEPEST: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceSettings:
    """What a corpus holds and how its tasks are governed.

    depth : links between the entry record and the governing one, 1 to 8; null takes those of
        `depths` in turn, case by case, over the same corpora.
    depths : the depths that are mixed where `depth` is null; the stratum says which.
    rho : share of a record's content phrases that the next one up its chain keeps, in [0, 1]: low
        values drift fast (Depth assumption 4, rho = .67 in section 6).
    visibility : share of the ticket's content phrases that the entry record has, in [0, 1]
        (Depth's s_0): at 1 it is the top hit, at 0 nothing but chance finds it.
    items : decision records in a corpus (N), up to 100,000, held by padding.
    distractors : look-alike chains for each task: same depth, areas and setting as the gold chain.
    likeness : share of the ticket's content phrases that a look-alike starts from, in [0, 1]; the
        others are of the ticket's area.
    fidelity : probability q that an edge is as it should be, in [0, 1]; texts stay as they are.
    edge_noise : what becomes of the others: `dropped`; `rewired` to any record; `mistyped`;
        `stale`, leading to an older record at the same place of another chain; or each alike.
    versions : length of the supersession chain that ends a chain; the last version governs, links
        lead to the first. 1 is none.
    scatter : events that a record is split into (sigma), all needed to know what it fixes; 1 to 8.
    capture : `linked` records with edges; `discrete` records without; `raw`, every sentence of a
        record an event of its own (Depth 10.1).
    forms : wording of what readers must understand: development, held-out, or either for each
        chain.
    tasks_per_history : tasks that share a corpus; they are one cluster.
    """

    depth: int | None = None
    depths: tuple[int, ...] = tuple(range(1, DEEPEST + 1))
    rho: float = 0.67
    visibility: float = 0.9
    items: int = 500
    distractors: int = 4
    likeness: float = 0.5
    fidelity: float = 1.0
    edge_noise: Literal["dropped", "rewired", "mistyped", "stale", "mixed"] = "dropped"
    versions: int = 1
    scatter: int = 1
    capture: Literal["linked", "discrete", "raw"] = "linked"
    forms: Literal["mixed", "development", "held_out"] = "mixed"
    tasks_per_history: int = 10

    def __post_init__(self) -> None:
        for name in ("rho", "visibility", "likeness", "fidelity"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name}: {value} given, 0 to 1 expected")
        for name, low, high in (
            ("items", 1, MOST_ITEMS),
            ("distractors", 0, MOST_ITEMS),
            ("versions", 1, 12),
            ("scatter", 1, 8),
            ("tasks_per_history", 1, MOST_ITEMS),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: {value} given, {low} to {high} expected")
        if not self.depths:
            raise ValueError("depths: none given")
        for depth in (*self.depths, *(() if self.depth is None else (self.depth,))):
            if not 1 <= depth <= DEEPEST:
                raise ValueError(f"depth: {depth} given, 1 to {DEEPEST} expected")
        needed = max(map(self._needed, range(len(self.depths))))
        if needed > self.items:
            raise ValueError(
                f"items: {self.items} given, at least {needed} expected for "
                f"{self.tasks_per_history} tasks a history with {self.distractors} distractors each"
            )

    def depth_of(self, case: int) -> int:
        """The depth of the case with this index."""
        return self.depths[case % len(self.depths)] if self.depth is None else self.depth

    def depths_in(self, block: int) -> list[int]:
        """The depths of the tasks that share a corpus, in order."""
        first = block * self.tasks_per_history
        return [self.depth_of(case) for case in range(first, first + self.tasks_per_history)]

    def length_of(self, depth: int) -> int:
        """Records of a chain: the entry, what lies between, and all versions of the decision."""
        return depth + self.versions

    def _needed(self, block: int) -> int:
        chains = 1 + self.distractors
        return sum(chains * self.length_of(depth) for depth in self.depths_in(block))
