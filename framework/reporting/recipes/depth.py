"""The Depth paper's tables and figures from sweeps over governed corpora."""

from __future__ import annotations
