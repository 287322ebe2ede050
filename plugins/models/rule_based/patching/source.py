"""One Python file that is being changed: its tree, and edits by place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from framework.text.reading import read_python


class Source:
    """The text of a module with what is needed to edit it. Raises SyntaxError for one that is none.

    Edits are collected by place and made at once, so that places stay those of the text given.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._data = text.encode()
        self.tree = read_python(text)
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, bytes]] = []

    @property
    def module(self) -> str:
        """The module's own name."""
        return self.path.rpartition("/")[2].removesuffix(".py")

    def function(self, name: str) -> ast.FunctionDef | None:
        """The function of that name at the top of the module."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return node
        return None

    def of(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self._data[slice(*self._span(node))].decode()

    def replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        """Put a text in place of a node."""
        self._edits.append((*self._span(node), text.encode()))

    def insert_before(self, node: ast.stmt, lines: Sequence[str]) -> None:
        """Put lines before a statement, at its indentation."""
        start = self._starts[node.lineno - 1]
        indent = " " * node.col_offset
        self._edits.append((start, start, "".join(f"{indent}{x}\n" for x in lines).encode()))

    def indent_under(self, first: ast.stmt, last: ast.stmt, head: str) -> None:
        """Put the lines from one statement to another under `head`, four columns further in."""
        start, end = self._starts[first.lineno - 1], self._starts[last.end_lineno or last.lineno]
        indent = b" " * first.col_offset
        lines = self._data[start:end].splitlines(keepends=True)
        moved = b"".join(b"    " + line if line.strip() else line for line in lines)
        self._edits.append((start, end, indent + head.encode() + b"\n" + moved))

    def result(self) -> str:
        """The text with all edits made. Raises ValueError when two of them overlap."""
        data, end_of_last = self._data, len(self._data) + 1
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2], reverse=True):
            if end > end_of_last:
                raise ValueError("two edits overlap")
            data, end_of_last = data[:start] + text + data[end:], start
        return data.decode()

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset
