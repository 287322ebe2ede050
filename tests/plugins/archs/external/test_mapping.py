"""What is declared is what is done: templates are filled and answers read as a mapping says."""

from __future__ import annotations

from typing import Any

import pytest

from framework.errors import UserError
from framework.records import Event
from plugins.archs.external._keys import Secrets, check_keys, check_words
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


LITERAL = "mine-0123456789"


@pytest.mark.parametrize(
    ("template", "name"),
    [
        ({"X-Key": LITERAL}, "X-Key"),
        ({"auth": {"api_key": LITERAL}}, "api_key"),
        ({"q": "{query}", "of": [{"token": LITERAL}]}, "token"),
        (["/path", {"password": 123456789012}], "password"),
        ({"token": ["{tenant}", LITERAL]}, "token"),
    ],
)
def test_a_key_in_the_fields_of_a_call_is_refused_at_any_depth(template: Any, name: str) -> None:
    with pytest.raises(UserError, match=rf"arch\.add: {name}: a mapping is stored, so a key"):
        check_keys(template, "add")


@pytest.mark.parametrize(
    "template",
    [
        {"key": "{metadata.session}", "token": "memory of {tenant}"},
        {"api_key": "{env.A_KEY}", "key": "short", "keys": LITERAL, "token": None},
        {"credentials": {"provider": "a-provider-by-name"}, "password": True},
    ],
)
def test_what_is_filled_or_short_or_named_otherwise_is_no_key(template: Any) -> None:
    check_keys(template, "add")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["serve", f"--api-key={LITERAL}"], "--api-key"),
        (["serve", "--token", LITERAL], "--token"),
        (["serve", "--password", LITERAL, "--port", "80"], "--password"),
        (["env", f"OPENAI_API_KEY={LITERAL}", "serve"], "OPENAI_API_KEY"),
        (["sh", "-c", f"export TOKEN='{LITERAL}'; serve"], "TOKEN"),
        (["proxy", "--header", f"Authorization: Bearer {LITERAL}"], "Authorization"),
        (["serve", f'{{"apiKey": "{LITERAL}"}}'], "apiKey"),
        ([f"https://host/mcp?a=1&tavilyApiKey={LITERAL}&b=2"], "tavilyApiKey"),
        ([f"postgres://me:{LITERAL}@host/db"], "the password of an address"),
    ],
)
def test_a_key_in_a_word_of_a_command_or_in_an_address_is_refused(
    words: list[str], name: str
) -> None:
    with pytest.raises(UserError, match=rf"arch\.command: {name}: .* as \{{env\.NAME\}}") as told:
        check_words(words, "command")
    assert LITERAL not in str(told.value)


@pytest.mark.parametrize(
    "words",
    [
        ["serve", "--api-key", "{env.A_KEY}", "--token={env.A_TOKEN}"],
        ["serve", "--token", "--a-long-option-name", "--key", "/etc/ssl/private/key.pem"],
        ["sh", "-c", "TOKEN=$A_VARIABLE_OF_SHELL serve --key=/etc/ssl/private/key.pem"],
        ["serve", "--tokenizer", "a-tokenizer-by-name", "--max-tokens=100000000000"],
        ["https://host:8000/a/path/mcp?key={env.A_KEY}", "postgres://me:short@host/db"],
        ["serve", "token", "is-a-word-of-12"],
    ],
)
def test_a_placeholder_a_file_and_a_word_are_no_key(words: list[str]) -> None:
    check_words(words, "command")


@pytest.mark.parametrize("value", ["429", "localhs"])
def test_a_value_of_the_environment_that_may_be_any_word_is_hidden_nowhere(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_NUMBER", value)
    secrets = Secrets({"user": "{env.A_NUMBER}"})
    said = f"add: status {value}: too many"
    assert secrets.hide(said) == said
    assert secrets.longest == 0
    found = [Found(text=f"room {value}")]
    assert secrets.check(found) == found
    monkeypatch.setenv("A_NUMBER", f"{value}-long")
    hidden = Secrets({"user": "{env.A_NUMBER}"})
    assert hidden.hide(f"{said}, {value}-long") == f"{said}, ***"


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


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ({"items": "hits"}, "answer.items: the answer has no 'hits': 'hits' is not in ['items']"),
        ({"items": "items.0"}, "answer.items: 'items.0' is an object with ['id', 'text'], a list"),
        ({"items": ""}, "answer.items: the answer is an object with ['items'], a list of results"),
        ({"text": "memory"}, "answer.text: a result has no 'memory': 'memory' is not in ['id', 't"),
        ({"text": ""}, "answer.text: a result is an object with ['id', 'text'], a text was decla"),
        ({"text": "id"}, "answer.text: 'id' is an object with ['uid'], a text was declared"),
        ({"id": "uid"}, "answer.id: a result has no 'uid': 'uid' is not in ['id', 'text']"),
        ({"score": "rank"}, "answer.score: a result has no 'rank': "),
    ],
)
def test_what_an_answer_has_otherwise_is_told_with_the_setting(
    paths: dict[str, str], said: str
) -> None:
    with pytest.raises(SystemFailed) as told:
        AnswerPaths(**paths).read({"items": [{"text": "a", "id": {"uid": 1}}]})
    assert str(told.value).startswith(said)


def test_a_score_that_no_number_holds_is_the_systems_fault() -> None:
    with pytest.raises(SystemFailed, match="too large a number"):
        AnswerPaths(score="score").read({"items": [{"text": "a", "score": 10**400}]})
