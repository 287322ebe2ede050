"""Group and name to plugin class, imported on use.

A plugin registers itself where it stands::

    @register("arch", "bm25")
    class BM25(Arch[BM25Settings]): ...

Plugins come from packages announced under the entry point group `decisionbench.plugins`. Their
files are read, not imported: a line `@register("group", "name")` at the margin says which module to
import for which name. A module that registers in another way is imported when a group is listed, or
a name is asked for that no file has.

Settings are frozen dataclasses: the keys, types and defaults that a configuration may give. A field
with `metadata={"operational": True}` can not change a measured value and stays out of the identity
digest.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import importlib.metadata
import importlib.util
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from framework.errors import UserError

ENTRY_POINT_GROUP: Final = "decisionbench.plugins"

_MANY: Final = 40
"""Names that a message beside a guess does not list."""

_NAME: Final = re.compile(r"[a-z0-9_]+(/[A-Za-z0-9_]+)?")
"""A plugin's name; one that stands below another may be written as its source does, as `a/F1`."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Announced:
    """What the announced packages' files say: by group and name, the modules that register it.

    aliases : by group and former name, the name. opaque : modules that register in a way that can't
    be read, and the packages that can't be read at all.
    """

    modules: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)


contracts: Final[dict[str, type[Any]]] = {}
"""By group, the base class of its plugins: those of `framework.contracts` put themselves here."""
_plugins: dict[tuple[str, str], Plugin] = {}
_aliases: dict[tuple[str, str], str] = {}
_broken: dict[str, str] = {}


def register(
    group: str, name: str, aliases: tuple[str, ...] = ()
) -> Callable[[type[_T]], type[_T]]:
    """Class decorator: make the class known as `name` in `group`, and by its former names.

    The settings type is the class attribute `Settings` (a frozen dataclass) or `NoSettings`.
    Raises ValueError for a name of another form, and when another class already bears the name: two
    plugins of one name would make results ambiguous. Raises TypeError for a class that is not what
    its group's contract says (`Configured.check_declared`).
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{group}={name}: a name of lower case, digits and _ expected")

    def decorate(cls: type[_T]) -> type[_T]:
        known = _plugins.get((group, name))
        announced = _announced().modules.get((group, name), [cls.__module__])
        if known is None:
            others = [] if cls.__module__ in announced else announced
        else:
            same = (known.cls.__module__, known.cls.__qualname__)
            others = [] if same == (cls.__module__, cls.__qualname__) else [same[0]]
        if others:
            raise ValueError(_twice(group, name, [*others, cls.__module__]))
        cls.name = name  # type: ignore[attr-defined]  # every contract declares `name: ClassVar[str]`
        if (contract := contracts.get(group)) is not None:
            if not issubclass(cls, contract):
                raise TypeError(f"{cls.__qualname__} is no {contract.__name__}")
            cls.check_declared()  # type: ignore[attr-defined]  # a contract has it
        settings = getattr(cls, "Settings", NoSettings)
        _plugins[group, name] = Plugin(group=group, name=name, cls=cls, settings=settings)
        _aliases.update({(group, alias): name for alias in aliases})
        return cls

    return decorate


def find(group: str, name: str) -> Plugin:
    """The plugin `name` of `group`, also by a former name. Only its module is imported.

    Raises UserError naming the nearest match, or why the plugin's module can't be imported.
    """
    plugin = _found(group, canonical(group, name))
    if plugin is None:
        _import_opaque()
        plugin = _found(group, canonical(group, name))
    if plugin is None:
        own = _announced().modules.get((group, canonical(group, name)), [])
        why = "; ".join(f"{k} failed to import ({_broken[k]})" for k in own if k in _broken)
        if why:
            raise UserError(f"{group}={name}: {why}")
        failed = "".join(f"; {k} failed to import ({why})" for k, why in _broken.items())
        raise UserError(f"{group}: no plugin {name!r}{nearest(name, names(group))}{failed}")
    return plugin


def _found(group: str, name: str) -> Plugin | None:
    modules = _announced().modules.get((group, name), [])
    if len(modules) > 1:
        raise UserError(_twice(group, name, modules))
    if (group, name) not in _plugins:
        for module in modules:
            _import(module)
    return _plugins.get((group, name))


def _twice(group: str, name: str, modules: Iterable[str]) -> str:
    return f"{group}={name} is registered twice: {' and '.join(modules)}"


def canonical(group: str, name: str) -> str:
    """The name of a plugin that may be given by a former one."""
    if (group, name) in _plugins or (group, name) in _announced().modules:
        return name
    return _aliases.get((group, name)) or _announced().aliases.get((group, name), name)


def names(group: str) -> list[str]:
    """The names of a group's plugins, sorted. What files say is not imported for it."""
    _import_opaque()
    return sorted({n for g, n in (*_plugins, *_announced().modules) if g == group})


