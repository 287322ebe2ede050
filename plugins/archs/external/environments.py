"""Environments of systems' own packages, by their locks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from framework.contracts.environment import Environments
from framework.registry import register
from plugins.archs.external import _environment
from plugins.archs.external._settings import CommandSettings


@register("environment", "locked")
class Locked(Environments):
    """An environment with a system's packages, each checked against the hash in its lock."""

    def fits(self, settings: Any) -> bool:
        return isinstance(settings, CommandSettings) and settings.own_environment is not None

    def create(self, settings: Any) -> Iterator[str]:
        return settings.own_environment.create()  # type: ignore[no-any-return]  # it fits

    def made(self) -> Iterator[str]:
        for name, complete in _environment.made():
            yield name if complete else f"{name} (incomplete: create it again)"

    def remove(self, name: str) -> Iterator[str]:
        for folder in _environment.remove(name):
            yield f"{folder}: removed"
