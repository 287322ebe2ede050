"""Which arm is better: paired comparisons, the scorecard, and ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from framework.analysis.evidence import Evidence, Group, higher_is_better
from framework.analysis.summary import SETTING
from framework.analysis.verdict import DECIDED
from framework.contracts.section import AddFigure, Section
from framework.registry import register
from framework.reporting.blocks import Block, Cell, Details, Heading, Note, Table, Text
from framework.reporting.cells import UNDEFINED, bounded, count, delta, p_cell
from framework.reporting.format import limits, short_limits
from framework.reporting.tables import Column, each, table, titled
from framework.statistics.effects import against_smallest_effect
from framework.text.counting import counted

if TYPE_CHECKING:
    from framework.reporting.figures.style import Drawing

_JUDGED: Final = frozenset({"corrected_delta", "judge_error"})
"""What a comparison on a judge's verdicts has one of, but of a rule-based judge's."""
_SIGNS: Final[Mapping[str, str]] = {
    "win": "W",
    "near-tie": "=",
    "loss": "L",
    "undecided": "·",
    "cannot conclude": "?",
    "differs": "≠",
}
"""What can come out of a comparison for one of its arms, and the letter for it."""
_MARKS: Final = {
    "a better": "*", "b better": "*", "differs": "*", "cannot conclude": "!", "equivalent": "=",
}  # fmt: skip


@register("section", "comparisons")
class Comparisons(Section):
    """The paired comparisons, by budget and setting."""

    place, place_at_end = 300, 300
    figures = ("forest-0",)

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        for block in compared(evidence):
            yield block
            if isinstance(block, Heading):
                for group in evidence.drawn:
                    yield from add_figure(self.draw("forest", group))

    def draw(self, name: str, group: Group) -> Drawing | None:
        """The figure of a group; None where nothing of it was compared."""
        from plugins.sections.figures.forest import forest

        return forest(group)

    def at_end(self, evidence: Evidence) -> Iterator[Block]:
        yield from compared(evidence)


@register("section", "scorecard")
class Scorecard(Section):
    """Wins, near-ties and losses of every arm over all comparisons, none left out."""

    place = 330

    def blocks(self, evidence: Evidence, add_figure: AddFigure) -> Iterator[Block]:
        groups = [group for group in evidence.groups if group.comparisons]
        if not groups:
            return
        yield Heading("Scorecard", "scorecard")
        yield Text(
            "Every comparison counts once for each of its two arms. Win and loss: Holm-adjusted "
            "p < .05, and the bounds within the family exclude 0. Near-tie: the 95% decision "
            "bounds lie within the declared smallest effect, and both arms are shown to beat a "
            "third by more than it. Differs: p < .05 on an axis without a better direction. Axes "
            "are correlated, so these counts are not of independent trials."
        )
        for group in groups:
            yield _tally(group)
        for group in groups:
            for number, budget in enumerate(group.budgets):
                yield from _by_axis(group, budget, f"scorecard-{group.index}-{number}")
        if not evidence.sweep.get("smallest_effect"):
            yield Note(
                "No smallest effect was declared, so no comparison can come out as a near-tie."
            )


def compared(evidence: Evidence) -> Iterator[Block]:
    """The section without its figures: all seeds together, where there are several, then each."""
    together, *apart = evidence.together_first
    rows = together.sweep["comparisons"]
    if not rows:
        return
    yield Heading("Paired comparisons", "comparisons")
    helpless = sum(row["conclusion"] == "cannot conclude" for row in rows)
    effect = evidence.sweep.get("smallest_effect")
    declared = (
        f"The declared smallest effect is {effect:g}: the last column says what the 95% decision "
        "bounds conclude about it, whatever p is."
        if effect
        else "No smallest effect was declared (as smallest_effect=0.05 does), so the last column "
        "concludes only on the sign of the difference, by the 95% decision bounds."
    )
    yield Text(
        f"{counted(len(rows), 'comparison')} on the same cases; p is from the "
        "sign-flip permutation test, adjusted by Holm for all of them. The test assumes that "
        "without an effect differences are symmetric about 0. So an arm is called better only if "
        "the bounds within the family, which assume no shape, exclude 0 too: these are decision "
        "bounds at the level of the comparison's own step of Holm's adjustment, and so wider than "
        "those at 95%. Each row names the method of its interval, which never excludes 0 if this "
        "test, unadjusted, does not reject at .05. Least p is the smallest adjusted p that so many "
        f"cases could reach: if it is not below .05, nothing can be concluded ({helpless} of "
        f"{len(rows)}; a smaller family helps: baseline=ARM compares with one arm). {declared}"
    )
    if judged := sorted({row["axis"] for row in rows if "corrected_delta" in row}):
        yield Note(
            f"Differences in {', '.join(judged)} are between the judge's uncorrected verdicts, and "
            "smaller than those between right answers. The column corrected, in the table of all "
            "comparisons, is corrected for the judge's error; its limits include the error of the "
            "calibration."
        )
    yield from _pairs(together)
    for each_seed in apart:
        alone = counted(len(each_seed.sweep["comparisons"]), "comparison")
        inner = _pairs(each_seed)
        yield Details(f"Each seed alone ({alone}, adjusted as a family of their own)", list(inner))


def _pairs(evidence: Evidence) -> Iterator[Block]:
    """What came out for each group, and every comparison."""
    effect = evidence.sweep.get("smallest_effect")
    for group in evidence.groups:
        if not group.comparisons:
            continue
        pairs = _table(group, effect, group.comparisons, "comparisons-table")
        if len({row["arm_b"] for row in group.comparisons}) > 1:
            yield from _decided(group, effect)
        else:
            for number, budget in enumerate(group.budgets):
                yield from _against(group, budget, f"against-{group.place}-{number}")
        every = f"Every comparison with its p ({len(pairs.rows)})"
        yield Details(titled(every, group), [pairs])


def in_order(rows: Sequence[Mapping[str, Any]], arms: Mapping[str, int]) -> list[Mapping[str, Any]]:
    """Comparisons of each budget and axis in the order of their arms; `arms` has their places."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in (*SETTING, "budget", "axis")), []).append(row)
    return [
        row
        for each in found.values()
        for row in sorted(each, key=lambda row: (arms[row["arm_a"]], arms[row["arm_b"]]))
    ]


