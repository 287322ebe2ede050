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


def read_json(text: str | bytes) -> Any:
    """JSON data of a run, a loop or a sweep. Raises ValueError as `bounded` does."""
    return bounded(text, _renamed)


def renamed(data: Any) -> Any:
    """Plain data of a journal's event, each mapping within it too."""
    if isinstance(data, dict):
        return _renamed({key: renamed(value) for key, value in data.items()})
    return [renamed(each) for each in data] if isinstance(data, list) else data


def renamed_table(text: str) -> str:
    """The content of a comparison.csv."""
    for values in _VALUES.values():
        for former, name in values.items():
            text = text.replace(f",{former},", f",{name},")
    return text


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    found = {_KEYS.get(key, key): value for key, value in data.items()}
    for key, names in _VALUES.items():
        if isinstance(value := found.get(key), str):
            found[key] = names.get(value, value)
    return found
