from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Scored
from framework.errors import DataError
from framework.records import Answer, Case, MemoryView
from framework.registry import NoSettings
from framework.testing.arch_conformance import NoClient, settle
from framework.testing.domain_conformance import check_domain
from plugins.axes.execution import Execution
from plugins.domains.text_to_sql import database
from plugins.domains.text_to_sql.database import same_rows
from plugins.domains.text_to_sql.domain import HISTORY, TextToSQL, TextToSQLSettings

ROOT = Path(__file__).resolve().parents[4]
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


def test_it_says_how_many_questions_need_no_memory(library: TextToSQL) -> None:
    found = Counter(bool(case.gold.items) for case in cases(library).values())
    assert (found[False], sum(found.values())) == (217, 272)
    for said in ("217", "272", "other 55"):
        assert said in " ".join((TextToSQL.__doc__ or "").split())
    assert "execution_with_notes" in TextToSQL.headline


def test_what_memory_earns_is_of_the_questions_that_need_it(library: TextToSQL) -> None:
    axis = Execution(NoSettings())
    for case in list(cases(library).values())[:40]:
        for text, right in ((case.gold.answer, 1.0), ("SELECT 1 WHERE 0", 0.0)):
            one = scored_case(library, case, Answer(text=text))
            values = settle(axis.score(one)).values
            assert values["execution_with_notes"] == (
                values["execution_correct"] if case.gold.items else None
            )
            assert right == 0.0 or values["execution_correct"] == 1.0


def scored_case(library: TextToSQL, case: Case, answer: Answer) -> Scored:
    return Scored(
        case=case,
        domain=library,
        view=MemoryView(items=(), tokens=0, budget_tokens=None),
        answer=answer,
        retained={item.id: False for item in case.gold.items},
        judge=None,
        client=NoClient(),
    )


def test_hardly_a_question_has_an_empty_answer(library: TextToSQL) -> None:
    empty = [
        case.id
        for case in cases(library).values()
        if not any(value for row in library.execute(case.gold.answer).rows for value in row)
    ]
    assert len(empty) <= 3


def test_a_template_has_a_case_for_each_value(library: TextToSQL) -> None:
    case = cases(TextToSQL(TextToSQLSettings(forms="development")))["crime_books.2"]
    assert case.task.query == "List the titles of the wildlife books."
    assert "natural history" in case.gold.answer
    assert case.gold.evidence == ("wildlife",)
    assert case.cluster == "crime_books"


def test_every_question_has_a_held_out_wording(library: TextToSQL) -> None:
    plain = cases(TextToSQL(TextToSQLSettings(forms="development")))
    held_out = cases(TextToSQL(TextToSQLSettings(forms="held_out")))
    assert plain.keys() == held_out.keys() == cases(library).keys()
    for id_, case in held_out.items():
        assert case.task.query != plain[id_].task.query
        assert "{" not in case.task.query, "a slot without its value"
        assert case.gold == plain[id_].gold
        assert (plain[id_].tags["form"], case.tags["form"]) == ("development", "held_out")


def test_mixed_words_half_of_every_kind_either_way(library: TextToSQL) -> None:
    found = cases(library).values()
    for kind in {case.stratum for case in found}:
        forms = Counter(case.tags["form"] for case in found if case.stratum == kind)
        assert abs(forms["development"] - forms["held_out"]) <= 0.1 * forms.total()
    of_templates = {case.cluster: set[str]() for case in found}
    for case in found:
        of_templates[case.cluster].add(case.tags["form"])
    several = {id_.split(".")[0] for id_ in cases(library) if id_.endswith(".2")}
    assert all(len(of_templates[template]) == 2 for template in several)


def test_what_a_loop_on_mixed_has_not_read(library: TextToSQL) -> None:
    """`reworded`: none of its wordings is among those of `mixed`, and all are held out."""
    reworded = cases(TextToSQL(TextToSQLSettings(forms="reworded")))
    read = {case.task.query for case in cases(library).values()}
    assert not read & {case.task.query for case in reworded.values()}
    assert {case.tags["form"] for case in reworded.values()} == {"held_out"}
    assert len(reworded) >= 100


def test_a_few_cases_span_all_kinds(library: TextToSQL) -> None:
    templates = [case.cluster for case in library.cases(77, 0)]
    assert len(set(templates)) == len(templates)
    assert len({case.stratum for case in library.cases(77, 0)}) == 5


def test_questions_of_one_s_own_need_no_other_wording(tmp_path: Path) -> None:
    other = {**GOOD, "id": "r", "question": "Number?", "held_out": "What is the number?"}
    asked = [case.task.query for case in own(tmp_path, [GOOD, other]).cases(None, 0)]
    assert asked == ["How many?", "What is the number?"]
    held_out = own(tmp_path, [GOOD, other], forms="held_out")
    assert [case.id for case in held_out.cases(None, 0)] == ["r"]
    with pytest.raises(DataError, match="no question has a wording for forms=held_out"):
        own(tmp_path, [GOOD], forms="held_out")


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
    assert time.monotonic() - start < 60


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
        ([{**GOOD, "held_out": 3}], "held_out: text expected"),
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
    with pytest.raises(DataError, match="not an SQLite database"):
        TextToSQL(TextToSQLSettings(path=str(text), questions=str(text)))


_FOR_EVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("\0CREATE TABLE a (b);", "embedded null character"),
        ("ATTACH DATABASE 'mine.sqlite' AS x; CREATE TABLE x.a (b);", "too many attached"),
        ("CREATE TABLE a (b); VACUUM INTO 'mine.sqlite';", "too many attached"),
        (f"CREATE TABLE a AS {_FOR_EVER} SELECT i FROM n;", "interrupted"),
        ("PRAGMA max_page_count = 1000000000;", "not authorized"),
    ],
)
def test_a_script_of_a_stranger_reaches_no_file_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(database, "_SCRIPT_S", 0.2)
    file = tmp_path / "d.sql"
    file.write_text(script)
    with pytest.raises(DataError, match=f"not an SQLite database: {says}"):
        database.Database(file, seconds=1, rows=10)
    assert [path.name for path in tmp_path.iterdir()] == ["d.sql"]


@pytest.mark.skipif(not CHINOOK.exists(), reason=f"{CHINOOK} is not there")
def test_questions_over_chinook(tmp_path: Path) -> None:
    file = tmp_path / "q.json"
    counted = "SELECT COUNT(*) FROM Track WHERE Milliseconds > 600000"
    asked = [
        {"id": "a", "question": "How many tracks?", "sql": "SELECT COUNT(*) FROM Track"},
        {"id": "b", "question": "How many long tracks?", "sql": counted, "notes": ["long"]},
    ]
    notes = [{"id": "long", "text": "A long track lasts more than ten minutes."}]
    file.write_text(json.dumps({"notes": notes, "questions": asked}))
    domain = TextToSQL(TextToSQLSettings(path=str(CHINOOK), questions=str(file)))
    check_domain(TextToSQL, domain.settings)
    assert len(list(domain.history(HISTORY))) == 12
    assert domain.execute("SELECT COUNT(*) FROM Track").rows == ((3503,),)
