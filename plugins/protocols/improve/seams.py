"""The three seams as data: what an edit may say, and the functions that it becomes.

Nothing of an edit is executed. A score is arithmetic over named signals, an assembly a list of
rules, a prompt edit text that is added to named fragments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from framework.contracts import Query
from framework.records import Item
from framework.text.expressions import evaluate, names

SIGNALS: Final = (
    "similarity", "recency", "term_overlap", "speaker", "position", "number_density",
)  # fmt: skip
"""What a score expression may read, each in [0, 1] among the recalled items of one question."""
MAX_ADDED: Final = 2_000
"""Characters that one edit may add to the reader's prompt (Regimes 3.3)."""
_MAX_RULES: Final = 8
_COMPARED: Final = 200
"""Items that `dedupe` compares: what stands behind them hardly ever fits a view."""
_WORD: Final = re.compile(r"[^\W_]+")

Edit = Callable[[Query, Sequence[Item]], Sequence[Item]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of an assembly: its settings with the least and greatest value of each."""

    limits: Mapping[str, tuple[float, float]]
    words: Mapping[str, tuple[str, ...]]


RULES: Final[Mapping[str, Rule]] = {
    "reorder": Rule(
        limits={"first": (2, 500)},
        words={"by": ("time", "position", "session"), "order": ("ascending", "descending")},
    ),
    "dedupe": Rule(limits={"overlap": (0.3, 1.0)}, words={}),
    "neighbour": Rule(limits={"distance": (1, 5), "first": (1, 100)}, words={}),
    "session_quota": Rule(limits={"most": (1, 100)}, words={}),
}
"""The closed list of assembly rules. Every setting of a rule must be given."""


def check_payload(seam: str, payload: Mapping[str, Any], fragments: Sequence[str]) -> None:
    """Raise ValueError, saying why, for a payload that the seam does not take.

    `fragments` are the names that a prompt edit may add to.
    """
    checks = {"score": _check_score, "assembly": _check_assembly}
    if seam == "reader_prompt":
        _check_prompt(payload, fragments)
    elif seam in checks:
        checks[seam](payload)
    else:
        raise ValueError(f"no seam {seam!r}")


def _only(payload: Mapping[str, Any], key: str) -> Any:
    if set(payload) != {key}:
        raise ValueError(f"{key!r} and nothing else expected, {sorted(payload)} given")
    return payload[key]


def _check_score(payload: Mapping[str, Any]) -> None:
    expression = _only(payload, "expression")
    if not isinstance(expression, str):
        raise ValueError("the expression is not text")
    unknown = sorted(names(expression) - set(SIGNALS))
    if unknown:
        raise ValueError(f"no signals {unknown}; there are {', '.join(SIGNALS)}")
    for value in (0.0, 0.25, 1.0):  # a division that fails at once; others fail in their case
        evaluate(expression, dict.fromkeys(SIGNALS, value))


def _check_assembly(payload: Mapping[str, Any]) -> None:
    rules = _only(payload, "rules")
    if not isinstance(rules, list) or not 1 <= len(rules) <= _MAX_RULES:
        raise ValueError(f"a list of 1 to {_MAX_RULES} rules expected")
    for given in rules:
        if not isinstance(given, dict) or given.get("rule") not in RULES:
            raise ValueError(f"no such rule; there are {', '.join(RULES)}")
        rule = RULES[given["rule"]]
        if set(given) != {"rule", *rule.limits, *rule.words}:
            raise ValueError(f"{given['rule']} takes {sorted([*rule.limits, *rule.words])}")
        for key, (least, most) in rule.limits.items():
            value = given[key]
            whole = isinstance(least, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ValueError(f"{key} is not a number")
            if not least <= value <= most:
                raise ValueError(f"{key}: {value} given, {least:g} to {most:g} expected")
        for key, words in rule.words.items():
            if given[key] not in words:
                raise ValueError(f"{key}: one of {', '.join(words)} expected")


def _check_prompt(payload: Mapping[str, Any], fragments: Sequence[str]) -> None:
    added = _only(payload, "fragments")
    if not isinstance(added, dict) or not added:
        raise ValueError("fragments: names with the text added to each expected")
    unknown = sorted(set(added) - set(fragments))
    if unknown:
        raise ValueError(f"new fragments {unknown}; there are {', '.join(fragments)}")
    if not all(isinstance(text, str) and text.strip() for text in added.values()):
        raise ValueError("a fragment's added text is empty or no text")
    length = sum(map(len, added.values()))
    if length > MAX_ADDED:
        raise ValueError(f"{length} characters added, at most {MAX_ADDED} allowed")


def score(expression: str) -> Edit:
    """Items ordered by an expression over `SIGNALS`, best first, equals in the order they came.

    The edit raises ValueError where the expression has no finite value for an item.
    """

    def edit(query: Query, items: Sequence[Item]) -> Sequence[Item]:
        signals = signals_of(query, items)
        values = [evaluate(expression, known) for known in signals]
        order = sorted(range(len(items)), key=lambda i: (-values[i], i))
        return [items[i] for i in order]

    return edit


def assembly(rules: Sequence[Mapping[str, Any]]) -> Edit:
    """Items through the rules, one after the other. Only `dedupe` drops any."""

    def edit(query: Query, items: Sequence[Item]) -> Sequence[Item]:
        for rule in rules:
            items = _APPLY[rule["rule"]](rule, items)
        return items

    return edit


def _reorder(rule: Mapping[str, Any], items: Sequence[Item]) -> Sequence[Item]:
    key = f"source_{rule['by']}"
    sign = 1 if rule["order"] == "ascending" else -1
    first = sorted(items[: rule["first"]], key=lambda item: sign * item.signals.get(key, 0.0))
    return [*first, *items[rule["first"] :]]


def _dedupe(rule: Mapping[str, Any], items: Sequence[Item]) -> Sequence[Item]:
    kept: list[Item] = []
    seen: list[frozenset[str]] = []
    for item in items[:_COMPARED]:
        words = _words(item.text)
        if not any(len(words & w) >= rule["overlap"] * max(1, len(words | w)) for w in seen):
            kept.append(item)
            seen.append(words)
    return [*kept, *items[_COMPARED:]]


def _neighbour(rule: Mapping[str, Any], items: Sequence[Item]) -> Sequence[Item]:
    """Behind each of the first items, those that arrived next to it."""
    at = {item.signals.get("source_position"): item for item in reversed(items)}
    near = [step for d in range(1, rule["distance"] + 1) for step in (d, -d)]
    placed: dict[str, Item] = {}
    for item in items[: rule["first"]]:
        placed.setdefault(item.id, item)
        position = item.signals.get("source_position")
        if position is not None:
            for step in near:
                if (beside := at.get(position + step)) is not None:
                    placed.setdefault(beside.id, beside)
    return [*placed.values(), *(item for item in items if item.id not in placed)]


def _session_quota(rule: Mapping[str, Any], items: Sequence[Item]) -> Sequence[Item]:
    """At most so many items of a session in front; the rest of it behind all others."""
    counts: dict[float | None, int] = {}
    front: list[Item] = []
    back: list[Item] = []
    for item in items:
        session = item.signals.get("source_session")
        counts[session] = counts.get(session, 0) + 1
        (front if counts[session] <= rule["most"] else back).append(item)
    return [*front, *back]


_APPLY: Final[Mapping[str, Callable[[Mapping[str, Any], Sequence[Item]], Sequence[Item]]]] = {
    "reorder": _reorder,
    "dedupe": _dedupe,
    "neighbour": _neighbour,
    "session_quota": _session_quota,
}


def signals_of(query: Query, items: Sequence[Item]) -> list[dict[str, float]]:
    """By item, the value of every signal."""
    asked = _words(query.text)
    last = max(1, len(items) - 1)
    recency = _spread([item.signals.get("source_time") for item in items])
    position = _spread([item.signals.get("source_position") for item in items])
    return [
        {
            "similarity": 1 - index / last,
            "recency": recency[index],
            "term_overlap": len(asked & _words(item.text)) / max(1, len(asked)),
            "speaker": item.signals.get("source_speaker", 0.0),
            "position": position[index],
            "number_density": _number_density(item.text),
        }
        for index, item in enumerate(items)
    ]


def _spread(values: Sequence[float | None]) -> list[float]:
    """Values from 0 (the least) to 1; 0 where there is none."""
    known = [v for v in values if v is not None]
    least, width = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    return [0.0 if v is None or not width else (v - least) / width for v in values]


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


@lru_cache(maxsize=1 << 14)
def _number_density(text: str) -> float:
    found = _WORD.findall(text)
    return sum(any(c.isdigit() for c in word) for word in found) / max(1, len(found))
