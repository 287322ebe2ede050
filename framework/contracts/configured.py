"""What every plugin that has settings is."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar, Generic, TypeVar

from framework.registry import NoSettings

S = TypeVar("S")


class Configured(ABC, Generic[S]):
    """A plugin and its settings. `name` is what it is registered under."""

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init__(self, settings: S) -> None:
        self.settings = settings
