"""What the words of a question stand for: tables, columns, values, conditions, names.

Words come from the schema and from notes of the form "`thick` means books.pages > 400." that a
memory has retrieved. What is neither stays without a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from plugins.models.rule_based.querying.schema import Column, Schema

_MEANS: Final = re.compile(r"`(?P<word>[^`]+)` means (?P<what>.+?)\.(?:\s|$)")
_SUM: Final = re.compile(
    r"^the (?P<how>sum|average|number) of (?P<column>\w+\.\w+)(?: where (?P<where>.+))?$"
)
_DOTTED: Final = re.compile(r"\b(\w+)\.(\w+)\b")
_NAME: Final = re.compile(
    r"\"(?P<quoted>[^\"]+)\""
    r"|(?<![\w'])(?P<name>[A-Z][\w']*(?: (?:of |a |the |in |from )?[A-Z][\w']*)*)"
)
_EXAMPLE: Final = re.compile(r"Question: (?P<question>.+)\nSQL: (?P<sql>.+)")
_FUNCTIONS: Final = {"sum": "SUM", "average": "AVG", "number": "COUNT"}
_OPENING: Final = frozenset({"which", "what", "list", "how", "show", "give", "who"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """What stands at [start, end) of a question.

    kind : `table`, `column`, `value`, `condition`, `measure` or `name`. tables : those it may be
    of, for a column or value in the schema's order. text : the column's name, the value or name as
    written, the condition's or measure's SQL. columns : candidates of a column or value.
    """

    kind: str
    start: int
    end: int
    text: str
    tables: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A question of the notes with its query."""

    question: str
    sql: str


def examples_in(view: str) -> list[Example]:
    """The examples of a view, in its order."""
    return [Example(question=m["question"], sql=m["sql"]) for m in _EXAMPLE.finditer(view)]


def mentions(question: str, schema: Schema, view: str) -> list[Mention]:
    """Everything in the question that has a meaning, in order; the longest words win."""
    found: list[Mention] = []
    taken: list[tuple[int, int]] = []
    phrases = sorted(_phrases(schema, view), key=lambda entry: -len(entry[0]))
    for words, meant in phrases:
        pattern = rf"(?<![\w']){re.escape(words)}(?![\w'])"
        for match in re.finditer(pattern, question, re.IGNORECASE):
            if not any(a < match.end() and match.start() < b for a, b in taken):
                taken.append(match.span())
                found.append(replace(meant, start=match.start(), end=match.end()))
    for match in _NAME.finditer(question):
        text = match["quoted"] or match["name"]
        if match.start() == 0 and text.casefold() in _OPENING:
            continue
        inside = [(a, b) for a, b in taken if match.start() <= a and b <= match.end()]
        if any(a < match.end() and match.start() < b for a, b in taken if (a, b) not in inside):
            continue
        if inside and any((a, b) == match.span() for a, b in inside):
            continue  # the whole name is a known value
        found = [m for m in found if (m.start, m.end) not in inside]
        found.append(Mention(kind="name", start=match.start(), end=match.end(), text=text))
    return sorted(found, key=lambda m: m.start)


def _phrases(schema: Schema, view: str) -> Iterator[tuple[str, Mention]]:
    """Words and what they mean, the notes' first: of two meanings the first holds."""
    for match in _MEANS.finditer(view):
        meant = _meant(match["what"], schema)
        if meant is not None:
            for words in _forms(match["word"]):
                yield words, meant
    by_name: dict[str, list[Column]] = {}
    by_value: dict[str, list[Column]] = {}
    for table in schema.tables.values():
        meant = Mention(kind="table", start=0, end=0, text=table.name, tables=(table.name,))
        for words in _forms(table.name):
            yield words, meant
        for column in table.columns:
            by_name.setdefault(column.name.casefold(), []).append(column)
            for value in column.values:
                by_value.setdefault(value, []).append(column)
    for name, columns in by_name.items():
        meant = _of("column", columns[0].name, columns)
        for words in _forms(name):
            yield words, meant
        if name.endswith("_on"):
            yield name.removesuffix("_on"), meant
    for value, columns in by_value.items():
        yield value, _of("value", value, columns)


def _of(kind: str, text: str, columns: list[Column]) -> Mention:
    tables = tuple(column.table for column in columns)
    return Mention(kind=kind, start=0, end=0, text=text, tables=tables, columns=tuple(columns))


def _meant(what: str, schema: Schema) -> Mention | None:
    if what.startswith("the table "):
        name = what.removeprefix("the table ")
        known = name in schema.tables
        return Mention(kind="table", start=0, end=0, text=name, tables=(name,)) if known else None
    total = _SUM.match(what)
    dotted = _DOTTED.match(total["column"] if total else what)
    if dotted is None or dotted[1] not in schema.tables:
        return None
    column = schema.tables[dotted[1]].column(dotted[2])
    if column is None:
        return None
    if total:
        sql = f"{_FUNCTIONS[total['how']]}({column.sql})"
        return Mention(
            kind="measure",
            start=0,
            end=0,
            text=sql,
            tables=(column.table,),
            where=total["where"] or "",
        )
    if dotted.end() == len(what):
        return _of("column", column.name, [column])
    return Mention(kind="condition", start=0, end=0, text=what, tables=(column.table,))


def _forms(name: str) -> list[str]:
    """A name as words, as they stand and as one or several: `copies`, `copy`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").casefold()
    forms = {words}
    if words.endswith("ies"):
        forms.add(words[:-3] + "y")
    elif words.endswith("ches"):
        forms.add(words[:-2])
    elif words.endswith("s"):
        forms.add(words[:-1])
    elif words.endswith("y"):
        forms.add(words[:-1] + "ies")
    else:
        forms.add(words + "s")
    return sorted(forms)
