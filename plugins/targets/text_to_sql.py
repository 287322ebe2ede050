"""Queries for questions as a target: failures told apart by the parse trees of two queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from framework.contracts import Domain, Outcome, Patch, Regime, Target, Taxonomy
from framework.contracts.improve import Seam
from framework.errors import DataError
from framework.records import Case, Row
from framework.registry import NoSettings, register
from plugins.targets.retrieval import library_of, outcome_of

UNREADABLE: Final = "unreadable"
"""The sign of a query that can't be parsed."""


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
    """Text to SQL (Regimes 4.2): other measures and failures, the same loop.

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
        return library_of("write_sql")

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


def differences(given: str, expected: str) -> tuple[str, ...]:
    """In what the given query departs from the expected one, in this order; none: in nothing seen.

    unreadable : it can't be parsed as a query of sqlite.
    tables, columns : it reads other tables or, joins aside, other columns.
    joins : its joins are of other kinds or over other columns, or it asks otherwise for what has no
        partner (NOT EXISTS).
    aggregates : its functions, DISTINCT or groups are others.
    filters : its conditions are others.
    order : its order or limit is another.

    Names are compared without case and aliases; a table's column and the same column without its
    table are one. Raises nothing: an expected query that can't be parsed has no differences but
    `unreadable`.
    """
    one, other = _parts(given), _parts(expected)
    if one is None or other is None:
        return (UNREADABLE,)
    return tuple(name for name, part in one.items() if part != other[name])


def _parts(sql: str) -> dict[str, Any] | None:
    """What a query reads, joins, computes and filters, by the word for it; None: unreadable."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except (SqlglotError, RecursionError):
        return None
    if not isinstance(tree, exp.Query):
        return None

    def joins_a_subquery(column: exp.Column) -> bool:
        """Whether it is one side of an equation of two columns."""
        parent = column.parent
        return isinstance(parent, exp.EQ) and all(
            isinstance(side, exp.Column) for side in (parent.this, parent.expression)
        )

    def joined_on(join: exp.Join) -> str:
        """Names of the columns that a join is over, each once."""
        names = {identifier.name.casefold() for identifier in join.args.get("using") or ()}
        on = join.args.get("on")
        names |= (
            {column.name.casefold() for column in on.find_all(exp.Column)}
            if on is not None
            else set()
        )
        return ",".join(sorted(names))

    def conjuncts(condition: Any) -> Iterator[Any]:
        parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
        return (part for part in parts if not part.find(exp.Exists))

    def text(part: Any) -> str:
        """A part without tables, aliases and case."""
        bare = part.copy()
        for column in list(bare.find_all(exp.Column)):
            column.set("table", None)
        return str(bare.sql(dialect="sqlite", normalize_functions="upper")).casefold()

    joins = [f"{(j.side or 'inner').lower()} {joined_on(j)}" for j in tree.find_all(exp.Join)]
    aggregates = [text(call) for call in tree.find_all(exp.AggFunc)]
    distinct = [d for d in tree.find_all(exp.Distinct) if isinstance(d.parent, exp.Select)]
    groups = [by for group in tree.find_all(exp.Group) for by in group.expressions]
    conditions = [*tree.find_all(exp.Where), *tree.find_all(exp.Having)]
    order = [by for order in tree.find_all(exp.Order) for by in order.expressions]
    return {
        "tables": {table.name.casefold() for table in tree.find_all(exp.Table)},
        "columns": {
            column.name.casefold()
            for column in tree.find_all(exp.Column)
            if column.find_ancestor(exp.Join) is None and not joins_a_subquery(column)
        },
        "joins": Counter([*joins, *("exists" for _ in tree.find_all(exp.Exists))]),
        "aggregates": Counter(
            [*aggregates, *("distinct" for _ in distinct), *(f"group {text(by)}" for by in groups)]
        ),
        "filters": Counter(text(part) for where in conditions for part in conjuncts(where.this)),
        "order": [text(part) for part in (*order, *tree.find_all(exp.Limit))],
    }
