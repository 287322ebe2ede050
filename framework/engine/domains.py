"""The domain of a plan, read once for all plans that share it.

Apart from `prepare`, as every command begins here and most build no run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from framework.config import Plan
from framework.contracts import Domain
from framework.text.canonical import digest

_shared: dict[str, Domain[Any]] | None = None


@contextmanager
def one_domain() -> Iterator[None]:
    """Inside, plans of one domain and settings share an instance: a large file is read once."""
    global _shared
    before, _shared = _shared, {}
    try:
        yield
    finally:
        _shared = before


def open_domain(plan: Plan) -> Domain[Any]:
    """The domain of a plan. Of shared ones only the last is kept: they may be large."""
    domain: Domain[Any]
    key = digest(plan.identity["domain"])
    if _shared is not None and key in _shared:
        return _shared[key]
    domain = plan.parts["domain"].create()
    if _shared is not None:
        _shared.clear()
        _shared[key] = domain
    return domain
