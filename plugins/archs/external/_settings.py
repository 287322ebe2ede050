"""What every mapping may declare of a system, whatever it is reached through."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from framework.bounds import Bounded, above, at_least
from framework.errors import UserError
from framework.records import EMPTY
from plugins.archs.external._mapping import START, check_template, fill, uses

OPERATIONAL: Final = {"operational": True}


@dataclass(frozen=True, kw_only=True)
class SystemSettings(Bounded):
    """What a mapping declares of any system.

    limit : at most so many results are asked for; null: as many as a view could hold.
    timeout_seconds : of one call, the system's start included.
    version, licence, homepage : of the system, for the record.
    """

    limit: Annotated[int | None, at_least(1)] = 100
    timeout_seconds: Annotated[float, above(0)] = field(default=60.0, metadata=OPERATIONAL)
    version: str = ""
    licence: str = field(default="", metadata=OPERATIONAL)
    homepage: str = field(default="", metadata=OPERATIONAL)


@dataclass(frozen=True, kw_only=True)
class CommandSettings(SystemSettings):
    """Of a system that is started for every history.

    command : what starts it; `{here}` is where decisionbench was started, `{home}` the fresh home.
    environment : its variables beside PATH, HOME, TMPDIR and LANG; `{env.NAME}` hands on one of the
        caller's. network : whether it may open network sockets.
    """

    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = EMPTY
    network: bool = False

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        check_template(self.command, START, "command")
        check_template(self.environment, START, "environment")

    def require_command(self) -> None:
        """Raise UserError where there is no command, or what it needs is not on this machine."""
        if not self.command:
            raise UserError("arch.command: a command that starts the system is required")
        values = {"here": str(Path.cwd()), "home": ""}
        program, _ = fill(self.command[0], values), fill(self.environment, values)
        if "/" in program and not Path(program).is_absolute():  # its place is the fresh home
            raise UserError(
                f"arch.command: {program!r} is relative to the system's fresh home; write "
                f"'{{here}}/{program}' for a program beside you"
            )
        if shutil.which(program) is None:
            raise UserError(f"arch.command: {program!r} is not installed on this machine")


def apart(write: Any, search: Any, reset: Any) -> bool:
    """Whether these calls of a server keep histories apart: each that there is uses `{tenant}`."""
    return all(uses(call, "tenant") for call in (write, search, reset) if call is not None)


def check_apart(write: Any, search: Any, reset: object) -> None:
    """Raise ValueError where histories would meet in the one store of a running server."""
    if reset is None and not apart(write, search, None):
        raise ValueError(
            "reset: a server keeps what it was told: declare how it forgets, or use {tenant} in "
            "both write and search"
        )
