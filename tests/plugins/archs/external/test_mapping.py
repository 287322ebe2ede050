"""What is declared is what is done: templates are filled and answers read as a mapping says."""

from __future__ import annotations

from typing import Any

import pytest

from framework.errors import UserError
from framework.records import Event
from plugins.archs.external._mapping import (
    EVENT,
    AnswerPaths,
    Found,
    SystemFailed,
    check_template,
    fill,
    fill_text,
    found_of,
    values_of,
)

EVENT_1 = Event(
    id="e1", text="Ann: hi", time="2026-03-01", kind="turn", metadata={"session": "s1", "role": "u"}
)


def test_a_call_is_filled_with_the_events_fields() -> None:
    template = {
        "messages": [{"role": "{speaker}", "content": "[{time}] {text}"}],
        "user": "{tenant}",
        "metadata": "{metadata}",
        "run": {"n": 1, "session": "{metadata.session}"},
    }
    assert fill(template, values_of(EVENT_1, "t")) == {
        "messages": [{"role": "u", "content": "[2026-03-01] Ann: hi"}],
        "user": "t",
        "metadata": {"session": "s1", "role": "u"},
        "run": {"n": 1, "session": "s1"},
    }


def test_a_value_keeps_its_type_and_one_that_is_missing_is_left_out() -> None:
    assert fill({"limit": "{limit}", "q": "{query}"}, {"limit": 3, "query": "a"}) == {
        "limit": 3,
        "q": "a",
    }
    bare = Event(id="e", text="x", time="", kind="")
    assert fill({"t": "{time}", "s": "{session}", "x": "{text}"}, values_of(bare, "")) == {"x": "x"}


def test_nothing_is_no_value_and_zero_is_one() -> None:
    event = Event(id="e", text="x", time="", kind="", metadata={"turn": "0"})
    told = {**values_of(event, "t"), "limit": 0}
    assert fill("at most {limit}", told) == "at most 0"
    assert fill("turn {metadata.turn}, {metadata.none}.", told) == "turn 0, ."
    assert fill_text("/{metadata.turn}/{limit}", told, str) == "/0/0"
    assert found_of(0, 0, 0) == Found(text="0", ids=("0",), score=0.0)
    assert AnswerPaths().read({"items": [{"text": 0}]}) == [Found(text="0")]


def test_braces_of_json_are_no_placeholders() -> None:
    template = '{"text": "{text}", "a": {}}'
    check_template(template, EVENT, "write")
    check_template("${HOME} x{3} {}", (), "command")
    assert fill(template, values_of(EVENT_1, "")) == '{"text": "Ann: hi", "a": {}}'


def test_keys_come_from_the_environment_and_are_missed_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_KEY", "secret")
    assert fill("Bearer {env.A_KEY}", {}) == "Bearer secret"
    with pytest.raises(UserError, match="NO_KEY is not set"):
        fill("{env.NO_KEY}", {})


def test_a_variable_needs_a_name() -> None:
    with pytest.raises(ValueError, match=r"write: no placeholder \{env\}"):
        check_template("{env}", EVENT, "write")


@pytest.mark.parametrize(
    "template", ["{txt}", {"a": ["{txt}"]}, "x {text.y}", "{txt.y}", "{text_1}", {"b": "{tex_t}"}]
)
def test_a_placeholder_that_there_is_not_names_the_nearest(template: Any) -> None:
    with pytest.raises(ValueError, match=r"write: no placeholder \{t.*did you mean 'text'"):
        check_template(template, EVENT, "write")


@pytest.mark.parametrize(
    ("paths", "answer", "found"),
    [
        ({}, {"items": [{"text": "a"}]}, [Found(text="a")]),
        ({"items": "", "text": ""}, ["a", "b"], [Found(text="a"), Found(text="b")]),
        (
            {"items": "r.0.hits", "text": "m.c", "id": "m.id", "score": "s"},
            {"r": [{"hits": [{"m": {"c": ["a", "b"], "id": 7}, "s": 0.5}]}]},
            [Found(text="a\nb", ids=("7",), score=0.5)],
        ),
        ({"items": "t", "split": "--"}, {"t": "a\n--\nb\n--"}, [Found(text="a"), Found(text="b")]),
        ({"items": "t"}, {"t": "one text"}, [Found(text="one text")]),
        ({}, {"items": None}, []),
        ({"id": "i"}, {"items": [{"text": "a", "i": ["x", 2]}]}, [Found(text="a", ids=("x", "2"))]),
        (
            {"items": "of.*.hits", "text": ""},
            {"of": {"long": {"hits": ["a", "b"]}, "short": {"hits": None}, "none": None,
                    "last": {"hits": ["c"]}}},
            [Found(text="a"), Found(text="b"), Found(text="c")],
        ),
        ({"items": "*.*", "text": ""}, [[["a"], ["b"]], [["c"]]], [Found(text=t) for t in "abc"]),
    ],
)  # fmt: skip
def test_results_are_read_where_they_are_declared(
    paths: dict[str, str], answer: Any, found: list[Found]
) -> None:
    assert AnswerPaths(**paths).read(answer) == found


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ({"items": "results"}, r"no 'results': 'results' is not in \['items'\]"),
        ({"text": "memory"}, r"no 'memory': 'memory' is not in \['text'\]"),
        ({"items": "items.3"}, "'3' is not in list"),
        ({"items": "items.0"}, "a list of results was declared"),
        ({"items": "items.*.hits"}, r"no 'hits': 'hits' is not in \['text'\]"),
        ({"items": "items.*.text"}, r"items\.\*\.text: lists of results were declared"),
        ({"items": "items.0.text.*"}, r"items\.0\.text\.\*: items\.0\.text has no parts"),
    ],
)
def test_a_path_that_leads_nowhere_is_an_error_and_no_empty_memory(
    paths: dict[str, str], said: str
) -> None:
    with pytest.raises(SystemFailed, match=said):
        AnswerPaths(**paths).read({"items": [{"text": "a"}]})


def test_a_score_that_no_number_holds_is_the_systems_fault() -> None:
    with pytest.raises(SystemFailed, match="too large a number"):
        AnswerPaths(score="score").read({"items": [{"text": "a", "score": 10**400}]})
