"""The closed grammar from the text of an instruction to what a rule-based reader does.

A rule-based reader can't understand prose. It knows the clauses listed here, each one sentence, and
does what each says; every other text is inert. A clause may stand behind a condition on the words
of the question:

    If the question contains "how many times", count ...
    If the question does not contain "total" or "sum", ...

Of two clauses of one family the later holds, so that what is appended to an instruction overrides
what stood there. improve-grammar.md says what each clause does, and where it does harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from framework.text.sentences import sentences

__all__ = ["CLAUSES", "Clause", "Clauses", "clauses_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One sentence that a rule-based reader follows.

    operation : the operation whose rule-based answer it changes. family : of the clauses of one
    family only the last one holds. meaning : what is done, for people.
    """

    key: str
    operation: str
    family: str
    text: str
    meaning: str


def _group(operation: str, *rows: tuple[str, str, str, str]) -> tuple[Clause, ...]:
    return tuple(
        Clause(key=key, operation=operation, family=family, text=text, meaning=meaning)
        for key, family, text, meaning in rows
    )


_SESSIONS: Final = _group(
    "answer_from_sessions",
    (
        "latest",
        "choice",
        "When a fact changes across sessions, answer with the most recent value.",
        "of the statements that match, the one of the latest date",
    ),
    (
        "earliest",
        "choice",
        "Answer with the value that was stated first.",
        "of the statements that match, the one of the earliest date",
    ),
    (
        "changed",
        "choice",
        "Replace a value only when a later message says that it changed.",
        "of the statements that match, the latest one worded as a change (now, switched, no "
        "longer, ...); without one, the most similar",
    ),
    (
        "user_only",
        "speaker",
        "Answer from what the user said, not from what the assistant said.",
        "the assistant's turns are left out",
    ),
    (
        "assistant_only",
        "speaker",
        "Answer from the assistant's replies.",
        "the user's turns are left out",
    ),
    (
        "no_plans",
        "plans",
        "Leave out plans and wishes: use only what has happened.",
        "statements worded as a plan, a wish or a possibility are left out",
    ),
    (
        "own_only",
        "persons",
        "Leave out what happened to other people.",
        "statements whose subject is another person are left out",
    ),
    (
        "count",
        "count",
        "When the question asks how many, count the matching events across all sessions.",
        "to `how many` the answer is the number of statements that match, at most one a session "
        "and name",
    ),
    (
        "distinct",
        "distinct",
        "Count an event once, however often it is mentioned.",
        "events that bear the same name are one, whatever their sessions",
    ),
    (
        "total",
        "total",
        "When the question asks how much, add up the amounts of all sessions.",
        "to `how much` the answer is the sum of the amounts of the statements that match",
    ),
    (
        "all",
        "all",
        "List everything that matches, from all sessions.",
        "the answer is every value that matches, not one of them",
    ),
    (
        "relative",
        "relative",
        "Resolve relative dates against the date of the session.",
        "an event's date is that of its session moved by what it says (`last week`); to `when` the "
        "answer is that date",
    ),
    (
        "arithmetic",
        "arithmetic",
        "When the question mentions time, compute the time that passed.",
        "to a question that mentions time the answer is a number of days, weeks, months or years",
    ),
    (
        "window",
        "window",
        "Use only what happened within the time that the question names.",
        "events outside of the span of time named in the question are left out",
    ),
    (
        "order",
        "order",
        "To tell what came first, compare the dates of the events.",
        "of the things that the question names, the one whose event has the earlier date",
    ),
    (
        "abstain",
        "abstention",
        "If the sessions do not mention what is asked, say that the information is not available.",
        "it abstains unless a statement has nearly all words of the question",
    ),
    (
        "trust",
        "abstention",
        "Never say that the information is missing: answer from the closest evidence.",
        "it never abstains",
    ),
    (
        "quote",
        "form",
        "Quote the supporting sentence in full.",
        "the answer is a sentence of the sessions: nothing is counted, computed or abstained from",
    ),
    (
        "preference",
        "form",
        "Answer with what the user said they like or dislike.",
        "the answer is what the user said of likes and dislikes on the topic, where there is such",
    ),
)

