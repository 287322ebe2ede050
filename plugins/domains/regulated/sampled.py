"""A case before it is worded: the plan it was drawn by, its facts, its policy, its label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random
from typing import Final

from plugins.domains.regulated.policy import Policy, Rule, Value, close
from plugins.domains.regulated.spec import Spec

STRATA: Final = ("clean", "noisy", "superseded", "open", "injected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is decided about a case before its facts are sampled."""

    stratum: str
    held_out: bool
    near: bool
    target: str
    injected: str
    intake: date
    protected: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A fact that was corrected. `retired`: its values that no longer hold, oldest first.

    `rescinded`: the current value came first, the correction to the retired one was withdrawn.
    """

    key: str
    retired: tuple[Value, ...]
    rescinded: bool
    flips: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """A rule whose threshold was replaced. `old` is the rule before."""

    old: Rule
    flips: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """What the history leaves open: a fact stated nowhere, or stated with `other` too."""

    key: str
    other: Value | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A case before it is worded: facts, policy, what was retired or left open, the label."""

    plan: Plan
    facts: Mapping[str, Value]
    policy: Policy
    decision: str
    winners: tuple[Rule, ...]
    decidable: bool
    stated: frozenset[str]
    revisions: tuple[Revision, ...] = ()
    amendments: tuple[Amendment, ...] = ()
    gap: Gap | None = None
    protected: Mapping[str, str] = field(default_factory=dict)

    def known(self, formulas: Mapping[str, str]) -> dict[str, frozenset[Value]]:
        """What the whole history tells of the facts, derivations closed."""
        return close(self._told(), formulas)

    def _told(self) -> dict[str, frozenset[Value]]:
        told = {key: frozenset({self.facts[key]}) for key in self.stated}
        if self.gap is not None and self.gap.other is not None:
            told[self.gap.key] = frozenset({self.facts[self.gap.key], self.gap.other})
        return told


def stream(spec: Spec, seed: int, base: int, purpose: str) -> Random:
    """The random stream of one purpose of one case: streams never disturb one another."""
    return Random(f"{spec.name}/{seed}/{base}/{purpose}")


def sample_plan(
    spec: Spec, shares: Mapping[str, float], forms: str, near: float, seed: int, base: int
) -> Plan:
    """Stratum, form, margin, target, injected target, intake date, protected attributes."""

    def rng(purpose: str) -> Random:
        return stream(spec, seed, base, purpose)

    first, last = spec.calendar.first, spec.calendar.last
    held_out = {"development": False, "held_out": True}.get(forms, rng("form").random() < 0.5)
    return Plan(
        stratum=_weighted(shares, rng("stratum")),
        held_out=held_out,
        near=rng("margin").random() < near,
        target=_weighted(spec.labels, rng("target")),
        injected=rng("injected").choice(spec.decisions),
        intake=first + timedelta(days=rng("intake").randint(0, (last - first).days)),
        protected={
            name: rng(f"protected/{name}").choice(values) for name, values in spec.protected.items()
        },
    )


def _weighted(shares: Mapping[str, float], rng: Random) -> str:
    point = rng.random() * sum(shares.values())
    for name, share in shares.items():
        point -= share
        if point < 0:
            return name
    return next(name for name in reversed(list(shares)) if shares[name] > 0)
