"""Statements that could be taken for facts of a case and are none: `domain.ambiguity`.

LongHorizon names it as a limit of its own cases that synthetic narrative lacks the ambiguity of
real correspondence (section 9) and asks for cases with it (section 11). Here a share of the
letters, notes, messages, memos and reports that bring a history to its length each carry one such
statement: a guess, a value that is said to be past, or a figure of another person, year or account.
Documents that a decision rests on, facts, rules, label and gold stay as they are. A near miss is
drawn from the spec's own distributions, with no regard to the case but that it is none of the
values that the case's documents state: so it can't be taken for a statement that holds, and tells
nothing of the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from framework.text.canonical import digest, digest_file
from framework.text.reading import read_yaml
from plugins.domains.regulated.chains import Entry
from plugins.domains.regulated.facts import sample_facts
from plugins.domains.regulated.policy import Value
from plugins.domains.regulated.rendering import Draft
from plugins.domains.regulated.sampled import Sampled
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.wording import Words

FILE: Final = Path(__file__).with_name("near_misses.yaml")
PLAIN_KINDS: Final = frozenset({"form", "statement", "record", "policy"})
"""Kinds of documents that tell nothing in prose: they never carry a near miss."""
_TRIES: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """What near_misses.yaml holds: by kind of wording and by spec, forms and what they are of."""

    instruction: str
    hedged: Mapping[str, Sequence[str]]
    elsewhere: Mapping[str, Sequence[str]]
    matters: Mapping[str, Sequence[str]]


@cache
def forms() -> Forms:
    """The wording of near misses."""
    values: Mapping[str, Any] = read_yaml(FILE.read_text(encoding="utf-8"))
    return Forms(**values)


def with_near_misses(spec: Spec, share: float) -> Spec:
    """`spec` with a card that says what counts as a figure; as it is where `share` is 0.

    Its digest says so.
    """
    if not share:
        return spec
    return replace(
        spec,
        instruction=f"{spec.instruction.rstrip()} {forms().instruction.strip()}",
        digest=digest([spec.digest, "near misses", digest_file(FILE)]),
    )


class NearMisses:
    """Draws near misses for the documents that are added to a case.

    pair : the case, and its counterpart where it has one. They differ in a fact or a rule, and
    their near misses must not: what either states is a near miss of neither.
    """

    def __init__(self, spec: Spec, pair: Iterable[Sampled], share: float, rng: Random) -> None:
        both = tuple(pair)
        plan = both[0].plan
        self._spec, self._share, self._rng, self._intake = spec, share, rng, plan.intake
        self._codes = tuple(rule.code for rule in both[0].policy.rules)
        self._form = "held_out" if plan.held_out else "development"
        self._words = Words(spec, held_out=plan.held_out, vary=plan.stratum == "noisy", rng=rng)
        self._keys = [
            fact.key
            for fact in spec.facts.values()
            if fact.type != "provision" and not isinstance(fact, Entry)
        ]
        self._stated = [_stated(spec, sampled) for sampled in both]

    def sentence(self, draft: Draft) -> str:
        """The near miss that a document carries; empty where it carries none."""
        if draft.kind in PLAIN_KINDS or self._rng.random() >= self._share:
            return ""
        for _ in range(_TRIES):
            key = self._rng.choice(self._keys)
            value = sample_facts(self._spec, self._rng, self._intake, self._codes)[key]
            if not any(value in stated.get(key, ()) for stated in self._stated):
                return self._worded(key, value, draft)
        return ""

    def _worded(self, key: str, value: Value, draft: Draft) -> str:
        match self._rng.choice(("hedged", "elsewhere", "past")):
            case "hedged":
                chosen = forms().hedged[self._form]
            case "elsewhere":
                matters = forms().matters
                matter = self._rng.choice(matters.get(self._spec.name, matters["other"]))
                chosen = [f.replace("{matter}", matter) for f in forms().elsewhere[self._form]]
            case _:
                return self._words.remention(key, value, draft.day)
        text = self._words.near_miss(chosen, key, value, draft.day)
        return text[:1].upper() + text[1:]


def _stated(spec: Spec, sampled: Sampled) -> dict[str, frozenset[Value]]:
    """By fact, every value that the case's documents state or make known, retired ones too."""
    stated = dict(sampled.known(spec.formulas))
    for revision in sampled.revisions:
        stated[revision.key] = stated.get(revision.key, frozenset()) | frozenset(revision.retired)
    return stated
