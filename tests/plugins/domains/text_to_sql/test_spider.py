"""Spider in its own schema: tables as memory, and queries by execution."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.records import Answer, Case
from framework.testing.domain_conformance import check_domain
from plugins.domains.text_to_sql.shape import HISTORY, QuerySettings
from plugins.domains.text_to_sql.spider import Spider

FIXTURE = Path(__file__).resolve().parents[3] / "fixtures" / "spider"


def opened(path: Path = FIXTURE, **settings: Any) -> Spider:
    return Spider(QuerySettings(path=str(path), unknown_file=True, **settings))


def by_id(domain: Spider) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, 0)}


def test_the_laws_hold() -> None:
    check_domain(Spider, QuerySettings(path=str(FIXTURE), unknown_file=True))


def test_an_event_is_a_table_and_the_gold_those_of_the_query_and_of_the_queries_in_it() -> None:
    domain = opened()
    cases = by_id(domain)
    assert [event.id for event in domain.history(HISTORY)] == [
        *("harbour.berth", "harbour.ship", "orchard.tree", "orchard.harvest")
    ]
    assert cases["harbour_3"].gold.evidence == ("harbour.ship", "harbour.berth")
    assert {*cases["orchard_4"].gold.evidence} == {"orchard.tree", "orchard.harvest"}
    assert cases["orchard_4"].stratum == "2 tables"
    assert cases["harbour_1"].task.query == "In the database harbour: How many ships are there?"
    assert not cases["harbour_1"].task.material


def test_a_query_is_right_by_its_rows_on_its_own_database() -> None:
    domain = opened()
    cases = by_id(domain)
    names = cases["harbour_2"]
    assert domain.success(Answer(text="SELECT name FROM ship ORDER BY 1"), names.gold)
    assert not domain.success(Answer(text="SELECT name FROM ship ORDER BY 1 DESC"), names.gold)
    joined = cases["harbour_3"]
    unordered = "SELECT name FROM ship WHERE berth_id = 1 ORDER BY name DESC"
    assert domain.checks(Answer(text=unordered), joined) == {
        "execution_correct": True,
        "executes": True,
    }
    other = domain.checks(Answer(text="SELECT kind FROM Tree"), joined)
    assert other == {"execution_correct": False, "executes": False}


def test_a_question_whose_reference_fails_is_left_out_and_counted() -> None:
    domain = opened()
    assert "orchard_6" not in by_id(domain)
    assert domain.report([]) == {"references_failing": 1.0}


def test_corrections_change_query_and_tables_and_give_the_key_s_ceiling(tmp_path: Path) -> None:
    path = tmp_path / "errata.json"
    corrected = [
        {
            "case": "harbour_1",
            "answer": "SELECT count(*) FROM berth",
            "evidence": ["harbour.berth"],
        },
        {"case": "harbour_3", "answer": "SELECT name FROM ship ORDER  BY name DESC"},
        {"case": "orchard_5", "drop": True},
    ]
    path.write_text(json.dumps(corrected))
    domain = opened(errata=str(path))
    cases = by_id(domain)
    assert cases["harbour_1"].gold.evidence == ("harbour.berth",)
    assert cases["harbour_1"].gold.answer == "SELECT count(*) FROM berth"
    assert not domain.success(Answer(text="SELECT name FROM ship"), cases["harbour_3"].gold)
    assert {*by_id(opened())} - {*cases} == {"orchard_5"}
    told = domain.report(cases.values())
    assert told["key_ceiling"] == pytest.approx(1 - 3 / 5)
    assert (told["key_evidence"], told["key_cases_dropped"]) == (0.8, 1.0)
    assert domain.digest() != opened().digest()
    path.write_text(json.dumps([{"case": "harbour_1", "evidence": ["orchard.tree"]}]))
    with pytest.raises(DataError, match=r"no table harbour\.orchard\.tree in its database"):
        opened(errata=str(path))
    path.write_text(json.dumps([{"case": "harbour_9", "drop": True}]))
    with pytest.raises(DataError, match="the data have none of this id"):
        opened(errata=str(path))


def test_mistakes_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"domain\.path: no folder given .*yale-lily"):
        Spider(QuerySettings())
    with pytest.raises(UserError, match="no such folder"):
        opened(tmp_path / "none")
    with pytest.raises(DataError, match=r"tables\.json: no such file"):
        opened(tmp_path)
    with pytest.raises(DataError, match=r"domain\.unknown_file=true"):
        Spider(QuerySettings(path=str(FIXTURE)))
    shutil.copytree(FIXTURE, tmp_path / "s")
    (tmp_path / "s" / "database" / "harbour" / "harbour.sqlite").unlink()
    with pytest.raises(DataError, match=r"harbour\.sqlite: no such file"):
        opened(tmp_path / "s")
    tables = json.loads((FIXTURE / "tables.json").read_text())
    tables[0]["db_id"] = "../harbour"
    (tmp_path / "s" / "tables.json").write_text(json.dumps(tables))
    with pytest.raises(DataError, match="names no folder"):
        opened(tmp_path / "s")
