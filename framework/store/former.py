"""What old runs called things, by today's names: read from journals, summaries and sweeps' files.

A file keeps the words and bytes that it was sealed with; only what is read of it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from framework.text.reading import read_json as bounded

_KEYS: Final = {
    "fairness": "budget_use",
    "fairness_flags": "budget_flags",
    "exempt": "unbudgeted",
    "treatment": "counterfactual_pairs",
    "economy": "cost_effectiveness",
    "return_on_tokens": "successes_per_1000_tokens",
    "compat": "published_convention",
    "looks": "analyses",
    "look": "analysis",
}
_SKEWED: Final = (
    "p assumes symmetric differences; without that, losses too rare to be seen could undo this one "
    "(the {} hold 0)"
)
_VALUES: Final = {
    "kind": {
        "finding": "model-free",
        "instrument check": "rule-based",
        "self-consistency": "lexical embedder",
    },
    "axis": {"return_on_tokens": "successes_per_1000_tokens"},
    "mcnemar_binarisation": {">= 0.5 (compat)": ">= 0.5 (published convention)"},
    "reason": {_SKEWED.format("decision bounds at the comparison's level within its family"):
               _SKEWED.format("bounds within the family")},
}  # fmt: skip
"""By key, the values that had another name."""
_ADDED: Final = {
    "jobs": ("checks",),
    "comparisons": ("family_low", "family_high", "family_level"),
}
"""By list of sweep.json, what its entries got later than older sweeps were written."""


_LATER: Final = ("over_seeds", "plan")
"""What sweep.json holds since after older sweeps were written."""
_OF_USERS: Final = {
    "constants": 1, "strata": 1, "corpus": 1, "attributes": 1, "reference": 1, "tags": 1,
    "by_stratum": 2, "config": 99,
}  # fmt: skip
"""By key, so many levels of names below it are a domain's or a user's, and no words of ours."""


def read_json(text: str | bytes) -> Any:
    """JSON data of a run, a loop or a sweep. Raises ValueError as `bounded` does."""
    return renamed(bounded(text))


def renamed(data: Any, of_users: int = 0) -> Any:
    """Plain data, with each mapping within it but those whose keys are `of_users`."""
    if isinstance(data, list):
        return [renamed(each, of_users) for each in data]
    if not isinstance(data, dict):
        return data
    found = {}
    for key, value in data.items():
        name = key if of_users else _KEYS.get(key, key)
        found[name] = renamed(value, of_users - 1 if of_users else _OF_USERS.get(key, 0))
    for key, names in () if of_users else _VALUES.items():
        if isinstance(value := found.get(key), str):
            found[key] = names.get(value, value)
    return found


def as_of_then(sweep: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a sweep.json made now, without what came after all of `stored` was written."""
    found = {key: value for key, value in sweep.items() if key in stored or key not in _LATER}
    for key, names in _ADDED.items():
        later = [name for name in names if not any(name in entry for entry in stored[key])]
        found[key] = [{k: v for k, v in one.items() if k not in later} for one in sweep[key]]
    return found


def renamed_table(text: str) -> str:
    """The content of a comparison.csv."""
    for values in _VALUES.values():
        for former, name in values.items():
            text = text.replace(f",{former},", f",{name},").replace(f'"{former}"', f'"{name}"')
    return text
