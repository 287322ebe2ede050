"""What every mapping may declare of a system, whatever it is reached through."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import SplitResult, quote, urlsplit

from framework.bounds import Bounded, above, at_least
from framework.errors import UserError
from framework.records import EMPTY
from plugins.archs.external._drivers import drivers_of
from plugins.archs.external._environment import Environment
from plugins.archs.external._keys import check_keys, check_variables, check_words
from plugins.archs.external._mapping import (
    EVENT,
    FORGET,
    RESET,
    SEARCH,
    SETTLE,
    START,
    AnswerPaths,
    check_template,
    fill,
    fill_text,
    uses,
)
from plugins.archs.external._npm import NpmEnvironment
from plugins.archs.external._pip import PipEnvironment

OPERATIONAL: Final = {"operational": True}
SYSTEMS: Final = Path(__file__).with_name("systems")
"""The drivers that are shipped, with the locks of their systems."""
_OF_PACKAGES: Final = {
    "python": "the interpreter of pip's packages",
    "bin": "the folder of their programs",
}
"""What the placeholders of an environment are."""


def places() -> dict[str, str]:
    """Where decisionbench was started, and where the shipped drivers are."""
    return {"here": str(Path.cwd()), "system": str(SYSTEMS)}


@dataclass(frozen=True, kw_only=True)
class SystemSettings(Bounded):
    """What a mapping declares of any system.

    limit : most results to ask for; null: as many as a view could hold.
    timeout_seconds : time limit of one call, including the start of the system, in seconds.
    exchanges : a folder that stores the system's answers; a stored answer is not asked for again.
    replay : use only stored answers, without the system, and stop if one is missing.
    canaries : whether its canaries run before a run's first case; null: yes, unless its writes call
        the run's language model, or go to a server that the run does not start.
    concurrent : whether it takes writes from several writers at once; only `protocol=lifecycle`
        uses this.
    deterministic : whether the same history and search always give the same results; `probe` checks
        it.
    version, licence, homepage : of the system, for the record.
    """

    limit: Annotated[int | None, at_least(1)] = 100
    timeout_seconds: Annotated[float, above(0)] = field(default=60.0, metadata=OPERATIONAL)
    exchanges: str | None = field(default=None, metadata=OPERATIONAL)
    replay: bool = field(default=False, metadata=OPERATIONAL)
    canaries: bool | None = field(default=None, metadata=OPERATIONAL)
    concurrent: bool = field(default=False, metadata=OPERATIONAL)
    deterministic: bool = field(default=False, metadata=OPERATIONAL)
    version: str = ""
    licence: str = field(default="", metadata=OPERATIONAL)
    homepage: str = field(default="", metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if self.replay and self.exchanges is None:
            raise ValueError("replay needs exchanges, the folder that has them")

    def identity(self) -> dict[str, Any]:
        """What may change a measured value."""
        return {
            f.name: getattr(self, f.name) for f in fields(self) if not f.metadata.get("operational")
        }

    @property
    def deletion(self) -> Any:
        """How an event is deleted, as it is declared; None where it is not."""
        return None

    @property
    def offers_deletion(self) -> bool:
        """Whether it says how an event is deleted."""
        return self.deletion is not None

    @property
    def drivers(self) -> dict[str, str]:
        """The files between it and the arm, by their digests.

        They are no part of the arm's identity: a replay needs none of them.
        """
        return {}

    def require_recorded(self) -> None:
        """Raise UserError where there is nothing to replay."""
        files = Path(self.exchanges).glob("*.jsonl.gz") if self.exchanges is not None else ()
        if not any(file.stat().st_size for file in files):
            raise UserError(f"arch.replay: {self.exchanges} holds no exchanges")


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which models of the run a system calls (see _proxy.py)."""

    chat: bool = False
    embeddings: bool = False


