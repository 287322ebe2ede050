"""`python run.py arch=typed_graph`, the same as `decisionbench arch=typed_graph`. See README.md."""

from __future__ import annotations

import sys

from framework.cli.run import main

if __name__ == "__main__":
    sys.exit(main())
