"""The executable check of a structured edit, as data.

    {"component": "cx-01f4",
     "require": {"retention_period": {"low": 30, "high": 34}},
     "keep": {"page_length": "12"},
     "admit": {"page_length": {"low": 1, "high": 60}, "retention_period": {"low": 1, "high": 60}},
     "claims": ["Amber Heron covenant", "30 to 34 steps"]}

`require` is the invariant; `keep` what the ticket asks for; `admit` what each setting can be at
all; `claims` what a text says that asserts the decision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from framework.text.canonical import canonical_json
from framework.text.reading import read_json
from plugins.domains.governance.content import Planned
from plugins.domains.governance.lexicon import SCALE, Setting, Value

_DISHONOURED: Final = "The {} does not honour the decision that governs it."


def invariant_of(
    component: str, governed: Setting, required: Value, plan: Sequence[Planned], name: str
) -> str:
    """The check of a task's edit, canonical JSON."""
    return canonical_json(
        {
            "component": component,
            "require": {governed.key: {"low": required.low, "high": required.high}},
            "keep": {p.setting.key: p.value for p in plan if p.asked},
            "admit": {p.setting.key: {"low": SCALE[0], "high": SCALE[-1]} for p in plan},
            "claims": [name, required.text],
        }
    )


def values_of(edit: str, component: str) -> Mapping[str, str]:
    """The values that an edit sets for the component, by setting; empty where it is no edit.

    A setting that is given twice has no value: two answers are none.
    """
    try:
        entries = read_json(edit)
    except ValueError:
        return {}
    if not isinstance(entries, list):
        return {}
    found: dict[str, str] = {}
    twice: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict) or set(entry) != {"component", "setting", "value"}:
            return {}
        if not all(isinstance(text, str) for text in entry.values()):
            return {}
        if entry["component"] == component:
            (twice if entry["setting"] in found else set()).add(entry["setting"])
            found[entry["setting"]] = entry["value"].strip()
    return {setting: value for setting, value in found.items() if setting not in twice}


def complies(edit: str, invariant: str) -> bool:
    """Whether the edit honours the governing decision."""
    check = read_json(invariant)
    values = values_of(edit, check["component"])
    return all(_holds(values.get(key), clause) for key, clause in check["require"].items())


def checks(edit: str, said: str, invariant: str) -> Mapping[str, bool | None]:
    """Compliance, merge-readiness, and whether `said` asserts what the edit does not do."""
    check: Any = read_json(invariant)
    values = values_of(edit, check["component"])
    compliant = complies(edit, invariant)
    admitted = check["admit"].keys() == values.keys() and all(
        _holds(values[key], clause) for key, clause in check["admit"].items()
    )
    kept = all(values.get(key) == value for key, value in check["keep"].items())
    claimed = any(
        re.search(rf"(?<!\w){re.escape(claim)}(?!\w)", said, re.IGNORECASE)
        for claim in check["claims"]
    )
    return {
        "compliance": compliant,
        "merge_ready": compliant and admitted and kept,
        "asserted_only": claimed and not compliant,
    }


def reviewed(edit: str, invariant: str, change_plan: str) -> tuple[bool, str]:
    """Whether an edit may be merged, and what its review says, setting by setting."""
    check: Any = read_json(invariant)
    labels = {s["setting"]: s["label"] for s in read_json(change_plan)["settings"]}
    values = values_of(edit, check["component"])
    said = []
    for setting, label in labels.items():
        value = values.get(setting)
        if not _holds(value, check["admit"][setting]):
            said.append(f"The {label} has no value that it can have.")
        elif setting in check["keep"] and value != check["keep"][setting]:
            said.append(f"The {label} is not as the ticket asks.")
        elif setting in check["require"] and not _holds(value, check["require"][setting]):
            said.append(_DISHONOURED.format(label))
    merges = not said and values.keys() == labels.keys()
    return merges, " ".join(said) or ("Merged." if merges else "The edit has other settings.")


def dishonours(said: str, label: str) -> bool:
    """Whether a review says that this setting is not what governs it."""
    return _DISHONOURED.format(label) in said


def _holds(value: str | None, clause: Mapping[str, Any]) -> bool:
    if value is None:
        return False
    return value.isascii() and value.isdigit() and clause["low"] <= int(value) <= clause["high"]
