"""Schema, words and the query that is put together from them."""

from __future__ import annotations

import pytest

from framework.contracts import Profile, answer_by_rule
from framework.operations.answering import AnswerRequest
from framework.operations.write_sql import WriteSQL, WriteSQLResponse
from framework.records import TaskCard
from plugins.models.rule_based.clauses import known_clauses
from plugins.models.rule_based.querying.lexicon import mentions
from plugins.models.rule_based.querying.schema import read_schema

DDL = """\
CREATE TABLE rooms (
  room_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  floor INTEGER
);
CREATE TABLE desks (
  desk_id INTEGER PRIMARY KEY,
  room_id INTEGER NOT NULL REFERENCES rooms (room_id),
  width INTEGER, -- in centimetres
  price REAL,
  state TEXT -- new, worn, cancelled
);
CREATE TABLE [Visits] (
  [VisitId] INTEGER NOT NULL,
  [DeskId] INTEGER,
  [visited_on] TEXT,
  CONSTRAINT [PK_Visits] PRIMARY KEY ([VisitId]),
  FOREIGN KEY ([DeskId]) REFERENCES [desks] ([desk_id])
    ON DELETE NO ACTION
);"""
NOTES = (
    "`broad` means desks.width > 150.\n`tables` means the table desks.\n"
    "`outlay` means the sum of desks.price where desks.state = 'worn'.\n"
    "Question: What share of the new desks is broad?\n"
    "SQL: SELECT AVG(desks.width > 150) FROM desks WHERE desks.state = 'new'"
)
CLAUSE = {clause.key: clause.text for clause in known_clauses()}
OPERATION = WriteSQL()


def written(question: str, *keys: str, view: str = NOTES) -> str:
    request = AnswerRequest(
        task=TaskCard(
            instruction=" ".join(CLAUSE[key] for key in keys),
            query=question,
            material={"schema": DDL},
        ),
        view=view,
    )
    return answer_by_rule(OPERATION, request).sql


def test_a_schema_has_its_tables_keys_values_and_links() -> None:
    schema = read_schema(DDL)
    assert list(schema.tables) == ["rooms", "desks", "Visits"]
    assert schema.tables["Visits"].key == "VisitId"
    assert schema.tables["rooms"].shown.sql == "rooms.name"
    assert schema.tables["desks"].shown.sql == "desks.desk_id"
    state = schema.tables["desks"].column("STATE")
    assert state is not None
    assert state.values == ("new", "worn", "cancelled")
    assert [link.sql for link in schema.links] == [
        "desks.room_id = rooms.room_id",
        "Visits.DeskId = desks.desk_id",
    ]
    assert schema.parents("Visits") == ["desks", "rooms"]
    assert [name for name, _ in schema.joined("Visits", ["rooms"])] == ["desks", "rooms"]
    assert schema.joined("rooms", ["nowhere", "rooms"]) == []


def test_words_mean_what_the_schema_and_the_notes_say_the_longest_first() -> None:
    found = mentions("Which broad tables are in Blue Hall?", read_schema(DDL), NOTES)
    assert [(m.kind, m.text) for m in found] == [
        ("condition", "desks.width > 150"),
        ("table", "desks"),
        ("name", "Blue Hall"),
    ]
    assert [m.kind for m in mentions("Which broad tables?", read_schema(DDL), "")] == []


