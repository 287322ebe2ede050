"""Composing as Hydra composes, without what it does twice or again for each composition.

That is half of what one or two compositions take. What is composed is the same; all but the first
of the replaced names stand in Hydra 1.3 alone. Hydra would execute a module of plugins anew.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Final, cast

from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import ResultDefault
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

COMPOSE: Final = ConfigLoaderImpl._load_configuration_impl
PLACE: Final = ConfigLoaderImpl._load_single_config
MERGE: Final = ConfigLoaderImpl._compose_config_from_defaults_list
CHOICES: Final = defaults_list._create_interpolation_map
_FOR_THE_MODE: Final = "composed for the mode"
_MERGED: Final = 256
"""How many choices of options are kept as merged, 40 KB each."""
_MODES: Final[tuple[list[str], ...]] = ([], ["hydra.mode=RUN"], ["hydra.mode=MULTIRUN"])


class KnownConfigs(ConfigRepository):
    """Options that are read, parsed and merged once or twice, however many jobs choose them.

    Hydra does all of it again for each composition. What is read is kept from the second time on:
    a command that composes once needs no copies. All is kept pickled, as composing changes what it
    is given; to unpickle a configuration takes a sixth of the time of `copy.deepcopy`.
    """

    def __init__(self, config_search_path: ConfigSearchPath) -> None:
        super().__init__(config_search_path)
        self.forget()

    def __deepcopy__(self, memo: dict[int, object]) -> KnownConfigs:
        # Hydra copies it for each composition, which may search in other places than this one.
        return copy.copy(self)

    def initialize_sources(self, config_search_path: ConfigSearchPath) -> None:
        """Search these places, and forget what others hold."""
        super().initialize_sources(config_search_path)
        self.forget()

    def forget(self) -> None:
        """Know nothing."""
        self.asked: set[str] = set()
        self.read: dict[str, bytes] = {}
        self.placed: dict[tuple[object, ...], bytes] = {}
        self.merged: dict[tuple[object, ...], bytes] = {}

    def load_config(self, config_path: str) -> ConfigResult | None:
        """A result of the caller's own."""
        if config_path in self.read:
            return cast("ConfigResult | None", pickle.loads(self.read[config_path]))
        found = super().load_config(config_path)
        if config_path in self.asked:
            self.read[config_path] = pickle.dumps(found)
        self.asked.add(config_path)
        return found


def compose_quickly() -> None:
    """Let Hydra compose so, in this process."""
    # Its sources are copied, and with them its one ConfigStore, for each group of `--help` too.
    ConfigStore.__deepcopy__ = _itself  # type: ignore[attr-defined]
    config_loader_impl.ConfigRepository = KnownConfigs  # type: ignore[attr-defined]
    defaults_list._create_interpolation_map = _choices_asked_for  # type: ignore[assignment]
    ConfigLoaderImpl._load_configuration_impl = _composed_once  # type: ignore[method-assign,assignment]
    ConfigLoaderImpl._load_single_config = _placed_once  # type: ignore[method-assign,assignment]
    ConfigLoaderImpl._compose_config_from_defaults_list = _merged_once  # type: ignore[method-assign,assignment]


def _itself(store: ConfigStore, memo: dict[int, object]) -> ConfigStore:
    return store


def _composed_once(
    loader: ConfigLoaderImpl,
    config_name: str | None,
    overrides: list[str],
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


def _placed_once(
    loader: ConfigLoaderImpl, default: ResultDefault, repo: CachingConfigRepository
) -> ConfigResult:
    """An option as it stands in its package."""
    configs = cast("KnownConfigs", repo.delegate)
    asked = dataclasses.astuple(default)
    if asked not in configs.placed:
        found = PLACE(loader, default, repo)
        if default.config_path not in configs.read:
            return found
        configs.placed[asked] = pickle.dumps(found)
    return cast("ConfigResult", pickle.loads(configs.placed[asked]))


def _merged_once(
    loader: ConfigLoaderImpl, defaults: list[ResultDefault], repo: CachingConfigRepository
) -> DictConfig:
    """The options of a job in one; jobs of a grid that differ in values alone have the same."""
    known = cast("KnownConfigs", repo.delegate).merged
    chosen = tuple(dataclasses.astuple(default) for default in defaults)
    if chosen in known:
        return cast("DictConfig", pickle.loads(known[chosen]))
    found = MERGE(loader, defaults, repo)
    known[chosen] = pickle.dumps(found)
    if len(known) > _MERGED:
        del known[next(iter(known))]
    return found


def _choices_asked_for(overrides: Any, given: list[Any], self_added: bool) -> Any:
    """What an interpolation in a defaults list may name; None where there is no such one."""
    if not any(default.is_interpolation() for default in given):
        return None
    return CHOICES(overrides, given, self_added)
