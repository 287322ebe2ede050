"""Operators as edits: one that is registered, installed behind the reader under a guard.

A guard is two lists of phrases: the question must have one of the first, where there are any, and
none of the second. Both it and the operator's own detector must fire before the operator acts.
What it says about a question is all that it says: neither the type of a case nor anything of its
gold is there to be read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from framework.contracts import Client, Operator, Outcome, Patch, Taxonomy
from framework.contracts.improve import Seam
from framework.contracts.operator import ACTED
from framework.pipeline.seams import OnAnswer
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import find, identity_of, settings_of
from framework.text.canonical import canonical_json

SEAM: Final[Seam] = "operator"
MAX_PHRASES: Final = 8
"""Phrases of each list of a guard."""
MAX_PHRASE: Final = 60
"""Characters of a phrase."""
_LISTS: Final = ("contains", "lacks")
_GUARDS: Final[tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...]] = (
    ("count", ("how many", "how often", "number of"), (), "help: questions for a number"),
    ("how_many", ("how many",), ("days", "weeks", "months", "years"), "help: no span of time"),
    ("times", ("how many times", "how often"), (), "help: of these the narrowest"),
    ("amount", ("how much", "total"), (), "null where it answers no question for an amount"),
    ("when", ("when", "how long ago"), (), "null where it answers no question for a day"),
    ("other", ("which", "where", "who"), ("how",), "null where it answers no such question"),
)
"""The guards that `author=rules` proposes with every operator: by name, phrases, and what for."""
_TALLY: Final = re.compile(r"(?P<operator>\w+):(?P<what>\w+)=(?P<n>\d+)")
_SPACE: Final = re.compile(r"\s+")


def own_identity(names: Sequence[str]) -> dict[str, Any]:
    """By operator, what it has of its own that may change a value, as the prompts that it uses.

    Raises UserError for a name that is no operator's.
    """
    chosen = [find(SEAM, name) for name in names]
    return {p.name: said for p in chosen if (said := identity_of(p, settings_of(p, {})))}


def reached(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy where operators may be installed: they reach what the reader's prompt reaches.

    That is what the reader got wrong although the evidence was in its view.
    """
    regimes = tuple(
        replace(r, seams=(*r.seams, SEAM)) if "reader_prompt" in r.seams else r
        for r in taxonomy.regimes
    )
    return replace(taxonomy, regimes=regimes)


def library(names: Sequence[str]) -> tuple[Patch, ...]:
    """What `author=rules` may propose: every operator under every guard of a fixed list."""
    return tuple(
        Patch(
            id=f"{name}_if_{key}",
            seam=SEAM,
            payload={
                "operator": name,
                "guard": {"contains": list(contains), "lacks": list(lacks)},
            },
            note=note,
        )
        for name in names
        for key, contains, lacks, note in _GUARDS
    )


def described(names: Sequence[str]) -> str:
    """The form of such an edit and the operators, as a language model that drafts is told."""
    if not names:
        return ""
    shape = canonical_json({"seam": SEAM, **library(names)[0].payload})
    listed = "; ".join(f'"{name}": {find(SEAM, name).summary}' for name in names)
    return (
        f"\n- operator: {shape}. Installs a step behind the reader, which may change its answer to "
        'a question that has one of the phrases in "contains" (to any, where that is empty) and '
        f'none in "lacks": at most {MAX_PHRASES} phrases in each, at most {MAX_PHRASE} '
        f'characters a phrase, at least one in all. There are {listed}. Where "operator" and '
        '"guard" are given, the keys of other places are null; else these two are null.'
    )


def form(names: Sequence[str]) -> Mapping[str, Any]:
    """The schema of the keys of such an edit, bounded; empty where nothing may be installed."""
    phrases = {
        "type": "array",
        "items": {"type": "string", "maxLength": MAX_PHRASE},
        "maxItems": MAX_PHRASES,
    }
    guard = {
        "type": ["object", "null"],
        "properties": dict.fromkeys(_LISTS, phrases),
        "required": list(_LISTS),
        "additionalProperties": False,
    }
    named = {"type": ["string", "null"], "maxLength": max(map(len, names), default=0)}
    return {"operator": named, "guard": guard} if names else {}


