"""Histories and the cases asked of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from framework.contracts.axes import axis_plugins
from framework.contracts.configured import Configured, S
from framework.records import (
    ABSTAIN,
    EMPTY,
    FIRST_VERSION,
    Answer,
    Case,
    Event,
    FactField,
    Gold,
    GoldItem,
)

REPORTED: Final = 1_000
"""Cases of a run that `Domain.report` is given at most."""

PROVIDED: Final[Mapping[str, str]] = {
    "items": "gold items that the view must hold",
    "facts": "gold items of kind `fact`, whose values an answer states by their keys",
    "reasons": "the inferences that a right rationale entails",
    "decision": "a label that is right, and an amount where there is one",
    "notice": "the adverse decisions and the standard that a notice is held to",
    "policy": "what the policy decides from a part of the gold (`Domain.decision_from`)",
    "success": "success that rests on what the view holds, by `Domain.success` or a judge",
    "revisions": "retired values of facts, and injected orders",
    "evidence": "ids of the events that a question is answered from",
    "chain": "the governing event and the chain that leads to it from the task",
    "edit": "an edit whose compliance `Domain.checks` shows by executing it",
    "query": "a query that `Domain.checks` executes",
    "answer": "the expected answer to a question",
    "geometry": "where what governs lies from the task (`Domain.geometry`)",
}
"""What axes ask of a domain, in words: a domain's `provides` and an axis's `needs` meet in them.
A package that brings both a domain and an axis may use a word of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a domain's cases come from. The first four are mandatory; `generated` is a source too.

    citation : of what others published, in BibTeX. files : of published files, by name, the digest
        (`sha256:` and 64 hex digits). main_score : the column that the publisher reports first.
    schema : address and commit where the form of the files was read.
    """

    source: str
    revision: str
    licence: str
    citation: str
    files: Mapping[str, str] = EMPTY
    main_score: str = ""
    schema: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectedGroups:
    """Attributes of a person that may not matter to the decision; each is a tag of the cases.

    reference : by attribute, the value that every other is compared with.
    adverse : the decisions against the person; abstaining does not favour anyone either.
    """

    reference: Mapping[str, str]
    adverse: frozenset[str]


class Domain(Configured[S], group="domain"):
    """Histories and the cases asked of them, with gold. Deterministic in (settings, seed, index).

    `provides` says what can be measured of its cases, in words of `PROVIDED`, first things first:
    an axis applies where all that it needs is provided. `headline` names the few axis columns that
    tables show and sweeps compare: a comparison of everything could conclude nothing. `by_stratum`
    names columns that tables show for every stratum too. `success_axis` names the column that says
    whether an answer is right, from 0 to 1; empty where none does. `runs_code` tells that `checks`
    runs code of an answer: where nothing can be isolated, protocols under which a reader answers
    are then refused. `version` is raised with every change after which figures can't be set beside
    those of before: other cases, other gold, another rule of what is measured. Runs of two versions
    are never compared. An instance that reads a file has that file's `provenance`.
    """

    provenance: Provenance
    version: ClassVar[str] = FIRST_VERSION
    provides: ClassVar[tuple[str, ...]]
    headline: ClassVar[tuple[str, ...]]
    by_stratum: ClassVar[tuple[str, ...]] = ()
    success_axis: ClassVar[str] = ""
    protocols: ClassVar[tuple[str, ...]] = ("evaluate", "retrieve", "improve")
    runs_code: ClassVar[bool] = False

    @classmethod
    def axes(cls) -> tuple[str, ...]:
        """Names of the axes whose needs are all provided, by the place of their first need.

        One that needs nothing applies only where a run names it in `extra_axes`.
        """
        place = {word: index for index, word in enumerate(cls.provides)}
        matched = [
            (place[axis.cls.needs[0]], axis.name)
            for axis in axis_plugins()
            if axis.cls.needs and place.keys() >= set(axis.cls.needs)
        ]
        return tuple(name for _, name in sorted(matched))

    @property
    @abstractmethod
    def nominal_tokens(self) -> int:
        """Fixed length of a history in tokens; budgets are ratios of it."""

    @property
    def fields(self) -> tuple[FactField, ...]:
        """The public answer form: given at ingest to arms that declare `knows_schema`."""
        return ()

    @abstractmethod
    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases (all, when None and the domain is finite), lazily."""

    @abstractmethod
    def history(self, history_id: str) -> Iterator[Event]:
        """The events of a history in order of arrival, lazily."""

    @abstractmethod
    def digest(self) -> str:
        """Digest of what the cases are made from (data file, spec), settings aside."""

    def success(self, answer: Answer, gold: Gold) -> bool:
        """The success axis: the label exactly, and the amount within the gold's tolerance."""
        if answer.decision != gold.decision:
            return False
        if gold.amount is None or gold.decision == ABSTAIN:
            return True
        return (
            answer.amount is not None and abs(answer.amount - gold.amount) <= gold.amount_tolerance
        )

    @property
    def protected(self) -> ProtectedGroups | None:
        """Who is compared over counterfactual pairs (clusters of two cases); None for nobody."""
        return None

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        """What executing the answer shows, by name; None where a check does not apply to the case.

        Nothing by default: then success tells whether the governing decision is honoured.

        compliance : the governing decision is honoured.
        merge_ready : and so is everything else that the task asks for.
        asserted_only : the decision is claimed, in a comment or the rationale, and not enforced.

        One call may be costly (a sandboxed process), so that it is made once for a case.
        """
        return {}

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """What the domain measured of its corpus, as its real depth and drift, for the record.

        cases : those of the run, drawn only as they are read, at most `REPORTED` of them.
        """
        return {}

    def geometry(self, case: Case) -> Mapping[str, float | None]:
        """Where the governing decision lies from the task, measured; what is not known is left out.

        depth : links between the entry and it. achieved_rho : share of its similarity to the task
        that a link keeps. entry_similarity, governing_similarity : of the task to either.
        scatter : events that it is spread over.
        """
        return {}

    def chain_texts(self, case: Case) -> Sequence[str]:
        """The texts along the chain to what governs the task, from the entry to the decision.

        Along them similarity to the task is measured; empty where there is no chain.
        """
        return ()

    def rerendered(self, case: Case, rendering: int) -> Case | None:
        """The same case in other words; None where the domain has no more than one wording of it.

        Same id, facts, label and gold; every piece of evidence in the event of the same id, in the
        same order. Other texts around it, in a history of its own. Every number from 1 is another
        wording. By how much two of them differ under one pipeline says what hangs on the wording.
        """
        return None

    def without_injection(self, case: Case) -> Case | None:
        """The same case with nothing injected (its own history), to tell obedience from error.

        None where the case has no injection or there is no such case.
        """
        return None

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        """What the policy decides when only these gold items are known; None when not defined.

        ABSTAIN when the admissible completions of what is missing differ (validity.md
        section 2).
        """
        return None

    def states(self, case: Case, item: GoldItem, sentence: str) -> bool:
        """Whether a sentence of a view says what a passage of the gold says, in other words.

        Asked of passages without anchors and without an intact span in the view. None does by
        default; a domain that knows what its passages mean compares meanings.
        """
        return False

    def suffices(self, case: Case, retained: frozenset[str]) -> bool:
        """The domain's rule of sufficiency: whether these gold items give the gold decision.

        By default what `decision_from` decides, and, where there is no policy to decide, whether
        all required items are there. Asked of cases that have gold items and a decision to make:
        where abstaining is right, `sufficient` asks for every required item.
        """
        decided = self.decision_from(case, retained)
        if decided is not None:
            return decided == case.gold.decision
        return retained.issuperset(item.id for item in case.gold.required)

    def sufficient(self, case: Case, retained: Mapping[str, bool]) -> bool | None:
        """Whether what a view holds suffices for the right answer; None without gold items.

        retained : by gold item's id, whether the view holds it, closure applied. Too little is
        known in any poor view, so that where the gold decision is to abstain only a view with every
        item that bears on it suffices.
        """
        gold = case.gold
        if not gold.items:
            return None
        held = frozenset(id for id, kept in retained.items() if kept)
        if gold.decision == ABSTAIN:
            return held.issuperset(item.id for item in gold.required)
        return self.suffices(case, held)
