"""The programs of ours between a system and this arm: what they say has a part in every answer."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path

from framework.text.canonical import digest_file
from framework.text.reading import read_python
from plugins.archs.external._mapping import fill


def drivers_of(command: Sequence[str], places: Mapping[str, str]) -> dict[str, str]:
    """The files that a command names in `{system}` or `{here}`: name to digest of the text.

    A Python file comes with those beside it that it imports. A file that is not there is left out:
    starting the command says so.
    """
    starts = tuple(f"{{{place}}}/" for place in places)
    waiting = [Path(fill(word, places)) for word in command if word.startswith(starts)]
    found = set[Path]()
    while waiting:
        file = waiting.pop()
        if file.is_file() and file not in found:
            found.add(file)
            waiting += _imported(file)
    return {file.name: digest_file(file) for file in sorted(found)}


def _imported(file: Path) -> list[Path]:
    """Where modules beside a Python file would be that it imports; none where it is no Python."""
    if file.suffix != ".py":
        return []
    try:
        tree = read_python(file.read_bytes())
    except (SyntaxError, ValueError):  # its start says so
        return []
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return [file.with_name(f"{name}.py") for name in sorted(names)]
