"""What the correction changes, each line computed from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from framework.contracts.recipe import PrintedTable
from framework.statistics.intervals import clopper_pearson
from framework.statistics.noninferiority import noninferiority
from plugins.recipes.longhorizon._corrected import SLACK, adjusted_tests, compared, corrected_axis
from plugins.recipes.longhorizon._rows import ABSTAIN, ADVERSE, Recorded

_BONFERRONI = 0.05 / 4


def changes(rows: Sequence[Recorded], published: Sequence[PrintedTable]) -> list[str]:
    """What differs between the conventions, and which conclusions do not survive."""
    return [
        *_labels(rows),
        *_abstentions(rows),
        *_notices(rows),
        *_gate(rows),
        *_tests(rows, published),
        *_certainty(rows),
        "FRP and RCS are as recorded: 220 characters of each rationale were kept, so neither can "
        "be scored again.",
    ]


def _labels(rows: Sequence[Recorded]) -> Iterator[str]:
    changed = [row for row in rows if float(row.correct) != row.axes["EDA"]]
    for row in changed:
        yield (
            f"EDA of {row.arm} {row.budget} {row.case_id}: {row.axes['EDA']:g} -> "
            f"{float(row.correct):g} ({row.label} was accepted for {row.gold})."
        )
    for arm in dict.fromkeys(row.arm for row in changed):
        found = [row for row in rows if row.arm == arm]
        before = sum(row.axes["EDA"] for row in found) / len(found)
        after = corrected_axis(rows, arm, "EDA")
        yield f"EDA of {arm}: {before:.3f} -> {after.mean:.3f}."


def _abstentions(rows: Sequence[Recorded]) -> Iterator[str]:
    arms = [arm for arm in dict.fromkeys(r.arm for r in rows) if not arm.startswith("VM")]
    abstained = {arm: sum(r.label == ABSTAIN for r in rows if r.arm == arm) for arm in arms}
    named = ", ".join(f"{arm} {n}" for arm, n in abstained.items() if n)
    yield (
        "Not every arm commits on every case: decisions of the form 'unable to determine' are "
        f"abstentions, {sum(abstained.values())} in all ({named})."
    )


def _notices(rows: Sequence[Recorded]) -> Iterator[str]:
    compliant = [r for r in rows if r.axes["CRR"] == 1]
    free = [r for r in compliant if r.gold not in ADVERSE]
    approved = [r for r in compliant if r.gold == "DENY" and r.label == "APPROVE"]
    paid = [r for r in compliant if r.gold in ADVERSE and r.label == "PAY"]
    yield (
        f"CRR counted {len(free)} rows as compliant whose true decision needs no notice, "
        f"{len(approved)} wrong approvals of loans to be denied and {len(paid)} wrong full payment "
        "of a claim; corrected, the first have no CRR and the others score 0."
    )
    for arm in dict.fromkeys(row.arm for row in rows if "(" not in row.arm):
        found = [row.axes["CRR"] for row in rows if row.arm == arm]
        after = corrected_axis(rows, arm, "CRR")
        yield (
            f"CRR of {arm}: {sum(found) / len(found):.3f} (n = {len(found)}) -> {after.mean:.3f} "
            f"(n = {after.n} rows of {after.n_clusters or after.n} adverse cases)."
        )


def _gate(rows: Sequence[Recorded]) -> Iterator[str]:
    found_by = {axis: compared(rows, "SAM", "Summ-only", "moderate", axis)
                for axis in ("FRP", "RCS", "EDA")}  # fmt: skip
    for axis in ("FRP", "RCS"):
        found = found_by[axis]
        everywhere = [r.axes[axis] for r in rows if r.arm == "Summ-only" and r.budget == "moderate"]
        yield (
            f"Table 5 compared SAM on 5 cases with Summ-only on {len(everywhere)}: on the same "
            f"{found.n}, Summ-only's {axis} is {found.mean_b:.3f}, not "
            f"{sum(everywhere) / len(everywhere):.3f}, and the difference {found.delta:+.3f}."
        )
    for axis in ("EDA", "FRP", "RCS"):
        decision = noninferiority(found_by[axis], SLACK)
        yield f"SAM's gate on {axis}: FAIL by the point estimate -> {decision.conclusion}."


def _tests(rows: Sequence[Recorded], published: Sequence[PrintedTable]) -> Iterator[str]:
    for number, column in ((3, "McNemar p"), (6, "permutation p")):
        table = next(t for t in published if t.number == number)
        before = {row: cell.value for row, name, cell in table.cells if name == column}
        after = adjusted_tests(rows, number)
        for test in after:
            p = test.found.permutation.p
            old = before[test.label]
            if p is None or test.holm_p is None or old is None:
                continue
            clears = old < _BONFERRONI, test.holm_p < 0.05
            if clears[0] != clears[1]:
                yield (
                    f"Table {number}, {test.label}: {column} {old:.4f} "
                    f"({'below' if clears[0] else 'not below'} Bonferroni's {_BONFERRONI:.4f}) -> "
                    f"exact permutation {p:.4f}, Holm over the table {test.holm_p:.4f} "
                    f"({'below' if clears[1] else 'not below'} .05)."
                )
        unable = [test for test in after if test.found.cannot_conclude]
        if unable:
            yield (
                f"Table {number}: {len(unable)} of {len(after)} comparisons can't reach .05 with "
                f"their cases ({', '.join(t.label for t in unable)}): no difference seen is not "
                "equivalence."
            )
        for test in after:
            found = test.found
            if not found.cannot_conclude and found.n_discordant == 0:
                yield (
                    f"Table {number}, {test.label}: printed [+0.00, +0.00]; {found.n} equal pairs "
                    f"leave [{found.bounds.low:+.3f}, {found.bounds.high:+.3f}] open."
                )


def _certainty(rows: Sequence[Recorded]) -> Iterator[str]:
    for arm in dict.fromkeys(row.arm for row in rows if row.arm.startswith("VM")):
        committed = [r for r in rows if r.arm == arm and r.label != ABSTAIN]
        right = sum(row.correct for row in committed)
        low, high = clopper_pearson(right, len(committed))
        yield (
            f"Conditional accuracy of {arm}: {right} of {len(committed)}, 95% interval "
            f"[{low:.3f}, {high:.3f}]."
        )