@dataclass(frozen=True, kw_only=True)
class CommandSettings(SystemSettings):
    """Of a system that is started for every history.

    command : the command that starts it; `{here}` is the directory decisionbench was started in,
        `{home}` the fresh home.
    environment : its variables besides PATH, HOME, TMPDIR and LANG; `{env.NAME}` passes one of the
        caller's variables on.
    network : whether it may open network sockets.
    packages : pinned packages of its own environment; `{bin}` is the folder of its programs,
        `{python}` its interpreter.
    lock : the file of their hashes, in `{system}`, the folder of shipped drivers, or in `{here}`;
        NAME.lock is pip's, NAME.package-lock.json npm's.
    install : whether the environment is made from its lock before the first run that needs it.
    models : which of the run's models it calls.
    """

    starts: ClassVar[tuple[str, ...]] = START
    """The placeholders of command and environment."""
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = EMPTY
    network: bool = False
    packages: tuple[str, ...] = ()
    lock: str = ""
    install: bool = field(default=True, metadata=OPERATIONAL)
    models: Models | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_template(self.command, self.starts, "command")
        check_template(self.environment, self.starts, "environment")
        check_template(self.lock, ("here", "system"), "lock")
        for package in self.packages:
            if re.fullmatch(self._kind.pinned, package) is None:
                raise ValueError(f"packages: {package!r} given, {self._kind.form}")
        if self.packages and not self.lock.endswith(self._kind.ends):
            raise ValueError(
                "lock: where the hashes of the packages are is required, as '{here}/NAME.lock'"
            )
        known = self._kind.placeholders if self.packages else ()
        for name, what in _OF_PACKAGES.items():
            if name not in known and uses([self.command, self.environment], name):
                raise ValueError(f"packages: {{{name}}} is {what}, and none is declared")

    def identity(self) -> dict[str, Any]:
        """What may change a measured value: the packages by their lock, wherever it lies."""
        known = super().identity()
        if self.models is None:  # as it was before there were any
            del known["models"]
        del known["packages"], known["lock"]
        environment = self.own_environment
        return known if environment is None else {**known, "lock": environment.digest}

    @property
    def drivers(self) -> dict[str, str]:
        return drivers_of(self.command, places())

    @property
    def own_environment(self) -> Environment | None:
        """The environment of the packages; None where it needs none of its own."""
        if not self.packages:
            return None
        return self._kind(lock=Path(fill(self.lock, places())), packages=self.packages)

    @property
    def _kind(self) -> type[PipEnvironment | NpmEnvironment]:
        """What installs the packages, by the name of the lock."""
        return NpmEnvironment if self.lock.endswith(NpmEnvironment.ends) else PipEnvironment

    @property
    def places(self) -> dict[str, str]:
        """What placeholders of a start mean, all but the fresh home."""
        environment = self.own_environment
        if environment is None:
            return places() | dict.fromkeys(_OF_PACKAGES, "")
        return places() | {"bin": str(environment.bin), "python": str(environment.bin / "python")}

    def require_command(self) -> None:
        """Raise UserError where there is no command, or what it needs is not on this machine."""
        if not self.command:
            raise UserError("arch.command: a command that starts the system is required")
        check_variables(self)
        check_keys(self.environment, "environment")
        check_words(self.environment.values(), "environment")
        check_words(self.command, "command")
        environment = self.own_environment
        if environment is not None:
            environment.require(install=self.install)
        values = {**dict.fromkeys(self.starts, ""), **self.places}
        program = fill(self.command[0], values)
        if "/" in program and not Path(program).is_absolute():  # its place is the fresh home
            raise UserError(
                f"arch.command: {program!r} is relative to the system's fresh home; write "
                f"'{{here}}/{program}' for a program in this directory"
            )
        if shutil.which(program) is None:
            raise UserError(f"arch.command: {program!r} is not installed on this machine")
        for word in self.command[1:]:  # what its program takes for a file there, it will not find
            if "{" not in word and not Path(word).is_absolute() and Path(word).is_file():
                raise UserError(
                    f"arch.command: {word!r} would be looked for in the system's fresh home; write "
                    f"'{{here}}/{word}' for the file in this directory"
                )


