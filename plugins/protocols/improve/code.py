"""Edits as code: the second form of the score and assembly seams, behind two walls.

The source must be one function made of nodes that a list allows, anywhere in the tree: decorators,
defaults, attributes and names included (the published check looked at imports at the top alone).
Then it runs in the sandbox, for every single case and not only when it is probed.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from framework.contracts import Query
from framework.records import Item
from framework.sandbox import Limits, Sandbox
from framework.text.reading import read_json, read_python
from plugins.protocols.improve.seams import Edit, signals_of

LIMITS: Final = Limits(
    wall_seconds=5, cpu_seconds=2, memory_bytes=256 * 2**20, processes=4, output_bytes=2**18
)
"""What one call of an edit may use."""
MAX_SOURCE: Final = 4_000
_FUNCTIONS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "score": ("score", ("query", "item")),
    "assembly": ("assemble", ("query", "items")),
}
_CALLS: Final = frozenset(
    {
        "abs", "all", "any", "bool", "dict", "enumerate", "float", "int", "len", "list", "max",
        "min", "range", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip",
    }
)  # fmt: skip
_BUILTINS: Final = frozenset(dir(builtins))
_METHODS: Final = frozenset(
    {
        "append", "count", "endswith", "extend", "find", "get", "index", "items", "join", "keys",
        "lower", "replace", "split", "startswith", "strip", "title", "upper", "values",
    }
)  # fmt: skip
_NODES: Final = (
    ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign,
    ast.For, ast.If, ast.IfExp, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Compare,
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Call, ast.keyword, ast.Lambda, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Load, ast.Store,
    ast.And, ast.Or, ast.Not, ast.USub, ast.UAdd, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv,
    ast.Mod, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is,
    ast.IsNot,
)  # fmt: skip
"""Every node that may stand anywhere in the tree. No import, class, while, try, with, global,
await, yield, f-string, star, walrus or power."""


def check_code(seam: str, source: object) -> None:
    """Raise ValueError, saying why, for source that may not run.

    `score`: `def score(query, item)` that returns a number for one item. `assembly`:
    `def assemble(query, items)` that returns indices of items in their new order. An item is a
    mapping with `text` and the signals of `SIGNALS`.
    """
    if seam not in _FUNCTIONS:
        raise ValueError(f"the seam {seam} takes no code")
    if not isinstance(source, str) or len(source) > MAX_SOURCE:
        raise ValueError(f"code: text of at most {MAX_SOURCE} characters expected")
    try:
        tree = read_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"code: {type(error).__name__}: no Python") from None
    name, arguments = _FUNCTIONS[seam]
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise ValueError("code: one function and nothing else expected")
    function = tree.body[0]
    given = function.args
    plain = not (given.posonlyargs or given.kwonlyargs or given.vararg or given.kwarg)
    if function.name != name or not plain or tuple(a.arg for a in given.args) != arguments:
        raise ValueError(f"code: def {name}({', '.join(arguments)}) expected")
    for node in ast.walk(tree):
        _check(node, function)
    _check_names(tree)


def _check_names(tree: ast.Module) -> None:
    """Every name is an argument, a local, or a listed function that is called or sorts by `key`.

    A built-in function is no value: whoever is handed one may call it. None is bound again either,
    since a name that is a local in one scope is the built-in function in another.
    """
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    if bound & _BUILTINS:
        raise ValueError(f"code: {min(bound & _BUILTINS)} is the name of a built-in function")
    as_function = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    as_function |= {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "key"
    }
    for node in names:
        listed = node.id in _CALLS and id(node) in as_function
        if not listed and node.id not in bound:
            raise ValueError(f"code: the name {node.id} is not allowed here")


def _check(node: ast.AST, function: ast.FunctionDef) -> None:
    if not isinstance(node, _NODES):
        raise ValueError(f"code: {type(node).__name__} is not allowed")
    if isinstance(node, ast.FunctionDef) and (
        node is not function or node.decorator_list or node.returns
    ):
        raise ValueError("code: no inner function, decorator or annotation is allowed")
    if isinstance(node, ast.arguments) and (node.defaults or node.kw_defaults):
        raise ValueError("code: no default is allowed")
    if isinstance(node, ast.arg) and (node.annotation or node.arg.startswith("_")):
        raise ValueError("code: no annotation and no private name is allowed")
    if isinstance(node, ast.Name) and node.id.startswith("_"):
        raise ValueError(f"code: the name {node.id} is not allowed")
    if isinstance(node, ast.Attribute) and node.attr not in _METHODS:
        raise ValueError(f"code: .{node.attr} is not allowed")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in _CALLS:
            raise ValueError(f"code: {node.func.id}() is not allowed")
    elif isinstance(node, ast.Call) and not isinstance(node.func, ast.Attribute):
        raise ValueError("code: only named functions and methods can be called")
    if isinstance(node, ast.Constant) and not isinstance(
        node.value, (str, int, float, bool, type(None))
    ):
        raise ValueError("code: a constant of another type")


def score_code(source: str) -> Edit:
    """Items ordered by the source's `score`, best first. Raises ValueError where it fails."""

    def order(query: Query, items: Sequence[Item]) -> Sequence[Item]:
        values = _called(_SCORE, source, query, items)
        if len(values) != len(items) or not all(_is_number(v) for v in values):
            raise ValueError("score: one finite number an item expected")
        return [items[i] for i in sorted(range(len(items)), key=lambda i: (-values[i], i))]

    return order


