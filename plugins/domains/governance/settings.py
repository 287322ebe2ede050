"""The knobs of governed corpora: each varies with all others held fixed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Final, Literal

from framework.bounds import Bounded, at_least

MOST_ITEMS: Final = 100_000
DEEPEST: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureNoise(Bounded):
    """What goes wrong where decisions are recorded, by share of all records, in [0, 1].

    The gold stays what was decided. A record that is lost, wrong or doubled at one share is so at
    every greater one, whatever the other two shares are.

    missing : records that were never captured, with the edges that lead to them.
    wrong : records one statement of which is another's of the same corpus, as likely as any other
        that it makes: the value that it fixes, or a record that it is linked to, in text and edge.
    duplicated : records that were captured twice, with one date, under two ids; edges of others
        lead to the first.
    """

    missing: Annotated[float, at_least(0, most=1)] = 0.0
    wrong: Annotated[float, at_least(0, most=1)] = 0.0
    duplicated: Annotated[float, at_least(0, most=1)] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceSettings(Bounded):
    """What a corpus holds and how its tasks are governed.

    depth : links between the entry record and the governing one, 1 to 8; null takes the depths of
        `depths` in turn, case by case, over the same corpora.
    depths : the depths to mix if `depth` is null; the stratum says which.
    rho : share of a record's content phrases that the next one up its chain keeps, in [0, 1]: low
        values drift fast (Depth assumption 4, rho = .67 in section 6).
    visibility : share of the ticket's content phrases that the entry record has, in [0, 1]
        (Depth's s_0): at 1 it is the top hit, at 0 nothing but chance finds it.
    items : decision records in a corpus (N), up to 100,000, held by padding.
    distractors : look-alike chains for each task, of the gold chain's depth and areas. As many
        records of a task fix the one open setting of its plan as the other.
    similarity : share of the ticket's content phrases that a look-alike starts from, in [0, 1]; the
        others are of the ticket's area.
    fidelity : probability q that an edge is as stated, in [0, 1]; texts stay the same.
    edge_noise : what happens to the other edges: `dropped`; `rewired` to any record; `mistyped`;
        `stale`, leading to an older record at the same place of another chain; or `mixed`, each
        equally often.
    versions : length of the supersession chain at the end of a chain; the last version governs,
        links lead to the first. 1: no supersession.
    scatter : events that a record is split into (sigma), all needed to know what it fixes; 1 to 8.
    capture : `linked`: records with edges. `discrete`: records without edges. `raw`: every sentence
        of a record is an event of its own (Depth 10.1).
    capture_noise : shares of records that are missing, wrong or duplicated; null: none.
    naming : how a text refers to another record, and to the setting that it fixes: by `alias`, a
        description without any word of the name or label, so that only understanding, or the edges,
        lead on; or `explicit`, word for word, which an exact search can follow.
    query : what a memory is asked with: the plan in words, the ticket, or both. The reader always
        has both.
    labels : number of settings that the plans and decisions of a corpus are about. With fewer
        settings more records fix each, and a label tells less.
    forms : wording of what readers must understand: development, held-out, or either, chosen for
        each chain.
    tasks_per_history : tasks that share a corpus; they form one cluster.
    """

    depth: Annotated[int | None, at_least(1, most=DEEPEST)] = None
    depths: Annotated[tuple[int, ...], at_least(1, most=DEEPEST)] = tuple(range(1, DEEPEST + 1))
    rho: Annotated[float, at_least(0, most=1)] = 0.67
    visibility: Annotated[float, at_least(0, most=1)] = 0.9
    items: Annotated[int, at_least(1, most=MOST_ITEMS)] = 500
    distractors: Annotated[int, at_least(0, most=MOST_ITEMS)] = 4
    similarity: Annotated[float, at_least(0, most=1)] = field(
        default=0.5, metadata={"alias": "likeness", "identity": "likeness"}
    )
    fidelity: Annotated[float, at_least(0, most=1)] = 1.0
    edge_noise: Literal["dropped", "rewired", "mistyped", "stale", "mixed"] = "dropped"
    versions: Annotated[int, at_least(1, most=12)] = 1
    scatter: Annotated[int, at_least(1, most=8)] = 1
    capture: Literal["linked", "discrete", "raw"] = "linked"
    capture_noise: CaptureNoise | None = None
    naming: Literal["alias", "explicit"] = "alias"
    query: Literal["plan", "ticket", "both"] = "plan"
    labels: Annotated[int, at_least(5, most=24)] = 6
    forms: Literal["mixed", "development", "held_out"] = "mixed"
    tasks_per_history: Annotated[int, at_least(1, most=MOST_ITEMS)] = 10

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if not self.depths:
            raise ValueError("depths: none given")
        needed = max(map(self._needed, range(len(self.depths))))
        if needed > self.items:
            raise ValueError(
                f"items: {self.items} given, at least {needed} expected for "
                f"{self.tasks_per_history} tasks a history with {self.distractors} distractors each"
            )

    def identity(self) -> dict[str, Any]:
        """The settings; the noise of capture only where there is some, as there was none before."""
        names = {f.metadata.get("identity", f.name): f.name for f in fields(self)}
        found = {told: getattr(self, name) for told, name in names.items()}
        del found["capture_noise"]
        return {**found, "capture_noise": asdict(self.noise)} if self.is_noisy else found

    @property
    def noise(self) -> CaptureNoise:
        """`capture_noise`, where it is null all of it 0."""
        return self.capture_noise or CaptureNoise()

    @property
    def is_noisy(self) -> bool:
        """Whether any share of records is not captured as decided."""
        return self.noise != CaptureNoise()

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
