from __future__ import annotations

import json
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import DataError
from framework.records import Answer, Case
from framework.testing.domain_conformance import check_domain
from plugins.domains._text_to_sql.database import same_rows
from plugins.domains.text_to_sql import HISTORY, TextToSQL, TextToSQLSettings

ROOT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("DECISIONBENCH_DATA", ROOT.parent / "shared" / "data"))
CHINOOK = SHARED / "chinook" / "Chinook_Sqlite.sqlite"
ROWS = st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["a", "b", None])), max_size=6)


@pytest.fixture(scope="module")
def library() -> TextToSQL:
    return TextToSQL(TextToSQLSettings())


def cases(domain: TextToSQL) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, seed=0)}


def own(folder: Path, questions: Any, **settings: Any) -> TextToSQL:
    """A domain over a database of one table and the questions given."""
    database = folder / "d.sqlite"
    if not database.exists():
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, "x"), (2, "y"), (2, None)])
    file = folder / "q.yaml"
    file.write_text(yaml.safe_dump(questions))
    return TextToSQL(TextToSQLSettings(path=str(database), questions=str(file), **settings))


def test_the_laws_hold() -> None:
    check_domain(TextToSQL, TextToSQLSettings(), n=40)


def test_there_are_at_least_sixty_questions_of_every_kind(library: TextToSQL) -> None:
    found = cases(library)
    assert len({case.cluster for case in found.values()}) >= 60
    assert {case.stratum for case in found.values()} == {
        "filter", "aggregate", "join", "group", "order",
    }  # fmt: skip


def test_hardly_a_question_has_an_empty_answer(library: TextToSQL) -> None:
    empty = [
        case.id
        for case in cases(library).values()
        if not any(value for row in library.execute(case.gold.answer).rows for value in row)
    ]
    assert len(empty) <= 3


def test_a_template_has_a_case_for_each_value(library: TextToSQL) -> None:
    case = cases(library)["crime_books.2"]
    assert case.task.query == "List the titles of the wildlife books."
    assert "natural history" in case.gold.answer
    assert case.gold.evidence == ("wildlife",)
    assert case.cluster == "crime_books"


def test_success_is_the_rows_whatever_the_query(library: TextToSQL) -> None:
    case = cases(library)["members_in.1"]
    for sql in (
        case.gold.answer,
        "SELECT m.name FROM members m WHERE m.city IN ('Ash') ORDER BY 1 DESC",
    ):
        assert library.success(Answer(text=sql), case.gold)
    for sql in (
        "SELECT name FROM members",
        "SELECT nothing FROM members",
        "",
        "SELECT 1; SELECT 2",
    ):
        assert not library.success(Answer(text=sql), case.gold)


def test_the_order_counts_where_it_is_asked_for(library: TextToSQL) -> None:
    found = cases(library)
    case = found["alphabetical.1"]
    assert library.success(Answer(text=case.gold.answer), case.gold)
    backwards = f"{case.gold.answer} DESC"
    assert not library.success(Answer(text=backwards), case.gold)


def test_checks_tell_a_wrong_query_from_one_that_does_not_run(library: TextToSQL) -> None:
    case = cases(library)["members_in.1"]
    wrong = library.checks(Answer(text="SELECT name FROM members"), case)
    assert wrong == {"execution_correct": False, "executes": True}
    broken = library.checks(Answer(text="SELECT"), case)
    assert broken == {"execution_correct": False, "executes": False}


@given(ROWS, st.randoms())
def test_rows_as_multisets_and_as_lists(rows: list[tuple[Any, ...]], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    assert same_rows(shuffled, rows, ordered=False)
    assert same_rows(shuffled, rows, ordered=True) is (shuffled == rows)
    if rows:
        assert not same_rows(rows[1:], rows, ordered=False)
        assert not same_rows([*rows, rows[0]], rows, ordered=False)


def test_numbers_agree_to_six_places() -> None:
    assert same_rows([(1, 0.1 + 0.2)], [(1.0, 0.3)], ordered=True)
    assert not same_rows([(1,)], [("1",)], ordered=True)
    assert not same_rows([(None,)], [(0,)], ordered=True)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE books",
        "DELETE FROM books",
        "INSERT INTO authors VALUES (99, 'x', 'y')",
        "UPDATE books SET price = 0",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "ATTACH '/etc/passwd' AS x",
        "PRAGMA writable_schema = ON",
        "VACUUM",
        "SELECT load_extension('x')",
        "SELECT zeroblob(2000000000)",
        "SELECT * FROM books a, books b, books c",
        "SELECT 1\0",
        "\ud800",
    ],
)
def test_a_query_can_only_read_and_only_so_much(library: TextToSQL, sql: str) -> None:
    assert library.execute(sql).error
    assert not library.execute("SELECT COUNT(*) FROM books").error


