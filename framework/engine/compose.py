"""Composing configurations with Hydra, and turning its errors into one line each."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from yaml import YAMLError

from framework.config import ALL_GROUPS, PREREG, Plan, labels, plan
from framework.engine.mistakes import explained, one_line, with_unknown_key_added
from framework.engine.secrets import check_without_keys, close_environment
from framework.errors import UserError
from framework.registry import nearest
from framework.text.reading import TooMuch, read_yaml

CONF: Final = Path(__file__).resolve().parents[2] / "conf"
"""Directory of the shipped configuration groups."""
SEARCHPATH: Final = "hydra.searchpath"
"""The one key of Hydra's own that a job needs: where a third party's groups are."""


added_folders: list[str] = []
"""Folders with options beside the shipped ones, as `--config-dir` adds them to other commands."""


@dataclass(frozen=True, slots=True)
class _Composed:
    """What was composed since Hydra was set up as it is.

    options : by search path, group and option, its node as it composes with nothing overridden.
    plans : by their overrides. A command may need one several times, and each takes .1 s.
    """

    hydra: object = None
    options: dict[tuple[object, ...], Any] = field(default_factory=dict)
    plans: dict[tuple[str, ...], Plan] = field(default_factory=dict)


_composed = _Composed()


def _so_far() -> _Composed:
    global _composed
    from hydra.core.global_hydra import GlobalHydra

    if _composed.hydra is not (hydra := GlobalHydra.instance().hydra):
        _composed = _Composed(hydra)
    return _composed


@contextmanager
def composer(config_dir: Path = CONF) -> Iterator[None]:
    """Hydra set up on `config_dir`, for any number of `compose` calls inside.

    Where Hydra is set up already, as inside `hydra.main`, it stays as it is.
    """
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    if GlobalHydra.instance().is_initialized():
        yield
        return
    close_environment()
    with initialize_config_dir(str(config_dir), version_base=None):
        yield


def check_options(*folders: str, overrides: Sequence[str] = ()) -> None:
    """Raise UserError for a file of options that composing would never end with.

    folders : with options; those that `overrides` add by `hydra.searchpath` are looked at too.
    """
    added = "|".join(word.partition("=")[2] for word in overrides if SEARCHPATH in word)
    for folder in (*folders, *filter(None, re.split(r"(?:[\s,|'\"\[\]]|file://)+", added))):
        for file in (f for glob in ("", "*/", "*/*/") for f in Path(folder).glob(f"{glob}*.yaml")):
            # What else is wrong with a file is told where it is chosen.
            with suppress(OSError, ValueError, YAMLError):
                try:
                    read_yaml(file.read_text(encoding="utf-8"))
                except TooMuch as error:
                    raise UserError(f"{file}: {error}") from None


@contextmanager
def options_of(folder: str) -> Iterator[None]:
    """Inside, options in a folder of the user's are found too. Raises UserError for no folder."""
    if not Path(folder).is_dir():
        raise UserError(f"--config-dir: {folder} is not a directory")
    check_options(folder)
    added_folders.append(f"file://{Path(folder).absolute()}")
    try:
        yield
    finally:
        added_folders.clear()


def compose_raw(overrides: Sequence[str]) -> Any:
    """The composed configuration with Hydra's own node. Raises UserError in one line."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    check_options(overrides=overrides)
    check_overrides(overrides)
    while True:
        try:
            return compose("config", overrides=list(overrides), return_hydra_config=True)
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            added = with_unknown_key_added(error, overrides)
            if added is None:
                raise UserError(explained(error)) from None
            overrides = added


def compose_plan(overrides: Sequence[str]) -> Plan:
    """The validated plan of one job's overrides. Call inside `composer`."""
    known, key = _so_far().plans, tuple(overrides)
    if key not in known:
        known[key] = plan_of(compose_raw(overrides))
    return known[key]