def plugins(group: str | None = None) -> list[Plugin]:
    """All plugins, or those of one group, by group and name; their modules are imported.

    A module that fails takes only its own plugins with it, and is remembered.
    """
    for (of, _), modules in _announced().modules.items():
        if group in (None, of):
            for module in modules:
                _import(module)
    _import_opaque()
    return sorted(
        (p for p in _plugins.values() if group in (None, p.group)), key=lambda p: (p.group, p.name)
    )


def _import_opaque() -> None:
    for module in _announced().opaque:
        _import(module)


def broken() -> Mapping[str, str]:
    """Announced modules that could not be imported, with the reason."""
    plugins()
    return dict(_broken)


def _import(module: str) -> None:
    """Import a module, once; one that fails is remembered."""
    if module not in _broken:
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:  # a third party's may fail in any way at import
            _broken[module] = f"{type(error).__name__}: {error}"
            for key in [k for k, p in _plugins.items() if p.cls.__module__ == module]:
                del _plugins[key]


_REGISTERED: Final = re.compile(
    r"""^@register\(\s*["'](\w+)["']\s*,\s*["'](\w[\w/]*)["']\s*"""
    r"""(?:,\s*aliases\s*=\s*\(([^()]*)\)\s*)?,?\s*\)""",
    re.MULTILINE,
)
_IMPORTED: Final = re.compile(r"^from framework\.registry import [^#]*?\bregister\b", re.MULTILINE)


@cache
def _announced() -> _Announced:
    """What the files of all announced packages say, read once."""
    found = _Announced()
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        for module, path in _files(point.module):
            text = path.read_text(encoding="utf-8", errors="replace")
            if "framework.registry" not in text:
                continue
            matches = list(_REGISTERED.finditer(text))
            if len(matches) < text.count("\n@register(") or (
                not matches and _IMPORTED.search(text) is not None
            ):
                found.opaque.append(module)
            for match in matches:
                group, name, aliases = match.groups(default="")
                modules = found.modules.setdefault((group, name), [])
                if module not in modules:
                    modules.append(module)
                for alias in re.findall(r"\w+", aliases):
                    found.aliases[group, alias] = name
    return found


def _files(module: str) -> Iterator[tuple[str, Path]]:
    """The Python files of a module or package, by module name, without importing it."""
    try:
        spec = importlib.util.find_spec(module)
    except (Exception, SystemExit) as error:  # the package around it failed, in whatever way
        _broken[module] = f"{type(error).__name__}: {error}"
        return
    if spec is None:
        _broken[module] = f"ModuleNotFoundError: No module named {module!r}"
    elif spec.submodule_search_locations is None:
        yield module, Path(str(spec.origin))
    else:
        for place in spec.submodule_search_locations:
            yield from _below(module, Path(place))


def _below(package: str, folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if path.name == "__init__.py":
            yield package, path
        elif path.suffix == ".py":
            yield f"{package}.{path.stem}", path
        elif (path / "__init__.py").is_file():
            yield from _below(f"{package}.{path.name}", path)


def nearest(given: str, allowed: Iterable[str]) -> str:
    """`; did you mean 'x'? allowed: a, b, c` for a message; no guess where none is near.

    Beside a guess, a long list says only how many names there are.
    """
    names = sorted(allowed)
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    if close and len(names) > _MANY:
        return f"; did you mean {close[0]!r}? {len(names)} are allowed"
    hint = f"; did you mean {close[0]!r}?" if close else ";"
    return f"{hint} allowed: {', '.join(names) or 'none'}"


def settings_of(plugin: Plugin, values: Mapping[str, Any]) -> Any:
    """The plugin's settings from plain configuration values.

    A field with `metadata={"alias": NAME}` may be given by its former name too; where its metadata
    has `identity`, runs of before and after the change of name are of one identity.

    Raises UserError for an unknown key or a value of the wrong type, naming the key, what was
    given, what is allowed and the nearest match. `__post_init__` may raise ValueError for a value
    out of range: it becomes a UserError naming the plugin.
    """
    where = f"{plugin.group}.{{}} ({plugin.group}={plugin.name})"
    try:
        return instance_of(plugin.settings, values, where)
    except ValueError as error:
        raise UserError(f"{plugin.group}={plugin.name}: {error}") from None


def instance_of(
    cls: type[_T], values: Mapping[str, Any], where: str = "{}", what: str = "setting"
) -> _T:
    """A dataclass from plain values, each as its field's type; `where` says how to name a key.

    A field may be a dataclass too, or a list or mapping of such; a field of theirs with
    `metadata={"key": True}` is the key that one stands under.

    Raises UserError as `settings_of` does, and what the class itself raises.
    """
    known = dataclasses.fields(cls)  # type: ignore[arg-type]  # of a dataclass
    hints: dict[str, Any] = hints_of(cls)  # type: ignore[arg-type]  # a class is hashable
    renamed = {f.metadata.get("alias"): f.name for f in known}
    kwargs: dict[str, Any] = {}
    for given, value in values.items():
        key = renamed.get(given, given)
        if key not in hints:
            raise UserError(f"{where.format(key)}: no such {what}{nearest(str(key), hints)}")
        kwargs[key] = coerce(value, hints[key], where.format(given))
    for f in known:
        needed = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if needed and f.name not in kwargs:
            raise UserError(f"{where.format(f.name)}: a value is required")
    return cls(**kwargs)


@cache
def hints_of(cls: Any) -> dict[str, Any]:
    """The types of a dataclass's fields, by name; what a class says of itself is none."""
    hints = typing.get_type_hints(cls)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls)}


