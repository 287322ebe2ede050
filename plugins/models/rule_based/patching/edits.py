"""A rule made true of a function: one general edit for each kind of rule.

An edit finds its place by the syntax tree (a parameter, a key, a call, a constant that the
function uses) and knows nothing of what the code is about. Where the function has no such place the
rule does not apply to it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from framework.text.reading import read_expression, read_python
from plugins.models.rule_based.patching.rules import CodeRule
from plugins.models.rule_based.patching.source import Source

_SECONDS: Final = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_QUALIFIED: Final = re.compile(r"\b([a-z_]\w*)\.[a-z_]\w*\(?")


def edited(rule: CodeRule, file: str, function: str, files: Mapping[str, str]) -> str | None:
    """The text of `file` with the rule made true of the function; None where it does not apply."""
    source = Source(file, files[file])
    node = source.function(function)
    if node is None or rule.kind not in _EDITS or not _EDITS[rule.kind](rule, source, node):
        return None
    _import_what_is_used(rule, source, files)
    text = source.result()
    try:
        read_python(text)
    except SyntaxError:
        return None
    return text


def _body(node: ast.FunctionDef) -> list[ast.stmt]:
    """The statements without the docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body


def _at_start(source: Source, node: ast.FunctionDef, *lines: str) -> bool:
    body = _body(node)
    if not body:
        return False
    source.insert_before(body[0], lines)
    return True


def _has(node: ast.FunctionDef, parameter: str) -> bool:
    arguments = node.args
    return any(a.arg == parameter for a in (*arguments.args, *arguments.kwonlyargs))


def _last_return(node: ast.FunctionDef) -> ast.Return | None:
    last = node.body[-1]
    return last if isinstance(last, ast.Return) and last.value is not None else None


