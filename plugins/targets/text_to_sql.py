"""Queries for questions as a target: failures told apart by the parse trees of two queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from framework.contracts import Domain, Outcome, Patch, Regime, Target, Taxonomy
from framework.contracts.improve import Seam
from framework.errors import DataError
from framework.records import Case, Row
from framework.registry import NoSettings, register
from plugins.targets.retrieval import library_of, outcome_of

if TYPE_CHECKING:
    from sqlglot import exp

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
    one, other = _parsed(given), _parsed(expected)
    if one is None or other is None:
        return (UNREADABLE,)
    parts = (
        ("tables", _tables),
        ("columns", _columns),
        ("joins", _joins),
        ("aggregates", _aggregates),
        ("filters", _filters),
        ("order", _order),
    )
    return tuple(name for name, part in parts if part(one) != part(other))


def _parsed(sql: str) -> Any:
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except (SqlglotError, RecursionError):
        return None
    return tree if isinstance(tree, sqlglot.exp.Query) else None


def _tables(tree: exp.Expression) -> frozenset[str]:
    from sqlglot import exp

    return frozenset(table.name.casefold() for table in tree.find_all(exp.Table))


def _columns(tree: exp.Expression) -> frozenset[str]:
    """Columns that are selected, computed or filtered by: not those that tables are joined on."""
    from sqlglot import exp

    return frozenset(
        column.name.casefold()
        for column in tree.find_all(exp.Column)
        if column.find_ancestor(exp.Join) is None and not _links(column)
    )


def _links(column: exp.Expression) -> bool:
    """Whether it is one side of an equation of two columns: the join of a subquery."""
    from sqlglot import exp

    parent = column.parent
    return isinstance(parent, exp.EQ) and all(
        isinstance(side, exp.Column) for side in (parent.this, parent.expression)
    )


def _joins(tree: exp.Expression) -> Counter[str]:
    from sqlglot import exp

    found = Counter(
        f"{(join.side or 'inner').lower()} {','.join(sorted(_joined_on(join)))}"
        for join in tree.find_all(exp.Join)
    )
    found.update("exists" for _ in tree.find_all(exp.Exists))
    return found


def _joined_on(join: exp.Expression) -> Iterator[str]:
    """Names of the columns that a join is over, each once."""
    from sqlglot import exp

    using = {identifier.name.casefold() for identifier in join.args.get("using") or ()}
    on = join.args.get("on")
    columns = on.find_all(exp.Column) if on is not None else ()
    yield from using | {column.name.casefold() for column in columns}


def _aggregates(tree: exp.Expression) -> Counter[str]:
    from sqlglot import exp

    found = Counter(_said(call) for call in tree.find_all(exp.AggFunc))
    found.update(
        "distinct" for d in tree.find_all(exp.Distinct) if isinstance(d.parent, exp.Select)
    )
    for group in tree.find_all(exp.Group):
        found.update(f"group {_said(by)}" for by in group.expressions)
    return found


def _filters(tree: exp.Expression) -> Counter[str]:
    from sqlglot import exp

    found: Counter[str] = Counter()
    for clause in (*tree.find_all(exp.Where), *tree.find_all(exp.Having)):
        found.update(_said(part) for part in _conjuncts(clause.this))
    return found


def _conjuncts(condition: Any) -> Iterable[Any]:
    from sqlglot import exp

    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    return [part for part in parts if not part.find(exp.Exists)]


def _order(tree: exp.Expression) -> list[str]:
    from sqlglot import exp

    found = [_said(by) for order in tree.find_all(exp.Order) for by in order.expressions]
    return found + [_said(limit) for limit in tree.find_all(exp.Limit)]


def _said(part: Any) -> str:
    """A part as text without tables, aliases and case."""
    from sqlglot import exp

    bare = part.copy()
    for column in list(bare.find_all(exp.Column)):
        column.set("table", None)
    return str(bare.sql(dialect="sqlite", normalize_functions="upper")).casefold()
