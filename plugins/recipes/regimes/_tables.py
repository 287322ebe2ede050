"""The Regimes paper's tables from its recorded loops, and what they can and cannot carry."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from framework.contracts.recipe import PrintedCell, PrintedTable
from framework.statistics.multiplicity import holm
from framework.statistics.permutation import PermutationTest, sign_flip_test
from framework.statistics.proportions import mcnemar_p
from plugins.recipes._cells import count, number, said
from plugins.recipes._paper_values import printed_numbers
from plugins.recipes.regimes._recorded import Loop

_OVERPROMOTED: Final = 101
_OUTCOMES: Final = ("static_rejected", "discarded", "discarded:confirm_regression", "promoted")


def published_tables(loops: Sequence[Loop]) -> list[PrintedTable]:
    """Tables 1b and 1c, the pooled counts and the trajectories (Regimes 5.3, 5.5 and 5.7)."""
    printed = printed_numbers("regimes")
    return [
        _final_states(loops, printed["table_1b"]),
        _pooled(loops, printed["pooled"]),
        _funnel(loops, printed["table_1c"]),
        _trajectories(loops, printed["trajectories"]),
    ]


def corrected_tables(loops: Sequence[Loop]) -> list[PrintedTable]:
    """The final states with the seeds as one family, and with the seed as the unit."""
    adjusted = holm([_p(loop) for loop in loops])
    lines = []
    for loop, p in zip(loops, adjusted, strict=True):
        pairs = len(loop.final.gained) + len(loop.final.lost)
        cells = (
            number(loop.delta, digits=2, sign=True),
            number(p, digits=4),
            number(2.0 ** (1 - pairs), digits=4),
        )
        lines.append((f"seed {loop.seed}", cells))
    columns = ("delta", "McNemar p (Holm)", "smallest reachable p")
    family = PrintedTable(
        number="1b", title="five tests, one family", columns=columns, rows=tuple(lines)
    )
    test = seeds_as_units(loops)
    deltas = [loop.delta for loop in loops]
    unit = (
        number(float(np.mean(deltas)), digits=3, sign=True),
        count(len(loops)),
        number(test.p, digits=4),
        number(test.smallest_p, digits=4),
    )
    return [
        family,
        PrintedTable(
            number="1b",
            title="the seed as the unit, exact sign-flip permutation of the deltas",
            columns=("mean delta", "seeds", "p", "smallest reachable p"),
            rows=(("all seeds", unit),),
        ),
    ]


def seeds_as_units(loops: Sequence[Loop]) -> PermutationTest:
    """The exact sign-flip test of the loops' deltas: the splits share one pool of questions."""
    deltas = np.array([loop.delta for loop in loops])
    return sign_flip_test(deltas, np.random.default_rng(0))


def changes(loops: Sequence[Loop]) -> list[str]:
    """What the recorded loops say beside what was printed; each line is computed."""
    test = seeds_as_units(loops)
    adjusted = dict(zip(loops, holm([_p(loop) for loop in loops]), strict=True))
    kept = [str(loop.seed) for loop, p in adjusted.items() if p < 0.05]
    lost = [str(loop.seed) for loop, p in adjusted.items() if _p(loop) < 0.05 <= p]
    return [
        f"With the seed as the unit p is {test.p:.4f}, and {len(loops)} seeds can't reach less "
        f"than {test.smallest_p:.4f}: the pooled p counts questions of one pool several times.",
        f"Over the {len(loops)} tests as one family (Holm), significant at .05: seed "
        f"{', '.join(kept) or 'none'}; no longer: seed {', '.join(lost) or 'none'}.",
        f"{len(loops)} clusters are too few for an interval over clusters (below 10 none is "
        "claimed).",
        *_not_stacked(loops),
        *_ties(loops),
    ]


def _not_stacked(loops: Sequence[Loop]) -> list[str]:
    """Evidence that a promotion did not keep what the one before it had gained."""
    lines = []
    for loop in loops:
        again = sum(len(a.gained & b.gained) for a, b in pairwise(loop.promotions))
        if again:
            lines.append(
                f"Seed {loop.seed}: {again} times a question goes from wrong to right at a "
                "promotion that the one before had already put right: but for the reader's noise "
                "that can't be where promotions stack."
            )
    return lines


