"""Reading what others may have written: bounded, and in JSON and YAML with every key once."""

from __future__ import annotations

import ast
import errno
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from framework.text.canonical import MAX_DEPTH

MOST_NODES: Final = 500_000
"""Values of a YAML file, each as often as its aliases repeat it."""
MOST_DIGITS: Final = 4300
"""Of a number in YAML, those of base 60 (`1:30`) too: more Python does not write again."""
_INFINITE: Final = (float("inf"), -float("inf"))
_NUMBERS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


_ONE_PARSE: Final = threading.RLock()


def no_stream(path: Path) -> Path:
    """The path. Raises OSError for a pipe or a device, of which a read may never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "neither a file nor a folder")
    return path


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, for `object_pairs_hook`. Raises ValueError where a key stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} stands twice in an object")
    return found


def read_json(text: str | bytes, made: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """What JSON holds; `made` is applied to each object.

    Raises ValueError where it is none (as with NaN and Infinity, which Python would take), a number
    is too large for a float (`1e999`, which Python would make infinite), an object has a key twice,
    or it is nested too deeply.
    """
    each = once if made is None else lambda pairs: made(once(pairs))
    try:
        return json.loads(
            text, object_pairs_hook=each, parse_constant=_no_number, parse_float=_finite
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _finite(digits: str) -> float:
    if (number := float(digits)) in _INFINITE:
        return _no_number(digits)
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name[:80]} is no number of JSON")


def read_python(text: str | bytes) -> ast.Module:
    """The tree of Python source. Raises what `ast.parse` does: SyntaxError, ValueError and others.

    One thread at a time: Python 3.11 counts the depth of a tree that it builds for all threads
    together, and raises SystemError where another one begins in between (a finalizer may let it).
    """
    with _ONE_PARSE:
        return ast.parse(text)


def read_expression(text: str) -> ast.expr:
    """The tree of one expression of Python. As `read_python` otherwise."""
    with _ONE_PARSE:
        return ast.parse(text, mode="eval").body


class TooMuch(yaml.YAMLError):
    """YAML that is nested too deeply, or that its aliases make too much of."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    def get_single_node(self) -> Any:
        node = super().get_single_node()
        if node is not None:
            _size(node, {})
        return node


def read_yaml(text: str) -> Any:
    """What YAML holds, as `yaml.safe_load` reads it.

    Raises yaml.YAMLError where it is none or a mapping has a key twice; TooMuch, which is one,
    where it is nested deeper than `MAX_DEPTH` or inside itself, or holds more than `MOST_NODES`
    values or a number of more than `MOST_DIGITS`.
    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):  # the library's composer would overrun its stack
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise TooMuch("nested too deeply")
    try:
        return yaml.load(text, Loader=_Loader)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # `!!int x`, 2024-99-99
        raise yaml.YAMLError(str(error)) from None


def _size(node: Any, sizes: dict[int, int]) -> int:
    """Values in a node, what is aliased as often as it comes; 0 for a node that is not whole."""
    if (known := sizes.get(id(node))) is not None:
        if not known:
            raise TooMuch("it stands inside itself")
        return known
    sizes[id(node)] = 0
    size = 1
    if isinstance(node, yaml.MappingNode):
        names = set()
        for key, value in node.value:
            size += _size(key, sizes) + _size(value, sizes)
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in names and key.value != "<<":
                    problem = f"the key {key.value[:80]!r} stands twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                names.add((key.tag, key.value))
    elif isinstance(node, yaml.SequenceNode):
        size += sum(_size(value, sizes) for value in node.value)
    elif node.tag in _NUMBERS and len(node.value) > MOST_DIGITS:
        raise TooMuch(f"a number of more than {MOST_DIGITS:,} digits")
    if size > MOST_NODES:
        raise TooMuch(f"aliases (*) make more than {MOST_NODES:,} values of it")
    sizes[id(node)] = size
    return size
