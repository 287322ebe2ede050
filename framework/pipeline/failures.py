"""What a row says of an exception: its type, its message, and where in a plugin it arose."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from framework.errors import ModelError, UnreadableError
from framework.records import Row

_MOST: Final = 10_000
"""Characters of a message that a row keeps."""


def as_failed(row: Row, error: Exception) -> Row:
    """The row of a case of which something has no form in a file: what it cost and its error."""
    return Row(
        case_id=row.case_id, arm=row.arm, trial=row.trial, repeat=row.repeat, turn=row.turn,
        history_id=row.history_id, stratum=row.stratum, cluster=row.cluster, tags=row.tags,
        depth=row.depth, expected=row.expected, budget_tokens=row.budget_tokens,
        domain_version=row.domain_version, model=row.model, form_read=row.form_read,
        usage=row.usage, error=f"{type(error).__name__}: {error}",
    )  # fmt: skip


def told(error: BaseException, plugins: Iterable[type[object]]) -> str:
    """`KeyError: 'x' (plugins/archs/mine.py:12)`: the innermost line in the plugins' packages.

    A failed call is the provider's, and an unreadable answer the model's: neither has a line. Of a
    message that is longer than any needs to be its beginning is kept.
    """
    said = f"{type(error).__name__}: {error}"
    if len(said) > _MOST:
        said = f"{said[:_MOST]}... ({len(said):,} characters)"
    if isinstance(error, (ModelError, UnreadableError)):
        return said
    packages = {plugin.__module__.partition(".")[0] for plugin in plugins}
    packages.discard(__name__.partition(".")[0])
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in packages:
            path = Path(frame.f_code.co_filename)
            depth = module.count(".") + (2 if path.stem == "__init__" else 1)
            found = f" ({'/'.join(path.parts[-depth:])}:{line})"
    return said + found
