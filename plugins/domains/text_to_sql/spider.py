"""Spider: questions that a query answers over many databases, whose tables memory holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from framework.bounds import Bounded, above, at_least
from framework.contracts import Provenance
from framework.errors import DataError, UserError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json, digest, digest_file
from framework.text.reading import read_json
from plugins.domains.cards import Card, card
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    asked_for,
    check_sha256,
    kind_of,
    list_in,
    listed,
    object_in,
    provenance_of,
    read_file,
    read_questions,
    text_in,
)
from plugins.domains.one_history import OneHistory
from plugins.domains.text_to_sql.database import Database, Table, same_rows

HISTORY: Final = "tables"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpiderSettings(Bounded):
    """Where Spider's folder is, and what a query may take.

    path : the folder with `tables.json` and `database/`. questions : the file of questions in it.
    seconds : a query that takes longer is stopped, and wrong. rows : the most it may give.
    unknown_file : read files that are none of those published. sha256 : when given, the digest of
        all of them must be this.
    """

    path: str = ""
    questions: str = "dev.json"
    seconds: Annotated[float, above(0)] = 2.0
    rows: Annotated[int, at_least(1)] = 10_000
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        check_sha256(self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A question. `tables`: ids of the events that its query needs."""

    id: str
    database: str
    text: str
    sql: str
    ordered: bool
    tables: tuple[str, ...]


@register("domain", "spider")
class Spider(OneHistory[SpiderSettings, _Asked]):
    """Spider (Yu et al., EMNLP 2018) with its schemas in memory, by execution.

    An event is the statement that made a table; one history holds those of all databases that the
    file asks about. The task card names the question's database and not its schema, which Spider
    hands over. Gold: a critical `passage` for each table of the reference query. An answer is right
    when its query gives the same rows, in the same order where the reference orders them. Left out
    and counted is a question whose reference query fails. Cases come in order of the file; the seed
    plays no part. Stratum: how many tables are needed; cluster: the database.
    """

    card: ClassVar[Card] = card(__file__)
    provenance: Provenance = card.provenance
    history_name: ClassVar[str] = HISTORY
    provides: ClassVar[tuple[str, ...]] = ("query", "evidence", "items", "success")
    success_axis: ClassVar[str] = "execution_correct"
    headline: ClassVar[tuple[str, ...]] = (
        *("execution_correct", "executes", "p_ret", "recall_at_5", "ndcg_at_10"),
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: SpiderSettings) -> None:
        super().__init__(settings)
        folder = Path(settings.path).expanduser()
        if not settings.path or not folder.is_dir():
            missing = "no such folder" if settings.path else "no folder given"
            raise UserError(f"domain.path: {missing} (domain={self.name}); {self.card.where}")
        paths = [str(folder / name) for name in ("tables.json", settings.questions)]
        where = self.card.where
        read = [read_file(path, "", domain=self.name, where=where) for path in paths]
        (schemas, _), (records, _) = (
            listed(path, data) for path, (data, _) in zip(paths, read, strict=True)
        )
        tables = read_questions(paths[0], schemas, "db_id", _tables, "database")
        asked = _each(paths[1], records, tables)
        names = sorted({one.database for one in asked})
        files = {name: folder / "database" / name / f"{name}.sqlite" for name in names}
        self._databases = {
            name: Database(file, seconds=settings.seconds, rows=settings.rows)
            for name, file in files.items()
        }
        self._run = lru_cache(maxsize=4_096)(self._executed)
        good = [one for one in asked if not self._run(one.database, one.sql).error]
        self._failing = len(asked) - len(good)
        if not good:
            raise DataError(folder, None, "no reference query runs")
        found = digest([*(of for _, of in read), *map(digest_file, files.values())])
        asked_for(settings.path, settings.sha256, found)
        published, told = type(self).provenance, settings.unknown_file
        self.provenance = provenance_of(settings.path, found, published, None, told=told)
        events = {
            f"{name}.{table.lower()}": f"Of the database {name}:\n{made}"
            for name, database in self._databases.items()
            for table, made in database.schema.items()
        }
        if lost := {id_ for one in good for id_ in one.tables} - events.keys():
            raise DataError(folder, None, f"no table {min(lost)} in its database")
        date = self.card.fields["date"]
        kept = {k: Event(id=k, text=text, time=date, kind="table") for k, text in events.items()}
        self.hold(found, kept, good)

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Whether the answer's query gives the rows of the reference query on its database."""
        told = read_json(gold.invariant)
        given, expected = (self._run(told["database"], s) for s in (answer.text, gold.answer))
        return not given.error and same_rows(given.rows, expected.rows, ordered=told["ordered"])

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        """`execution_correct`, the success, and `executes`, whether the query runs at all."""
        ran = self._run(read_json(case.gold.invariant)["database"], answer.text)
        return {"execution_correct": self.success(answer, case.gold), "executes": not ran.error}

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """Questions that are left out, as their reference query fails."""
        return {"references_failing": float(self._failing)}

    def case(self, asked: _Asked) -> Case:
        items = tuple(
            GoldItem(
                id=f"table:{id_}",
                kind="passage",
                key=id_,
                spans=(Span(source_id=id_, text=self._events[id_].text),),
                critical=True,
            )
            for id_ in asked.tables
        )
        told = {"database": asked.database, "ordered": asked.ordered}
        return Case(
            id=asked.id,
            history_id=HISTORY,
            task=TaskCard(
                instruction=self.card.fields["asked"],
                query=f"In the database {asked.database}: {asked.text}",
                operation="write_sql",
            ),
            gold=Gold(
                items=items,
                evidence=asked.tables,
                answer=asked.sql,
                invariant=canonical_json(told),
            ),
            stratum=f"{len(asked.tables)} tables",
            cluster=asked.database,
            tags={"database": asked.database},
        )

    def _executed(self, database: str, sql: str) -> Table:
        return self._databases[database].run(sql)


