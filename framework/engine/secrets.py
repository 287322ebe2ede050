"""What keeps keys out of a configuration, which is stored, printed and tracked as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from framework.errors import UserError
from framework.text.keys import keys_of_environment


def close_environment() -> None:
    """From here on no configuration reads the environment: `${oc.env:NAME}` is a mistake.

    A value that was read would be in every file of the run, in names of directories and at the
    tracking server.
    """
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("oc.env", _refuse, replace=True)


def _refuse(name: str, default: object = None) -> None:
    raise UserError(
        "a configuration can't read the environment, as it is stored; name a key by api_key_env, "
        "or by {env.NAME} in a mapping"
    )


def check_without_keys(config: Mapping[str, Any]) -> None:
    """Raise UserError where a value, or a key, holds what the environment keeps as a key.

    The message has none of them. `config` : plain data, as a composed configuration or words of a
    command.
    """
    keys = keys_of_environment()
    if not keys:
        return
    for where, text in _texts(config, ""):
        for value, name in keys.items():
            if value in text:
                raise UserError(
                    f"{where}: it holds the value of the environment variable {name}; a "
                    "configuration is stored, so keep the key in the environment"
                )


def _texts(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every text in plain data, keys of mappings too, with its dotted path."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield where or "a word", str(key)
            yield from _texts(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            yield from _texts(inner, f"{where}[{i}]")