@pytest.mark.parametrize(
    ("question", "keys", "sql"),
    [
        ("How many worn desks are there?", (),
         "SELECT COUNT(*) FROM desks WHERE desks.state = 'worn'"),
        ("How many worn desks are there?", ("no_duplicates",),
         "SELECT COUNT(DISTINCT desks.desk_id) FROM desks WHERE desks.state = 'worn'"),
        ("What is the average price of the new desks?", (),
         "SELECT AVG(desks.price) FROM desks WHERE desks.state = 'new'"),
        ("What is the average price of the new desks?", ("no_duplicates", "no_missing"),
         "SELECT AVG(DISTINCT desks.price) FROM desks WHERE desks.state = 'new' "
         "AND desks.price IS NOT NULL"),
        ("What is the outlay?", (),
         "SELECT SUM(desks.price) FROM desks WHERE desks.state = 'worn'"),
        ("List the names of the rooms named Blue Hall.", (),
         "SELECT rooms.name FROM rooms WHERE rooms.name = 'Blue Hall'"),
        ("List the names of the rooms named Blue Hall.", ("partial_text",),
         "SELECT rooms.name FROM rooms WHERE rooms.name LIKE '%Blue Hall%'"),
        ("Which rooms have a floor above 3?", (),
         "SELECT rooms.name FROM rooms WHERE rooms.floor > 3"),
        ("How many desks are there for each room?", (),
         "SELECT rooms.name, COUNT(*) FROM desks JOIN rooms ON desks.room_id = rooms.room_id "
         "GROUP BY rooms.name"),
        ("How many desks are there for each room?", ("group_by_key", "keep_unmatched"),
         "SELECT rooms.name, COUNT(desks.desk_id) FROM rooms LEFT JOIN desks ON "
         "desks.room_id = rooms.room_id GROUP BY rooms.room_id"),
        ("How many desks are at Blue Hall?", ("settled_only",),
         "SELECT COUNT(*) FROM desks JOIN rooms ON desks.room_id = rooms.room_id "
         "WHERE rooms.name = 'Blue Hall' AND desks.state <> 'cancelled'"),
        ("Which room has the most desks?", (),
         "SELECT rooms.name FROM desks JOIN rooms ON desks.room_id = rooms.room_id "
         "GROUP BY rooms.name ORDER BY COUNT(*) DESC LIMIT 1"),
        ("Which 2 desks are the cheapest?", (),
         "SELECT desks.desk_id FROM desks ORDER BY desks.price LIMIT 2"),
        ("Which 2 desks are the cheapest?", ("with_ties",),
         "SELECT desks.desk_id FROM desks WHERE desks.price <= (SELECT MAX(x) FROM (SELECT "
         "desks.price AS x FROM desks ORDER BY x LIMIT 2)) ORDER BY desks.price"),
        ("Which rooms have no desks?", (),
         "SELECT rooms.name FROM rooms WHERE NOT EXISTS (SELECT 1 FROM desks WHERE "
         "desks.room_id = rooms.room_id)"),
        ("List the names of the rooms sorted by floor in descending order and then by name.", (),
         "SELECT rooms.name FROM rooms ORDER BY rooms.floor DESC, rooms.name"),
        ("Which desk was visited last?", (),
         "SELECT desks.desk_id FROM desks JOIN Visits ON Visits.DeskId = desks.desk_id "
         "ORDER BY Visits.visited_on DESC LIMIT 1"),
        ("What share of the worn desks is broad?", ("follow_examples",),
         "SELECT AVG(desks.width > 150) FROM desks WHERE desks.state = 'worn'"),
        ("What is the weather?", (), ""),
    ],
)  # fmt: skip
def test_a_question_as_a_query(question: str, keys: tuple[str, ...], sql: str) -> None:
    assert written(question, *keys) == sql


def test_without_its_note_a_word_means_nothing() -> None:
    assert "150" in written("Which desks are broad?")
    assert "150" not in written("Which desks are broad?", view="")


def test_a_value_with_a_quotation_mark_stays_a_value() -> None:
    sql = written("List the names of the rooms named \"O'Neil's\".")
    assert sql.endswith("rooms.name = 'O''Neil''s'")


def test_a_noisy_reader_misses_notes() -> None:
    request = AnswerRequest(
        task=TaskCard(instruction="", query="Which desks are broad?", material={"schema": DDL}),
        view=NOTES,
    )
    missed = answer_by_rule(OPERATION, request, Profile(style="noisy", miss_rate=1.0))
    assert "150" not in missed.sql


def test_the_prompt_holds_schema_notes_and_instruction_and_a_reply_is_read() -> None:
    card = TaskCard(instruction="Be exact.", query="How many?", material={"schema": DDL})
    request = AnswerRequest(task=card, view=NOTES)
    text = OPERATION.prompt(request).text
    assert all(part in text for part in (DDL, NOTES, "Be exact.", "How many?"))
    parsed = OPERATION.parse('{"sql": "```sql\\nSELECT 1;\\n```"}', request)
    assert parsed == WriteSQLResponse(sql="SELECT 1")
    assert OPERATION.answer_of(parsed, card).text == "SELECT 1"
    with pytest.raises(ValueError, match="keys"):
        OPERATION.parse('{"query": "SELECT 1"}', request)