def _tables(record: Mapping[str, Any]) -> list[str]:
    """The names of a database's tables, by their places in parsed queries."""
    if not re.fullmatch(r"[\w-]+", text_in(record, "db_id")):
        raise BadRecordError(f"db_id: {record['db_id']!r} names no folder")
    names = list_in(record, "table_names_original")
    return [text_in({"table_names_original": name}, "table_names_original") for name in names]


def _each(path: str, records: Sequence[Any], tables: Mapping[str, Sequence[str]]) -> list[_Asked]:
    """The questions in order. Raises DataError naming those that can't be used."""
    found, faults = [], Faults(path)
    for number, record in enumerate(records, start=1):
        with faults.of(f"question {number}"):
            if not isinstance(record, dict):
                raise BadRecordError(f"an object expected, {kind_of(record)} found")
            database, parsed = text_in(record, "db_id"), object_in(record, "sql")
            if database not in tables:
                raise BadRecordError(f"db_id: no database {database!r} in tables.json")
            known, needed = tables[database], dict.fromkeys(_units(parsed))
            if not needed or not all(0 <= unit < len(known) for unit in needed):
                raise BadRecordError(f"sql: tables {[*needed]} of {len(known)}")
            found.append(
                _Asked(
                    id=f"{database}_{number}",
                    database=database,
                    text=text_in(record, "question"),
                    sql=text_in(record, "query"),
                    ordered=bool(parsed.get("orderBy")),
                    tables=tuple(f"{database}.{known[unit].lower()}" for unit in needed),
                )
            )
    faults.check()
    return found


def _units(parsed: object) -> Iterator[int]:
    """The places of the tables of a parsed query and of the queries in it, as the file has them."""
    stack = [parsed]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            stack += reversed(part.values())
        elif isinstance(part, list):
            if len(part) == 2 and part[0] == "table_unit" and type(part[1]) is int:
                yield part[1]
            stack += reversed(part)
