"""What old runs called things, by today's names: read from journals, summaries and sweeps' files.

A file keeps the words and bytes that it was sealed with; only what is read of it changes.
"""

from __future__ import annotations

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
_VALUES: Final = {
    "kind": {
        "finding": "model-free",
        "instrument check": "rule-based",
        "self-consistency": "lexical embedder",
    },
    "axis": {"return_on_tokens": "successes_per_1000_tokens"},
    "mcnemar_binarisation": {">= 0.5 (compat)": ">= 0.5 (published convention)"},
}
"""By key, the values that had another name."""


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


def renamed_table(text: str) -> str:
    """The content of a comparison.csv."""
    for values in _VALUES.values():
        for former, name in values.items():
            text = text.replace(f",{former},", f",{name},")
    return text
