"""Bad files of RuleArena's airline: each in one line."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError
from plugins.domains.airline_fees.domain import PROBLEM_FILES, RULES_FILE
from tests.plugins.domains.airline_fees.test_airline_fees import FIXTURE, opened
from tests.plugins.domains.malformed import check_told


def edit_problem(change: Callable[[Any], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / PROBLEM_FILES[0]
        first, *rest = path.read_text().splitlines()
        record = json.loads(first)
        change(record)
        path.write_text("\n".join([json.dumps(record), *rest]))

    return edit


def info(**values: Any) -> Callable[[Path], None]:
    return edit_problem(lambda record: record["info"].update(values))


def first_bag(**values: Any) -> Callable[[Path], None]:
    return edit_problem(lambda record: record["info"]["bag_list"][1].update(values))


def written(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def rules(old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / RULES_FILE
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return edit


def heavy_to_europe(record: Any) -> None:
    record["info"].update(routine="Europe")
    record["info"]["bag_list"][1].update(weight=80)


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def a_folder(folder: Path) -> None:
    (folder / ONE).unlink()
    (folder / ONE).mkdir()


ONE, TEXT = PROBLEM_FILES[0], RULES_FILE
MALFORMED: dict[str, tuple[Callable[[Path], object], str]] = {
    "not json": (written(ONE, b"{"), r"comp_0\.jsonl:1: not JSON"),
    "not utf-8": (written(ONE, b"\xff\xfe"), "not UTF-8 text"),
    "empty": (written(ONE, b""), "no problems"),
    "blank lines": (written(ONE, b"\n \n"), "no problems"),
    "deep": (written(ONE, b"[" * 100_000), "nested too deeply"),
    "long number": (
        written(ONE, b'{"info": ' + b"9" * 5_000 + b"}"),
        "not usable: Exceeds the limit",
    ),
    "a list": (written(ONE, b"[]"), "an object with info expected, an empty list"),
    "a number": (written(ONE, b"7"), "an object with info expected, 7 found"),
    "null": (written(ONE, b"null"), "an object with info expected, nothing"),
    "half a character": (written(ONE, b'{"prompt": "\\ud800", "info": {}}'), "half of a char"),
    "null bytes": (written(ONE, b"\0" * 99), "not JSON"),
    "one value over lines": (written(ONE, b"[\n1\n]"), "not JSON"),
    "no info": (edit_problem(lambda r: r.pop("info")), "an object with info expected, nothing"),
    "info a text": (edit_problem(lambda r: r.update(info="x")), "an object with info expected, a"),
    "no prompt": (edit_problem(lambda r: r.pop("prompt")), "prompt: text expected, nothing"),
    "blank prompt": (edit_problem(lambda r: r.update(prompt=" ")), "prompt: text expected, empty"),
    "prompt a list": (edit_problem(lambda r: r.update(prompt=[])), "prompt: text expected, an em"),
    "no cabin": (info(customer_class=None), "customer_class: text expected"),
    "another cabin": (info(customer_class="Steerage"), "'Steerage' is no cabin of the rules"),
    "no place": (info(routine=3), "routine: text expected, 3 found"),
    "another place": (info(routine="Atlantis"), "'Atlantis' is no place of the rules"),
    "direction 2": (info(direction=2), "direction: 0 or 1 expected, 2 found"),
    "direction true": (info(direction=True), "direction: 0 or 1 expected, True found"),
    "direction text": (info(direction="0"), "direction: 0 or 1 expected"),
    "no price": (info(base_price=None), "base_price: a number expected, nothing"),
    "half a dollar": (info(base_price=1.5), "base_price: a number expected, 1.5 found"),
    "price below 0": (info(base_price=-1), "base_price: a number from 0 to a million"),
    "price beyond": (info(base_price=10**400), "base_price: a number from 0 to a million"),
    "price nan": (info(base_price=math.nan), "not usable: NaN is no number of JSON"),
    "bags an object": (info(bag_list={}), "bag_list: a list expected, an empty JSON object"),
    "no bags": (info(bag_list=[]), "bag_list: no bags"),
    "bags of texts": (info(bag_list=["x"]), "bag_list: an object expected, a text found"),
    "no size": (first_bag(size=None), "size: a list expected, nothing"),
    "two lengths": (first_bag(size=[1, 2]), "size: three lengths expected, 2 found"),
    "length text": (first_bag(size=[1, 2, "3"]), "size: a number expected, a text"),
    "length nan": (first_bag(size=[1, 2, math.nan]), "not usable: NaN is no number of JSON"),
    "length infinite": (
        first_bag(size=[1, 2, math.inf]),
        "not usable: Infinity is no number of JSON",
    ),
    "length below 0": (first_bag(size=[1, 2, -3]), "size: a number from 0"),
    "no weight": (first_bag(weight=None), "weight: a number expected, nothing"),
    "weight true": (first_bag(weight=True), "weight: a number expected, True"),
    "weight text": (first_bag(weight="60"), "weight: a number expected, a text"),
    "too heavy": (first_bag(weight=101), "no rule for a weight of 101, Main Cabin from U.S. to"),
    "too large": (first_bag(size=[60, 40, 20]), "no rule for a size of 120"),
    "not accepted": (
        edit_problem(heavy_to_europe),
        "a bag that is not accepted: .* > Over 70 lbs",
    ),
    "no rule for a place": (info(routine="Mexico"), "no rule for a bag of 1, Main"),
    "rules not utf-8": (written(TEXT, b"# A\n\xff"), "not UTF-8 text"),
    "rules empty": (written(TEXT, b""), "no rule under 'Carry-on bags'"),
    "rules without fees": (rules("* If your", "* Where your"), "no rule for a bag of 1"),
    "fee in words": (rules("should be $31", "should be thirty dollars"), "3: no fee of the form"),
    "fee of digits": (
        rules("should be $31", "should be $" + "9" * 5000),
        "3: no fee of the form",
    ),
    "fee elsewhere": (rules("### First Bag", "### Any Bag"), "a fee under 'Any Bag'"),
    "unknown cabin": (rules("a Basic Economy class", "a Deck class"), "3: no cabin of Basic"),
    "unknown flights": (rules("Within and between U.S.", "Over U.S."), "flights of no known form"),
    "unknown lands": (rules("To / From Cuba", "To / From Oz"), "flights of no known place"),
    "no carry-on rule": (rules("You're allowed 1", "There is 1"), "no rule under 'Carry-on"),
    "no allowance": (rules("weight is 70 lbs", "weight is free"), "do not name one"),
    "two allowances": (rules("Weight: 70 lbs", "Weight: 90 lbs"), "do not name one"),
    "rules missing": (without(TEXT), r"textual\.txt: no such file"),
    "problems missing": (without(ONE), r"comp_0\.jsonl: no such file"),
    "a folder for a file": (a_folder, "cannot be read"),
}


def test_there_are_fifty_malformed_variants() -> None:
    assert len(MALFORMED) >= 50


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    break_it, told = MALFORMED[name]
    folder = tmp_path / "airline"
    shutil.copytree(FIXTURE, folder)
    break_it(folder)
    check_told(lambda: opened(folder), told)


def test_ten_faults_are_told_at_once(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE, tmp_path / "airline")
    (tmp_path / "airline" / ONE).write_text("7\n" * 13)
    with pytest.raises(DataError) as caught:
        opened(tmp_path / "airline")
    message = str(caught.value)
    assert message.count("an object with info expected") == 10
    assert message.endswith("and 3 more")
