"""Corrections of an answer key, published bytes and what is said of where data come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.contracts import Provenance
from framework.errors import DataError
from framework.records import Case, Gold, TaskCard
from plugins.domains.data_file import provenance_of
from plugins.domains.errata import check_cases, read_errata

PUBLISHED = Provenance(
    source="https://example.org",
    revision="1",
    licence="MIT",
    citation="A paper.",
    files={"set.json": f"sha256:{'a' * 64}"},
    main_score="answer_f1",
    schema="README at 1234567",
)
KNOWN = PUBLISHED.files["set.json"]
OTHER = f"sha256:{'b' * 64}"


def case(name: str) -> Case:
    card = TaskCard(instruction="Answer.", query="Which?")
    return Case(id=name, history_id="h", task=card, gold=Gold(answer="old"))


def errata(tmp_path: Path, value: object) -> Path:
    path = tmp_path / "errata.json"
    path.write_text(json.dumps(value))
    return path


def test_published_bytes_have_the_publisher_s_provenance() -> None:
    assert provenance_of("set.json", KNOWN, PUBLISHED, None, told=False) == PUBLISHED


def test_unknown_bytes_are_refused_in_one_line_unless_told() -> None:
    with pytest.raises(DataError, match=r"known \(set\.json\); domain\.unknown_file=true") as it:
        provenance_of("mine.json", OTHER, PUBLISHED, None, told=False)
    assert "\n" not in str(it.value)
    told = provenance_of("mine.json", OTHER, PUBLISHED, None, told=True)
    assert told.source == "not stated by the file mine.json"
    assert (told.licence, told.files) == ("not stated", {})
    assert (told.main_score, told.schema) == ("answer_f1", "README at 1234567")


def test_a_file_that_says_where_it_comes_from_is_told_enough() -> None:
    stated = provenance_of("mine.json", OTHER, PUBLISHED, {"licence": "CC0"}, told=False)
    assert stated.licence == "CC0"


def test_corrections_change_and_drop_gold_and_give_the_key_s_ceiling(tmp_path: Path) -> None:
    found = read_errata(
        str(
            errata(
                tmp_path,
                [
                    {"case": "a", "answer": "new"},
                    {"case": "b", "evidence": ["s1"], "why": "cited another turn"},
                    {"case": "c", "drop": True},
                ],
            )
        ),
        domain="x",
    )
    assert found.answered(case("a")).gold.answer == "new"
    assert found.answered(case("b")) == case("b")
    assert [found.keep(name) for name in "abcd"] == [True, True, False, True]
    assert found.report(["a", "b", "d"]) == {
        "key_ceiling": 0.5,
        "key_evidence": 0.75,
        "key_answers_corrected": 1.0,
        "key_cases_dropped": 1.0,
    }
    assert found.digest_with(KNOWN) not in (KNOWN, found.digest)
    with pytest.raises(DataError, match="case 'a': the data have none of this id"):
        check_cases("errata.json", found, ["b", "c"])


def test_without_corrections_the_key_s_ceiling_is_not_known() -> None:
    none = read_errata("", domain="x")
    assert none.report(["a"]) == {}
    assert none.digest_with(KNOWN) == KNOWN
    assert none.answered(case("a")) == case("a")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"case": "a"}, "a list of corrections expected"),
        ([7], "correction 1: an object expected, 7 found"),
        ([{"case": "a"}], "an answer, evidence or drop expected"),
        ([{"answer": "x"}], "case: text expected"),
        ([{"case": "a", "answr": "x"}], "no key 'answr' expected"),
        ([{"case": "a", "drop": "yes"}], "drop: true or false expected"),
        ([{"case": "a", "evidence": [3]}], "evidence: a list of texts expected, 3 in it"),
        ([{"case": "a", "drop": True}, {"case": "a", "drop": True}], "a second correction of 'a'"),
    ],
    ids=["object", "number", "nothing", "no case", "key", "drop", "evidence", "twice"],
)
def test_a_bad_correction_is_told_in_one_line(tmp_path: Path, value: object, said: str) -> None:
    with pytest.raises(DataError) as it:
        read_errata(str(errata(tmp_path, value)), domain="x")
    assert said in str(it.value)
    assert "\n" not in str(it.value)