def plan_of(config: Any, hydra: Any = None) -> Plan:
    """The validated plan of a configuration that Hydra composed.

    hydra : Hydra's own node, where the configuration has it no more.
    """
    from omegaconf import OmegaConf, open_dict
    from omegaconf.errors import OmegaConfBaseException

    hydra = hydra or config.hydra
    overrides = overrides_of(hydra)
    choices: Any = OmegaConf.to_container(hydra.runtime.choices)
    if any("=[" in override for override in overrides):  # of a group Hydra would take them all
        check_overrides(overrides)
    with open_dict(config):
        bare = OmegaConf.masked_copy(config, [k for k in config if k != "hydra"])
    try:
        plain = OmegaConf.to_container(bare, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise UserError(explained(error)) from None
    assert isinstance(plain, dict)
    named = {str(k): v for k, v in plain.items()}
    own = OmegaConf.masked_copy(hydra, ["job", "overrides", "run", "sweep"])
    check_without_keys({**named, "hydra": OmegaConf.to_container(own)})
    found = found_by(hydra)
    changed = _changed(bare, named, choices, overrides, found)
    named["labels"] = labels(choices, changed, named)
    return _whole(plan(named, [*found, *overrides]))


def _whole(plan_: Plan) -> Plan:
    """The plan with the content of files that settings name (`inlined`) in the place of the files.

    What a run stores is then whole, and composed again it is the same wherever that is done.
    """
    config, overrides = dict(plan_.config), list(plan_.overrides)
    for group, part in plan_.parts.items():
        inlined: dict[str, Any] = getattr(part.settings, "inlined", dict)()
        for key, value in inlined.items():
            name = f"{group}.{key}"
            config[group] = {**config[group], key: value}
            kept = [o for o in overrides if key_of(o) != name]
            overrides = [*kept, f"++{name}={_as_given(value)}"]
    return replace(plan_, config=config, overrides=tuple(overrides))


def _as_given(value: Any) -> str:
    """Plain data as an override gives it."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_as_given(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_as_given, value))}]"
    if isinstance(value, str):
        escaped = re.sub(r"(\\*)('|$)", lambda m: m[1] * 2 + (m[2] and "\\'"), value)
        return f"'{escaped}'"
    return json.dumps(value)


def overrides_of(hydra: Any) -> list[str]:
    """The overrides of a composed configuration but for Hydra's own."""
    from omegaconf import OmegaConf

    # Unresolved: an override may hold an interpolation, which is resolved where it stands.
    given: Any = OmegaConf.to_container(hydra.overrides.task, resolve=False)
    return list(given)


def found_by(hydra: Any) -> list[str]:
    """The override that finds the groups that `--config-dir` and `hydra.searchpath` add."""
    given = [str(o) for o in hydra.overrides.hydra if key_of(o) == SEARCHPATH]
    sources = hydra.runtime.config_sources
    places = [f"{s.schema}://{s.path}" for s in sources if s.provider == "command-line"]
    if not places:
        return given
    places += [s.path for s in sources if s.provider == "hydra.searchpath in command-line"]
    return [f"{SEARCHPATH}={places!r}"]


def _changed(
    bare: Any,
    named: Mapping[str, Any],
    choices: Mapping[str, Any],
    overrides: Sequence[str],
    found_by: Sequence[str],
) -> dict[str, dict[str, Any]]:
    """By group, the settings whose value is not the chosen option's own, with their values.

    What overrides an option may be the command line or an overlay; both are found by comparing.
    """
    from omegaconf import OmegaConf

    own = {g: o for g in ALL_GROUPS if isinstance(o := choices.get(g), str) and g in named}
    overlaid = any("/" not in group for group in choices if group not in (*ALL_GROUPS, PREREG))
    if not overlaid:
        touched = {k.split(".")[0] for o in overrides if "." in (k := key_of(o)) or "{" in o}
        own = {group: option for group, option in own.items() if group in touched}
    if not own:
        return {}
    where, known = tuple(found_by), _so_far().options
    if any((where, group, option) not in known for group, option in own.items()):
        base = compose_raw([*found_by, *(f"{g}={o}" for g, o in own.items())])
        for group, option in own.items():
            known[where, group, option] = OmegaConf.to_container(base[group])
    return {
        group: _differences(
            known[where, group, option], OmegaConf.to_container(bare[group]), named[group]
        )
        for group, option in own.items()
    }


def _differences(before: Any, after: Any, values: Any, prefix: str = "") -> dict[str, Any]:
    """By dotted key, the values of what differs.

    Compared unresolved: an interpolation that the option holds itself is no difference.
    """
    found: dict[str, Any] = {}
    for key, value in after.items():
        known = before.get(key) if isinstance(before, Mapping) else None
        if isinstance(value, dict) and isinstance(known, dict):
            found |= _differences(known, value, values[key], f"{prefix}{key}.")
        elif value != known or not isinstance(before, Mapping) or key not in before:
            found[f"{prefix}{key}"] = values[key]
    return found


def directory_of(hydra: Any, kind: str) -> Path | None:
    """`hydra.run.dir` or `hydra.sweep.dir`, resolved; None where none was chosen.

    `kind` is `run` or `sweep`. Raises UserError for an interpolation that can't be resolved.
    """
    from omegaconf.errors import OmegaConfBaseException

    try:
        chosen = str(hydra[kind].get("chosen") or hydra[kind].dir)
    except OmegaConfBaseException as error:
        raise UserError(explained(error)) from None
    return None if chosen in ("", ".") else Path(chosen)


def options(group: str) -> list[str]:
    """The options of a group. Call inside `composer`."""
    from hydra.core.global_hydra import GlobalHydra

    return list(GlobalHydra.instance().config_loader().get_group_options(group))


def key_of(override: str) -> str:
    """`arch.k1` of `+arch.k1=2`."""
    return override.lstrip("+~").split("=", 1)[0]


def without_sweeps(overrides: Sequence[str]) -> list[str]:
    """The overrides that give one value, leaving out those that give several (`arch=a,b`)."""
    return [o for o in overrides if not _parse(o).is_sweep_override()]


def is_sweep(config: Any) -> bool:
    """Whether the configuration itself asks for a sweep, as an experiment overlay may."""
    return str(config.hydra.mode).endswith("MULTIRUN")


def grid(overrides: Sequence[str], config: Any) -> list[list[str]]:
    """The override lists of a sweep's jobs: every combination of what has several values.

    `hydra.sweeper.params` of `config`, as an experiment sets them, come before `overrides`; of one
    key the last counts. Raises UserError for what can't be enumerated.
    """
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    arguments = [f"{key!s}={value}" for key, value in (config.hydra.sweeper.params or {}).items()]
    for override in overrides:
        if not key_of(override).startswith("hydra."):
            arguments.append(override)
        elif _parse(override).is_sweep_override():
            raise UserError(f"{override}: a key of Hydra's own takes one value")
    values: dict[str, list[str]] = {}
    try:
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        for parsed in parser.parse_overrides(overrides=arguments):
            key = parsed.get_key_element()
            if not parsed.is_sweep_override():
                values[key] = [f"{key}={parsed.get_value_element_as_str()}"]
            elif parsed.is_discrete_sweep():
                values[key] = [f"{key}={value}" for value in parsed.sweep_string_iterator()]
            else:
                raise UserError(f"{parsed.input_line}: an interval; give the values to sweep over")
    except HydraException as error:
        raise UserError(explained(error)) from None
    found = found_by(config.hydra)
    return [[*found, *job] for job in itertools.product(*values.values())]


def _parse(override: str) -> Any:
    """Hydra's reading of an override. Raises UserError naming it when it can't be read."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_override(override)
    except RecursionError:
        raise UserError(f"{key_of(override)}: nested too deeply") from None
    except (HydraException, ValueError) as error:  # a ValueError for a number of 4,301 digits
        why = str(error).replace(f"Error parsing override '{override}'", "").strip()
        shown = re.sub(r"[?#].*", "?...", override)  # what asks a server may hold a key
        if override.endswith(","):
            raise UserError(f"{shown!r} is not an override: it ends with a comma") from None
        raise UserError(
            f"{shown!r} is not an override: key=value expected ({one_line(why)})"
        ) from None
    if not parsed.key_or_group:
        raise UserError(f"{override!r} is not an override: it names no key")
    return parsed


def check_overrides(overrides: Sequence[str]) -> None:
    """Raise UserError for what can't be read, or an option that is not text (`arch=3`)."""
    for override in overrides:
        parsed = _parse(override)
        if parsed.is_sweep_override() or parsed.is_delete():
            continue
        group, value = parsed.key_or_group, parsed.value()
        if isinstance(value, (str, dict)):
            continue
        with composer():
            known = options(group)
        if known:
            given = parsed.get_value_element_as_str()
            raise UserError(f"{group}: no option {given!r}{nearest(given, known)}")