def check_operator(payload: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise ValueError, saying why, for a payload that installs none of the named operators."""
    if set(payload) != {"operator", "guard"}:
        raise ValueError(f"'operator' and 'guard' expected, {sorted(payload)} given")
    if payload["operator"] not in names:
        raise ValueError(f"no operator {payload['operator']!r} to install: {', '.join(names)}")
    guard = payload["guard"]
    if not isinstance(guard, dict) or set(guard) != set(_LISTS):
        raise ValueError(f"guard: an object of {' and '.join(_LISTS)} expected")
    for key in _LISTS:
        phrases = guard[key]
        if not isinstance(phrases, list) or len(phrases) > MAX_PHRASES:
            raise ValueError(f"guard: {key}: a list of at most {MAX_PHRASES} phrases expected")
        if not all(isinstance(p, str) and p.strip() for p in phrases):
            raise ValueError(f"guard: {key}: a phrase is empty or no text")
        if any(len(p) > MAX_PHRASE for p in phrases):
            raise ValueError(f"guard: {key}: a phrase of more than {MAX_PHRASE} characters")
    if not any(guard.values()):
        raise ValueError("guard: no phrase at all: every question would pass it")


def holds(guard: Mapping[str, Sequence[str]], question: str) -> bool:
    """Whether a guard fires on a question. Case and white space do not count; words are whole."""
    asked = _folded(question)

    def has(phrase: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(_folded(phrase))}(?!\w)", asked) is not None

    wanted = guard["contains"]
    return (not wanted or any(map(has, wanted))) and not any(map(has, guard["lacks"]))


def installed(payloads: Sequence[Mapping[str, Any]]) -> OnAnswer | None:
    """What the operators of a stack do to an answer, each to what those before it made of it."""
    if not payloads:
        return None
    chain: list[tuple[Mapping[str, Any], Operator[Any]]] = []
    for payload in payloads:
        plugin = find(SEAM, payload["operator"])
        chain.append((payload["guard"], plugin.cls(settings_of(plugin, {}))))

    async def edit(task: TaskCard, view: MemoryView, answer: Answer, client: Client) -> Answer:
        for guard, operator in chain:
            if holds(guard, task.query):
                answer = await operator.apply(task, view, answer, client) or answer
        return answer

    return edit


def acted(answer: Answer | None, names: Sequence[str]) -> tuple[str, ...]:
    """What operators left on an answer: that they acted, and what those of `names` counted."""
    if answer is None or not names:
        return ()
    return tuple(
        p
        for p in answer.provisions
        if p.startswith(ACTED) or ((found := _TALLY.fullmatch(p)) and found["operator"] in names)
    )


def reading(before: Sequence[Outcome], after: Sequence[Outcome]) -> dict[str, Any]:
    """What operators did after that they had not done before, on the same cases in their order.

    fired : cases where one acted. wrong : those that are wrong then; broken: that were right. told
    : by operator, the sums of what it counted, as quotes that are in no memory.
    """
    fired = [(b, a) for b, a in zip(before, after, strict=True) if b.acted != a.acted]
    told: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for sign, side in ((-1, [b for b, _ in fired]), (1, [a for _, a in fired])):
        for outcome in side:
            for found in filter(None, map(_TALLY.fullmatch, outcome.acted)):
                told[found["operator"]][found["what"]] += sign * int(found["n"])
    return {
        "fired": len(fired),
        "wrong": sum(not a.correct for _, a in fired),
        "broken": sum(b.correct and not a.correct for b, a in fired),
        "told": {name: dict(sums) for name, sums in told.items()},
    }


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip().casefold()
