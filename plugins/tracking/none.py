"""No tracking server: the run directory is all there is."""

from __future__ import annotations

from pathlib import Path

from framework.contracts import Tracker
from framework.registry import NoSettings, register


@register("tracking", "none")
class NoTracking(Tracker[NoSettings]):
    """Upload nothing: everything stays in the run directory."""

    def upload_run(self, directory: Path, sweep: Path | None) -> str:
        return f"tracking=none: {directory} stays where it is"

    def upload_sweep(self, directory: Path) -> str:
        return f"tracking=none: {directory} stays where it is"
