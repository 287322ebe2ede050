"""Servers that all histories share: who wrote last, where nothing sets histories apart."""

from __future__ import annotations

from typing import Any

from plugins.archs.external._mapping import SystemFailed, uses

_latest: dict[str, str] = {}


class Share:
    """One history's part in a server's store.

    Where write and search tell histories apart by `{tenant}`, any number may be open at once.
    Elsewhere the server is reset for each, and only the latest may still be asked: an older one
    would be told what another holds, so it fails instead.
    """

    def __init__(self, address: str, tenant: str, write: Any, search: Any) -> None:
        self._address, self._tenant = address, tenant
        self._apart = uses(write, "tenant") and uses(search, "tenant")
        _latest[address] = tenant

    def check(self) -> None:
        """Raise SystemFailed where another history was opened since, and is not kept apart."""
        if not self._apart and _latest[self._address] != self._tenant:
            raise SystemFailed(
                "another history was written to the same store since: use {tenant} in write and "
                "search, so that both can be open at once"
            )
