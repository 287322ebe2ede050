"""What every plugin that has settings is."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache, cached_property
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from framework.errors import UserError
from framework.registry import NoSettings, coerce, contracts

S = TypeVar("S")


class Configured(ABC, Generic[S]):
    """A plugin and its settings, a frozen dataclass: `class BM25(Arch[BM25Settings])`.

    `name` is what it is registered under, `Settings` the class's parameter.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[Any]] = NoSettings

    def __init_subclass__(cls, group: str = "", **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if group:
            contracts[group] = cls
        for base in cls.__dict__.get("__orig_bases__", ()):
            for given in get_args(base):
                if is_dataclass(given) and "Settings" not in cls.__dict__:
                    cls.Settings = given  # type: ignore[assignment]

    @classmethod
    def check_declared(cls) -> None:
        """What can be found wrong with a class as it is registered.

        Raises TypeError naming the class and a method or an attribute that it lacks, or an
        attribute that is a word, a flag or a tuple of another type than the contract's.
        """
        if missing := sorted(cls.__abstractmethods__):
            raise TypeError(f"{cls.__qualname__}: not implemented: {', '.join(missing)}")
        contract = next((base for base in cls.__mro__ if base in contracts.values()), Configured)
        declared = _declared(contract)
        if missing := [name for name in declared if not hasattr(cls, name)]:
            raise TypeError(f"{cls.__qualname__}: not declared: {', '.join(missing)}")
        for name, hint in declared.items():
            value = getattr(cls, name)
            if not isinstance(value, (property, cached_property)) and _is_plain(hint):
                try:
                    coerce(value, hint, name)
                except UserError as error:
                    raise TypeError(f"{cls.__qualname__}: {error}") from None

    @classmethod
    def under(cls, settings: S) -> type[Self]:
        """The class whose declarations hold under these settings: by default this one."""
        return cls

    def __init__(self, settings: S) -> None:
        self.settings = settings


@cache
def _declared(contract: Any) -> Mapping[str, Any]:
    """By name, the types of the attributes that a contract declares, which an author gives."""
    hints = get_type_hints(contract)
    types = {n: get_args(hint)[0] for n, hint in hints.items() if get_origin(hint) is ClassVar}
    return {n: hint for n, hint in types.items() if n not in ("name", "Settings")}


def _is_plain(hint: Any) -> bool:
    return hint in (bool, str) or get_origin(hint) in (Literal, tuple)
