"""JSON and YAML of strangers: bounded in size, depth and time, every key once."""

from __future__ import annotations

import gc
import threading
import time

import pytest
import yaml

from framework.text.reading import read_expression, read_json, read_python, read_yaml

BOMB = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)
)
"""10^10 values in 500 characters."""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, r"aliases \(\*\) make more than 500,000 values of it"),
        ("a: &a\n  b: *a\n", "it stands inside itself"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("[" * 500 + "]" * 500, "nested too deeply"),
        ("a: 1\nb: 2\na: 3\n", "the key 'a' stands twice"),
        ("a: {b: 1, b: 2}\n", "the key 'b' stands twice"),
        ("a: [", "did not find|expected"),
        ("a: " + "9" * 5000, "a number of more than 4,300 digits"),
        ("a: " + ":".join(["59"] * 200_000), "a number of more than 4,300 digits"),
        ("a: 2024-99-99", "month must be in"),
        ("a: !!int x", "invalid literal"),
        ("a: !!timestamp x", "groupdict"),
        ("a: !!bool x", "x"),
        ("a: !!float ''", "index|float"),
    ],
    ids=[
        "bomb",
        "inside itself",
        "open",
        "blocks",
        "deep",
        "twice",
        "twice within",
        "none",
        "digits",
        "base 60",
        "day",
        "whole",
        "time",
        "truth",
        "number",
    ],
)
def test_yaml_is_refused_at_once(text: str, problem: str) -> None:
    began = time.monotonic()
    with pytest.raises(yaml.YAMLError, match=problem):
        read_yaml(text)
    assert time.monotonic() - began < 20


def test_yaml_is_read_as_by_its_library() -> None:
    text = "a: &a {x: 1.5, y: [yes, null]}\nb: {<<: *a, x: 2}\n1: one\n'1': text\n"
    assert read_yaml(text) == yaml.safe_load(text)
    assert read_yaml("") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' stands twice in an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (b"\xff\xfe\x00", "codec|Expecting"),
        ("{", "Expecting"),
        ('{"a": NaN}', "NaN is no number of JSON"),
        ("[-Infinity]", "-Infinity is no number of JSON"),
        ('{"a": 1e999}', "^1e999 is no number of JSON$"),
        ("[-1" + "0" * 400 + ".0]", "^-10{78} is no number of JSON$"),
    ],
    ids=["twice", "lists", "objects", "no text", "none", "no number", "infinite", "large", "long"],
)
def test_json_is_refused(text: str | bytes, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_json(text)


def test_json_is_read_and_made() -> None:
    assert read_json(b'{"a": [{"b": 1}, 2]}') == {"a": [{"b": 1}, 2]}
    assert read_json('{"a": {"b": 1}}', lambda found: {**found, "n": len(found)}) == {
        "a": {"b": 1, "n": 1},
        "n": 1,
    }


def test_threads_that_parse_python_do_not_disturb_each_other() -> None:
    """`ast.parse` raised SystemError where a finalizer let another thread parse in between."""
    source = "def f(a, b):\n" + "    x = [a + b * (a - 1) for a in range(b) if a]\n" * 40
    problems = []

    def parse() -> None:
        for _ in range(20):
            try:
                read_python(source)
                read_expression("a + b * (a - 1)")
            except SystemError as error:
                problems.append(error)

    def let_others(phase: str, info: dict[str, int]) -> None:
        time.sleep(0.0002)

    before = gc.get_threshold()
    gc.callbacks.append(let_others)
    gc.set_threshold(200)
    try:
        threads = [threading.Thread(target=parse) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(let_others)
        gc.set_threshold(*before)
    assert problems == []
