"""The closed grammar from the text of an instruction to what a rule-based reader does.

A rule-based reader can't understand prose. It knows the clauses of clauses.yaml, one sentence each,
and does what each says; every other text is inert. A clause may stand behind a condition on the
words of the question:

    If the question contains "how many times", count ...
    If the question does not contain "total" or "sum", ...

Of two clauses of one family the later holds, so that what is appended to an instruction overrides
what stood there. docs/reference/improve-grammar.md says what each clause does and where it does
harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from framework.contracts import Req, Res, Rule
from framework.text.sentences import sentences


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


class ClauseRule(Rule[Req, Res]):
    """A rule whose answer the clauses of an instruction change."""

    def in_force(self, instruction: str, question: str) -> frozenset[str]:
        """Keys of the clauses of an instruction that hold for a question."""
        return clauses_in(instruction, self.name).in_force(question)


@cache
def known_clauses() -> tuple[Clause, ...]:
    """Every clause that a rule follows."""
    import yaml

    text = Path(__file__).with_name("clauses.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return tuple(
        Clause(key=key, operation=operation, **clause)
        for operation, clauses in data.items()
        for key, clause in clauses.items()
    )


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
    known = {_fold(c.text).rstrip("."): c for c in known_clauses() if c.operation == operation}
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
