"""Group and name to plugin class, with the class's own settings type.

A plugin registers itself where it stands::

    @register("arch", "bm25")
    class BM25(Arch[BM25Settings]): ...

Plugins come from packages announced under the entry point group `decisionbench.plugins`; every
module of such a package is imported once, on first need. Settings are frozen dataclasses: the keys,
types and defaults that a configuration may give. A field with `metadata={"operational": True}` can
not change a measured value and stays out of the identity digest.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.metadata
import pkgutil
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from framework.errors import UserError

ENTRY_POINT_GROUP: Final = "decisionbench.plugins"

_T = TypeVar("_T")


@dataclass(frozen=True)
class NoSettings:
    """The settings of a plugin that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One registered class: its group, name, the class and the type of its settings."""

    group: str
    name: str
    cls: type[Any]
    settings: type[Any]

    @property
    def summary(self) -> str:
        """First line of the class's docstring."""
        return (self.cls.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")


_plugins: dict[tuple[str, str], Plugin] = {}
_broken: dict[str, str] = {}
_loaded = False


def register(group: str, name: str) -> Callable[[type[_T]], type[_T]]:
    """Class decorator: make the class known as `name` in `group`.

    The settings type is the class attribute `Settings` (a frozen dataclass) or `NoSettings`.
    Raises ValueError when another class already bears the name: two plugins of one name would make
    results ambiguous.
    """

    def decorate(cls: type[_T]) -> type[_T]:
        known = _plugins.get((group, name))
        if known is not None and known.cls.__qualname__ != cls.__qualname__:
            raise ValueError(
                f"{group}={name} is registered twice: {known.cls.__module__} and {cls.__module__}"
            )
        settings = getattr(cls, "Settings", NoSettings)
        _plugins[group, name] = Plugin(group=group, name=name, cls=cls, settings=settings)
        cls.name = name  # type: ignore[attr-defined]  # every contract declares `name: ClassVar[str]`
        return cls

    return decorate


def load_plugins() -> None:
    """Import every module of every announced package, once. One that fails is remembered.

    A module that fails takes only its own plugins with it.
    """
    global _loaded
    if _loaded:
        return
    _loaded = True
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        root = _import(point.module)
        if root is not None:
            path = getattr(root, "__path__", [])
            for info in pkgutil.walk_packages(path, f"{root.__name__}.", onerror=_ignore):
                _import(info.name)


def _import(module: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(module)
    except Exception as error:  # a third party's module may fail in any way at import
        _broken[module] = f"{type(error).__name__}: {error}"
        return None


def _ignore(package: str) -> None:
    """A package that can't be imported is remembered when its turn comes."""


def broken() -> Mapping[str, str]:
    """Announced modules that could not be imported, with the reason."""
    load_plugins()
    return dict(_broken)


def plugins(group: str | None = None) -> list[Plugin]:
    """All plugins, or those of one group, by group and name."""
    load_plugins()
    return sorted(
        (p for p in _plugins.values() if group in (None, p.group)), key=lambda p: (p.group, p.name)
    )


def find(group: str, name: str) -> Plugin:
    """The plugin `name` of `group`. Raises UserError naming the nearest match."""
    load_plugins()
    plugin = _plugins.get((group, name))
    if plugin is None:
        names = [p.name for p in plugins(group)]
        failed = "".join(f"; {k} failed to import ({why})" for k, why in _broken.items())
        raise UserError(f"{group}: no plugin {name!r}{nearest(name, names)}{failed}")
    return plugin


def nearest(given: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'x'? allowed: a, b, c` for a message; no guess where none is near."""
    names = sorted(allowed)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{hint} allowed: {', '.join(names) or 'none'}"


def settings_of(plugin: Plugin, values: Mapping[str, Any]) -> Any:
    """The plugin's settings from plain configuration values.

    Raises UserError for an unknown key or a value of the wrong type, naming the key, what was
    given, what is allowed and the nearest match. `__post_init__` may raise ValueError for a value
    out of range: it becomes a UserError naming the plugin.
    """
    hints = typing.get_type_hints(plugin.settings)
    where = f"{plugin.group}.{{}} ({plugin.group}={plugin.name})"
    kwargs: dict[str, Any] = {}
    for key, value in values.items():
        if key not in hints:
            raise UserError(f"{where.format(key)}: no such setting{nearest(key, hints)}")
        kwargs[key] = _coerce(value, hints[key], where.format(key))
    missing = [
        f.name
        for f in dataclasses.fields(plugin.settings)
        if f.name not in kwargs
        and f.default is dataclasses.MISSING
        and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise UserError(f"{where.format(missing[0])}: a value is required")
    try:
        return plugin.settings(**kwargs)
    except ValueError as error:
        raise UserError(f"{plugin.group}={plugin.name}: {error}") from None


def identity_of(plugin: Plugin, settings: Any) -> dict[str, Any]:
    """The settings that may change a measured value, as plain data.

    Settings that hold a plugin's settings or a file's name say it themselves, by `identity()`.
    """
    if hasattr(settings, "identity"):
        own: dict[str, Any] = settings.identity()
        return own
    return {
        f.name: getattr(settings, f.name)
        for f in dataclasses.fields(plugin.settings)
        if not f.metadata.get("operational", False)
    }


def _coerce(value: Any, hint: Any, where: str) -> Any:
    """`value` as `hint`: a scalar, Literal, X | None, tuple[X, ...] or Mapping[str, X]."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        inner = [a for a in args if a is not type(None)]
        for option in inner:
            try:
                return _coerce(value, option, where)
            except UserError:
                continue
        raise UserError(f"{where}: {value!r} given, {_spell(hint)} expected")
    if origin is typing.Literal:
        if value in args and type(value) in {type(a) for a in args}:
            return value
        raise UserError(f"{where}: {value!r} given{nearest(str(value), map(str, args))}")
    if origin is tuple and isinstance(value, (list, tuple)):
        return tuple(_coerce(v, args[0], where) for v in value)
    if origin is not None and isinstance(value, Mapping) and issubclass(dict, origin):
        return {str(k): _coerce(v, args[1], where) for k, v in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is Any or (isinstance(hint, type) and type(value) is hint):
        return value
    raise UserError(f"{where}: {value!r} given, {_spell(hint)} expected")


def _spell(hint: Any) -> str:
    names = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        options = [a for a in typing.get_args(hint) if a is not type(None)]
        null = " or null" if type(None) in typing.get_args(hint) else ""
        return " or ".join(_spell(o) for o in options) + null
    if typing.get_origin(hint) is tuple:
        return f"a list of {_spell(typing.get_args(hint)[0])}"
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(map(str, typing.get_args(hint)))
    return names.get(hint, getattr(hint, "__name__", str(hint)))