_SQL: Final = _group(
    "write_sql",
    (
        "no_duplicates",
        "duplicates",
        "Leave out duplicates.",
        "DISTINCT in the selection and in every aggregate",
    ),
    (
        "keep_unmatched",
        "join",
        "Keep rows without a match.",
        "left joins from the table that is asked about",
    ),
    (
        "no_missing",
        "missing",
        "Leave out rows whose value is missing.",
        "IS NOT NULL for every column that is selected, aggregated or ordered by",
    ),
    (
        "partial_text",
        "text",
        "Match text by a part of it.",
        "LIKE with wildcards on both sides instead of equality",
    ),
    (
        "settled_only",
        "settled",
        "Leave out cancelled rows unless they are asked for.",
        "a filter on the status column, where the table has one",
    ),
    (
        "with_ties",
        "ties",
        "Give all rows that tie for the last place.",
        "a limit becomes a comparison with the value at the limit",
    ),
    (
        "group_by_key",
        "group",
        "Group by the key, not by the name.",
        "one group for each row of the table that is named, even where names repeat",
    ),
    (
        "follow_examples",
        "examples",
        "Follow the most similar example in the notes.",
        "the example's query with this question's values in place of the example's",
    ),
)

_DECISIONS: Final = _group(
    "decide",
    (
        "refer_open",
        "referral",
        "Refer the case when nothing settles the decision.",
        "what is left undetermined is referred instead of decided by default",
    ),
    (
        "apply_known",
        "referral",
        "Apply a rule that is known to hold even when other facts are missing.",
        "what is left undetermined is decided by the first rule that fires for certain",
    ),
    (
        "never_refer",
        "referral",
        "Never refer a case: decide it.",
        "a referral that the policy demands becomes the default decision",
    ),
)

CLAUSES: Final[tuple[Clause, ...]] = (*_SESSIONS, *_SQL, *_DECISIONS)
"""Every clause that a rule-based reader knows."""

_BULLET: Final = re.compile(r"^(?:[-*•]|\d{1,2}[.)])\s+")
_CONDITION: Final = re.compile(
    r'^(?:if|when) the question (?P<not>does not contain|contains) (?P<words>"[^"]+"'
    r'(?: or "[^"]+")*), (?P<clause>.+)$'
)
_QUOTED: Final = re.compile(r'"([^"]+)"')


@dataclass(frozen=True, slots=True)
class _Stated:
    """A clause as it stands in an instruction, with the condition before it."""

    clause: Clause
    words: tuple[str, ...] = ()
    negated: bool = False

    def applies(self, question: str) -> bool:
        """Whether the condition holds of the question, given casefolded."""
        if not self.words:
            return True
        return any(word in question for word in self.words) != self.negated


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of one operation that an instruction holds, in their order."""

    stated: tuple[_Stated, ...] = ()

    def in_force(self, question: str) -> frozenset[str]:
        """Keys of the clauses that hold for this question: the last of each family."""
        folded = _fold(question)
        last = {s.clause.family: s.clause.key for s in self.stated if s.applies(folded)}
        return frozenset(last.values())


@lru_cache(maxsize=1 << 10)
def clauses_in(instruction: str, operation: str) -> Clauses:
    """The clauses of `operation` that stand in an instruction; all other text is passed over."""
    known = {_fold(c.text).rstrip("."): c for c in CLAUSES if c.operation == operation}
    return Clauses(tuple(_stated(instruction, known)))


def _stated(instruction: str, known: dict[str, Clause]) -> Iterator[_Stated]:
    for sentence in sentences(instruction):
        text = _BULLET.sub("", _fold(sentence)).rstrip(".")
        condition = _CONDITION.match(text)
        clause = known.get(condition["clause"] if condition else text)
        if clause is None:
            continue
        if condition is None:
            yield _Stated(clause)
        else:
            words = tuple(_QUOTED.findall(condition["words"]))
            yield _Stated(clause, words, condition["not"] != "contains")


def _fold(text: str) -> str:
    """Lower case, straight quotation marks, single spaces."""
    return " ".join(text.translate(_QUOTES).casefold().split())


_QUOTES: Final = str.maketrans("“”‘’", "\"\"''")