def _against(group: Group, budget: str, anchor: str) -> Iterator[Block]:
    """Each arm minus the one that all are compared with, by axis."""
    rows = {(r["arm_a"], r["axis"]): r for r in group.comparisons if r["budget"] == budget}
    if not rows:
        return
    axes = list(dict.fromkeys(axis for _, axis in rows))
    arms = [arm for arm in group.arms if any(a == arm for a, _ in rows)]
    first = next(iter(rows.values()))
    yield table(
        anchor,
        titled(
            f"{first['domain']}, budget {budget}, model {first['model']}, minus {first['arm_b']}, "
            "paired by case. * Holm-adjusted p < .05 over all comparisons composed; ! cannot "
            "conclude: too few cases to reach .05; = within the smallest effect declared",
            group,
        ),
        {"arm": "arm", **each(axes, _marked)},
        [{"arm": arm, **{axis: rows.get((arm, axis)) for axis in axes}} for arm in arms],
    )


def _marked(row: Mapping[str, Any] | None) -> Cell:
    if row is None:
        return UNDEFINED
    mark = _MARKS.get(row["conclusion"], "")
    cell = bounded(row["delta"], row["ci_low"], row["ci_high"], sign="+", mark=mark)
    if cell.value is None:
        return cell
    brief = f"{row['delta']:+.2f}{mark}"
    if cell.under:
        brief += " " + " ".join(short_limits(row["ci_low"], row["ci_high"], "+"))
    return Cell(text=cell.text, under=cell.under, brief=brief, value=cell.value)


def outcome_of(row: Mapping[str, Any], arm: str) -> str:
    """What came out for an arm of a comparison."""
    conclusion = row["conclusion"]
    if conclusion == "equivalent":
        return "near-tie"
    if conclusion in ("undecided", "cannot conclude", "differs"):
        return str(conclusion)
    if higher_is_better(row["axis"]) is None:
        return "differs"
    return "win" if (conclusion == "a better") is (arm == row["arm_a"]) else "loss"


def _decided(group: Group, effect: float | None) -> Iterator[Block]:
    """The comparisons that came out for one of their arms, and of how many, by budget."""
    found = [row for row in group.comparisons if row["conclusion"] in DECIDED]
    shares = []
    for budget in group.budgets:
        of = [row["conclusion"] in DECIDED for row in group.comparisons if row["budget"] == budget]
        if of:
            shares.append(f"{sum(of)} of {len(of)} at budget {budget}")
    yield Text(titled(f"Decided: {', '.join(shares)}", group) + ".")
    if found:
        yield _table(group, effect, found, "decided-table")


