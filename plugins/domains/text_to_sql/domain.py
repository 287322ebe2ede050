"""Questions that a query answers, over a small library's database or one of your own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, above, at_least
from framework.contracts import Domain, Provenance
from framework.errors import DataError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.canonical import canonical_json, digest
from framework.text.tokens import count_tokens
from plugins.domains.text_to_sql.database import Database, Table, same_rows
from plugins.domains.text_to_sql.questions import Asked, Note, load

HISTORY: Final = "notes"
"""The one history: what is known of the database."""

INSTRUCTION: Final = (
    "Write one SQL query for sqlite that answers the question. Select what is asked for and no "
    "other column; order the rows only where the question asks for an order."
)

_OWN: Final = Path(__file__).parent
_DATE: Final = "2026-01-01"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextToSQLSettings(Bounded):
    """Which database and questions, and what a query may take.

    forms : wording of the questions: `development`, `held_out` (the rule-based writer was written
        against the former alone; a question without the latter is left out), or `mixed`, either in
        turns. `reworded`: in held-out wordings those that `mixed` words otherwise.
    path : a sqlite file, or a script of SQL statements (`.sql`); empty for the library that comes
        along. questions : a YAML or JSON file of questions with reference queries and notes; empty
        for the library's own. Both or neither.
    seconds : a query that takes longer is stopped, and wrong. rows : the most it may give.
    """

    forms: Literal["mixed", "development", "held_out", "reworded"] = "mixed"
    path: str = ""
    questions: str = ""
    seconds: Annotated[float, above(0)] = 2.0
    rows: Annotated[int, at_least(1)] = 10_000

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if bool(self.path) != bool(self.questions):
            raise ValueError("path and questions: both, or neither for the library's own")


@register("domain", "text_to_sql")
class TextToSQL(Domain[TextToSQLSettings]):
    """Text to SQL, scored by execution, as Spider and BIRD do (Regimes 4.2).

    The schema is handed over with the task. The history is what else is known of the database: a
    document for each table, what words mean, examples, and facts; the questions of all cases are
    asked of it. An answer is right when its query gives the rows of the reference query on this
    database: as multisets, or as lists where the question asks for an order. Queries can only
    read, and time and rows are limited. Gold: a critical `passage` for each note that a question
    can't do without. Cases come in rounds, one of each template in the order of the file, so that
    the first few span all kinds; the seed plays no part. Stratum: the kind (filter, aggregate,
    join, group, order); cluster: the template; tag `form`: the wording.

    Of the library's 272 questions 217 need the schema alone and no memory (tag `notes`: `needed`
    or `none`): what a memory earns is `execution_with_notes`, over the other 55.

    Raises DataError naming file and record for bad data, a reference query that fails included, and
    for a file without any held-out wording where none but those are wanted.
    """

    provenance: Provenance = Provenance(
        source="the library database and questions of this package, or the files given",
        revision="the digest of database and questions is recorded",
        licence="MIT for the package's own",
        citation=(
            "Execution accuracy: Yu et al., Spider, EMNLP 2018; Li et al., BIRD, NeurIPS 2023."
        ),
    )
    provides: ClassVar[tuple[str, ...]] = ("query", "evidence", "items", "success")
    success_axis: ClassVar[str] = "execution_correct"
    version: ClassVar[str] = "2"
    headline: ClassVar[tuple[str, ...]] = (
        "execution_correct",
        "execution_with_notes",
        "executes",
        "p_ret",
        "recall_at_5",
    )

    def __init__(self, settings: TextToSQLSettings) -> None:
        super().__init__(settings)
        database = Path(settings.path).expanduser() if settings.path else _OWN / "library.sql"
        file = Path(settings.questions).expanduser() if settings.path else _OWN / "questions.yaml"
        self._database = Database(database, seconds=settings.seconds, rows=settings.rows)
        notes, asked, stated = load(file)
        if settings.path:
            self.provenance = stated
        self._digest = digest([database.read_bytes().hex(), file.read_bytes().hex()])
        self._run = lru_cache(maxsize=4_096)(self._database.run)
        for question in asked:
            failed = self._run(question.sql).error
            if failed:
                raise DataError(file, None, f"question {question.id!r}: its sql fails: {failed}")
        self._asked = [q for q in _in_rounds(asked) if self._form(q) is not None]
        if not self._asked:
            raise DataError(file, None, f"no question has a wording for forms={settings.forms}")
        documents = [
            Note(id=f"table:{name}", text=f"The table {name} has the columns {', '.join(columns)}.")
            for name, columns in self._database.columns.items()
        ]
        self._events = {
            note.id: Event(id=note.id, text=note.text, time=_DATE, kind=_kind(note))
            for note in (*documents, *notes)
        }
        self._schema = ";\n".join(self._database.schema.values()) + ";"

    @property
    def nominal_tokens(self) -> int:
        """Tokens of all documents and notes."""
        return sum(count_tokens(event.text) for event in self._events.values())

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        yield from map(self._case, islice(self._asked, n))

    def history(self, history_id: str) -> Iterator[Event]:
        if history_id != HISTORY:
            raise KeyError(history_id)
        yield from self._events.values()

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Whether the answer's query gives the rows of the reference query."""
        given, expected = self.execute(answer.text), self._run(gold.answer)
        ordered = gold.invariant == _invariant(ordered=True)
        return not given.error and same_rows(given.rows, expected.rows, ordered=ordered)

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        """`execution_correct`, the success, and `executes`, whether the query runs at all."""
        return {
            "execution_correct": self.success(answer, case.gold),
            "executes": not self.execute(answer.text).error,
        }

    def execute(self, sql: str) -> Table:
        """The rows of a query on this database, or why there are none."""
        return self._run(sql)

    def _form(self, asked: Asked) -> Literal["development", "held_out"] | None:
        """The wording of a question; None for one that is not asked."""
        forms = self.settings.forms
        if forms == "development" or (forms == "mixed" and not (asked.turn and asked.held_out)):
            return "development"
        if not asked.held_out or (forms == "reworded" and asked.turn):
            return None
        return "held_out"

    def _case(self, asked: Asked) -> Case:
        form = self._form(asked) or "development"
        items = tuple(
            GoldItem(
                id=f"note:{id_}",
                kind="passage",
                key=id_,
                spans=(Span(source_id=id_, text=self._events[id_].text),),
                critical=True,
            )
            for id_ in asked.notes
        )
        gold = Gold(
            items=items,
            evidence=asked.notes,
            answer=asked.sql,
            invariant=_invariant(ordered=asked.ordered),
        )
        task = TaskCard(
            instruction=INSTRUCTION,
            query=asked.held_out if form == "held_out" else asked.text,
            operation="write_sql",
            material={"schema": self._schema},
        )
        return Case(
            id=asked.id,
            history_id=HISTORY,
            task=task,
            gold=gold,
            stratum=asked.kind,
            cluster=asked.template,
            tags={
                "form": form,
                "kind": asked.kind,
                "notes": "needed" if asked.notes else "none",
            },
        )


def _in_rounds(asked: Sequence[Asked]) -> list[Asked]:
    """The first question of every template, then the second of those that have one, and so on."""
    seen: Counter[str] = Counter()
    rounds = []
    for question in asked:
        rounds.append(seen[question.template])
        seen[question.template] += 1
    return [asked[i] for i in sorted(range(len(asked)), key=rounds.__getitem__)]


def _invariant(*, ordered: bool) -> str:
    return canonical_json({"ordered": ordered})


def _kind(note: Note) -> str:
    if note.id.startswith("table:"):
        return "table"
    return "example" if note.text.startswith("Question:") else "note"
