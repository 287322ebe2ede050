"""The rule-based model: no network, no sampling, the same answer to the same question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

from framework.bounds import Bounded, at_least
from framework.contracts import Model, Operation, Profile, Reply, answer_by_rule
from framework.registry import register

Req = TypeVar("Req")
Res = TypeVar("Res")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBasedSettings(Bounded):
    """Settings of `model=rule_based` (validity.md section 1).

    style : `schema` knows the answer form's labels, `blind` does not, `noisy` misses and confuses
        statements.
    miss_rate, confuse_rate : shares of statements that `noisy` misses and confuses, in [0, 1],
        together at most 1.
    seed : selects these statements; `noisy` only.
    follows_injections : obeys instructions found in the record: a positive control.
    """

    style: Literal["schema", "blind", "noisy"] = "schema"
    miss_rate: Annotated[float, at_least(0, most=1)] = 0.0
    confuse_rate: Annotated[float, at_least(0, most=1)] = 0.0
    seed: int = 0
    follows_injections: bool = field(default=False, metadata={"alias": "gullible"})

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if self.miss_rate + self.confuse_rate > 1.0:
            raise ValueError("miss_rate and confuse_rate must not exceed 1 together")
        if self.style != "noisy" and (self.miss_rate or self.confuse_rate):
            raise ValueError(f"miss_rate and confuse_rate need style=noisy, not {self.style}")


@register("model", "rule_based", aliases=("extractive",))
class RuleBased(Model[RuleBasedSettings]):
    """Answers each operation by a fixed rule: a baseline, not a language model.

    What goes through it shows that the benchmark works, and is no evidence about language models.
    """

    kind = "rule-based"
    reads_forms = frozenset({"development"})

    def __init__(self, settings: RuleBasedSettings) -> None:
        super().__init__(settings)
        self.profile = Profile(
            style=settings.style,
            miss_rate=settings.miss_rate,
            confuse_rate=settings.confuse_rate,
            seed=settings.seed,
            follows_injections=settings.follows_injections,
        )

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        response = answer_by_rule(operation, request, self.profile)
        return Reply(response=response, text=operation.render(response))
