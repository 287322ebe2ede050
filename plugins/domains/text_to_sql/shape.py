"""The shape `queries`: questions that a query answers over many databases, from published files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final

from framework.bounds import Bounded, above, at_least
from framework.errors import DataError, UserError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.text.canonical import canonical_json, digest, digest_file
from framework.text.reading import read_json
from plugins.domains.cards import Benchmark
from plugins.domains.data_file import (
    BadRecordError,
    asked_for,
    check_sha256,
    listed,
    provenance_of,
    read_each,
    read_file,
    read_questions,
    text_in,
)
from plugins.domains.errata import Correction, check_cases, read_errata
from plugins.domains.one_history import OneHistory
from plugins.domains.text_to_sql.database import Database, Table, same_rows

HISTORY: Final = "tables"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySettings(Bounded):
    """Where the benchmark's folder is, and what a query may take.

    path : the folder. questions : the file of questions in it. seconds : a query that takes longer
    is stopped, and wrong. rows : the most it may give. errata : a JSON file of corrections by case
    id, which are applied: an answer is a query, evidence ids of tables. unknown_file : read files
    that are none of those published. sha256 : when given, the digest of all of them must be this.
    """

    path: str = ""
    questions: str = "dev.json"
    seconds: Annotated[float, above(0)] = 2.0
    rows: Annotated[int, at_least(1)] = 10_000
    errata: str = ""
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        check_sha256(self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question. `tables`: of its database, those that its query `sql` needs."""

    database: str
    text: str
    sql: str
    ordered: bool
    tables: tuple[str, ...]


class Queries(OneHistory[QuerySettings, tuple[str, Asked]], Benchmark[QuerySettings]):
    """A benchmark of this shape: a card, and how its records are read.

    The card's fields say what the file of `tables` and a `database` are called in the folder, the
    `key` of a database in both files, and what is `asked`. An event is the statement that made a
    table; one history holds those of all databases that the file asks about. Gold: a critical
    `passage` for each table of the reference query. An answer is right when its query gives the
    same rows, in the same order where the reference orders them. Left out and counted is a question
    whose reference query fails. A case is `DATABASE_3`, the third of the file; the seed plays no
    part. Stratum: how many tables are needed; cluster: the database.
    """

    history_name: ClassVar[str] = HISTORY
    provides: ClassVar[tuple[str, ...]] = ("query", "evidence", "items", "success")
    success_axis: ClassVar[str] = "execution_correct"
    headline: ClassVar[tuple[str, ...]] = (
        *("execution_correct", "executes", "p_ret", "recall_at_5", "ndcg_at_10"),
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: QuerySettings) -> None:
        super().__init__(settings)
        folder, fields = Path(settings.path).expanduser(), self.card.fields
        if not settings.path or not folder.is_dir():
            missing = "no such folder" if settings.path else "no folder given"
            raise UserError(f"domain.path: {missing} (domain={self.name}); {self.card.where}")
        paths = [str(folder / name) for name in (fields["tables"], settings.questions)]
        where, key = self.card.where, fields["key"]
        read = [read_file(path, "", domain=self.name, where=where) for path in paths]
        (schemas, _), (records, _) = (
            listed(path, data) for path, (data, _) in zip(paths, read, strict=True)
        )
        tables = read_questions(paths[0], schemas, key, self.tables, "database")

        def question(record: Mapping[str, Any]) -> Asked:
            name = text_in(record, key)
            if name not in tables:
                raise BadRecordError(f"{key}: no database {name!r} in {fields['tables']}")
            return self.question(name, record, tables[name])

        every = read_each(paths[1], records, question, "question")
        files = {
            name: folder / fields["database"].format(name)
            for name in sorted({one.database for one in every})
        }
        self._databases = {
            name: Database(file, seconds=settings.seconds, rows=settings.rows)
            for name, file in files.items()
        }
        self._run = lru_cache(maxsize=4_096)(self._executed)
        named = {f"{one.database}_{number}": one for number, one in enumerate(every, start=1)}
        self._errata = read_errata(settings.errata, domain=self.name)
        check_cases(settings.errata, self._errata, named)
        kept = [(k, self._corrected(k, one)) for k, one in named.items() if self._errata.keep(k)]
        good = [(id_, one) for id_, one in kept if not self._run(one.database, one.sql).error]
        self._failing = len(kept) - len(good)
        if not good:
            raise DataError(folder, None, "no reference query runs")
        found = digest([*(of for _, of in read), *map(digest_file, files.values())])
        asked_for(settings.path, settings.sha256, found)
        published, told = type(self).provenance, settings.unknown_file
        self.provenance = provenance_of(settings.path, found, published, None, told=told)
        events = {
            _event_id(name, table): f"Of the database {name}:\n{made}"
            for name, database in self._databases.items()
            for table, made in database.schema.items()
        }
        if lost := {id_ for _, one in good for id_ in _evidence(one)} - events.keys():
            raise DataError(folder, None, f"no table {min(lost)[:200]} in its database")
        date = fields["date"]
        held = {k: Event(id=k, text=text, time=date, kind="table") for k, text in events.items()}
        self.hold(self._errata.digest_with(found), held, good)

    @classmethod
    @abstractmethod
    def tables(cls, record: Mapping[str, Any]) -> Sequence[str]:
        """The names of a database's tables. Raises BadRecordError."""

    @classmethod
    @abstractmethod
    def question(cls, database: str, record: Mapping[str, Any], tables: Sequence[str]) -> Asked:
        """What a record asks of this database with these tables. Raises BadRecordError."""

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
        """Questions left out, as their reference query fails, and the key's ceiling where known."""
        ceiling = self._errata.report([case.id for case in cases]) if self._errata.digest else {}
        return {"references_failing": float(self._failing), **ceiling}

    def case(self, asked: tuple[str, Asked]) -> Case:
        id_, one = asked
        evidence = _evidence(one)
        items = tuple(
            GoldItem(
                id=f"table:{table}",
                kind="passage",
                key=table,
                spans=(Span(source_id=table, text=self._events[table].text),),
                critical=True,
            )
            for table in evidence
        )
        told = {"database": one.database, "ordered": one.ordered}
        return Case(
            id=id_,
            history_id=HISTORY,
            task=TaskCard(
                instruction=self.card.fields["asked"],
                query=f"In the database {one.database}: {one.text}",
                operation="write_sql",
            ),
            gold=Gold(
                items=items,
                evidence=evidence,
                answer=one.sql,
                invariant=canonical_json(told),
            ),
            stratum=f"{len(evidence)} tables",
            cluster=one.database,
            tags={"database": one.database},
        )

    def _corrected(self, id_: str, one: Asked) -> Asked:
        found = self._errata.corrections.get(id_, Correction())
        if found.answer:
            ordered = "order by" in " ".join(found.answer.lower().split())
            one = replace(one, sql=found.answer, ordered=ordered)
        if found.evidence is not None:
            tables = tuple(table.removeprefix(f"{one.database}.") for table in found.evidence)
            one = replace(one, tables=tables)
        return one

    def _executed(self, database: str, sql: str) -> Table:
        return self._databases[database].run(sql)


def _event_id(database: str, table: str) -> str:
    return f"{database}.{table.lower()}"


def _evidence(one: Asked) -> tuple[str, ...]:
    return tuple(_event_id(one.database, table) for table in one.tables)
