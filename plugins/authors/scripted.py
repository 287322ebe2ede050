"""An author that says what it was told to: for reproductions, and for prompts that people wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from framework.contracts import Assignment, Author, Client
from framework.errors import DataError, UserError
from framework.registry import register
from framework.text.canonical import CanonicalError, canonical_json, digest
from framework.text.reading import read_yaml


@dataclass(frozen=True, kw_only=True)
class ScriptedSettings:
    """Settings of `author=scripted`.

    drafts : the drafts in order, each an object with `seam` and its payload, or text as it is.
    path : a YAML file with the list of drafts instead; empty for none.
    """

    drafts: tuple[Any, ...] = ()
    path: str = ""

    @cached_property
    def script(self) -> tuple[str, ...]:
        """The drafts as text. Raises UserError for a file that is missing or holds no list."""
        drafts: Any = self.drafts
        if self.path:
            import yaml

            try:
                drafts = read_yaml(Path(self.path).read_text(encoding="utf-8"))
            except OSError as error:
                raise UserError(f"author.path: {self.path}: {error.strerror}") from None
            except (yaml.YAMLError, ValueError) as error:
                raise DataError(Path(self.path), None, f"not YAML: {error}") from None
            if not isinstance(drafts, list):
                raise DataError(Path(self.path), None, "a list of drafts expected")
        try:
            return tuple(d if isinstance(d, str) else canonical_json(d) for d in drafts)
        except CanonicalError as error:  # a date, a set, .inf
            if self.path:
                raise DataError(Path(self.path), None, f"not drafts: {error}") from None
            raise UserError(f"author.drafts: {error}") from None

    def identity(self) -> Mapping[str, Any]:
        """What the drafts say, wherever they are from."""
        return {"drafts": digest(self.script)}


@register("author", "scripted")
class Scripted(Author[ScriptedSettings]):
    """Proposes given drafts in order, one per attempt, whatever is assigned, until they run out.

    With one draft of the reader's prompt it is the human-prompt control.
    """

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        script = self.settings.script
        return script[assignment.attempt] if assignment.attempt < len(script) else None
