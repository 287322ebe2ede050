"""Queries for questions as a target: failures told apart by the parse trees of two queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from framework.contracts import Domain, Outcome, Patch, Regime, Target, Taxonomy
from framework.contracts.improve import Seam
from framework.errors import DataError
from framework.records import Case, Row
from framework.registry import NoSettings, register
from plugins.targets._clauses import SQL_PROMPTS
from plugins.targets._outcome import outcome_of
from plugins.targets._queries import UNREADABLE, differences
from plugins.targets._retrieval import LIBRARY


def _signs(*names: str) -> Callable[[Outcome], bool]:
    return lambda outcome: any(name in outcome.signs for name in names)


_PROMPT: Final[tuple[Seam, ...]] = ("reader_prompt",)

TAXONOMY: Final = Taxonomy(
    name="queries",
    regimes=(
        Regime(
            name="schema-misunderstanding",
            seams=("reader_prompt", "score", "assembly"),
            holds=_signs(UNREADABLE, "tables", "columns"),
            meaning="the query reads other tables or columns, or can't be read",
        ),
        Regime(
            name="wrong-join",
            seams=_PROMPT,
            holds=_signs("joins"),
            meaning="the tables are right and joined otherwise",
        ),
        Regime(
            name="wrong-aggregation",
            seams=_PROMPT,
            holds=_signs("aggregates"),
            meaning="what is counted or computed, or by what it is grouped, is another",
        ),
        Regime(
            name="wrong-filter",
            seams=("reader_prompt", "score", "assembly"),
            holds=_signs("filters"),
            meaning="the conditions are others",
        ),
        Regime(
            name="wrong-order",
            seams=_PROMPT,
            holds=_signs("order"),
            meaning="the order or the number of rows is another",
        ),
    ),
)
"""A failure has the first of these that holds: what comes later often follows from it."""


@register("target", "text_to_sql")
class TextToSQLTarget(Target[NoSettings]):
    """Text to SQL (Regimes 4.2): another measure, other failures, the same loop.

    A case is correct when its query gives the rows of the reference query. Its failure is told by
    how the parse trees of the two differ; where they differ in nothing that is looked at, it is
    unclassified. Evidence is the notes that the question can't do without. The reference query is
    read by the taxonomy alone: no author sees it, or which parts of it are missing.
    """

    domains: ClassVar[tuple[str, ...]] = ("text_to_sql",)

    @property
    def taxonomy(self) -> Taxonomy:
        return TAXONOMY

    @property
    def library(self) -> tuple[Patch, ...]:
        return (*LIBRARY, *SQL_PROMPTS)

    def axes(self, domain: Domain[Any]) -> tuple[str, ...]:
        return ("execution",)

    def outcome(self, case: Case, row: Row, record: Mapping[str, Any]) -> Outcome:
        correct = row.axes.get("execution_correct") == 1.0
        outcome = outcome_of(self, case, row, record, correct)
        if outcome.correct or row.error:
            return outcome
        return replace(outcome, signs=differences(record["answer"].text, case.gold.answer))

    def shifted(self, domain: Domain[Any]) -> Domain[Any] | None:
        """Held-out wordings, of such questions as no split had in them."""
        unread = {"mixed": "reworded", "development": "held_out"}.get(domain.settings.forms)
        if unread is None:
            return None
        try:
            return type(domain)(replace(domain.settings, forms=unread))
        except DataError:  # questions of one's own, without held-out wordings
            return None

    def summary(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        signs = Counter(sign for outcome in outcomes for sign in outcome.signs)
        return {"differences": dict(sorted(signs.items()))}