def identity_of(plugin: Plugin, settings: Any) -> dict[str, Any]:
    """The settings that may change a measured value, as plain data.

    Settings that hold a plugin's settings or a file's name say it themselves, by `identity()`.
    What came `later` says nothing at its default, so that runs of before keep their identity.
    """
    if hasattr(settings, "identity"):
        own: dict[str, Any] = settings.identity()
        return own
    return {
        f.metadata.get("identity", f.name): getattr(settings, f.name)
        for f in dataclasses.fields(plugin.settings)
        if not f.metadata.get("operational", False)
        and not (f.metadata.get("later") and getattr(settings, f.name) == f.default)
    }


def coerce(value: Any, hint: Any, where: str, key: str = "") -> Any:
    """`value` as `hint`: a scalar, Literal, X | None, tuple, Mapping[str, X] or dataclass.

    `where` names the value, `key` is what a dataclass stands under. Raises UserError.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return _nested(value, hint, where, key)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        inner = [a for a in args if a is not type(None)]
        if isinstance(value, Mapping) and (nested := [*filter(dataclasses.is_dataclass, inner)]):
            return coerce(value, nested[0], where)
        for option in inner:
            try:
                return coerce(value, option, where)
            except UserError:
                continue
        raise UserError(f"{where}: {value!r} given, {_spell(hint)} expected")
    if origin is typing.Literal:
        if value in args and type(value) in {type(a) for a in args}:
            return value
        raise UserError(f"{where}: {value!r} given{nearest(str(value), map(str, args))}")
    if origin is tuple and isinstance(value, (list, tuple)):
        if dataclasses.is_dataclass(args[0]):
            return tuple(coerce(v, args[0], f"{where}.{id_of(v, i)}") for i, v in enumerate(value))
        if args[-1] is Ellipsis or len(value) == len(args):
            return tuple(coerce(v, args[0], where) for v in value)
    if origin is not None and isinstance(value, Mapping) and issubclass(dict, origin):
        if dataclasses.is_dataclass(args[1]):
            return {str(k): coerce(v, args[1], f"{where}.{k}", str(k)) for k, v in value.items()}
        return {str(k): coerce(v, args[1], f"{where}: {k}") for k, v in value.items()}
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        number = math.inf
        with suppress(OverflowError):
            number = float(value)
        if math.isfinite(number):
            return number
        raise UserError(f"{where}: {number} given, {_spell(hint)} expected")
    if hint is Any or (isinstance(hint, type) and type(value) is hint):
        return value
    raise UserError(f"{where}: {value!r} given, {_spell(hint)} expected")


def id_of(value: Any, index: int) -> str:
    """How one of a list is named in messages: by its id where it has one, else by its index."""
    own = value.get("id") if isinstance(value, Mapping) else None
    return own if own and isinstance(own, str) else str(index)


def _nested(values: Mapping[str, Any], cls: Any, where: str, key: str) -> Any:
    """One dataclass inside another: what is wrong in it is told by the whole path to it."""
    path = where.replace("{", "{{").replace("}", "}}") + ".{}"
    keys = {f.name: key for f in dataclasses.fields(cls) if "key" in f.metadata}
    for name in keys.keys() & values.keys():
        raise UserError(f"{path.format(name)}: no such key: it is the name {key!r} itself")
    try:
        return instance_of(cls, {**values, **keys}, path, "key")
    except ValueError as error:
        raise UserError(f"{where}.{error}") from None


def _spell(hint: Any) -> str:
    names = {
        str: "text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
        date: "a date (2026-03-12)",
    }
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        options = [a for a in typing.get_args(hint) if a is not type(None)]
        null = " or null" if type(None) in typing.get_args(hint) else ""
        return " or ".join(_spell(o) for o in options) + null
    if typing.get_origin(hint) is tuple:
        of, *more = typing.get_args(hint)
        return f"a list of {_spell(of)}" if Ellipsis in more else f"a list of {len(more) + 1}"
    if typing.get_origin(hint) is Mapping or dataclasses.is_dataclass(hint):
        return "a mapping"
    if typing.get_origin(hint) is typing.Literal:
        return " or ".join(map(str, typing.get_args(hint)))
    return names.get(hint, getattr(hint, "__name__", str(hint)))
