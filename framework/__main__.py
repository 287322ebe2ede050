"""`python -m framework ...`, the same as `decisionbench ...`."""

from __future__ import annotations

import sys

from framework.cli import main

if __name__ == "__main__":
    sys.exit(main())
