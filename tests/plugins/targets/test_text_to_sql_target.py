from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import Outcome
from framework.contracts.improve import UNCLASSIFIED
from framework.records import Answer, Item, Row
from framework.registry import NoSettings, find
from plugins.targets.retrieval import library_of
from plugins.targets.text_to_sql import TAXONOMY, TextToSQLTarget, differences

REFERENCE = (
    "SELECT books.title FROM books JOIN authors USING (author_id) "
    "WHERE authors.name = 'Ida Marsh' AND books.pages > 200"
)


@pytest.mark.parametrize(
    ("query", "signs", "regime"),
    [
        ("SELECT b.title FROM books b JOIN authors a ON b.author_id = a.author_id "
         "WHERE b.pages > 200 AND a.name = 'Ida Marsh'", (), UNCLASSIFIED),
        ("SELECT title FROM", ("unreadable",), "schema-misunderstanding"),
        ("", ("unreadable",), "schema-misunderstanding"),
        ("DROP TABLE books", ("unreadable",), "schema-misunderstanding"),
        ("SELECT title FROM books WHERE name = 'Ida Marsh' AND pages > 200",
         ("tables", "joins"), "schema-misunderstanding"),
        ("SELECT genre FROM books JOIN authors USING (author_id) WHERE name = 'Ida Marsh' "
         "AND pages > 200", ("columns",), "schema-misunderstanding"),
        ("SELECT title FROM books LEFT JOIN authors USING (author_id) WHERE name = 'Ida Marsh' "
         "AND pages > 200", ("joins",), "wrong-join"),
        ("SELECT title FROM books JOIN authors ON book_id = author_id WHERE name = 'Ida Marsh' "
         "AND pages > 200", ("joins",), "wrong-join"),
        ("SELECT COUNT(title) FROM books JOIN authors USING (author_id) WHERE name = 'Ida Marsh' "
         "AND pages > 200", ("aggregates",), "wrong-aggregation"),
        ("SELECT DISTINCT title FROM books JOIN authors USING (author_id) WHERE "
         "name = 'Ida Marsh' AND pages > 200", ("aggregates",), "wrong-aggregation"),
        ("SELECT title FROM books JOIN authors USING (author_id) WHERE name = 'Ida Marsh' "
         "AND pages > 201", ("filters",), "wrong-filter"),
        ("SELECT title FROM books JOIN authors USING (author_id) WHERE name LIKE '%Ida Marsh%' "
         "AND pages > 200", ("filters",), "wrong-filter"),
        (f"{REFERENCE} ORDER BY books.title LIMIT 3", ("columns", "order"), None),
        (f"{REFERENCE} LIMIT 3", ("order",), "wrong-order"),
    ],
)  # fmt: skip
def test_a_failure_is_told_by_how_two_queries_differ(
    query: str, signs: tuple[str, ...], regime: str | None
) -> None:
    found = differences(query, REFERENCE)
    assert found == signs or (regime is None and signs[-1] in found)
    if regime is not None:
        outcome = Outcome(case_id="c", kind="join", correct=False, signs=found)
        assert TAXONOMY.regime_of(outcome) == regime


def test_every_regime_is_one_that_a_prompt_reaches() -> None:
    assert [regime.name for regime in TAXONOMY.regimes][:4] == [
        "schema-misunderstanding",
        "wrong-join",
        "wrong-aggregation",
        "wrong-filter",
    ]
    assert all("reader_prompt" in regime.seams for regime in TAXONOMY.regimes)


@given(st.text(max_size=60))
def test_any_text_can_be_compared(text: str) -> None:
    assert isinstance(differences(text, REFERENCE), tuple)


def test_the_outcome_of_a_case() -> None:
    domain = find("domain", "text_to_sql").cls(find("domain", "text_to_sql").settings())
    case = next(c for c in domain.cases(None, 0) if c.id == "stock_value.1")
    record = {
        "trace": (),
        "view": (Item(id="a", text="seen"),),
        "retained": {item.id: False for item in case.gold.items},
        "answer": Answer(text="SELECT AVG(price) FROM books WHERE genre = 'mystery'"),
    }
    target = TextToSQLTarget(NoSettings())
    wrong = target.outcome(case, Row(case_id=case.id, arm="a", axes={}), record)
    assert wrong.signs == ("aggregates",)
    assert [e.in_view for e in wrong.turns] == [False]
    right = Row(case_id=case.id, arm="a", axes={"execution_correct": 1.0})
    assert target.outcome(case, right, record).signs == ()
    assert target.summary([wrong]) == {"differences": {"aggregates": 1}}
    assert not target.abstains(case)


def test_the_second_test_is_worded_as_no_split_was(tmp_path: Path) -> None:
    plugin, target = find("domain", "text_to_sql"), TextToSQLTarget(NoSettings())
    for forms in ("mixed", "development"):
        domain = plugin.cls(plugin.settings(forms=forms))
        shifted = target.shifted(domain)
        assert shifted is not None
        read = {case.task.query for case in domain.cases(None, 0)}
        new = list(shifted.cases(100, 0))
        assert len(new) == 100
        assert not read & {case.task.query for case in new}
        assert len({case.stratum for case in new}) == 5
    assert target.shifted(plugin.cls(plugin.settings(forms="held_out"))) is None
    script, questions = tmp_path / "d.sql", tmp_path / "q.json"
    script.write_text("CREATE TABLE t (a);")
    questions.write_text(json.dumps([{"id": "q", "question": "All?", "sql": "SELECT a FROM t"}]))
    own = plugin.cls(plugin.settings(path=str(script), questions=str(questions)))
    assert target.shifted(own) is None


def test_half_of_the_library_is_null_or_harm() -> None:
    prompts = [patch for patch in library_of("write_sql") if patch.seam == "reader_prompt"]
    bad = [patch for patch in prompts if not patch.note.startswith("help")]
    assert 2 * len(bad) >= len(prompts)
