"""A language model as the author."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from framework.contracts import Assignment, Author, Client, Model
from framework.errors import UserError
from framework.models.client import ModelClient
from framework.operations.author_candidate import AuthorCandidate
from framework.registry import Plugin, find, identity_of, register, settings_of

_DRAFT = AuthorCandidate()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAuthorSettings:
    """Settings of `author=model`.

    model : the authoring model: `plugin`, a name of the group `model`, and that plugin's settings;
        None for the run's own, which is then author and reader at once (Regimes, threat 5).
    """

    model: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self.authoring()

    def authoring(self) -> tuple[Plugin, Any] | None:
        """The model's plugin and settings. Raises UserError naming what is wrong."""
        if self.model is None:
            return None
        if not isinstance(self.model.get("plugin"), str):
            raise UserError("author.model.plugin: the name of a model plugin expected")
        rest = {key: value for key, value in self.model.items() if key != "plugin"}
        try:
            plugin = find("model", self.model["plugin"])
            return plugin, settings_of(plugin, rest)
        except UserError as error:
            raise UserError(f"author.{error}") from None

    def identity(self) -> dict[str, Any]:
        """What may change a draft: no operational setting of the model."""
        chosen = self.authoring()
        if chosen is None:
            return {"model": None}
        return {"model": {"plugin": chosen[0].name, **identity_of(*chosen)}}


@register("author", "model")
class ModelAuthor(Author[ModelAuthorSettings]):
    """Asks a model for a draft (`author_candidate`), showing it failures of the routed regime.

    It sees questions, views and answers, what was tried, and no gold. A rule-based model picks from
    the target's library by the words of the failed questions. Calls are booked as `author`.
    """

    def __init__(self, settings: ModelAuthorSettings) -> None:
        super().__init__(settings)
        chosen = settings.authoring()
        self.model: Model[Any] | None = None if chosen is None else chosen[0].cls(chosen[1])
        self._client = None if self.model is None else ModelClient(self.model)

    async def draft(self, assignment: Assignment, client: Client) -> str | None:
        return await (self._client or client).ask(_DRAFT, assignment)