def _entries(node: ast.FunctionDef, key: str) -> Iterator[tuple[ast.Dict, int]]:
    """The dict displays of a function that have a key, with its index."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            for index, name in enumerate(inner.keys):
                if isinstance(name, ast.Constant) and name.value == key:
                    yield inner, index


def _drop(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    found: dict[int, tuple[ast.Dict, set[int]]] = {}
    for key in rule.terms:
        for display, index in _entries(node, key):
            found.setdefault(id(display), (display, set()))[1].add(index)
    for display, gone in found.values():
        pairs = [
            f"{source.of(key)}: {source.of(value)}" if key else f"**{source.of(value)}"
            for index, (key, value) in enumerate(zip(display.keys, display.values, strict=True))
            if index not in gone
        ]
        source.replace(display, f"{{{', '.join(pairs)}}}")
    return bool(found)


def _through(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    name, call = rule.terms
    return _has(node, name) and _at_start(source, node, f"{name} = {_local(call, source)}({name})")


def _value_through(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    key, call = rule.terms
    values = [display.values[index] for display, index in _entries(node, key)]
    for value in values:
        source.replace(value, f"{_local(call, source)}({source.of(value)})")
    return bool(values)


def _rename(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    new, old = rule.terms
    keys = [display.keys[index] for display, index in _entries(node, old)]
    for key in keys:
        if key is not None:
            source.replace(key, repr(new).replace("'", '"'))
    return bool(keys)


def _bounded(function: str) -> Callable[[CodeRule, Source, ast.FunctionDef], bool]:
    def edit(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
        name, bound = rule.terms
        return _has(node, name) and _at_start(source, node, f"{name} = {function}({name}, {bound})")

    return edit


def _refuse(condition: str) -> Callable[[CodeRule, Source, ast.FunctionDef], bool]:
    def edit(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
        name, *bound, error = rule.terms
        test = condition.format(name, *bound)
        raised = f'raise {error}("{name} is refused")'
        return _has(node, name) and _at_start(source, node, f"if {test}:", f"    {raised}")

    return edit


def _order(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    key, first = rule.terms
    last = _last_return(node)
    if last is None or last.value is None:
        return False
    back = ", reverse=True" if first.lower() in ("newest", "largest") else ""
    value = source.of(last.value)
    source.replace(last.value, f'sorted({value}, key=lambda row: row["{key}"]{back})')
    return True


def _call_first(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    call = _call(rule.terms[0], source, node)
    return call is not None and _at_start(source, node, call)


def _call_last(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    call, last = _call(rule.terms[0], source, node), _last_return(node)
    if call is None or last is None or last.value is None:
        return False
    source.insert_before(last, (f"result = {source.of(last.value)}", call))
    source.replace(last.value, "result")
    return True


def _call(code: str, source: Source, node: ast.FunctionDef) -> str | None:
    """A call with NAME and NUMBER filled in; None when a name in it is no parameter."""
    numbers = [
        a.arg
        for a in node.args.args
        if isinstance(a.annotation, ast.Name) and a.annotation.id == "int"
    ]
    if "NUMBER" in code and not numbers:
        return None
    filled = re.sub(r"\bNAME\b", f'"{node.name}"', code)
    filled = re.sub(r"\bNUMBER\b", numbers[0] if numbers else "", filled)
    try:
        call = read_expression(filled)
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call):
        return None
    plain = [a.id for a in call.args if isinstance(a, ast.Name)]
    return _local(filled, source) if all(_has(node, name) for name in plain) else None


def _replace(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    new, old = (term.removesuffix("()") for term in rule.terms)
    found = [
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.Attribute | ast.Name) and ast.unparse(inner) == old
    ]
    for inner in found:
        source.replace(inner, _local(new, source))
    return bool(found)


def _nothing_where(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    try:
        names = {n.id for n in ast.walk(read_python(rule.terms[0])) if isinstance(n, ast.Name)}
    except SyntaxError:
        return False
    known = all(_has(node, name) for name in names)
    return known and _at_start(source, node, f"if {rule.terms[0]}:", "    return None")


def _within(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    body = _body(node)
    name = rule.terms[0].partition(".")[0]
    if not body or not _has(node, name):
        return False
    source.indent_under(body[0], body[-1], f"with {rule.terms[0]}:")
    return True


def _lasts(rule: CodeRule, source: Source, node: ast.FunctionDef) -> bool:
    """Set the one constant of a unit of time that the function uses."""
    amount, unit = int(rule.terms[0]), rule.terms[1].lower()
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    found = [
        (statement, last)
        for statement in source.tree.body
        if isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(name := statement.targets[0], ast.Name)
        and name.id in used
        and (last := name.id.lower().rpartition("_")[2]) in _SECONDS
    ]
    if len(found) != 1:
        return False
    statement, last = found[0]
    value = amount * _SECONDS[unit] / _SECONDS[last]
    source.replace(statement.value, str(int(value) if value == int(value) else value))
    return True


_EDITS: Final[Mapping[str, Callable[[CodeRule, Source, ast.FunctionDef], bool]]] = {
    "drop": _drop,
    "through": _through,
    "value_through": _value_through,
    "rename": _rename,
    "cut": _bounded("min"),
    "raise_to": _bounded("max"),
    "refuse_longer": _refuse("len({0}) > {1}"),
    "refuse_below": _refuse("{0} < {1}"),
    "refuse_above": _refuse("{0} > {1}"),
    "refuse_empty": _refuse("not {0}"),
    "order": _order,
    "call_first": _call_first,
    "call_last": _call_last,
    "replace": _replace,
    "nothing_where": _nothing_where,
    "within": _within,
    "lasts": _lasts,
}


def _local(code: str, source: Source) -> str:
    """Code as it is written within the module: without the module's own name before a function."""
    return re.sub(rf"\b{re.escape(source.module)}\.", "", code)


def _import_what_is_used(rule: CodeRule, source: Source, files: Mapping[str, str]) -> None:
    """Import the sibling modules and the error that the rule's code names, where they are not."""
    folder = source.path.rpartition("/")[0]
    siblings = {
        path.rpartition("/")[2].removesuffix(".py"): text
        for path, text in files.items()
        if path.rpartition("/")[0] == folder
    }
    known = {alias.asname or alias.name for node in _imports(source) for alias in node.names}
    code = " ".join(rule.terms)
    for name in dict.fromkeys(_QUALIFIED.findall(code)):
        if name in siblings and name not in known and name != source.module:
            _import(source, "", name)
    for term in rule.terms:
        if not term[:1].isupper() or term in known:
            continue
        for module, text in siblings.items():
            defined = re.search(rf"^class {re.escape(term)}\b", text, re.MULTILINE)
            if defined and module != source.module:
                _import(source, module, term)


def _imports(source: Source) -> list[ast.ImportFrom]:
    return [node for node in source.tree.body if isinstance(node, ast.ImportFrom)]


def _import(source: Source, module: str, name: str) -> None:
    """Add a name to the relative import from a module, or an import after the last one."""
    for node in _imports(source):
        if node.level == 1 and (node.module or "") == module:
            names = sorted([*(alias.name for alias in node.names), name])
            source.replace(node, f"from .{module} import {', '.join(names)}")
            return
    imports = [n for n in source.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    after = source.tree.body[source.tree.body.index(imports[-1]) + 1 if imports else 1 :]
    if after:
        source.insert_before(after[0], (f"from .{module} import {name}",))
