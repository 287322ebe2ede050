"""Composing configurations with Hydra, and turning its errors into one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from framework.config import Plan, labels, plan
from framework.errors import UserError

CONF: Final = Path(__file__).resolve().parent.parent / "conf"
"""Directory of the shipped configuration groups."""


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


def compose_raw(overrides: Sequence[str], config_name: str = "config") -> Any:
    """The composed configuration with Hydra's own node. Raises UserError in one line."""
    from hydra import compose
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        return compose(config_name, overrides=list(overrides), return_hydra_config=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_first_lines(error)) from None


def compose_plan(overrides: Sequence[str], config_name: str = "config") -> Plan:
    """The validated plan of one job's overrides. Call inside `composer`."""
    return plan_of(compose_raw(overrides, config_name))


def plan_of(config: Any) -> Plan:
    """The validated plan of a configuration that Hydra composed."""
    from omegaconf import OmegaConf, open_dict
    from omegaconf.errors import OmegaConfBaseException

    choices = config.hydra.runtime.choices
    overrides = list(config.hydra.overrides.task)
    with open_dict(config):
        bare = OmegaConf.masked_copy(config, [k for k in config if k != "hydra"])
    try:
        plain = OmegaConf.to_container(bare, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise UserError(_first_lines(error)) from None
    assert isinstance(plain, dict)
    named = {str(k): v for k, v in plain.items()}
    named["labels"] = labels(choices, overrides)
    return plan(named, overrides)


def without_sweeps(overrides: Sequence[str]) -> list[str]:
    """The overrides that give one value, leaving out those that give several (`arch=a,b`)."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    try:
        parsed = OverridesParser.create().parse_overrides(overrides=list(overrides))
    except HydraException as error:
        raise UserError(_first_lines(error)) from None
    return [text for text, o in zip(overrides, parsed, strict=True) if not o.is_sweep_override()]


def is_sweep(config: Any) -> bool:
    """Whether the configuration itself asks for a sweep, as an experiment overlay may."""
    return str(config.hydra.mode).endswith("MULTIRUN")


def grid(overrides: Sequence[str], config: Any) -> list[list[str]]:
    """The override lists of a sweep's jobs, as Hydra's basic sweeper will make them."""
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
    arguments += [o for o in overrides if not o.startswith("hydra.")]
    try:
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
        parsed = parser.parse_overrides(overrides=arguments)
        batches = BasicSweeper.split_arguments(parsed, None)
    except HydraException as error:
        raise UserError(_first_lines(error)) from None
    return [list(job) for batch in batches for job in batch]


def _first_lines(error: Exception) -> str:
    """Hydra's message in one line, its list of options kept and its pointers to help dropped."""
    lines = [line.strip() for line in str(error).splitlines()]
    kept = [
        line
        for line in lines
        if line
        and not line.startswith(("Set the env variable", "full_key", "object_type", "See https"))
    ]
    return "; ".join(kept)[:600]
