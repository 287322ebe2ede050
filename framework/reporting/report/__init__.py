"""A run or sweep as one page that a careful reader can check: report.html and report.md."""

from __future__ import annotations

from typing import Final

FIGURE_DIRECTORY: Final = "figures"
HTML: Final = "report.html"
MARKDOWN: Final = "report.md"