def _table(
    group: Group, effect: float | None, rows: Sequence[Mapping[str, Any]], name: str
) -> Table:
    places = {arm: place for place, arm in enumerate(group.arms)}
    return table(
        f"{name}-{group.place}",
        titled("First minus second, paired by case", group),
        {
            "pair": lambda row: f"{row['arm_a']} − {row['arm_b']}",
            "budget": "budget",
            "axis": "axis",
            "difference": delta,
            **({"corrected": _corrected} if any(_JUDGED & row.keys() for row in rows) else {}),
            "p": ("permutation_p", p_cell),
            "Holm p": ("holm_p", p_cell),
            **({"bounds within the family": _family} if any(map(_has_family, rows)) else {}),
            "least p": ("smallest_holm_p", p_cell),
            "n": ("n", count),
            "by Holm p": _concluded,
            "by 95% decision bounds": lambda row: _by_bounds(row, effect),
            "interval by": "ci_method",
        },
        in_order(rows, places),
    )


def _corrected(row: Mapping[str, Any]) -> Cell:
    if row.get("corrected_delta") is None:
        said = row.get("judge_error")
        return Cell(text=said, tone="quiet") if said else UNDEFINED
    return bounded(row["corrected_delta"], row["corrected_low"], row["corrected_high"], sign="+")


def _by_bounds(row: Mapping[str, Any], effect: float | None) -> Cell:
    low, high = row["bound_low"], row["bound_high"]
    verdict = str(against_smallest_effect(low, high, effect))
    if verdict == "equivalent" != row["conclusion"]:
        verdict = "within the smallest effect"
    return Cell(text=verdict, under=_between(low, high))


def _has_family(row: Mapping[str, Any]) -> bool:
    """Whether a comparison has bounds within its family; none of an older sweep has."""
    return row.get("family_low") is not None and row.get("family_high") is not None


def _family(row: Mapping[str, Any]) -> Cell:
    if not _has_family(row):
        return UNDEFINED
    return Cell(
        text=_between(row["family_low"], row["family_high"]),
        under=f"at {row['family_level']:.2%}",
    )


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{', '.join(limits(low, high, 3, '+'))}]"


def _concluded(row: Mapping[str, Any]) -> Cell:
    conclusion = str(row["conclusion"])
    if conclusion in DECIDED:
        winner = row["arm_a"] if conclusion == "a better" else row["arm_b"]
        if higher_is_better(row["axis"]) is None:
            more = row["arm_a"] if row["delta"] > 0 else row["arm_b"]
            return Cell(text=f"{more} higher")
        return Cell(text=f"{winner} better")
    return Cell(text=conclusion, under=row["reason"], tone="quiet")


def _tally(group: Group) -> Table:
    counted: dict[str, Counter[str]] = {arm: Counter() for arm in group.arms}
    for row in group.comparisons:
        for arm in (row["arm_a"], row["arm_b"]):
            counted[arm][outcome_of(row, arm)] += 1
    return table(
        f"scorecard-{group.index}",
        titled("Comparisons by result", group),
        {
            "arm": "arm",
            **{name: _tallied(name) for name in _SIGNS},
            "all": lambda found: count(sum(found[name] for name in _SIGNS)),
        },
        [
            {"arm": arm, **dict.fromkeys(_SIGNS, 0), **found}
            for arm, found in counted.items()
            if found
        ],
    )


def _tallied(name: str) -> Column:
    tone: Any = {"win": "good", "loss": "bad"}.get(name, "")
    return name, lambda n: Cell(text=str(n), value=float(n), tone=tone if n else "quiet")


def _by_axis(group: Group, budget: str, anchor: str) -> Iterator[Table]:
    """An arm's outcomes against each of its opponents, axis by axis; one letter a comparison."""
    here = [row for row in group.comparisons if row["budget"] == budget]
    if not here:
        return
    axes = list(dict.fromkeys(row["axis"] for row in here))
    single = len({row["arm_b"] for row in here}) == 1
    found = []
    for arm in group.arms:
        own = [row for row in here if arm in (row["arm_a"], row["arm_b"])]
        if own and not (single and arm == group.baseline):
            letters: dict[str, list[str]] = {axis: [] for axis in axes}
            for row in own:
                letters[row["axis"]].append(_SIGNS[outcome_of(row, arm)])
            found.append({"arm": arm, **letters})
    meanings = ", ".join(f"{sign} {name}" for name, sign in _SIGNS.items())
    against = group.baseline or "each other arm, in the order of the table above"
    yield table(
        anchor,
        f"Budget {budget}: each arm against {against}. {meanings}.",
        {"arm": "arm", **each(axes, " ".join)},
        found,
    )
