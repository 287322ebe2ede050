"""`run`: what `KEY=VALUE` composes, through Hydra."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import hydra

from framework.cli.start import as_exit, start, status_of_command
from framework.engine.compose import CONF


@hydra.main(version_base=None, config_path=str(CONF), config_name="config")
def run(config: Any) -> None:
    """One run; a sweep is our sweeper's, in `hydra_plugins`."""
    as_exit(lambda: start(config))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    return status_of_command(run, sys.argv[1:] if argv is None else argv)
