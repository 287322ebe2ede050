"""The data of the contracts: what flows along the one path.

Every record is frozen, slotted and keyword-only. Nothing here computes; the words are those of
`architecture.md`. A record that a reader, memory, extractor or author may see never holds a
record that only axes may see: `Gold` hangs on `Case` alone, and only the axes and the judge get it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

ABSTAIN: Final = "ABSTAIN"
"""The decision not to decide: refer to a person. It is never in `TaskCard.decisions`."""
FIRST_VERSION: Final = "1"
"""Of a domain, and of every domain in runs of before domains had versions."""

RELATIONS: Final = (">", ">=", "<", "<=", "in", "not in")
"""How a value stands to a threshold, or to a list of values."""


class _Empty(Mapping[str, str]):
    """A mapping without keys, hashable (so it may be a field's default) and picklable."""

    __slots__ = ()

    def __getitem__(self, key: str) -> str:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return hash(_Empty)

    def __repr__(self) -> str:
        return "{}"

    def __reduce__(self) -> str:
        return "EMPTY"


EMPTY: Final[Mapping[str, Any]] = _Empty()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of a history, in order of arrival.

    `time` is the ISO 8601 date the text itself bears (arrival may be out of that order); `kind` is
    the domain's word for it (policy, form, letter, ...); `edges` are (relation, target event id).
    """

    id: str
    text: str
    time: str
    kind: str
    metadata: Mapping[str, str] = EMPTY
    edges: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FactField:
    """A field of the public answer form: what is asked for, never its value.

    `type` is one of money, percent, date, score, count, identifier, provision, category. `formula`
    is a public definition in arithmetic over other fields' keys (`monthly_debt / (income / 12)`),
    empty when the field is only to be read.
    """

    key: str
    label: str
    type: str
    aliases: tuple[str, ...] = ()
    formula: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCard:
    """All that anyone is told of the task: the same text for every arm and reader.

    `query` is what an arm is asked with at recall. `verbs` gives the phrase by which a policy names
    each decision, ABSTAIN included (`DENY` -> `deny`). `amounts` gives, by decision, the public
    formula of the amount. `notice` is the form of the notice, with placeholders such as
    `{decision}`, or says what it must meet; empty where none is due.
    `must_decide` : leaving the decision undetermined is no answer; a reader sets it.
    `operation` names the operation that answers it, and with it the form of the answer. `material`
    is what is handed over with the task, by name: a file to change, a schema, today's date.
    """

    instruction: str
    query: str
    decisions: tuple[str, ...] = ()
    default_decision: str = ""
    verbs: Mapping[str, str] = EMPTY
    fields: tuple[FactField, ...] = ()
    amounts: Mapping[str, str] = EMPTY
    notice: str = ""
    must_decide: bool = False
    operation: str = "decide"
    material: Mapping[str, str] = EMPTY


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A verbatim stretch of one event's text."""

    source_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldItem:
    """One thing that must survive: a fact, a rule, a reason, a passage.

    kind : `fact`, `rule`, `reason` or `passage`.
    key : the field's key for a fact, the rule's code for a rule, else free.
    type : the value's type (see `FactField.type`), empty for prose.
    anchors : values all of which must be matched, as typed values, to count as present.
    bindings : phrases, any one of which in the same sentence binds the anchors to the key.
    spans : verbatim stretches, any one of which, intact, carries the item.
    derived_from : ids of items from which the value follows (closure declared by the domain).
    critical : whether the decision turned on it.
    """

    id: str
    kind: str
    key: str
    type: str = ""
    anchors: tuple[str, ...] = ()
    bindings: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    derived_from: tuple[str, ...] = ()
    critical: bool = False

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Ids of the events that carry the item, without repeats, in span order."""
        return tuple(dict.fromkeys(span.source_id for span in self.spans))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPoint:
    """One inference that a correct rationale entails (LongHorizon 3.3).

    `requires`: groups of alternative phrases or values; one of each group must stand in one
    sentence of the rationale. `forbids`: phrases that deny the point in a sentence that has one of
    the first group. `relation`: of a point that compares, how the first two groups (what is
    compared, its value) stand to the last (the threshold): one of `RELATIONS`; empty where the
    point compares nothing.
    """

    id: str
    text: str
    requires: tuple[tuple[str, ...], ...]
    forbids: tuple[str, ...] = ()
    relation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem:
    """One demand of a notice standard, with the provision it comes from.

    The text meets it when one of each group of `requires` (case-insensitive regular expressions)
    is found and none of `forbids`. `axis` names the column that counts it; empty for
    the main one.
    """

    id: str
    text: str
    citation: str
    requires: tuple[tuple[str, ...], ...] = ()
    forbids: tuple[str, ...] = ()
    axis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """The regulatory standard that a notice is held to (LongHorizon 3.4)."""

    name: str
    question: str
    items: tuple[ChecklistItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Retired:
    """A value that was once stated for a field and no longer holds."""

    key: str
    type: str
    value: str
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """What is hidden from everything but axes and judges.

    decision : the label that the policy computes; ABSTAIN where the admissible completions differ
        or the policy refers. `decidable` is False only for the former.
    amount, amount_tolerance : the unit of the domain (dollars), None where there is no amount.
    principal_reasons : the reasons that the policy gives for an adverse decision, in its words.
    all_reasons : every reason that any rule of the policy could give.
    adverse : decisions that need a notice.
    governing, chain : ids of the events that hold the decision in force, and of those that lead to
        it from `entry`, the event nearest to the task, both ends included.
    evidence : ids of events for retrieval axes; `answer` for question answering, or a reference
        edit where an edit is asked for; `aliases`: texts that are each as right. `answer_kind` is
        the rule of the operation `equivalent` by which an answer to a question is judged.
    distractors : ids of events that look like the governing one and do not govern.
    invariant : the executable check of the answer's edit as data, canonical JSON in the domain's
        own form; empty where nothing is executed.
    injected : (decision that the injected text asks for, event id), empty when none.
    """

    items: tuple[GoldItem, ...] = ()
    decision: str = ""
    decidable: bool = True
    amount: float | None = None
    amount_tolerance: float = 0.0
    reasons: tuple[ReasoningPoint, ...] = ()
    principal_reasons: tuple[str, ...] = ()
    all_reasons: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    adverse: tuple[str, ...] = ()
    standard: Standard | None = None
    governing: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    entry: str = ""
    retired: tuple[Retired, ...] = ()
    evidence: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    invariant: str = ""
    answer: str = ""
    aliases: tuple[str, ...] = ()
    answer_kind: str = "answer"
    injected: tuple[str, str] | None = None

    @property
    def accepted(self) -> tuple[str, ...]:
        """Every text that is right, the answer first."""
        return (self.answer, *self.aliases)

    @property
    def required(self) -> tuple[GoldItem, ...]:
        """The items that the decision turned on; all of them where the domain marks none."""
        return tuple(item for item in self.items if item.critical) or self.items


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One decision asked of one history.

    `stratum` is the primary stratum; `tags` are further ways to cut (form, margin, decision, ...).
    `cluster` names cases that are not independent (pairs, chains, one conversation). `depth` is how
    many links what governs lies from the task, None where that means nothing.
    """

    id: str
    history_id: str
    task: TaskCard
    gold: Gold
    stratum: str = "all"
    cluster: str = ""
    tags: Mapping[str, str] = EMPTY
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What a memory gives back: text, the signals it was ranked by, the events it came from."""

    id: str
    text: str
    signals: Mapping[str, float] = field(default_factory=dict)
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEntry:
    """What became of one recalled item: its rank (from 1), tokens, in / cut / out, and why."""

    item_id: str
    rank: int
    tokens: int
    tokens_kept: int
    placed: str
    why: str
    signals: Mapping[str, float] = field(default_factory=dict)
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """What the reader sees. `budget_tokens` is None for an unbudgeted arm.

    ranks : by event, its rank in the whole ranking (`framework.retention.event_ranks`), where the
        trace does not hold all of it.
    """

    items: tuple[Item, ...]
    tokens: int
    budget_tokens: int | None
    trace: tuple[TraceEntry, ...] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The items' texts, one a line block, as every reader gets them."""
        return "\n".join(item.text for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reader gives back; a domain uses the fields it declares.

    `facts` maps a field's key to the value claimed, as text; `reasons` are the principal reasons of
    the notice; `defaulted` says that the reader could not determine the decision and fell back on
    the declared default or an even choice.
    """

    decision: str = ""
    confidence: float | None = None
    amount: float | None = None
    rationale: str = ""
    notice: str = ""
    facts: Mapping[str, str] = EMPTY
    reasons: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    edit: str = ""
    text: str = ""
    defaulted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Calls and tokens of one phase of one case. Dollars at list price and as really paid.

    calls counts every question that a model answered, stored or not, a repair included; paid_calls
    those really sent now. repairs : answers asked for again because they could not be read;
    unreadable : those that could not be read in the end. call_seconds : the latency of each call, a
    stored one's as it was when it was paid for; seconds their sum.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float = 0.0
    paid_usd: float = 0.0
    seconds: float = 0.0
    paid_calls: int = 0
    repairs: int = 0
    unreadable: int = 0
    call_seconds: tuple[float, ...] = ()

    def plus(self, other: Usage) -> Usage:
        """The sums of two."""
        return Usage(**{n: getattr(self, n) + getattr(other, n) for n in Usage.__slots__})

    def less(self, other: Usage) -> Usage:
        """What it took beyond another, at least 0 of each; without the latency of single calls."""
        names = [name for name in Usage.__slots__ if name != "call_seconds"]
        return Usage(**{n: max(0, getattr(self, n) - getattr(other, n)) for n in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisScore:
    """Values by axis name (None: undefined for this case) and, for people, the evidence."""

    values: Mapping[str, float | None]
    evidence: tuple[str, ...] = ()


RowKey = tuple[str, str, int, int, int]
"""(case_id, arm, trial, repeat, turn): see `Row.key`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measurement. The key is (case_id, arm, trial, repeat, turn).

    `axes`, `decision`, `reasons`, `view_tokens`, `usage` without seconds and paid dollars, and
    `error` are measured: byte-identical between a run and its repetition. `timing` is not.
    `reasons` are the principal reasons that the answer lists. `usage["ingest"]` is
    that of the whole history, shared by its rows. `available_tokens` is what the arm offered: an
    arm that offered more than the budget could have filled it.

    expected : the gold decision; empty where there is none, and in rows of before it was kept.
    success : in [0, 1], by the domain's success axis; None where nothing was answered, or nothing
        says whether an answer is right. all_retained : whether every gold item that the decision
        turned on was in the view. sufficient : whether what was in the view suffices for the right
        answer (`Domain.sufficient`); in rows without `expected` the same as `all_retained`. Both
        are None for a case without gold items. determined : False where the reader could not
        determine the answer from the view and fell back on a default; None without an answer.
        form_read : False where the case is worded in a form that the model which answered, or which
        built or searched the memory, was not made to read (`Model.reads_forms`): its figures are
        not pooled with those of other forms.
        depth : the case's. domain_version : rows of two versions are never compared.
        model : the language model that answered, by name, size, quantisation and digest as far as
        they are known; empty for a rule-based one. state : why nothing was asked, where that is no
        failure (`does not fit: 8,229 of 8,192 tokens`); such a row has no success.
    """

    case_id: str
    arm: str
    trial: int = 0
    repeat: int = 0
    turn: int = 0
    history_id: str = ""
    stratum: str = "all"
    cluster: str = ""
    tags: Mapping[str, str] = EMPTY
    depth: int | None = None
    expected: str = ""
    success: float | None = None
    sufficient: bool | None = None
    all_retained: bool | None = None
    determined: bool | None = None
    form_read: bool = True
    axes: Mapping[str, float | None] = field(default_factory=dict)
    decision: str = ""
    reasons: tuple[str, ...] = ()
    view_tokens: int = 0
    available_tokens: int = 0
    budget_tokens: int | None = None
    domain_version: str = FIRST_VERSION
    usage: Mapping[str, Usage] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)
    error: str = ""
    model: str = ""
    state: str = ""

    @property
    def key(self) -> RowKey:
        """What makes the row one of a kind within a run."""
        return (self.case_id, self.arm, self.trial, self.repeat, self.turn)
