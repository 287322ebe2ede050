"""The register: an append-only, hash-chained log of what was locked, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from framework.errors import UserError
from framework.store import Clock, Journal, JournalEvent, read, utc_now
from framework.store.atomic import held
from framework.store.hypotheses import Preregistration
from framework.text.canonical import digest

REGISTER: Final = Path("runs") / "prereg.jsonl"
PUBLISHED: Final = Path(__file__).resolve().parents[2] / "conf" / "prereg" / "register.jsonl"
"""The register that comes with the repository: what was locked for the results in its docs."""
LOCKED: Final = "prereg.locked"
_WAIT_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """One entry: the file's name, the digest and content it had, and when it was locked (UTC)."""

    name: str
    digest: str
    content: Mapping[str, Any]
    time: datetime
    hash: str


def lock(
    plan: Preregistration, content: Mapping[str, Any], path: Path, *, clock: Clock = utc_now
) -> Lock:
    """Append a pre-registration to the register, which is made where there is none.

    Raises UserError where this content is locked under this name already, or the register cannot
    be written, DataError (file, line) where the register is damaged.
    """
    entry = {"name": plan.name, "digest": plan.digest, "content": dict(content)}
    with alone(path):
        for known in locks(path):
            if (known.name, known.digest) == (plan.name, plan.digest):
                since = f"{known.time:%Y-%m-%d %H:%M:%S}"
                raise UserError(f"{plan.name} is locked already, since {since}")
        with journal_at(path, clock) as journal:
            return _entry(journal.append(LOCKED, entry))


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the directory of a register, which is made where there is none: others wait a minute.

    Raises UserError where it can't be made or held.
    """
    with ExitStack() as inside:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            inside.enter_context(held(path.parent, _WAIT_S, f"the register {path.parent}"))
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from error
        yield


def journal_at(path: Path, clock: Clock) -> Journal:
    """The journal of a register, a new one where there is none. Raises as `Journal` does."""
    make = Journal.open if path.exists() else Journal.create
    return make(path, clock=clock, fsync=True)


def locks(path: Path) -> list[Lock]:
    """Every entry of the register, oldest first; none where there is no register.

    Raises DataError (file, line) where the register is damaged: edited, reordered or dropped lines.
    """
    if not path.exists():
        return []
    return [_entry(event) for event in read(path) if event.type == LOCKED]


def registered(path: Path = REGISTER) -> list[Lock]:
    """Every entry of a register and of the published one. Raises DataError as `locks` does."""
    return list({entry.hash: entry for at in (PUBLISHED, path) for entry in locks(at)}.values())


def register_of(file: Path | None) -> Path:
    """The register of a pre-registration's file: `register.jsonl` beside it, else `REGISTER`."""
    beside = None if file is None else file.parent / PUBLISHED.name
    return beside if beside is not None and beside.exists() else REGISTER


def as_lock(plain: Mapping[str, Any]) -> Lock:
    """The lock of its plain data, its time in ISO 8601."""
    return Lock(**{**plain, "time": datetime.fromisoformat(plain["time"])})


def check_locked(content: Mapping[str, Any] | None, path: Path = REGISTER) -> None:
    """Raise UserError where a run names a pre-registration that is not in the register."""
    if not content:
        return
    wanted = digest(content)
    if not any(entry.digest == wanted for entry in registered(path)):
        raise UserError(
            "prereg: this pre-registration is not locked as composed; run "
            "`decisionbench prereg lock conf/prereg/NAME.yaml` before the run"
        )


def _entry(event: JournalEvent) -> Lock:
    return as_lock({**event.payload, "time": event.time, "hash": event.hash})
