"""The cases of a domain that a calibration set makes its answers of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from framework.contracts.domain import Domain
from framework.errors import UserError
from framework.records import Case, Gold
from framework.registry import find, settings_of


def domain_of(given: Mapping[str, Any]) -> Domain[Any]:
    """The domain of the setting `domain`: `plugin`, its name, and its settings.

    Raises UserError for what is no domain.
    """
    if not isinstance(given.get("plugin"), str):
        raise UserError("calibration.domain.plugin: the name of a domain expected")
    plugin = find("domain", given["plugin"])
    rest = {key: value for key, value in given.items() if key != "plugin"}
    domain: Domain[Any] = plugin.cls(settings_of(plugin, rest))
    return domain


def cases_of(
    domain: Domain[Any], n_cases: int, seed: int, wanted: Callable[[Gold], Any], what: str
) -> list[Case]:
    """Those of a domain's first cases whose gold has what is wanted, named `what`.

    Raises UserError where none has.
    """
    cases = [case for case in domain.cases(n_cases, seed) if wanted(case.gold)]
    if not cases:
        raise UserError(f"calibration.domain.plugin: {domain.name} has no {what}")
    return cases
