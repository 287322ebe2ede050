"""A query for a question, from what its words stand for and the clauses in force.

A baseline without understanding: the head of the question says what is selected, its adjectives
what is ordered by, its values and comparisons what is filtered, and the tables of all of these are
joined over foreign keys. What the words do not tell it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plugins.models.rule_based.querying.cues import (
    ADJECTIVE,
    AGGREGATE,
    ASCENDING,
    CANCELLED,
    COMPARED,
    COUNT,
    DESCENDING,
    ENDS,
    FUNCTIONS,
    GROUP,
    HEAD_END,
    MEASURES,
    MOST,
    NUMBER,
    OPERATORS,
    SORTED,
    WITHOUT,
)
from plugins.models.rule_based.querying.following import followed
from plugins.models.rule_based.querying.lexicon import Mention, examples_in, mentions
from plugins.models.rule_based.querying.parts import Query
from plugins.models.rule_based.querying.schema import Column, Schema, Table


def compose(question: str, schema: Schema, view: str, force: frozenset[str]) -> str:
    """One query, with the clauses `force` in force; empty when no word has a meaning."""
    found = mentions(question, schema, view)
    if "follow_examples" in force:
        example = followed(question, found, examples_in(view))
        if example:
            return example
    main = _main(question, found, schema)
    return "" if main is None else _Composer(question, found, schema, main, force).query()


def _main(question: str, found: Sequence[Mention], schema: Schema) -> Table | None:
    """The table that is asked about: the first that is named, or that a column or value is of."""
    for kinds in (("table",), ("column", "measure", "condition"), ("value",)):
        named = next((m for m in found if m.kind in kinds), None)
        if named is not None:
            return schema.tables[named.tables[0]]
    return None


class _Composer:
    """Puts one query together."""

    def __init__(
        self,
        question: str,
        found: Sequence[Mention],
        schema: Schema,
        main: Table,
        force: frozenset[str],
    ) -> None:
        self.text = question
        self.found = found
        self.schema = schema
        self.main = main
        self.force = force
        self.used: set[int] = set()
        self.built = Query(base=main.name, selected=[])

    def query(self) -> str:
        group = GROUP.search(self.text)
        most = MOST.search(self.text)
        if not self._without():
            if group is not None:
                self._grouped(group.end())
            elif most is not None:
                self._most(most)
            else:
                self._selection()
                self._superlative()
            self._sorting()
        self._filters()
        self._follow_clauses()
        if "with_ties" in self.force:
            return self.built.sql_with_ties(self.schema)
        return self.built.sql(self.schema)

    # ----------------------------------------------------------------------------------- selection

    def _selection(self) -> None:
        self._select(self._aggregate() or self._listed())

    def _select(self, expressions: Sequence[str]) -> None:
        self.built.selected += expressions

    def _aggregate(self) -> list[str]:
        """What is counted or computed; empty where rows are asked for."""
        measure = next((m for m in self.found if m.kind == "measure"), None)
        if measure is not None:
            self._use(measure)
            if measure.where:
                self.built.where.append(measure.where)
            return [self._distinct(measure.text)]
        counted = COUNT.search(self.text)
        if counted is not None:
            return [self._count(counted.end())]
        word = AGGREGATE.search(self.text)
        of = self._next(word.end(), ("column",)) if word else None
        if word is None or of is None or of.start > word.end() + 12 or "first" in self.text:
            return []
        column = self._column(of)
        self._use(of, column)
        function = FUNCTIONS[word["word"].split()[0].lower()]
        self.built.columns.append(column)
        return [self._distinct(f"{function}({column.sql})")]

    def _count(self, after: int) -> str:
        counted = self._next(after, ("table", "column"))
        if counted is None:
            return "COUNT(*)"
        if counted.kind == "table":
            self._use(counted)
            if self.built.base == self.main.name:
                self._rebase(counted.text)
            table = self.schema.tables[counted.text]
            if "no_duplicates" in self.force:
                return f"COUNT(DISTINCT {table.name}.{table.key})"
            keeps = "keep_unmatched" in self.force and self.built.group
            return f"COUNT({table.name}.{table.key})" if keeps else "COUNT(*)"
        column = self._column(counted)
        self._use(counted, column)
        if column.name.endswith("_on"):  # an action that has a date: its rows are counted
            self._rebase(column.table)
            return "COUNT(*)"
        return self._distinct(f"COUNT({column.sql})")

    def _distinct(self, call: str) -> str:
        return call.replace("(", "(DISTINCT ", 1) if "no_duplicates" in self.force else call

    def _listed(self) -> list[str]:
        """Columns named in the head of the question, else what stands for a row of the table."""
        start = re.match(r"\w+ (?:is |are )?", self.text)
        skipped = start.end() if start else 0
        found = HEAD_END.search(self.text, skipped)
        end = found.start() if found else len(self.text)
        head = [m for m in self.found if m.kind == "column" and m.start < end]
        columns = [self._column(m) for m in head if not m.text.endswith("_on")]
        if columns:
            for mention, column in zip(head, columns, strict=False):
                self._use(mention, column)
        else:
            columns = [self.main.shown]
        self.built.columns += columns
        self.built.distinct = "no_duplicates" in self.force
        return [column.sql for column in columns]

    def _grouped(self, after: int) -> None:
        by = self._next(after, ("table", "column"))
        if by is None:
            self._selection()
            return
        if by.kind == "table":
            table = self.schema.tables[by.text]
            self._use(by)
            shown = table.shown.sql
            key = f"{table.name}.{table.key}"
        else:
            column = self._column(by)
            self._use(by, column)
            table = self.schema.tables[column.table]
            shown = column.sql
            key = f"{table.name}.{table.key}" if column == table.shown else shown
        self.built.group = key if "group_by_key" in self.force else shown
        counted = self._next(0, ("table",))
        self._rebase(
            table.name if "keep_unmatched" in self.force or counted is None else counted.text
        )
        self._select([shown, *(self._aggregate() or ["COUNT(*)"])])
        self.built.outer = "keep_unmatched" in self.force
        if self.built.outer:
            self._rebase(table.name)

    def _most(self, most: re.Match[str]) -> None:
        by = self._next(0, ("table", "column"))
        counted = self._next(most.end(), ("table",))
        if by is None or counted is None:
            self._selection()
            return
        if by.kind == "table":
            table = self.schema.tables[by.text]
            shown, key = table.shown.sql, f"{table.name}.{table.key}"
            self._use(by)
        else:
            column = self._column(by)
            shown = key = column.sql
            self._use(by, column)
        self._use(counted)
        self._rebase(counted.text)
        self._select([shown])
        self.built.group = key if "group_by_key" in self.force else shown
        direction = " DESC" if most["word"].lower() == "most" else ""
        self.built.order, self.built.limit = [f"COUNT(*){direction}"], 1

    def _without(self) -> bool:
        """Rows of the table without a row of another: `have no copies`, `never borrowed`."""
        found = WITHOUT.search(self.text)
        other = self._next(found.end(), ("table", "column")) if found else None
        if other is None:
            return False
        child = other.tables[0]
        link = next(
            (k for k in self.schema.links if k.child == child and k.parent == self.main.name), None
        )
        if link is None:
            return False
        for mention in self.found:
            if mention.start >= other.start:
                self.used.add(mention.start)
        inner = [link.sql]
        status = self._settled(child)
        if status and "settled_only" in self.force:
            inner.append(status)
        self.built.selected = [self.main.shown.sql]
        self.built.where.append(f"NOT EXISTS (SELECT 1 FROM {child} WHERE {' AND '.join(inner)})")
        return True

    # --------------------------------------------------------------------------------------- order

    def _superlative(self) -> None:
        found = ADJECTIVE.search(self.text)
        ends = ENDS.search(self.text)
        if found is not None:
            stem = (found["what"] or found["stem"]).lower()
            column = next(
                (
                    c
                    for word in MEASURES[stem]
                    for c in self.main.columns
                    if word in c.name.casefold()
                ),
                None,
            )
            descending = (stem not in ASCENDING) != (found["most"] == "least")
        elif ends is not None:
            said = [m for m in self.found if m.kind == "column" and m.end <= ends.start()]
            column = self._column(said[-1]) if said else None
            if said:
                self.used.add(said[-1].start)
            descending = ends["word"].lower() == "last"
        else:
            return
        if column is None:
            return
        self.built.tables.setdefault(column.table)
        number = NUMBER.search(self.text)
        self.built.columns.append(column)
        self.built.order = [f"{column.sql}{' DESC' if descending else ''}"]
        self.built.limit = int(number[1]) if number else 1

    def _sorting(self) -> None:
        for match in SORTED.finditer(self.text):
            by = self._next(match.end(), ("column",))
            if by is None:
                continue
            column = self._column(by)
            self._use(by, column)
            descending = DESCENDING.search(self.text[by.end :])
            self.built.order.append(f"{column.sql}{' DESC' if descending else ''}")
            self.built.columns.append(column)

    # ------------------------------------------------------------------------------------- filters

    def _filters(self) -> None:
        for mention in self.found:
            if mention.start in self.used:
                continue
            if mention.kind == "condition":
                self._use(mention)
                self.built.where.append(mention.text)
            elif mention.kind == "value":
                column = self._column(mention)
                self._use(mention, column)
                self.built.where.append(self._equals(column, mention.text))
            elif mention.kind == "name":
                named = self._named(mention)
                if named is not None:
                    self.built.tables.setdefault(named.table)
                    self.built.where.append(self._equals(named, mention.text))
            elif mention.kind == "table":
                self._use(mention)
            elif mention.kind == "column" and mention.text.endswith("_on"):
                self.built.tables.setdefault(mention.tables[0])
        for match in COMPARED.finditer(self.text):
            self._comparison(match)

    def _comparison(self, match: re.Match[str]) -> None:
        columns = [m for m in self.found if m.kind == "column"]
        after = [m for m in columns if 0 <= m.start - match.end() <= 1]
        before = [m for m in columns if m.end <= match.start()]
        said = after[0] if after else before[-1] if before else None
        if said is None:
            return
        column = self._column(said)
        self._use(said, column)
        how, number = OPERATORS[match["how"].lower()], match["number"]
        if column.is_text:
            self.built.where.append(f"substr({column.sql}, 1, 4) {how} '{number}'")
        else:
            self.built.where.append(f"{column.sql} {how} {number}")

    def _equals(self, column: Column, value: str) -> str:
        text = value.replace("'", "''")
        if "partial_text" in self.force:
            return f"{column.sql} LIKE '%{text}%'"
        return f"{column.sql} = '{text}'"

    def _named(self, mention: Mention) -> Column | None:
        """The column that a name is of: the one in front, or the nearest table with names."""
        behind = [m for m in self.found if m.kind == "column" and m.start > mention.end]
        if behind and self.text[mention.end : behind[0].start].strip() == "in the":
            return self._column(behind[0])
        before = [m for m in self.found if m.end <= mention.start and m.kind == "table"]
        table = before[-1].text if before else self.main.name
        word = self.text[: mention.start].split()[-1:] or [""]
        own = self.schema.tables[table]
        if own.is_named and word[0] in ("named", "called", "titled", own.name):
            return own.shown
        if not own.is_named or word[0] in ("by", "at", "did", "of"):
            for parent in self.schema.parents(table):
                if self.schema.tables[parent].is_named:
                    return self.schema.tables[parent].shown
        return own.shown if own.is_named else None

    # ------------------------------------------------------------------------------------- clauses

    def _follow_clauses(self) -> None:
        if "settled_only" in self.force:
            for table in [self.built.base, *self.built.tables]:
                settled = self._settled(table)
                if settled and not any(settled.split(" ")[0] in w for w in self.built.where):
                    self.built.where.append(settled)
        if "no_missing" in self.force:
            self.built.where += [f"{column.sql} IS NOT NULL" for column in self.built.columns]
        if "keep_unmatched" in self.force and not self.built.group:
            self.built.outer = True

    def _settled(self, table: str) -> str:
        column = next((c for c in self.schema.tables[table].columns if CANCELLED in c.values), None)
        return f"{column.sql} <> '{CANCELLED}'" if column else ""

    # ------------------------------------------------------------------------------------ mentions

    def _next(self, after: int, kinds: Sequence[str]) -> Mention | None:
        return next((m for m in self.found if m.start >= after and m.kind in kinds), None)

    def _use(self, mention: Mention, column: Column | None = None) -> None:
        self.used.add(mention.start)
        table = column.table if column else mention.tables[0]
        self.built.tables.setdefault(table)

    def _rebase(self, table: str) -> None:
        self.built.tables.setdefault(self.built.base)
        self.built.base = table

    def _column(self, mention: Mention) -> Column:
        """Of the columns that a word may stand for, the one whose table is named nearest."""
        tables = [m for m in self.found if m.kind == "table"]
        ranked = sorted(
            mention.columns,
            key=lambda c: min(
                (abs(m.start - mention.start) for m in tables if m.text == c.table),
                default=len(self.text) + (c.table != self.main.name),
            ),
        )
        return ranked[0]
