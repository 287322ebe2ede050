"""Where the command was started, by which Python, and the files that its words name."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

from framework.errors import UserError


def check_place() -> None:
    """Raise UserError where this Python lacks what we need, or a folder hides our `plugins`."""
    if importlib.util.find_spec("hydra") is None:
        raise UserError(
            f"{sys.executable} lacks what DecisionBench needs: `make setup`, then "
            "`. .venv/bin/activate` or `.venv/bin/decisionbench`"
        )
    home = Path(__file__).resolve().parents[2] / "plugins"
    spec = importlib.util.find_spec(home.name)
    found = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    if home not in found:
        hidden = found[0] if found else "nothing"
        raise UserError(
            f"the package {home.name} is {hidden}, not DecisionBench's {home}: start "
            "`decisionbench` instead of `python -m framework`, or from another folder"
        )


def literal(word: str) -> str:
    """`KEY=VALUE` with a path that stands as it is, `~/` resolved, whatever Hydra would read in it.

    A value is a path where there is such a file, or where the key takes a run's directory.
    """
    key, equals, value = word.partition("=")
    if not equals or key.startswith("-"):
        return word
    value = re.sub(r"(?<![^,])~(?=/)", lambda _: str(Path.home()), value)
    odd = re.search(r"[^\w./-]", value) and _is_there(value)
    names_one = key == "resume" or (key == "gate.baseline" and _is_there(value))
    if not (odd or names_one) or value[:1] in ("", "'", '"') or value == "null":
        return f"{key}={value}"
    return f"{key}='" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _is_there(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # too long for a name
        return False
