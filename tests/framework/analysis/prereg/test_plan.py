from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.errors import DataError, UserError
from framework.store.hypotheses import parse, read_file
from framework.store.register import locks

CONF = Path(__file__).resolve().parents[4] / "conf" / "prereg"
SHIPPED = sorted(path for path in CONF.glob("*.yaml") if path.stem != "none")

CONTENT: dict[str, Any] = {
    "title": "t",
    "hypotheses": [
        {
            "name": "h",
            "claim": "a beats b",
            "role": "primary",
            "arm": "a",
            "against": "b",
            "axis": "eda",
            "budget": "tight",
            "direction": "higher",
            "margin": 0.0,
            "test": "paired",
            "alpha": 0.05,
            "n": 20,
        }
    ],
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_shipped_files_are_sound(path: Path) -> None:
    plan, content = read_file(path)
    assert plan.hypotheses
    assert parse(path.stem, content).digest == plan.digest
    assert path.read_text().startswith("# ")


def test_the_examples_are_there() -> None:
    assert {"longhorizon", "longhorizon_sam", "longhorizon_dpm", "loan"} <= {
        path.stem for path in SHIPPED
    }


def test_layout_and_comments_do_not_count() -> None:
    text = yaml.safe_dump(CONTENT)
    again = yaml.safe_load("# a comment\n" + text.replace("title: t", "title:    t"))
    assert parse("x", again).digest == parse("x", CONTENT).digest


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("direction", "up", "hypotheses[0].direction: 'up' given; allowed: higher, lower"),
        ("margin", -1, "hypotheses[0].margin: -1.0 given, 0 or more expected"),
        ("margin", True, "hypotheses[0].margin: True given, a number expected"),
        ("alpha", 1, "hypotheses[0].alpha: 1.0 given, above 0 and below 1 expected"),
        ("n", 0, "hypotheses[0].n: 0 given, at least 1 expected"),
        ("against", [], "hypotheses[0].against: an arm, or a list of arms, expected"),
        ("axis", "", "hypotheses[0].axis: text expected"),
        ("test", None, "hypotheses[0].test: a value is required"),
        ("publishd", "x", "hypotheses[0].publishd: no such setting; did you mean 'published'?"),
        ("published", "won", "hypotheses[0].published: 'won' given"),
    ],
)
def test_mistakes_are_named(key: str, value: Any, message: str) -> None:
    content = copy.deepcopy(CONTENT)
    content["hypotheses"][0][key] = value
    with pytest.raises(UserError) as error:
        parse("x", content)
    assert str(error.value).startswith(message)


def test_a_margin_of_noninferiority_is_above_0() -> None:
    content = copy.deepcopy(CONTENT)
    content["hypotheses"][0]["test"] = "noninferiority"
    with pytest.raises(UserError, match="margin: 0 given, above 0"):
        parse("x", content)


def test_names_are_unique() -> None:
    content = copy.deepcopy(CONTENT)
    content["hypotheses"] *= 2
    with pytest.raises(UserError, match="h appears twice"):
        parse("x", content)


def test_a_bad_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    with pytest.raises(UserError, match="cannot read"):
        read_file(path)
    path.write_text("title: [")
    with pytest.raises(DataError, match=r"p\.yaml: not YAML"):
        read_file(path)
    path.write_text("title: t\nhypotheses: []\n")
    with pytest.raises(DataError, match=r"p\.yaml: hypotheses: a list"):
        read_file(path)


@pytest.mark.parametrize(
    ("base", "changed", "message"),
    [
        ({}, {"setting": {"domain.rho": 0.3}}, "setting.domain.rho: base has no value for it"),
        ({"domain.rho": [1]}, {}, "base: domain.rho: [1] given, text or a whole number or"),
        (
            {"domain.rho": 0.67},
            {"against": "a", "against_setting": {"domain.rho": 0.67}},
            "against: a is compared with itself",
        ),
        ({"domain.rho": 0.67}, {"setting": "rho"}, "setting: 'rho' given, a mapping expected"),
    ],
)
def test_a_setting_that_says_nothing_is_refused(
    base: dict[str, Any], changed: dict[str, Any], message: str
) -> None:
    made = copy.deepcopy(CONTENT)
    made["base"] = base
    made["hypotheses"][0] |= changed
    with pytest.raises(UserError) as caught:
        parse("x", made)
    assert message in str(caught.value)


def test_a_setting_holds_for_both_sides_unless_the_other_is_given() -> None:
    made = copy.deepcopy(CONTENT)
    made["base"] = {"domain.rho": 0.67}
    made["hypotheses"][0] |= {"setting": {"domain.rho": 0.3}}
    (h,) = parse("x", made).hypotheses
    assert h.setting == h.against_setting == {"domain.rho": 0.3}
    made["hypotheses"][0]["against_setting"] = {}
    (h,) = parse("x", made).hypotheses
    assert h.against_setting == {}


def test_what_the_docs_report_on_depth_is_what_was_locked() -> None:
    plan, _ = read_file(CONF / "depth.yaml")
    (entry,) = [entry for entry in locks(CONF / "register.jsonl") if entry.name == "depth"]
    assert entry.digest == plan.digest
