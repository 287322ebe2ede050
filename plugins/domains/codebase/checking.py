"""What a patch does: its invariant and the service's own tests, run in the sandbox."""

from __future__ import annotations

import ast
import difflib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from framework.sandbox import Limits, Sandbox
from framework.text.canonical import digest
from framework.text.hunks import apply, hunks_of
from framework.text.reading import read_json, read_python
from plugins.domains.codebase.corpus import sources_of_tests

PACKAGE: Final = "project"
"""The package that holds service and tests in the sandbox."""
LIMITS: Final = Limits(wall_seconds=20.0, cpu_seconds=15.0)

_CODE: Final = re.compile(r"`([^`]+)`|\b(\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a check passed, why not, and which changed lines were executed (by path)."""

    passed: bool
    problem: str
    ran: Mapping[str, frozenset[int]]


_VERDICTS: Final[dict[str, Verdict]] = {}
"""By digest of tree and target: what a tree does does not change."""


class Checker:
    """Checks patches of one tree of files."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(files)
        self._sandbox: Sandbox | None = None

    def patched(self, edit: str) -> dict[str, str] | None:
        """The tree with an edit made; None for one that can't be read or made."""
        try:
            return apply(hunks_of(edit), self.files)
        except ValueError:
            return None

    def invariant(self, tree: Mapping[str, str], target: str) -> Verdict:
        """Whether the rule that governs a target holds in a tree."""
        return self._run(tree, target)

    def tests(self, tree: Mapping[str, str]) -> Verdict:
        """Whether the service's own tests pass in a tree."""
        return self._run(tree, "")

    def is_only_asserted(
        self, tree: Mapping[str, str], target: str, rule: str, rationale: str
    ) -> bool:
        """Whether a change names all that the rule is about and yet enforces nothing.

        It names the rule's code and figures, in what it adds or in the rationale, the invariant
        fails, and the change is no code at all (a comment, a docstring) or has a statement that no
        hostile input reaches (a guard that never runs).
        """
        verdict = self.invariant(tree, target)
        said = "\n".join((rationale, *(line for _, _, line in self._added(tree))))
        if verdict.passed or not all(_names(said, *term) for term in _CODE.findall(rule)):
            return False
        try:
            before = {path: _statements(text) for path, text in self.files.items()}
            after = {path: _statements(text) for path, text in tree.items()}
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        if all(_same_code(self.files[path], tree[path]) for path in tree):
            return True
        new = {(path, n) for path, n, _ in self._added(tree) if n in after[path]}
        reached = {(path, n) for path, lines in verdict.ran.items() for n in lines}
        return bool(before) and bool(new - reached)

    def _added(self, tree: Mapping[str, str]) -> list[tuple[str, int, str]]:
        """(path, line number from 1, line) of every line that is not in the files as they were."""
        found = []
        for path, text in tree.items():
            if text == self.files[path]:
                continue
            old, new = self.files[path].splitlines(), text.splitlines()
            matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
            for tag, _, _, start, end in matcher.get_opcodes():
                if tag in ("insert", "replace"):
                    found += [(path, n + 1, new[n]) for n in range(start, end)]
        return found

    def _run(self, tree: Mapping[str, str], target: str) -> Verdict:
        key = digest([dict(tree), target, dict(sources_of_tests())])
        if key not in _VERDICTS:
            _VERDICTS[key] = self._run_again(tree, target)
        return _VERDICTS[key]

    def _run_again(self, tree: Mapping[str, str], target: str) -> Verdict:
        if self._sandbox is None:
            self._sandbox = Sandbox(LIMITS)
        word = secrets.token_hex(16)
        changed: dict[str, list[int]] = {}
        for path, number, _ in self._added(tree):
            changed.setdefault(path, []).append(number)
        files = {f"{PACKAGE}/{path}": text for path, text in {**tree, **sources_of_tests()}.items()}
        asked = {"word": word, "target": target, "changed": changed}
        result = self._sandbox.run(["-m", f"{PACKAGE}.running"], files, stdin=json.dumps(asked))
        for line in result.stdout.splitlines():
            if line.startswith(f"{word} "):
                told = read_json(line.partition(" ")[2])
                ran = {path: frozenset(lines) for path, lines in told["ran"].items()}
                return Verdict(passed=told["passed"], problem=told["problem"], ran=ran)
        return Verdict(passed=False, problem=f"no verdict: {result.status}", ran={})


def _names(text: str, code: str, figure: str) -> bool:
    """Whether a text has a rule's figure, or the last name of its code."""
    if figure:
        return re.search(rf"\b{figure}\b", text) is not None
    last = re.findall(r"\w+", code.partition("(")[0])[-1:]
    return all(re.search(rf"\b{name}\b", text) is not None for name in last)


def _same_code(one: str, other: str) -> bool:
    return one == other or ast.dump(_bare(one)) == ast.dump(_bare(other))


def _bare(text: str) -> ast.Module:
    """The tree without docstrings and other statements that are a mere constant."""
    tree = read_python(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _is_text(s)] or [ast.Pass()]  # type: ignore[attr-defined]
    return tree


def _is_text(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _statements(text: str) -> set[int]:
    """Lines on which a statement that does something begins."""
    return {
        node.lineno
        for node in ast.walk(read_python(text))
        if isinstance(node, ast.stmt) and not _is_text(node)
    }
