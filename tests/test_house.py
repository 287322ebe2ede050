"""What the rooms keep to: no plugin is named, what is private stays so, and old words stay away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework.registry import plugins

ROOT = Path(__file__).resolve().parents[1]
GROUPS = (
    "arch",
    "axis",
    "domain",
    "reader",
    "judge",
    "gate",
    "model",
    "embedder",
    "author",
    "target",
    "routing",
)
WORDS = {
    "answer": "a phase of the ledger, and a field of records and of operations",
    "chain": "the links from a task to what governs it: gold, and what a domain provides",
    "geometry": "where what governs lies, which a domain provides",
    "llm": "the kind of a model or judge that is a language model",
    "model": "the plugin group, and its part in a configuration",
    "none": "no choice was made",
    "noninferiority": "the test that a pre-registered hypothesis names",
    "regime": "why a case failed, in a loop's events",
    "retention": "what a view held: a column of counterfactual pairs, and a section of the report",
}
"""Names of plugins that are also words of the framework, and what they mean there."""
FORMER = {
    "alike": "similar",
    "anew": "again",
    "compat": "published_convention",
    "currency": "staleness",
    "economy": "cost_effectiveness",
    "exempt": "unbudgeted",
    "extractive": "rule_based",
    "gallery": "figures",
    "gullible": "follows_injections",
    "likeness": "similarity",
    "looks": "analyses",
    "mishap": "reader noise",
    "rehearsal": "dry run",
    "stance": "value status",
    "treatment": "counterfactual_pairs",
    "twins": "pairs",
    "unasked": "no model",
    "witness": "recording judge",
}
"""Words that were given up, and what is said instead (docs/reference/glossary.md)."""
ALIASES = {
    "framework/config.py": {"compat"},
    "framework/contracts/arch.py": {"exempt"},
    "plugins/models/rule_based/model.py": {"extractive", "gullible"},
}
"""Where former names of settings and of plugins' attributes are still read."""
REGISTRATIONS = ("register('operation',", "register('protocol',")


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every string literal but docstrings, exported names, and an operation's own registration."""
    apart: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):  # docstrings of attributes too
            apart.add(id(node.value))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            apart |= {id(name) for name in ast.walk(node.value)}
        elif isinstance(node, ast.Call) and ast.unparse(node).startswith(REGISTRATIONS):
            apart |= {id(arg) for arg in node.args}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node


@pytest.fixture(scope="module")
def registered() -> dict[str, str]:
    """Group by name of every plugin that ships."""
    shipped = (p for group in GROUPS for p in plugins(group))
    return {p.name: p.group for p in shipped if p.cls.__module__.startswith("plugins.")}


def test_the_framework_names_no_plugin(registered: dict[str, str]) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value!r} is {registered[node.value]}="
        for path in files("framework")
        for node in literals(ast.parse(path.read_text(encoding="utf-8")))
        if node.value in registered and node.value not in WORDS
    ]
    assert not found, "\n".join(found)


def test_the_words_are_few_and_needed(registered: dict[str, str]) -> None:
    used = {
        node.value
        for path in files("framework")
        for node in literals(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(WORDS) <= 12
    assert set(WORDS) <= used & registered.keys()


def test_private_files_are_imported_in_their_own_folder_only() -> None:
    """A module or package whose name begins with _ belongs to the folder that it stands in."""
    found = []
    for path in files("framework", "plugins"):
        here = path.relative_to(ROOT).parts[:-1]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or node.module is None:
                continue
            for name in [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]:
                words = name.split(".")
                private = next((i for i, word in enumerate(words) if _is_private(word)), None)
                if words[0] not in ("framework", "plugins") or private is None:
                    continue
                owner = tuple(words[:private])
                if here[: len(owner)] != owner:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert not found, "\n".join(found)


def test_former_words_name_nothing() -> None:
    """Neither functions, classes, parameters, attributes, modules nor keys of what is written."""
    found = []
    for path in files("framework", "plugins", "hydra_plugins", "benchmarks"):
        name = str(path.relative_to(ROOT))
        if name == "framework/store/former.py" or "/data/" in name:
            continue
        allowed = ALIASES.get(name, set())
        named = [(1, path.stem), *_named(ast.parse(path.read_text(encoding="utf-8")))]
        for line, words in named:
            parts = re.findall("[a-z]+", words.lower().replace("look_alike", ""))
            old = (FORMER.keys() & set(parts)) - allowed
            found += [f"{name}:{line}: {words}: {word} is now {FORMER[word]}" for word in old]
    assert not found, "\n".join(found)


def _named(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of what a module names, and its strings that are names."""
    former: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Attribute():
                yield node.lineno, node.attr
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.keyword(arg=str(), value=ast.Dict()) if node.arg == "metadata":
                former |= {id(each) for each in ast.walk(node.value)}
            case ast.Constant(value=str()) if id(node) not in former:
                if re.fullmatch("[a-z_]+", node.value):
                    yield node.lineno, node.value


def _is_private(word: str) -> bool:
    return word.startswith("_") and not word.startswith("__")


def test_make_finds_every_test_of_an_extra_by_its_mark() -> None:
    """It collects files that name the mark, so a mark may come from nowhere else."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\w+", "|".join(re.findall(r"call MARKED,([\w|]+)", makefile))))
    assert len(named) > 5
    asked = re.compile(rf"mark\.({'|'.join(named)})\b")
    elsewhere = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if not path.name.startswith("test_") and asked.search(path.read_text(encoding="utf-8"))
    }
    assert elsewhere == set()
