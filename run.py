"""`python run.py arch=typed_graph`, the same as `decisionbench arch=typed_graph`. See README.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from framework import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: a run, or the command named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    return cli.main(words if words and words[0].isalpha() else ["run", *words])


if __name__ == "__main__":
    sys.exit(main())
