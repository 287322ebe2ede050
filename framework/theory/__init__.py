"""The theory of the Depth paper as functions: each says its source, units, assumptions, standing.

Nothing here is measured. A value of these functions is a prediction, to be shown beside a measured
one and never in its place.
"""

from __future__ import annotations

from framework.theory.laws import Law, laws

__all__ = ["Law", "laws"]
