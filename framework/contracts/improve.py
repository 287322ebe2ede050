"""What an improvement loop is put together from: a target, an author, a routing (Regimes 3.4).

The loop itself, a protocol, knows none of them by name. A *target* says how a pipeline is measured
and where it may be edited; an *author* drafts edits; a *routing* decides which failures an edit is
drafted for, and at which seam.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from framework.contracts.configured import Configured, S
from framework.contracts.domain import Domain
from framework.contracts.model import Client
from framework.errors import UserError
from framework.records import ABSTAIN, EMPTY, Case, Row

Seam = Literal["score", "assembly", "reader_prompt", "operator"]
SEAMS: Final[tuple[Seam, ...]] = ("score", "assembly", "reader_prompt")
"""Where every pipeline may be edited, in the order of the path; an `operator` stands behind it."""

SPLIT_MADE: Final = "split.made"
EVALUATION_STARTED: Final = "evaluation.started"
CASE_EVALUATED: Final = "case.evaluated"
EVALUATION_RECORDED: Final = "evaluation.recorded"
"""Types of a loop's events from which others than the loop read its failures."""

UNCLASSIFIED: Final = "unclassified"
"""The regime of a failure that no predicate of the taxonomy holds for. No seam reaches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What became of one piece of gold evidence in one case: its place, never the gold answer.

    id : of the turn, the session, or the gold item.
    rank : from 1, the best rank after the score seam of a recalled item that carries it; None when
        no recalled item does.
    in_view : whether the reader saw it.
    considered : whether packing came to it while the budget was not yet full. False where what
        ranked before it had used the budget up, or an assembly rule had dropped it.
    used : whether the answer states it right; None for what an answer does not state. For people:
        no predicate of the retrieval regimes reads it.
    """

    id: str
    rank: int | None
    in_view: bool
    considered: bool = True
    used: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one case came to under one stack of edits: all that regimes are told from.

    kind : the question's type, by which splits are stratified and losses bounded.
    abstention : whether not answering is right.
    correct : as the target judges; False where the case failed with an error.
    turns, sessions : gold evidence at the two granularities; turns are preferred where there are
        any, so a target that knows no turns leaves them empty.
    truncated : whether something recalled did not fit into the view.
    signs : words of the target's own by which its taxonomy tells failures apart.
    question, view, answer : what an author may be shown of a failure. No gold.
    request, response : digests of what the reader was asked and answered.
    acted : what an installed operator left on the answer (`Operator.apply`), in order.
    """

    case_id: str
    kind: str
    correct: bool
    abstention: bool = False
    turns: tuple[Evidence, ...] = ()
    sessions: tuple[Evidence, ...] = ()
    truncated: bool = False
    signs: tuple[str, ...] = ()
    question: str = ""
    view: str = ""
    answer: str = ""
    request: str = ""
    response: str = ""
    error: str = ""
    acted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Regime:
    """A reason for failing. `seams` are those that reach it, tried in turn; empty: a wall.

    `holds` is a pure predicate over an outcome that is not correct.
    """

    name: str
    seams: tuple[Seam, ...]
    holds: Callable[[Outcome], bool]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """Regimes in the order in which they are asked: the first that holds is a failure's regime.

    The table from regime to seam is this and nothing else. It is fixed while a loop runs.
    """

    name: str
    regimes: tuple[Regime, ...]

    def regime_of(self, outcome: Outcome) -> str:
        """The regime of a failure; empty for an outcome that is correct."""
        if outcome.correct:
            return ""
        return next((r.name for r in self.regimes if r.holds(outcome)), UNCLASSIFIED)

    def histogram(self, outcomes: Iterable[Outcome]) -> dict[str, int]:
        """Failures by regime, most first, then in the taxonomy's order; correct ones left out."""
        counts = Counter(self.regime_of(o) for o in outcomes if not o.correct)
        place = {regime.name: i for i, regime in enumerate(self.regimes)}
        names = sorted(counts, key=lambda name: (-counts[name], place.get(name, len(place))))
        return {name: counts[name] for name in names}

    def seams_of(self, name: str) -> tuple[Seam, ...]:
        """The seams that reach a regime; none for a wall and for `unclassified`."""
        return next((r.seams for r in self.regimes if r.name == name), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """An entry of a target's library: an edit that `author=rules` may propose.

    payload : by seam: `{"fragments": {NAME: TEXT ADDED}}`, `{"expression": FORMULA}`,
        `{"rules": [RULE, ...]}` or `{"operator": NAME, "guard": GUARD}`.
    note : what it is for, and what it is expected to harm, or that it is null.
    """

    id: str
    seam: Seam
    payload: Mapping[str, Any]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Cases drawn for a loop, and how many of them go to OPTIMIZE, CONFIRM and TEST."""

    pool: int = 300
    optimize: int = 50
    confirm: int = 100
    test: int = 100


class Target(Configured[S], group="target"):
    """A pipeline under the loop: how it is measured, where it may be edited, why it fails.

    `domains` names the domain plugins that it works on; empty for any. The reader sees the
    fragments at the end of the task card's instruction, so an operation that is to be steered by
    them, the rule-based one included, must read `task.instruction`.
    """

    domains: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def taxonomy(self) -> Taxonomy:
        """Why cases fail, and which seam reaches each reason."""

    @property
    def variants(self) -> Mapping[str, Taxonomy]:
        """The taxonomy under other thresholds, by name: how much the histogram hangs on them."""
        return {}

    @property
    def seams(self) -> tuple[Seam, ...]:
        """The seams that may be edited."""
        return SEAMS

    @property
    def fragments(self) -> Mapping[str, str]:
        """The named fragments of the reader's prompt and their text; no patch may add a name."""
        return {"guidance": ""}

    @property
    def library(self) -> tuple[Patch, ...]:
        """The fixed patches of `author=rules`. At least half are null or harmful."""
        return ()

    def on(self, domain: Domain[Any]) -> Target[S]:
        """The target as it is on a domain: what a loop works with.

        Raises UserError for a domain that it does not work on.
        """
        if self.domains and domain.name not in self.domains:
            raise UserError(
                f"target={self.name} works on domain={' or '.join(self.domains)}, not on "
                f"{domain.name}"
            )
        return self

    def sizes(self, domain: Domain[Any]) -> Sizes:
        """The splits where a run gives none; here as published (Regimes 5.1), and 100 for TEST."""
        return Sizes()

    def axes(self, domain: Domain[Any]) -> tuple[str, ...]:
        """The axis plugins that `correct` and `outcome` read: no others are scored in the loop."""
        return domain.axes()

    def kind(self, case: Case) -> str:
        """The question's type."""
        return case.stratum

    def abstains(self, case: Case) -> bool:
        """Whether not answering is right."""
        return case.gold.decision == ABSTAIN

    @abstractmethod
    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        """What the case came to. `record` is that of `framework.pipeline.path.Pipeline.rows`.

        With an assembly seam set, `record["ranked"]` holds (item id, source ids) in the order that
        the seam was given; without one the ranks of the trace, of which it keeps the view, what is
        next and gold (`framework.retention.kept_trace`), are of that order.
        """

    def generates(self, domain: Domain[Any]) -> bool:
        """Whether more cases of the same distribution can be drawn at will, by seed."""
        return domain.provenance.source == "generated"

    def shifted(self, domain: Domain[Any]) -> Domain[Any] | None:
        """The same domain with other wordings and prevalences, for a second TEST; None without."""
        return None

    def summary(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        """What is recorded of an evaluation beside its accuracy."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failed case as an author sees it. No gold: neither the answer nor where it stood."""

    question: str
    view: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """An earlier draft and what became of it.

    text : the beginning of a draft that was no edit of any seam, which then has no payload.
    """

    seam: str
    payload: Mapping[str, Any]
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What an author is asked for.

    regime, meaning : why the failures failed; empty without diagnosis.
    seams : where the edit may be; one, unless nothing routes.
    fragments : the current text of every fragment of the reader's prompt.
    signals : names that a score expression may read.
    attempt : from 0, counted over the whole loop; `seed` is that of the run.
    code : whether an edit of the score or the assembly may be code.
    operators : in words, those that may be installed, and form, the schema of such a draft's keys.
    """

    regime: str
    meaning: str
    seams: tuple[Seam, ...]
    failures: tuple[Failure, ...]
    fragments: Mapping[str, str]
    signals: tuple[str, ...]
    tried: tuple[Tried, ...]
    library: tuple[Patch, ...]
    attempt: int
    seed: int
    code: bool = False
    operators: str = ""
    form: Mapping[str, Any] = EMPTY


class Author(Configured[S], group="author"):
    """Drafts edits. What it returns is text, and the static gate alone says what it is.

    The text should be one JSON object with `seam` and that seam's payload (see `Patch`), and may
    have `why`. An author that raises, or answers nothing, has made a bad draft like any other.
    """

    @abstractmethod
    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        """One draft; None when the author has nothing more to propose for this assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Whose failures an edit is drafted for, and where. `regime` is empty when none was chosen."""

    regime: str
    seams: tuple[Seam, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a routing chooses from.

    histogram : failures by regime, those without any left out.
    open : regimes that a seam reaches and whose attempts are not used up, most failures first.
    attempts : drafts so far by regime (by the empty name without a regime).
    """

    taxonomy: Taxonomy
    histogram: Mapping[str, int]
    open: tuple[str, ...]
    attempts: Mapping[str, int]
    seams: tuple[Seam, ...]
    seed: int
    attempt: int


class Routing(Configured[S], group="routing"):
    """Decides what the next edit is drafted for.

    probes : whether a draft is made at each seam of the route, and the one that gains most correct
        cases on OPTIMIZE goes on.
    """

    probes: ClassVar[bool] = False

    @abstractmethod
    def choose(self, diagnosis: Diagnosis) -> Route | None:
        """The next route; None when nothing is left to try."""
