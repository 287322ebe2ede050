"""Every plugin is an option of its name: its group's YAML says only what other options change.

`arch=bm25` composes what the class's own settings say, with no file. A file builds on it::

    # conf/arch/typed_graph_1hop.yaml
    defaults: [typed_graph, _self_]
    hops: 1

A file that bears a plugin's own name goes before it, and may build on `settings/GROUP/NAME@_here_`.
"""

from __future__ import annotations

import builtins
import copy
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

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

            _compose_quickly()
            for folder in added_folders:
                search_path.append(provider="command-line", path=folder)


class KnownConfigs(ConfigRepository):
    """Options that are read and parsed twice, however many jobs of a sweep choose them.

    Hydra reads all of them again for each composition. From the second on they are kept: a command
    that composes once needs no copies.
    """

    def __init__(self, config_search_path: ConfigSearchPath) -> None:
        super().__init__(config_search_path)
        self.known: dict[str, ConfigResult | None] = {}
        self.asked: set[str] = set()

    def __deepcopy__(self, memo: dict[int, object]) -> KnownConfigs:
        # Hydra copies it for each composition, which may search in other places than this one.
        return copy.copy(self)

    def initialize_sources(self, config_search_path: ConfigSearchPath) -> None:
        """Search these places, and forget what others hold."""
        super().initialize_sources(config_search_path)
        self.known, self.asked = {}, set()

    def load_config(self, config_path: str) -> ConfigResult | None:
        """A result of the caller's own, as composing changes what it is given."""
        if config_path in self.known:
            return _copy_of(self.known[config_path])
        found = super().load_config(config_path)
        if config_path in self.asked:
            self.known[config_path] = _copy_of(found)
        self.asked.add(config_path)
        return found


def _copy_of(found: ConfigResult | None) -> ConfigResult | None:
    return found and dataclasses.replace(found, config=copy.deepcopy(found.config))


def _compose_quickly() -> None:
    """Leave out what Hydra does twice or for each composition: half of what one or two take.

    What is composed is the same; all but the first stand in Hydra 1.3 alone.
    """
    # Its sources are copied, and with them its one ConfigStore, for each group of `--help` too.
    ConfigStore.__deepcopy__ = _itself  # type: ignore[attr-defined]
    config_loader_impl.ConfigRepository = KnownConfigs  # type: ignore[attr-defined]
    defaults_list._create_interpolation_map = _choices_asked_for  # type: ignore[assignment]
    ConfigLoaderImpl._load_configuration_impl = _composed_once  # type: ignore[method-assign,assignment]


def _itself(store: ConfigStore, memo: dict[int, object]) -> ConfigStore:
    return store


def _composed_once(
    loader: ConfigLoaderImpl,
    config_name: str | None,
    overrides: builtins.list[str],
    run_mode: RunMode,
    from_shell: bool = True,
    validate_sweep_overrides: bool = True,
) -> DictConfig:
    """Compose, where it was not composed already to learn the command's mode."""
    named, known, found = vars(loader).pop(_FOR_THE_MODE, (None, [], DictConfig({})))
    added = overrides[len(known) :]
    if found and (named, [*known, *added]) == (config_name, overrides) and added in _MODES:
        parsed = OverridesParser.create().parse_overrides(overrides)
        loader.validate_sweep_overrides_legal(parsed, run_mode, from_shell)
        for mode in added:  # as Hydra says it of its own accord
            found.hydra.mode = mode.partition("=")[2]
            found.hydra.overrides.hydra.append(mode)
        return cast("DictConfig", found)
    found = COMPOSE(loader, config_name, overrides, run_mode, from_shell, validate_sweep_overrides)
    # Of an option that is missing a run is told when it is composed; a sweep may still choose it.
    if not validate_sweep_overrides and not OmegaConf.missing_keys(found.hydra.runtime.choices):
        vars(loader)[_FOR_THE_MODE] = config_name, [*overrides], found
    return found


_FOR_THE_MODE: Final = "composed for the mode"
_MODES: Final[tuple[builtins.list[str], ...]] = ([], ["hydra.mode=RUN"], ["hydra.mode=MULTIRUN"])
COMPOSE: Final = ConfigLoaderImpl._load_configuration_impl
CHOICES: Final = defaults_list._create_interpolation_map


def _choices_asked_for(overrides: Any, given: builtins.list[Any], self_added: bool) -> Any:
    """What an interpolation in a defaults list may name; None where there is no such one."""
    if not any(default.is_interpolation() for default in given):
        return None
    return CHOICES(overrides, given, self_added)


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
