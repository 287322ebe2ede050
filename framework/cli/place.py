"""Where the command was started: a folder there may hide one of our packages."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from framework.errors import UserError


def check_place() -> None:
    """Raise UserError where a folder of the same name hides the package `plugins` beside ours."""
    home = Path(__file__).resolve().parents[2] / "plugins"
    spec = importlib.util.find_spec(home.name)
    found = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    if home not in found:
        hidden = found[0] if found else "nothing"
        raise UserError(
            f"the package {home.name} is {hidden}, not DecisionBench's {home}: start "
            "`decisionbench` instead of `python -m framework`, or from another folder"
        )
