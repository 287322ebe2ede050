from __future__ import annotations

import enum
import hashlib
import json
import math
import os
import random
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.text.canonical import (
    MAX_DEPTH,
    CanonicalError,
    canonical_bytes,
    canonical_json,
    digest,
    digest_bytes,
    digest_file,
    digest_tree,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)


def shuffled(value: Any, generator: random.Random) -> Any:
    """The same data with every object's keys in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, generator)) for key, item in value.items()]
        generator.shuffle(items)
        return dict(items)
    if isinstance(value, list):
        return [shuffled(item, generator) for item in value]
    return value


def typed(value: Any) -> Any:
    """The value with the type of each scalar beside it: 1, 1.0 and True compare equal in Python."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), repr(value)


@given(values)
def test_reads_back_to_the_same_values_and_types(value: Any) -> None:
    assert typed(json.loads(canonical_json(value))) == typed(value)


@given(values, st.randoms(use_true_random=False))
def test_order_of_keys_does_not_matter(value: Any, generator: random.Random) -> None:
    assert canonical_bytes(shuffled(value, generator)) == canonical_bytes(value)


@given(values, values)
def test_other_data_other_bytes(first: Any, second: Any) -> None:
    assert (canonical_bytes(first) == canonical_bytes(second)) == (typed(first) == typed(second))


def test_the_form() -> None:
    value = {"b": [1, 1.0, True, None, -0.0, 1e22, 0.1], "a": 'é\u2028\n"', "é": {}, "Z": ()}
    assert (
        canonical_json(value)
        == '{"Z":[],"a":"é\u2028\\n\\"","b":[1,1.0,true,null,-0.0,1e+22,0.1],"é":{}}'
    )


class Colour(str, enum.Enum):  # noqa: UP042 - str() of such a member is its name, that of a StrEnum is not
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    y: float
    x: tuple[int, ...]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(y=0.5, x=(1, 2)), '{"x":[1,2],"y":0.5}'),
        ([Point(y=0.5, x=())], '[{"x":[],"y":0.5}]'),
        (MappingProxyType({"b": 1, "a": MappingProxyType({})}), '{"a":{},"b":1}'),
        (OrderedDict(b=1, a=2), '{"a":2,"b":1}'),
        ({Colour.RED: [Colour.RED, Level.HIGH]}, '{"red":["red",3]}'),
        (np.float64(0.1), "0.1"),
    ],
)
def test_kinds_that_have_a_form(value: object, expected: str) -> None:
    assert canonical_json(value) == expected


@pytest.mark.parametrize(
    ("value", "place", "told"),
    [
        ({"a": [0, math.nan]}, "$.a[1]:", "nan is not a JSON number"),
        ({"a": {"b": -math.inf}}, "$.a.b:", "-inf is not a JSON number"),
        ([np.float64("inf")], "$[0]:", "inf is not a JSON number"),
        ({"a": {"b", "c"}}, "$.a:", "builtins.set has no canonical form"),
        (frozenset(), "$:", "builtins.frozenset has no canonical form"),
        ([b"x"], "$[0]:", "builtins.bytes has no canonical form"),
        ([Path("x")], "$[0]:", "PosixPath has no canonical form"),
        ([np.int64(1)], "$[0]:", "numpy.int64 has no canonical form"),
        ([np.zeros(2)], "$[0]:", "numpy.ndarray has no canonical form"),
        (Point, "$:", "builtins.type has no canonical form"),
        ([object()], "$[0]:", "builtins.object has no canonical form"),
        ({"a": {1: 2}}, "$.a:", "key 1 is a int, not a str"),
        ({None: 2}, "$:", "key None is a NoneType"),
        ({"\ud83d": 2}, "$:", "is not valid Unicode"),
        ({"n": 10**5000}, "$.n:", "integer too long"),
    ],
)
def test_refuses_with_the_place(value: object, place: str, told: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical_bytes(value)
    assert str(caught.value).startswith(place)
    assert told in str(caught.value)


def test_depth_has_a_limit_that_reading_shares() -> None:
    def nested(depth: int) -> list[Any]:
        value: list[Any] = []
        for _ in range(depth - 1):
            value = [value]
        return value

    assert json.loads(canonical_json(nested(MAX_DEPTH))) == nested(MAX_DEPTH)
    with pytest.raises(CanonicalError, match="nested deeper than"):
        canonical_json(nested(MAX_DEPTH + 1))
    inside_itself: list[Any] = []
    inside_itself.append(inside_itself)
    with pytest.raises(CanonicalError, match="inside itself"):
        canonical_json(inside_itself)


def test_lone_surrogates_are_escaped_and_pairs_joined() -> None:
    assert canonical_json("é\ud83d") == '"é\\ud83d"'
    assert json.loads(canonical_json(["\udc00x\ud83d"])) == ["\udc00x\ud83d"]
    assert canonical_json("\ud83d\ude00") == canonical_json("\U0001f600")


@given(st.text(st.characters(categories=["Cs", "Ll", "So"])))
def test_any_text_is_stable_under_reading_back(text: str) -> None:
    once = canonical_json({"text": text})
    assert canonical_json(json.loads(once)) == once


def test_digests() -> None:
    known = "sha256:" + hashlib.sha256(b'{"a":1}').hexdigest()
    assert digest({"a": 1}) == digest_bytes(b'{"a":1}') == known


def test_digest_of_a_file(tmp_path: Path) -> None:
    content = os.urandom(3 * 2**18 + 1)
    (tmp_path / "f").write_bytes(content)
    assert digest_file(tmp_path / "f") == digest_bytes(content)


def tree(top: Path) -> Path:
    (top / "pkg" / "sub").mkdir(parents=True)
    (top / "pkg" / "a.py").write_text("a")
    (top / "pkg" / "sub" / "b.py").write_text("b")
    return top / "pkg"


def test_digest_of_a_tree_is_of_names_and_contents(tmp_path: Path) -> None:
    pkg = tree(tmp_path / "one")
    same = tree(tmp_path / "two")
    (same / "__pycache__").mkdir()
    (same / "__pycache__" / "a.pyc").write_text("x")
    os.utime(same / "a.py", (1, 1))
    before = digest_tree(pkg)
    assert digest_tree(same) == before
    assert digest_tree(Path(os.path.relpath(same))) == before

    seen = {before}
    (same / "a.py").write_text("A")
    seen.add(digest_tree(same))
    (same / "a.py").rename(same / "c.py")
    seen.add(digest_tree(same))
    (same / "sub" / "b.py").rename(same / "b.py")
    seen.add(digest_tree(same))
    (same / "link").symlink_to("b.py")
    seen.add(digest_tree(same))
    (same / "link").unlink()
    (same / "link").symlink_to("c.py")
    seen.add(digest_tree(same))
    assert len(seen) == 6


def test_digest_of_a_tree_refuses(tmp_path: Path) -> None:
    pkg = tree(tmp_path / "one")
    with pytest.raises(FileNotFoundError):
        digest_tree(tmp_path / "absent")
    os.mkfifo(pkg / "pipe")
    with pytest.raises(ValueError, match="pipe is neither"):
        digest_tree(pkg)
