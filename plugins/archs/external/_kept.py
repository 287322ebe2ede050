"""Which canaries a run does not ask: those that are left out, and those that have passed before."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from framework.contracts import ArchContext
from framework.contracts.probe import Finding
from framework.store import utc_now
from framework.store.atomic import write_json
from framework.text.canonical import digest, digest_file
from framework.text.reading import read_json
from plugins.archs.external._mapping import fill
from plugins.archs.external._memory import ExternalMemory
from plugins.archs.external._settings import CalledSettings, CommandSettings, SystemSettings

KEPT: Final = Path(".cache/canaries")
"""Where what passed is kept."""


def left_out(settings: SystemSettings) -> str:
    """Why canaries are left out before a run, whatever its models; empty where they are not."""
    if settings.replay:
        return "arch.replay=true"
    if settings.canaries is False:
        return "arch.canaries=false"
    if settings.canaries:
        return ""
    models = getattr(settings, "models", None)
    if models is not None and models.chat:
        return "its writes ask the model; arch.canaries=true asks all the same"
    if isinstance(settings, CalledSettings) and settings.address and not settings.is_started:
        return "it is a server that others may pay for; arch.canaries=true asks all the same"
    return ""


def without_vectors(context: ArchContext) -> str:
    """Why canaries can't be asked with a run's embedder; empty where they can."""
    embedder = context.embedder
    replays = embedder is not None and getattr(embedder.settings, "replay", False)
    return "embedder.replay=true has no vectors of theirs" if replays else ""


def place_of(memory: ExternalMemory[Any], canaries: Path) -> Path:
    """Where the findings on a memory are kept: by all that they hang on, and that can be seen.

    canaries : the file of what is asked.
    """
    settings, words = memory.settings, list[str]()
    if isinstance(settings, CommandSettings):
        values = {**dict.fromkeys(settings.starts, ""), **settings.places}
        words = [fill(word, values) for word in settings.command]
    files = {word: digest_file(word) for word in words if Path(word).is_file()}
    own = {
        "deterministic": settings.deterministic,
        "deletion": repr(settings.deletion),
        "drivers": settings.drivers,
        "files": files,
    }
    return KEPT / f"{digest([memory.about(), own, digest_file(canaries)])}.json"


def kept(place: Path) -> list[Finding]:
    """The findings of canaries that all passed, and when; none where there are none to be read."""
    try:
        found = read_json(place.read_bytes())
        findings = [Finding(**each) for each in found["findings"]]
        return [*findings, Finding(name="kept", passed=None, text=f"as found at {found['time']}")]
    except (OSError, ValueError, LookupError, TypeError):  # they are asked again
        return []


def keep(place: Path, findings: Sequence[Finding]) -> None:
    """Keep findings for the next run, where all passed; a disk that can't has them asked again."""
    if any(each.passed is False for each in findings):
        return
    plain = [asdict(each) for each in findings]
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        write_json(place, {"time": f"{utc_now():%Y-%m-%d %H:%M} UTC", "findings": plain})
