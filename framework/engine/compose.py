"""Composing configurations with Hydra, and turning its errors into one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from framework.config import ARM_GROUPS, Plan, labels, plan
from framework.errors import UserError
from framework.registry import nearest

CONF: Final = Path(__file__).resolve().parents[2] / "conf"
"""Directory of the shipped configuration groups."""
SEARCHPATH: Final = "hydra.searchpath"
"""The one key of Hydra's own that a job needs: where a third party's groups are."""


@contextmanager
def composer(config_dir: Path = CONF) -> Iterator[None]:
    """Hydra set up on `config_dir`, for any number of `compose` calls inside."""
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(config_dir), version_base=None):
            yield
    finally:
        GlobalHydra.instance().clear()


def compose_raw(overrides: Sequence[str]) -> Any:
    """The composed configuration with Hydra's own node. Raises UserError in one line."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    _check_options(overrides)
    while True:
        try:
            return compose("config", overrides=list(overrides), return_hydra_config=True)
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            added = _with_unknown_key_added(error, overrides)
            if added is None:
                raise UserError(_explain(error)) from None
            overrides = added


def compose_plan(overrides: Sequence[str]) -> Plan:
    """The validated plan of one job's overrides. Call inside `composer`."""
    return plan_of(compose_raw(overrides))


