"""Composing as Hydra composes, without what it does twice or again for each composition.

That is half of what one or two compositions take, and more of many in one process. What is composed
is the same, and a mistake in a file is told with its name. All but the first of the replaced names
stand in Hydra 1.3 alone. Hydra would execute a module of plugins anew.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import (
    CachingConfigRepository,
    ConfigRepository,
    IConfigRepository,
)
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.default_element import DefaultsTreeNode, InputDefault, ResultDefault
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from framework.errors import UserError
from framework.registry import nearest

COMPOSE: Final = ConfigLoaderImpl._load_configuration_impl
PARSE: Final = FileConfigSource.load_config
PLACE: Final = ConfigLoaderImpl._load_single_config
MERGE: Final = ConfigLoaderImpl._compose_config_from_defaults_list
NOT_FOUND: Final = defaults_list.config_not_found_error
CHOICES: Final = defaults_list._create_interpolation_map
_FOR_THE_MODE: Final = "composed for the mode"
_MOST: Final = 1_000
"""How many results are kept in a process, 20 KB each at most."""
_MODES: Final[tuple[list[str], ...]] = ([], ["hydra.mode=RUN"], ["hydra.mode=MULTIRUN"])


_T = TypeVar("_T")
_results: dict[tuple[object, ...], bytes] = {}


def _once(asked: tuple[object, ...], made: Callable[[], _T]) -> _T:
    """A result of the caller's own, as composing changes what it is given.

    asked : all that it follows from. It is kept pickled: to unpickle a configuration takes a sixth
    of the time of `copy.deepcopy`.
    """
    if asked in _results:
        return cast("_T", pickle.loads(_results[asked]))
    found = made()
    _results[asked] = pickle.dumps(found)
    if len(_results) > _MOST:
        del _results[next(iter(_results))]
    return found


class KnownConfigs(ConfigRepository):
    """Options that are found and placed once, however many jobs of a sweep choose them.

    Hydra does it again for each composition.
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
        self.found: dict[str, ConfigResult | None] = {}
        self.placed: dict[tuple[object, ...], bytes] = {}

    def load_config(self, config_path: str) -> ConfigResult | None:
        """What nobody changes: what is merged is a copy, see `_placed_once`."""
        if config_path not in self.found:
            try:
                self.found[config_path] = super().load_config(config_path)
            except UnicodeDecodeError:
                raise UserError(f"{self.file_of(config_path)}: not UTF-8 text") from None
            except ValueError as error:  # of its defaults list
                said = str(error).removeprefix(f"Invalid defaults list in {config_path!r}, ")
                said = said.removeprefix(f"In {config_path}: ")
                raise UserError(f"{self.file_of(config_path)}: {said}") from None
        return self.found[config_path]

    def file_of(self, config_path: str) -> Path | None:
        """Where an option stands; None for one that no file of a folder has."""
        source = self._find_object_source(config_path, ObjectType.CONFIG)
        if source is None or source.scheme() != "file":
            return None
        return Path(source.path, source._normalize_file_name(config_path))


def compose_quickly() -> None:
    """Let Hydra compose so, in this process."""
    # Its sources are copied, and with them its one ConfigStore, for each group of `--help` too.
    ConfigStore.__deepcopy__ = _itself  # type: ignore[attr-defined]
    config_loader_impl.ConfigRepository = KnownConfigs  # type: ignore[attr-defined]
    defaults_list._create_interpolation_map = _choices_asked_for  # type: ignore[assignment]
    ConfigLoaderImpl._load_configuration_impl = _composed_once  # type: ignore[method-assign,assignment]
    defaults_list.config_not_found_error = _not_found
    FileConfigSource.load_config = _parsed_once  # type: ignore[method-assign,assignment]
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


def _parsed_once(source: FileConfigSource, config_path: str) -> ConfigResult:
    """What a file of options says, as long as it says the same."""
    path = Path(source.path, source._normalize_file_name(config_path))
    if not path.is_file():
        return PARSE(source, config_path)
    asked = (source.provider, str(path), path.read_bytes())
    return _once(asked, lambda: PARSE(source, config_path))


def _placed_once(
    loader: ConfigLoaderImpl, default: ResultDefault, repo: CachingConfigRepository
) -> ConfigResult:
    """An option as it stands in its package, the caller's own: merging takes it apart."""
    return cast("ConfigResult", pickle.loads(_placed(loader, default, repo)))


def _placed(loader: ConfigLoaderImpl, default: ResultDefault, repo: IConfigRepository) -> bytes:
    placed, asked = cast("Any", repo).delegate.placed, dataclasses.astuple(default)
    if asked not in placed:
        placed[asked] = pickle.dumps(PLACE(loader, default, repo))
    return cast("bytes", placed[asked])


def _merged_once(
    loader: ConfigLoaderImpl, defaults: list[ResultDefault], repo: CachingConfigRepository
) -> DictConfig:
    """The options of a job in one; jobs of a grid that differ in values alone have the same."""
    placed = hashlib.sha256(b"".join(_placed(loader, default, repo) for default in defaults))
    return _once((placed.digest(),), lambda: MERGE(loader, defaults, repo))


def _not_found(repo: IConfigRepository, tree: DefaultsTreeNode) -> None:
    """Raise what Hydra does; of what a file of options builds on, UserError with the nearest."""
    known, parent = cast("Any", repo).delegate, tree.parent and tree.parent.node
    if not isinstance(parent, InputDefault) or parent.is_virtual() or parent.primary:
        file = None
    else:
        file = known.file_of(parent.get_config_path())
    if file is None:
        NOT_FOUND(repo, tree)
        return
    group, _, name = tree.node.get_config_path().rpartition("/")
    near = nearest(name, known.get_group_options(group, ObjectType.CONFIG))
    raise UserError(f"{file}: defaults: {group} has no option {name!r}{near}")


def _choices_asked_for(overrides: Any, given: list[Any], self_added: bool) -> Any:
    """What an interpolation in a defaults list may name; None where there is no such one."""
    if not any(default.is_interpolation() for default in given):
        return None
    return CHOICES(overrides, given, self_added)