def assembly_code(source: str) -> Edit:
    """Items in the order that the source's `assemble` gives; what it leaves out is dropped."""

    def order(query: Query, items: Sequence[Item]) -> Sequence[Item]:
        chosen = _called(_ASSEMBLE, source, query, items)
        whole = all(type(i) is int and 0 <= i < len(items) for i in chosen)
        if not whole or len(set(chosen)) != len(chosen):
            raise ValueError("assemble: indices of items expected, each at most once")
        return [items[i] for i in chosen]

    return order


CODE: Final[Mapping[str, Callable[[str], Edit]]] = {"score": score_code, "assembly": assembly_code}


def probe(seam: str, source: str) -> str:
    """Run the source once on made-up items; empty when it works, else what is wrong."""
    items = [
        Item(
            id=f"i{n}",
            text=f"Said on day {n}: the total is {n}.",
            signals={"source_time": float(n), "source_position": float(n)},
        )
        for n in range(5)
    ]
    try:
        CODE[seam](source)(Query(text="What is the total?"), items)
    except ValueError as error:
        return str(error)[:300]
    return ""


_RUNNER: Final = """
import json, sys
given = json.load(sys.stdin)
scope = {}
exec(compile(given["source"], "edit", "exec"), scope)
query, items = given["query"], given["items"]
print(json.dumps(%s))
"""
# JSON has no form for what is no finite number.
_SCORE: Final = _RUNNER % (
    "[s if isinstance(s, (int, float)) and abs(s) < 1e300 else None "
    'for s in (scope["score"](query, item) for item in items)]'
)
_ASSEMBLE: Final = _RUNNER % 'list(scope["assemble"](query, items))'


def _called(runner: str, source: str, query: Query, items: Sequence[Item]) -> list[Any]:
    """What the source gives for the items, from inside the sandbox."""
    known = signals_of(query, items)
    request = {
        "source": source,
        "query": query.text,
        "items": [{"text": i.text, **s} for i, s in zip(items, known, strict=True)],
    }
    result = _sandbox().run(["main.py"], {"main.py": runner}, stdin=json.dumps(request))
    if result.status != "ok":
        last = result.stderr.strip().rsplit("\n", 1)[-1][:200]
        raise ValueError(f"the sandbox ended it: {result.status} {last}".strip())
    try:
        values = read_json(result.stdout)
    except (ValueError, RecursionError):
        raise ValueError("it gave no JSON") from None
    if not isinstance(values, list):
        raise ValueError("it gave no list")
    return values


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


@lru_cache(maxsize=1)
def _sandbox() -> Sandbox:
    """One sandbox for the process: its worker starts each run's interpreter."""
    return Sandbox(LIMITS)