def plan_of(config: Any) -> Plan:
    """The validated plan of a configuration that Hydra composed."""
    from omegaconf import OmegaConf, open_dict
    from omegaconf.errors import OmegaConfBaseException

    choices = config.hydra.runtime.choices
    # Unresolved: an override may hold an interpolation, which is resolved where it stands.
    overrides: Any = OmegaConf.to_container(config.hydra.overrides, resolve=False)
    with open_dict(config):
        bare = OmegaConf.masked_copy(config, [k for k in config if k != "hydra"])
    try:
        plain = OmegaConf.to_container(bare, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise UserError(_explain(error)) from None
    assert isinstance(plain, dict)
    named = {str(k): v for k, v in plain.items()}
    found_by = [o for o in overrides["hydra"] if key_of(o) == SEARCHPATH]
    overlaid = _overlaid(named, choices, overrides["task"], found_by)
    named["labels"] = labels(choices, [*overrides["task"], *overlaid], named)
    return plan(named, [*found_by, *overrides["task"]])


def _overlaid(
    named: Mapping[str, Any],
    choices: Mapping[str, Any],
    overrides: Sequence[str],
    found_by: Sequence[str],
) -> list[str]:
    """The settings of the arm that an experiment overlay changed, as if they had been overridden.

    Without them two arms would bear one name: the option's.
    """
    if not any(key_of(override).startswith("experiment") for override in overrides):
        return []
    chosen = {group: choices.get(group) for group in ("arch", *ARM_GROUPS)}
    base = compose_raw([*found_by, *(f"{g}={option}" for g, option in chosen.items() if option)])
    given = {key_of(override) for override in overrides}
    return [
        f"{group}.{key}={value if isinstance(value, str) else json.dumps(value)}"
        for group in chosen
        for key, value in (named.get(group) or {}).items()
        if f"{group}.{key}" not in given and key in base[group] and value != base[group][key]
    ]


def directory_of(config: Any, kind: str) -> Path | None:
    """`hydra.run.dir` or `hydra.sweep.dir`, resolved; None where none was chosen.

    `kind` is `run` or `sweep`. Raises UserError for an interpolation that can't be resolved.
    """
    from omegaconf.errors import OmegaConfBaseException

    try:
        chosen = str(config.hydra[kind].dir)
    except OmegaConfBaseException as error:
        raise UserError(_explain(error)) from None
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
    """The override lists of a sweep's jobs, as Hydra's basic sweeper makes them."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException
    from omegaconf import OmegaConf

    for part in ("sweeper", "launcher"):
        if str(config.hydra.runtime.choices.get(f"hydra/{part}")) != "basic":
            raise UserError(f"hydra/{part}: only basic is supported")

    params = OmegaConf.to_container(config.hydra.sweeper.params or OmegaConf.create({}))
    assert isinstance(params, dict)
    arguments = [f"{key!s}={value}" for key, value in params.items()]
    for override in overrides:
        swept = _parse(override).is_sweep_override()
        if not key_of(override).startswith("hydra."):
            arguments.append(override)
        elif swept:
            raise UserError(f"{override}: a key of Hydra's own takes one value")
    try:
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        parsed = parser.parse_overrides(overrides=arguments)
        batches = BasicSweeper.split_arguments(parsed, None)
    except HydraException as error:
        raise UserError(_explain(error)) from None
    found_by = [o for o in overrides if key_of(o) == SEARCHPATH]
    return [[*found_by, *job] for batch in batches for job in batch]


def _parse(override: str) -> Any:
    """Hydra's reading of an override. Raises UserError naming it when it can't be read."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_override(override)
    except HydraException as error:
        why = str(error).replace(f"Error parsing override '{override}'", "").strip()
        raise UserError(
            f"{override!r} is no override: key=value expected ({_one_line(why)})"
        ) from None
    if not parsed.key_or_group:
        raise UserError(f"{override!r} is no override: it names no key")
    return parsed


def _check_options(overrides: Sequence[str]) -> None:
    """Refuse an option that is not text, as in `arch=3` or `arch=[a,b]`."""
    for override in overrides:
        parsed = _parse(override)
        if parsed.is_sweep_override() or parsed.is_delete():
            continue
        group, value = parsed.key_or_group, parsed.value()
        if not isinstance(value, (str, dict)) and (known := options(group)):
            given = parsed.get_value_element_as_str()
            raise UserError(f"{group}: no option {given!r}{nearest(given, known)}")


def _with_unknown_key_added(error: Exception, overrides: Sequence[str]) -> list[str] | None:
    """The overrides with the key that Hydra did not know added by force; None for other errors.

    Validation of the plugin's own settings then says what is allowed, which Hydra can't.
    """
    found = re.match(r"Could not override '([^']+)'\.\s*To append to your config", str(error))
    if found is None or found[1].startswith("hydra."):
        return None
    return [f"++{o}" if o.split("=", 1)[0] == found[1] else o for o in overrides]


def _explain(error: Exception) -> str:
    """Hydra's message in one line: what was given, what is allowed."""
    from hydra.errors import MissingConfigException

    text = str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        if group and error.options is not None:
            return f"{group}: no option {option!r}{nearest(option, error.options)}"
    for pattern, said in _KNOWN:
        found = re.search(pattern, text)
        if found is not None:
            return found.expand(said)
    key = getattr(error, "full_key", None)
    return f"{key}: {_one_line(text)}" if key else _one_line(text)


_KNOWN: Final = (
    (
        r"Could not override '([^']+)'\. No match in the defaults list\.\s*"
        r"To append to your default list use (\S+)",
        r"\1: nothing is chosen by default; to add it write \2",
    ),
    (r"Multiple values for ([^.\s]+)\.", r"\1: an option is chosen already; leave out the +"),
    (r"An item is already at '([^']+)'", r"\1: there is a value already; leave out the +"),
    (r"config group '([^']+)' does not\s+exist", r"\1: no such group"),
    (r"Ambiguous value for argument '([^']+)'", r"\1: several values; add -m to sweep over them"),
    (r"Sweep parameters '([^']+)' requires", r"\1: several values; add -m to sweep over them"),
    (r"Could not override '(hydra\.[^']+)'", r"\1: no such key"),
    (r"Could not delete '([^']+)'", r"~\1: there is nothing to delete"),
    (r"Could not delete from config\. '([^']+)' does not", r"~\1: there is nothing to delete"),
)
"""Hydra's words and ours, for the mistakes that are made most."""


def _one_line(text: str) -> str:
    """The lines of a message in one, without pointers to Hydra's own help."""
    lines = (line.strip() for line in text.splitlines())
    dropped = (
        "Set the env variable",
        "full_key",
        "object_type",
        "reference_type",
        "See https",
        "To append",
    )
    return "; ".join(line for line in lines if line and not line.startswith(dropped))[:600]
