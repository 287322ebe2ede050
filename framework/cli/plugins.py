"""`list`: every plugin with its settings and their defaults."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import re
import sys
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from framework.contracts import axis_plugins
from framework.errors import UserError
from framework.registry import Plugin, broken, nearest, plugins
from framework.reporting.terminal import wrapped

_EXPERIMENT: Final = "experiment"
"""The folder of whole configurations, of which no plugin is one."""


def list_plugins(args: argparse.Namespace) -> int:
    """Print plugins by group; exit status 1 when an announced package could not be imported."""
    from framework.analysis.columns import columns_of, of_cost

    found = plugins()
    groups = sorted({_EXPERIMENT, *(p.group for p in found)})
    if args.group is not None and args.group not in groups:
        raise UserError(f"no group {args.group!r}{nearest(args.group, groups)}")
    for group in [g for g in groups if g != _EXPERIMENT] if args.group is None else [args.group]:
        print(group)
        of_group = [plugin for plugin in found if plugin.group == group]
        for plugin in of_group:
            print(wrapped(f"{plugin.name:<22} {plugin.summary}", "  ", " " * 25))
            for line in _settings(plugin):
                print(wrapped(line, " " * 27, " " * 29))
            if group == args.group == "axis":
                _print_columns(columns_of(plugin))
        if group == args.group and (more := _more_options(group, {p.name for p in of_group})):
            if of_group:
                print("\n  with other settings, by name")
            for name, said in more.items():
                print(wrapped(f"{name:<22} {said}", "  ", " " * 25))
        if group == args.group == "axis":
            print("\ncost of a right answer, in every run whose domain defines success")
            _print_columns(of_cost())
    axis_plugins()  # raises for two of one column: no other command could be run
    for package, why in broken().items():
        print(f"could not import {package}: {why}", file=sys.stderr)
    return 1 if broken() else 0


def _more_options(group: str, names: set[str]) -> dict[str, str]:
    """The options of a group that are no plugin's own, with what their files say of them first."""
    from hydra.core.global_hydra import GlobalHydra

    from framework.engine.compose import composer

    found: dict[str, str] = {}
    with composer():
        loader = GlobalHydra.instance().config_loader()
        folders = [Path(one.path) for one in loader.get_sources() if one.scheme() == "file"]
        inner = [f"{group}/{name}" for name in loader.list_groups(group)]
        for place in (group, *inner):
            for name in loader.get_group_options(place):
                option = f"{place}/{name}".removeprefix(f"{group}/")
                files = [one for f in folders if (one := f / place / f"{name}.yaml").is_file()]
                found[option] = _first_sentence(files[0]) if files else ""
    return {name: found[name] for name in sorted(found.keys() - names)}


def _first_sentence(file: Path) -> str:
    """That of the comment with which a file begins; empty where it begins otherwise."""
    lines = itertools.takewhile(
        lambda line: line.startswith("#"), file.read_text("utf-8").splitlines()
    )
    text = " ".join(line.lstrip("# ") for line in lines if "@package" not in line)
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0].rstrip(".")


def _print_columns(found: Mapping[str, str]) -> None:
    """Each column that results may show, with its definition."""
    for name, text in found.items():
        print(wrapped(f"{name} : {text}", " " * 4, " " * 8))


def _settings(plugin: Plugin) -> list[str]:
    hints = typing.get_type_hints(plugin.settings, include_extras=True)
    return [
        f"{f.name}: {_format(hints[f.name])} = {_default(f)}"
        for f in dataclasses.fields(plugin.settings)
    ]


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    if field.default_factory is not dataclasses.MISSING:
        return repr(field.default_factory())
    return "(required)"


def _format(hint: Any) -> str:
    """The type as it is written, with its bound in parentheses."""
    if typing.get_origin(hint) is typing.Annotated:
        bounds = ", ".join(str(extra) for extra in hint.__metadata__)
        return f"{_format(hint.__origin__)} ({bounds})"
    text = hint.__name__ if isinstance(hint, type) else str(hint)
    return text.replace("typing.", "").replace("collections.abc.", "")