def test_a_query_without_end_is_stopped(tmp_path: Path) -> None:
    domain = own(tmp_path, [{"id": "q", "question": "How many?", "sql": "SELECT COUNT(*) FROM t"}],
                 seconds=0.2)  # fmt: skip
    endless = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c"
    )
    start = time.monotonic()
    assert domain.execute(endless).error == "it took too long"
    assert time.monotonic() - start < 5


def test_a_database_of_one_s_own_has_its_tables_as_documents(tmp_path: Path) -> None:
    domain = own(
        tmp_path,
        {
            "notes": [{"id": "n", "text": "`late` means t.a > 1."}],
            "questions": [
                {"id": "q", "question": "Which are late?", "sql": "SELECT b FROM t WHERE a > 1",
                 "notes": ["n"]},
            ],
        },
    )  # fmt: skip
    assert [e.text for e in domain.history(HISTORY)] == [
        "The table t has the columns a, b.",
        "`late` means t.a > 1.",
    ]
    (case,) = domain.cases(None, seed=0)
    assert "CREATE TABLE t" in case.task.material["schema"]
    assert case.gold.evidence == ("n",)
    with pytest.raises(KeyError):
        list(domain.history("other"))


GOOD = {"id": "q", "question": "How many?", "sql": "SELECT COUNT(*) FROM t"}


@pytest.mark.parametrize(
    ("questions", "says"),
    [
        ("words", "a list of questions expected"),
        ([], "no questions"),
        ([GOOD, GOOD], "two questions of the id 'q'"),
        ([{"id": "q", "question": "How?"}], r"question 1 \(id 'q'\): sql: text expected"),
        ([{**GOOD, "sql": "SELECT x FROM t"}], "question 'q': its sql fails: no such column: x"),
        ([{**GOOD, "notes": ["n"]}], "no note 'n'"),
        ([{**GOOD, "ordered": "yes"}], "ordered: true or false expected"),
        ([{**GOOD, "v": []}], "a list `v` and others of its length expected"),
        ([{**GOOD, "v": ["a", "b"], "w": ["c"]}], "a list `v` and others of its length expected"),
        ([3], "question 1: an object expected"),
        ({"questions": [GOOD], "notes": [{"id": "n"}]}, "note 1: text: text expected"),
    ],
)
def test_bad_questions_are_named(tmp_path: Path, questions: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        own(tmp_path, questions)


def test_mistakes_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="both, or neither"):
        TextToSQLSettings(path="x.sqlite")
    with pytest.raises(DataError, match="no such file"):
        TextToSQL(TextToSQLSettings(path=str(tmp_path / "x"), questions=str(tmp_path / "y")))
    text = tmp_path / "d.sqlite"
    text.write_text("this is no database at all, but it is long enough to look like a header")
    with pytest.raises(DataError, match="no sqlite database"):
        TextToSQL(TextToSQLSettings(path=str(text), questions=str(text)))


@pytest.mark.skipif(not CHINOOK.exists(), reason=f"{CHINOOK} is not there")
def test_questions_over_chinook(tmp_path: Path) -> None:
    file = tmp_path / "q.json"
    asked = {"id": "a", "question": "How many tracks?", "sql": "SELECT COUNT(*) FROM Track"}
    file.write_text(json.dumps([asked]))
    domain = TextToSQL(TextToSQLSettings(path=str(CHINOOK), questions=str(file)))
    check_domain(TextToSQL, domain.settings)
    assert len(list(domain.history(HISTORY))) == 11
    assert domain.execute("SELECT COUNT(*) FROM Track").rows == ((3503,),)