@dataclass(frozen=True, kw_only=True)
class CalledSettings(SystemSettings):
    """Of a system that is asked by declared calls, with fields that placeholders fill.

    address : address of a running server; other systems are started for every history.
    headers : headers of each request to it; `{env.NAME}` keeps a key out of the mapping.
    search, reset : the calls that search and reset, besides that of `writes`.
    answer : where the results are in the answer of `search`.
    forget : the call that deletes an event; a memory that is only written and searched does not use
        it.
    settle : the call to make before a search or a deletion if something was written since the last
        such call; with `{given}`, for each of those events, by the id that the system gave it. It
        is repeated every second until its answer has what `until` says (dotted paths and their
        values), for at most `timeout_seconds`; without `until` it is made once.
    """

    writes: ClassVar[str] = "write"
    """What the setting of the call that writes is named."""
    address: str = ""
    headers: Mapping[str, str] = EMPTY
    search: Any = None
    reset: Any = None
    forget: Any = field(default=None, metadata=OPERATIONAL)
    answer: AnswerPaths | None = None
    settle: Any = None
    until: Mapping[str, Any] = EMPTY

    def __post_init__(self) -> None:
        super().__post_init__()
        check_template(self.headers, (), "headers")
        starts = getattr(self, "starts", ())
        check_template(self.address, [name for name in starts if name == "port"], "address")
        write = getattr(self, self.writes)
        for name, call, allowed in (
            (self.writes, write, EVENT),
            ("search", self.search, SEARCH),
            ("reset", self.reset, RESET),
            ("forget", self.forget, FORGET),
            ("settle", self.settle, SETTLE),
        ):
            if call is not None:
                check_template(call.filled, allowed, name)
        for name, call, needed in ((self.writes, write, "text"), ("search", self.search, "query")):
            if call is not None and not uses(call.filled, needed):
                raise ValueError(f"{name}: {{{needed}}} is nowhere in it, so that it is never sent")
        if self.until and self.settle is None:
            raise ValueError("until: of the answer of settle, which is not declared")
        for name, call in (("settle", self.settle), ("forget", self.forget)):
            known = write is None or write.id  # a call that is missing is told by itself
            if call is not None and uses(call.filled, "given") and not known:
                raise ValueError(f"{name}: {{given}} needs {self.writes}.id, where that id stands")
        together = write is not None and self.search is not None and not self.apart
        if self.address and not self.is_started and together and self.reset is None:
            raise ValueError(
                "reset: a server keeps what it was told: declare how it forgets, or use {tenant} "
                f"in both {self.writes} and search"
            )

    def identity(self) -> dict[str, Any]:
        known = super().identity()
        if self.settle is None:  # as it was before there was any
            del known["settle"], known["until"]
        return known

    @property
    def deletion(self) -> Any:
        return self.forget

    def reached(self, **values: Any) -> str:
        """The address with what its placeholders mean, in the form that an address takes."""
        return fill_text(self.address, values, lambda value: quote(str(value), safe=":/"))

    @property
    def is_started(self) -> bool:
        """Whether it is started for every history, and so has nothing of another."""
        return bool(getattr(self, "command", ()))

    @property
    def apart(self) -> bool:
        """Whether these calls keep histories apart: each that there is uses `{tenant}`."""
        calls = (getattr(self, self.writes), self.search, self.reset)
        return all(uses(call.filled, "tenant") for call in calls if call is not None)

    def require_calls(self) -> None:
        """Raise UserError where a call is not declared, or a key is: it has to be a variable's."""
        for name, what in (
            (self.writes, "the call that writes"),
            ("search", "the call that searches"),
            ("answer", "where the results of a search are (items, text)"),
        ):
            if getattr(self, name) is None:
                raise UserError(f"arch.{name}: it has to be declared: {what}")
        check_variables(self)
        check_keys(self.headers, "headers")
        for name in (self.writes, "search", "reset", "forget", "settle"):
            call = getattr(self, name)
            if call is not None:
                check_keys(call.filled, name)
                check_words([getattr(call, "path", "")], name)

    def require_address(self) -> SplitResult:
        """The address in its parts. Raises UserError where it is none, or has a key in it."""
        check_variables(self)
        url = urlsplit(self.reached(port=1))
        if url.scheme not in ("http", "https") or not url.hostname or not _has_port(url):
            raise UserError(f"arch.address: {self.address!r} given, http(s)://host expected")
        if url.username or url.password:
            raise UserError(
                "arch.address: contains a name or password; give a key as a header, as {env.NAME}"
            )
        check_words([self.address], "address")
        return url


def _has_port(url: SplitResult) -> bool:
    """Whether its port is a number, or left out."""
    try:
        return url.port != 0
    except ValueError:
        return False