def _ties(loops: Sequence[Loop]) -> list[str]:
    lines = []
    for loop in loops:
        weak = [p for p in loop.promotions if mcnemar_p(len(p.gained), len(p.lost)) > 0.5]
        if weak:
            deltas = ", ".join(f"{p.confirm_delta:+.2f}" for p in weak)
            lines.append(
                f"Seed {loop.seed}: promotions no better than a coin (McNemar p > .5): "
                f"{len(weak)} of {len(loop.promotions)} (CONFIRM {deltas})."
            )
    return lines


def _final_states(loops: Sequence[Loop], printed: dict[str, Any]) -> PrintedTable:
    lines = []
    for loop in loops:
        texts = iter(printed.get(str(loop.seed), [""] * 9))
        gained, lost = len(loop.final.gained), len(loop.final.lost)
        cells = (
            number(loop.delta, next(texts), digits=2, sign=True),
            *(count(n, next(texts)) for n in (gained, lost, gained + lost)),
            number(loop.confirm_base, next(texts), digits=2),
            number(loop.confirm_base + loop.delta, next(texts), digits=2),
            number(loop.optimize_base, next(texts), digits=2),
            count(len(loop.promotions), next(texts)),
            number(_p(loop), next(texts), digits=4),
        )
        lines.append((f"seed {loop.seed}", cells))
    columns = (
        *("delta", "w->r", "r->w", "discordant", "CONFIRM base", "CONFIRM post"),
        *("OPTIMIZE base", "promoted", "McNemar p"),
    )
    return PrintedTable(number="1b", title="final states", columns=columns, rows=tuple(lines))


def _pooled(loops: Sequence[Loop], printed: dict[str, Any]) -> PrintedTable:
    lines = []
    for label, texts in printed.items():
        chosen = [p for p in loops if "without" not in label or p.seed != _OVERPROMOTED]
        gained = sum(len(loop.final.gained) for loop in chosen)
        lost = sum(len(loop.final.lost) for loop in chosen)
        p = mcnemar_p(gained, lost)
        cells = (
            count(gained, texts[0]),
            count(lost, texts[1]),
            PrintedCell(value=p, text=f"{p:.1e}", printed=texts[2]),
        )
        lines.append((label, cells))
    columns = ("w->r", "r->w", "McNemar p")
    title = "pooled over seeds (questions of one pool: descriptive)"
    return PrintedTable(number="1b", title=title, columns=columns, rows=tuple(lines))


def _funnel(loops: Sequence[Loop], printed: dict[str, Any]) -> PrintedTable:
    counts = {str(loop.seed): [len(loop.attempts), *map(loop.count, _OUTCOMES)] for loop in loops}
    counts["total"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    lines = []
    for name, values in counts.items():
        texts = printed.get(name, [""] * 5)
        cells = tuple(count(v, t) for v, t in zip(values, texts, strict=True))
        lines.append((name if name == "total" else f"seed {name}", cells))
    columns = ("authored", "static-rejected", "on OPTIMIZE", "on CONFIRM", "promoted")
    return PrintedTable(number="1c", title="candidate funnel", columns=columns, rows=tuple(lines))


def _trajectories(loops: Sequence[Loop], printed: dict[str, Any]) -> PrintedTable:
    most = max(len(loop.promotions) for loop in loops)
    lines = []
    for loop in loops:
        texts = iter(printed.get(str(loop.seed), ()))
        cells = []
        for promotion in loop.promotions:
            # The paper lists reader-prompt promotions; a score promotion stands apart (5.8).
            text = next(texts, "") if promotion.seam.startswith("reader") else ""
            delta = promotion.confirm_delta
            shown = f"{delta:+.2f} {len(promotion.gained)}/{len(promotion.lost)}"
            cells.append(PrintedCell(value=delta, text=shown, printed=text))
        cells += [said("")] * (most - len(cells))
        lines.append((f"seed {loop.seed}", tuple(cells)))
    columns = tuple(str(step) for step in range(1, most + 1))
    title = "CONFIRM delta and flips by promotion (figure 5)"
    return PrintedTable(number="1b", title=title, columns=columns, rows=tuple(lines))


def _p(loop: Loop) -> float:
    return mcnemar_p(len(loop.final.gained), len(loop.final.lost))
