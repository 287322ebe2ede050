"""What a loop may do: sizes of the splits, caps, and the rules by which it stops."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

from framework.bounds import Bounded, above, at_least
from framework.contracts import Sizes
from framework.errors import UserError
from plugins.protocols.improve.operators import own_identity


@dataclass(frozen=True, slots=True, kw_only=True)
class ImproveSettings(Bounded):
    """Settings of `protocol=improve`.

    pool : cases drawn from the domain, of which the splits are samples; None for what the target
        plans, or the three splits where that is more.
    optimize, confirm, test : sizes of the splits. Failures of OPTIMIZE are diagnosed and shown to
        the author; CONFIRM decides; TEST is sealed until the loop has ended. None for as many as
        the target plans on its domain (`Target.sizes`).
    fresh_confirm : whether every interim analysis of CONFIRM has cases of its own: `auto` where the
        domain can generate them.
    max_attempts : drafts for one regime before it is given up; the count starts again after a
        promotion.
    max_candidates : most drafts in all.
    max_promotions, max_analyses : most promotions and interim analyses in all; None for no limit.
        What `consolidate` measures afterwards is not counted.
    best_of : number of drafts of which the best on OPTIMIZE goes on.
    min_net_flips : least surplus of fixed over broken CONFIRM cases that counts as a gain; measured
        noise may raise it.
    noise_repeats : A/A runs of the bare pipeline over which the noise is averaged.
    patience : the loop stops after this many interim analyses in a row without such a gain; None:
        never.
    prompt_chars : most characters that all edits together may add to the reader's prompt.
    consolidate : after the loop, drop entries whose removal does not hurt.
    diagnosis : whether the author is told the regime and shown failures.
    shown_failures, shown_chars : how many failures an author sees, and how much of each view.
    whole_pool : after TEST, measure the final stack on all of the pool but OPTIMIZE too.
    code : whether an edit may be code, run in the sandbox for every case.
    operators : names of the group `operator` that the author may propose to install under a guard;
        none by default.
    rewards : what makes a case correct in the loop: `truth`, the target's word, or `directness`,
        a judge that takes any unhedged answer (Regimes, threat 10). TEST is judged by the truth.
    memories : number of memories of histories kept for the next measurement.
    author_timeout_s : after this many seconds without an answer a draft counts as empty.
    """

    pool: int | None = None
    optimize: Annotated[int | None, at_least(1)] = None
    confirm: Annotated[int | None, at_least(1)] = None
    test: Annotated[int | None, at_least(1)] = None
    fresh_confirm: Literal["auto", "always", "never"] = "auto"
    max_attempts: Annotated[int, at_least(1)] = 8
    max_candidates: Annotated[int, at_least(1)] = 40
    max_promotions: Annotated[int | None, at_least(1)] = None
    max_analyses: Annotated[int | None, at_least(1)] = None
    best_of: Annotated[int, at_least(1)] = 1
    min_net_flips: Annotated[int, at_least(0)] = 2
    noise_repeats: Annotated[int, at_least(1)] = 1
    patience: Annotated[int | None, at_least(1)] = 3
    prompt_chars: Annotated[int, at_least(0)] = 6_000
    consolidate: bool = True
    diagnosis: bool = True
    shown_failures: Annotated[int, at_least(0)] = 8
    shown_chars: Annotated[int, at_least(0)] = 1_500
    whole_pool: bool = False
    code: bool = False
    operators: tuple[str, ...] = ()
    rewards: Literal["truth", "directness"] = "truth"
    memories: Annotated[int, at_least(1)] = field(default=200, metadata={"operational": True})
    author_timeout_s: Annotated[float, above(0)] = field(
        default=120.0, metadata={"operational": True}
    )

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        together = sum(n for n in (self.optimize, self.confirm, self.test) if n is not None)
        if self.pool is not None and self.pool < together:
            raise ValueError(f"pool: {self.pool} given, less than the three splits together")

    def identity(self) -> dict[str, Any]:
        """What may change a measured value; a newer setting left alone is not in it."""
        alone = (("noise_repeats", 1), ("max_analyses", None), ("operators", ()))
        kept = [f.name for f in fields(self) if not f.metadata.get("operational")]
        found = {name: getattr(self, name) for name in kept}
        own = own_identity(self.operators)
        said = {name: value for name, value in found.items() if (name, value) not in alone}
        return {**said, **({"asked": own} if own else {})}

    def sizes(self, planned: Sizes) -> Sizes:
        """The sizes as given, and where none are as planned.

        Raises UserError for a pool that is less than the splits.
        """
        optimize = planned.optimize if self.optimize is None else self.optimize
        confirm = planned.confirm if self.confirm is None else self.confirm
        test = planned.test if self.test is None else self.test
        together = optimize + confirm + test
        pool = max(planned.pool, together) if self.pool is None else self.pool
        if pool < together:
            raise UserError(
                f"protocol.pool: {pool} given, less than the {together} of the splits "
                f"({optimize} + {confirm} + {test}); a size that is null is the target's"
            )
        return Sizes(pool=pool, optimize=optimize, confirm=confirm, test=test)
