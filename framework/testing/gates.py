"""Operating characteristics of the loop's gate: simulated loops whose true effects are known.

A loop looks at ideas one after the other. Each is null, harmful or helpful by rates that are known
here and nowhere else, comes to CONFIRM only past an OPTIMIZE sample as in a real loop, and is
promoted where the rule says so. The decision is the real gate's. What is reported is what a real
run can't know: how often a promotion was false, what the loop claims beyond the truth, and what it
left lying (docs/validity.md section 6.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from framework.records import Row
from framework.registry import find, settings_of

__all__ = ["IDEAS", "LOOKS", "RULES", "Found", "Rule", "draw", "markdown", "simulate"]

LOOKS: Final = (1, 2, 5, 10, 20)
"""Numbers of looks after which a loop is read."""
IDEAS: Final[Mapping[str, tuple[float, float, float]]] = {
    "null": (0.5, 0.06, 0.02),
    "harmful": (0.3, 0.06, 0.05),
    "small": (0.1, 0.14, 0.02),
    "large": (0.1, 0.30, 0.02),
}
"""By kind: share, P(a wrong case is fixed), P(a right case is broken). At an accuracy of .75 their
true effects are 0, -.0225, +.02 and +.06."""
_ACCURACY: Final = 0.75
_OPTIMIZE: Final = 50

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A gate with its surroundings.

    fresh : every look has CONFIRM cases of its own. spends : looks at the same cases share alpha.
    least, patience : the plateau rule. confirm : cases a look.
    """

    name: str
    gate: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    spends: bool = True
    least: int = 0
    patience: int | None = None
    confirm: int = 100


