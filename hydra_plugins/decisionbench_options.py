"""Every plugin is an option of its name: its group's YAML says only what other options change.

`arch=bm25` composes what the class's own settings say, with no file. A file builds on it::

    # conf/arch/typed_graph_1hop.yaml
    defaults: [typed_graph, _self_]
    hops: 1

A file that bears a plugin's own name goes before it, and may build on `settings/GROUP/NAME@_here_`.
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

SCHEME: Final = "decisionbench"
CONF: Final = Path(__file__).resolve().parent.parent / "conf"
SETTINGS: Final = "settings"
"""A group around all groups, for a file that bears its plugin's name."""


class PluginOptions(ConfigSource):
    """Options made of the registered classes' settings; one class is imported for one option."""

    @staticmethod
    def scheme() -> str:
        """`decisionbench://`."""
        return SCHEME

    def available(self) -> bool:
        """It needs no place on disk."""
        return True

    def is_group(self, config_path: str) -> bool:
        """Whether it is a group of plugins that a configuration chooses from."""
        return _inner(config_path) in ("", *_groups())

    def is_config(self, config_path: str) -> bool:
        """Whether it is a plugin's name or former name, below its group."""
        from framework.registry import canonical, names

        group, _, name = _inner(config_path).partition("/")
        return group in _groups() and canonical(group, name) in names(group)

    def list(self, config_path: str, results_filter: ObjectType | None) -> builtins.list[str]:
        """The groups, or the names of a group's plugins."""
        from framework.registry import names

        group = _inner(config_path)
        if group in _groups():
            return [] if results_filter is ObjectType.GROUP else names(group)
        return [] if results_filter is ObjectType.CONFIG or group else sorted(_groups())

    def load_config(self, config_path: str) -> ConfigResult:
        """The plugin's name and its settings' defaults."""
        from framework.registry import find

        group, _, name = _inner(config_path).partition("/")
        plugin = find(group, name)
        return ConfigResult(
            provider=self.provider,
            path=self.full_path(),
            config=OmegaConf.create({"plugin": plugin.name, **_defaults(plugin.settings)}),
            header={"package": None},
        )


class PluginOptionsPath(SearchPathPlugin):
    """Puts the plugins' options behind the benchmark's own files; other programs have none."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append them where the benchmark's own folder is searched."""
        places = [element.path for element in search_path.get_path()]
        if any(place in (f"file://{CONF}", str(CONF), "pkg://conf") for place in places):
            search_path.append(provider="decisionbench", path=f"{SCHEME}://")
            from framework.engine.compose import added_folders
            from hydra_plugins._decisionbench_composing import compose_quickly

            compose_quickly()
            for folder in added_folders:
                search_path.append(provider="command-line", path=folder)


def _defaults(settings: type[Any]) -> dict[str, Any]:
    """Settings as they are when nothing is given; `???` for what has to be given."""
    found: dict[str, Any] = {}
    for f in dataclasses.fields(settings):
        default = f.default
        if f.default_factory is not dataclasses.MISSING:
            default = f.default_factory()
        if isinstance(default, Mapping):
            default = dict(default)
        found[f.name] = "???" if default is dataclasses.MISSING else default
    return found


def _groups() -> tuple[str, ...]:
    from framework.config import GROUPS, PROTOCOL_GROUPS

    return (*GROUPS, *PROTOCOL_GROUPS)


def _inner(config_path: str) -> str:
    path = config_path.strip("/").removesuffix(".yaml")
    return "" if path == SETTINGS else path.removeprefix(f"{SETTINGS}/")
