"""The line that a benchmark prints last."""

from __future__ import annotations

from typing import Any


def result(
    name: str,
    ours: float,
    peer: float | None,
    peer_name: str | None,
    unit: str,
    n: int,
    *,
    ratio: float | None = None,
    digits: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A measured figure beside its peer's, as plain data.

    ratio : ours to the peer's where None is given. digits : to which numbers are rounded.
    """
    if ratio is None and peer is not None:
        ratio = ours / peer
    found = {"name": name, "ours": ours, "peer": peer, "peer_name": peer_name, "ratio": ratio}
    if digits is not None:
        found = {k: round(v, digits) if isinstance(v, float) else v for k, v in found.items()}
    return {**found, "unit": unit, "n": n, **more}
