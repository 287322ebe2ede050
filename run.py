"""The one command: `python run.py arch=typed_graph budget=tight`. See README.md."""

from __future__ import annotations

import sys

from framework.launch import main

if __name__ == "__main__":
    sys.exit(main())
