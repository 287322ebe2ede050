"""What every plugin that has settings is."""

from __future__ import annotations

from abc import ABC
from dataclasses import is_dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args

from framework.registry import NoSettings

S = TypeVar("S")


class Configured(ABC, Generic[S]):
    """A plugin and its settings, a frozen dataclass: `class BM25(Arch[BM25Settings])`.

    `name` is what it is registered under, `Settings` the class's parameter.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for base in cls.__dict__.get("__orig_bases__", ()):
            for given in get_args(base):
                if is_dataclass(given) and "Settings" not in cls.__dict__:
                    cls.Settings = given  # type: ignore[assignment]

    @classmethod
    def under(cls, settings: S) -> type[Self]:
        """The class whose declarations hold under these settings: by default this one."""
        return cls

    def __init__(self, settings: S) -> None:
        self.settings = settings
