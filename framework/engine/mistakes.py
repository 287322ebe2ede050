"""What Hydra says of a mistake, in one line of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from framework.registry import nearest


def with_unknown_key_added(error: BaseException, overrides: Sequence[str]) -> list[str] | None:
    """The overrides with the key that Hydra did not know added by force; None for other errors.

    Validation of the plugin's own settings then says what is allowed, which Hydra can't.
    """
    found = re.match(r"Could not override '([^']+)'\.\s*To append to your config", str(error))
    if found is None or found[1].startswith("hydra."):
        return None
    return [f"++{o}" if o.split("=", 1)[0] == found[1] else o for o in overrides]


def explained(error: Exception) -> str:
    """Hydra's message in one line: what was given, what is allowed."""
    from hydra.errors import MissingConfigException

    text = str(error)
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = error.missing_cfg_file.rpartition("/")
        if group and error.options is not None:
            file = f"a file {group}/NAME.yaml in a folder that --config-dir names"
            made_of = f"a class under @register({group!r}, NAME) or {file}"
            known = nearest(option, error.options)
            if group.startswith("hydra/"):
                from importlib.metadata import metadata

                extra = option.partition("_")[0]
                if extra in (metadata("decisionbench").get_all("Provides-Extra") or ()):
                    return f"{group}={option}: pip install 'decisionbench[{extra}]'"
                made_of = "of Hydra or of an installed package for it"
            return f"{group}: no option {option!r}{known}; an option is {made_of}"
    for pattern, said in _KNOWN:
        found = re.search(pattern, text)
        if found is not None:
            return found.expand(said)
    key = getattr(error, "full_key", None)
    return f"{key}: {one_line(text)}" if key else one_line(text)


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
    (
        r"Sweeping over Hydra's configuration is not supported : '([^']+)'",
        r"\1: a key of Hydra's own takes one value",
    ),
    (r"Additional config directory '([^']+)' not found", r"--config-dir: \1 is not a directory"),
    (r"Cannot find primary config '([^']+)'", r"--config-name: no configuration '\1'"),
    (r"Could not delete '([^']+)'", r"~\1: there is nothing to delete"),
    (r"Could not delete from config\. '([^']+)' does not", r"~\1: there is nothing to delete"),
)
"""Hydra's words and ours, for the mistakes that are made most."""


def one_line(text: str) -> str:
    """The lines of a message in one, without pointers to Hydra's own help."""
    text = text.removeprefix("UserError raised while resolving interpolation: ")
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
