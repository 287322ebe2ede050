"""The protocols that drive the one path. Importing this package registers them."""

from __future__ import annotations

from framework.engine.protocols import evaluate, improve, retrieve

__all__ = ["evaluate", "improve", "retrieve"]
