"""The one command: `python run.py arch=typed_graph budget=tight`. See README.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hydra

from framework.cli.start import as_exit, start, status_of_command


@hydra.main(
    version_base=None,
    config_path=str(Path(__file__).resolve().with_name("conf")),
    config_name="config",
)
def run(config: Any) -> None:
    """One run; a sweep is our sweeper's, in `hydra_plugins`."""
    as_exit(lambda: start(config))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    return status_of_command(run, sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    sys.exit(main())