RULES: Final = (
    Rule(name="point, 0 (published)", gate={"rule": "point"}),
    Rule(name="point, .02", gate={"rule": "point", "threshold": 0.02}),
    Rule(
        name="point, .02, plateau rule",
        gate={"rule": "point", "threshold": 0.02},
        least=2,
        patience=3,
    ),
    Rule(name="bound, reused, no spending", spends=False),
    Rule(name="bound, reused, spending"),
    Rule(name="bound, fresh cases (default)", fresh=True),
    Rule(name="bound, fresh cases, 400 a look", fresh=True, confirm=400),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Means over loops of one rule after so many looks.

    any_false : share of loops that promoted at least one idea whose true effect was not above 0.
    false_share : of all promotions, the share of such ideas; None without promotions.
    gain : true gain in accuracy. claimed : as the loop measured it on what it selected on.
    optimism : claimed less gain. regret : what promoting exactly that which truly helps would have
        gained, less gain.
    """

    rule: str
    looks: int
    promotions: float
    any_false: float
    false_share: float | None
    gain: float
    optimism: float
    regret: float


def simulate(loops: int, seed: int = 0, rules: Sequence[Rule] = RULES) -> list[Found]:
    """The characteristics of each rule, from `loops` loops each; the same ideas for every rule."""
    found = []
    for rule in rules:
        sums = {looks: np.zeros(6) for looks in LOOKS}
        for loop in range(loops):
            for looks, values in _loop(rule, np.random.default_rng([seed, loop])).items():
                sums[looks] += values
        for looks, (promoted, false, any_false, gain, claimed, best) in sums.items():
            found.append(
                Found(
                    rule=rule.name,
                    looks=looks,
                    promotions=promoted / loops,
                    any_false=any_false / loops,
                    false_share=false / promoted if promoted else None,
                    gain=gain / loops,
                    optimism=(claimed - gain) / loops,
                    regret=(best - gain) / loops,
                )
            )
    return found


def markdown(found: Sequence[Found]) -> str:
    """A table, one line a rule and number of looks."""
    lines = [
        "| gate | looks | promotions | a false one | false share | true gain | optimism | regret |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for f in found:
        share = "-" if f.false_share is None else f"{f.false_share:.2f}"
        lines.append(
            f"| {f.rule} | {f.looks} | {f.promotions:.2f} | {f.any_false:.2f} | {share} | "
            f"{f.gain:+.3f} | {f.optimism:+.3f} | {f.regret:.3f} |"
        )
    return "\n".join(lines)


def draw(found: Sequence[Found], path: Path) -> None:
    """A picture: share of loops with a false promotion, true gain and optimism against looks."""
    from matplotlib.figure import Figure

    panels = {
        "loops with a false promotion": "any_false",
        "true gain in accuracy": "gain",
        "optimism of the loop's own claim": "optimism",
    }
    figure = Figure(figsize=(12, 4), layout="constrained")
    names = list(dict.fromkeys(f.rule for f in found))
    for place, (title, column) in enumerate(panels.items(), start=1):
        axes = figure.add_subplot(1, len(panels), place)
        for name, marker in zip(names, "osv^DPX*"[: len(names)], strict=True):
            mine = [f for f in found if f.rule == name]
            values = [getattr(f, column) for f in mine]
            axes.plot([f.looks for f in mine], values, marker=marker, label=name)
        axes.set_xlabel("looks at CONFIRM")
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _loop(rule: Rule, rng: np.random.Generator) -> dict[int, npt.NDArray[np.float64]]:
    """One loop: by looks, (promotions, false ones, any false, gain, claimed, best gain)."""
    shares = [share for share, _, _ in IDEAS.values()]
    rates = [(fix, hurt) for _, fix, hurt in IDEAS.values()]
    accuracy = best = _ACCURACY
    start = rng.random(rule.confirm) < _ACCURACY
    held = start.copy()
    stack: list[tuple[float, float]] = []
    promoted = false = barren = looks = 0
    claimed = 0.0
    found: dict[int, npt.NDArray[np.float64]] = {}
    stopped = False
    while looks < LOOKS[-1]:
        fix, hurt = rates[int(rng.choice(len(rates), p=shares))]
        if not _passes_optimize(fix, hurt, accuracy, rng):
            continue
        looks += 1
        best = max(best, _after(best, fix, hurt))
        if not stopped:
            before = held
            if rule.fresh:
                before = rng.random(rule.confirm) < _ACCURACY
                for entry in stack:
                    before = _edited(before, *entry, rng)
            after = _edited(before, fix, hurt, rng)
            fixed, broken = int((after & ~before).sum()), int((before & ~after).sum())
            net = fixed - broken
            passed = _passes(rule, fixed, broken, looks) and net >= rule.least
            barren = 0 if net >= rule.least else barren + 1
            if passed:
                promoted += 1
                truth = _after(accuracy, fix, hurt)
                false += truth <= accuracy + 1e-12
                accuracy = truth
                stack.append((fix, hurt))
                if rule.fresh:
                    claimed += net / rule.confirm
                else:
                    held = after
                    claimed = (int(held.sum()) - int(start.sum())) / rule.confirm
            stopped = rule.patience is not None and barren >= rule.patience
        if looks in LOOKS:
            found[looks] = np.array(
                [promoted, false, false > 0, accuracy - _ACCURACY, claimed, best - _ACCURACY]
            )
    return found


def _after(accuracy: float, fix: float, hurt: float) -> float:
    """The true accuracy once an idea is installed."""
    return accuracy + (1 - accuracy) * fix - accuracy * hurt


def _edited(right: Bools, fix: float, hurt: float, rng: np.random.Generator) -> Bools:
    draw = rng.random(len(right))
    return np.where(right, draw >= hurt, draw < fix)


def _passes_optimize(fix: float, hurt: float, accuracy: float, rng: np.random.Generator) -> bool:
    """The in-sample gate: something became right, and no loss overall."""
    before = rng.random(_OPTIMIZE) < accuracy
    after = _edited(before, fix, hurt, rng)
    fixed, broken = int((after & ~before).sum()), int((before & ~after).sum())
    return fixed > 0 and fixed >= broken


def _passes(rule: Rule, fixed: int, broken: int, look: int) -> bool:
    whole_alpha = rule.fresh or not rule.spends
    gate = tuple(sorted(rule.gate.items()))
    return _decided(gate, rule.confirm, fixed, broken, 1 if whole_alpha else look, whole_alpha)


@cache
def _decided(
    gate: tuple[tuple[str, Any], ...], n: int, fixed: int, broken: int, look: int, fresh: bool
) -> bool:
    """The real gate's word: for paired binary outcomes it hangs on the counts alone."""
    plugin = find("gate", "heldout")
    asked = plugin.cls(settings_of(plugin, dict(gate))).at_look(look, fresh=fresh)
    before = [i >= fixed for i in range(n)]
    after = [i < n - broken for i in range(n)]
    return bool(asked.decide(_rows(after), _rows(before), 0).passed)


def _rows(right: Sequence[bool]) -> list[Row]:
    return [
        Row(case_id=str(i), arm="", axes={"correct": float(correct)})
        for i, correct in enumerate(right)
    ]
