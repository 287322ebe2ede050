"""Files that are there whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to, which becomes `path` in one step when the block ends."""
    draft = path.with_name(path.name + ".draft")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file in one step. Raises ValueError for a number that JSON has not."""
    write_text(path, as_json(content))


def as_json(content: Mapping[str, Any]) -> str:
    """JSON as it stands in files: indented, not escaped, with a line feed at the end."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
