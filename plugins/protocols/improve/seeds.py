"""Improvement loops side by side: the paper's tables over seeds (Regimes 5)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

SPLITS: Final = ("test", "test_shifted", "confirm", "whole_pool")
"""Where the final stack was compared with the bare one; `confirm` is what it was selected on."""
FUNNEL: Final = (
    "authored", "static", "sandbox", "best_of", "optimize", "confirm", "plateau", "promoted",
)  # fmt: skip
"""How many candidates there were, and where they ended, in the order of the gates."""
CAVEAT: Final = (
    "Pooled counts describe these loops: where their cases come from one pool the pairs are not "
    "independent. The test with seeds as the unit is the one that generalises over seeds."
)


def loops_summary(loops: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Finished loops by arm: per-seed table, pooled flips, seeds as the unit, funnel, tables.

    Each of `loops` has `arm` (how it differs from the others), `directory`, and `results`, the
    content of its improve.json.
    """
    arms: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for loop in loops:
        arms[loop["arm"]].append(loop)
    return {"caveat": CAVEAT, "arms": {arm: _arm(members) for arm, members in arms.items()}}


def _arm(loops: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    results = [loop["results"] for loop in loops]
    seeds = [
        {
            "seed": r["loop"]["seed"],
            "directory": loop["directory"],
            "stopped": r["stopped"]["reason"],
            "exhausted": r["stopped"]["exhausted"],
            "walls": r["stopped"]["walls"],
            "optimize_before": r["baseline"]["optimize"],
            "confirm_before": r["baseline"]["confirm"],
            "failures": r["baseline"]["failures"],
            "analyses": r["stopped"]["analyses"],
            "promotions": r["stopped"]["promotions"],
            "funnel": r["funnel"],
            "trajectory": r["trajectory"],
            "opening": r.get("opening"),
            **{name: r[name] for name in SPLITS if name in r},
        }
        for loop, r in zip(loops, results, strict=True)
    ]
    return {
        "seeds": seeds,
        "pooled": {name: _pooled(results, name) for name in SPLITS if _has(results, name)},
        "seeds_as_units": {
            name: _units([r[name]["delta"] for r in results])
            for name in SPLITS
            if len(_has(results, name)) == len(results)
        },
        "funnel": {key: sum(r["funnel"].get(key, 0) for r in results) for key in _keys(results)},
        "by_kind": _summed(results, "by_kind"),
        "by_regime": _summed(results, "by_regime"),
    }


def _has(results: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [r[name] for r in results if name in r]


def _keys(results: Sequence[Mapping[str, Any]]) -> list[str]:
    seams = sorted({key for r in results for key in r["funnel"] if key.startswith("seam_")})
    return [*FUNNEL, *seams]


def _pooled(results: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Flips over all seeds with their exact McNemar, and without each seed in turn."""
    from framework.statistics.proportions import mcnemar_p

    found = [(r["loop"]["seed"], r[name]) for r in results if name in r]

    def counted(left_out: int | None) -> dict[str, Any]:
        kept = [entry for seed, entry in found if seed != left_out]
        fixed = sum(e["wrong_to_right"] for e in kept)
        broken = sum(e["right_to_wrong"] for e in kept)
        return {
            "wrong_to_right": fixed,
            "right_to_wrong": broken,
            "mcnemar_p": mcnemar_p(fixed, broken),
        }

    without = {str(seed): counted(seed) for seed, _ in found} if len(found) > 1 else {}
    return {**counted(None), "without": without}


def _units(deltas: Sequence[float]) -> dict[str, Any]:
    """One difference a seed: their mean, and the sign-flip test with the least p it can reach."""
    import numpy as np

    from framework.statistics.permutation import sign_flip_test

    values = np.array(deltas, dtype=float)
    tested = sign_flip_test(values, np.random.default_rng(0))
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "sd": spread,
        "positive": int((values > 0).sum()),
        "negative": int((values < 0).sum()),
        "p": tested.p,
        "smallest_p": tested.smallest_p,
        "method": tested.method,
    }


def _summed(results: Sequence[Mapping[str, Any]], key: str) -> dict[str, dict[str, int]]:
    """A table of TEST summed over seeds."""
    found: dict[str, Counter[str]] = {}
    for entry in _has(results, "test"):
        for group, counts in entry[key].items():
            found.setdefault(group, Counter()).update(counts)
    return {group: dict(counts) for group, counts in sorted(found.items())}
