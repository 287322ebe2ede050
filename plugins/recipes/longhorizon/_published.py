"""Tables 1-8 of LongHorizon from its recorded rows, in the published conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from framework.contracts.recipe import PrintedTable
from plugins.recipes._cells import count, number, said
from plugins.recipes._paper_values import printed_numbers
from plugins.recipes.longhorizon._rows import ABSTAIN, AXES, BUDGETS, Recorded, column
from plugins.recipes.longhorizon.convention import PublishedDraws


def published_tables(rows: Sequence[Recorded], *, partial: bool = False) -> list[PrintedTable]:
    """Tables 1-8 as published: pooled over case x budget, recorded EDA, abstention only by label.

    Tables 3 and 6 draw from one generator each, row by row in the printed order. With `partial`,
    lines of arms and budgets that the rows lack, and tables left without a line, are left out.
    """
    printed = printed_numbers("longhorizon")
    if partial:
        printed = _present(rows, printed)
    tables = [
        _means(rows, 1, "same accuracy, different profiles", printed["table_1"]),
        _means(rows, 2, "means over case x budget", printed["table_2"]),
        _table_3(rows, printed["table_3"]),
        _table_4(rows, printed["table_4"]),
        _table_5(rows, printed["table_5"]),
        _table_6(rows, printed["table_6"]),
        _car(rows, 7, "commitment, moderate budget", printed["table_7"]),
        _car(rows, 8, "strictness of verification, moderate budget", printed["table_8"]),
    ]
    return [table for table in tables if table.rows] if partial else tables


def _present(rows: Sequence[Recorded], printed: Mapping[str, Any]) -> dict[str, Any]:
    """The printed lines for which the rows hold every arm and budget."""
    held = {(row.arm, row.budget) for row in rows}
    arms = {arm for arm, _ in held}

    def whole(budget: str, *of: str) -> bool:
        return held.issuperset((arm, budget) for arm in of)

    keeps: Mapping[str, Callable[[Any], bool]] = {
        "table_1": arms.__contains__,
        "table_2": arms.__contains__,
        "table_3": lambda line: whole(line[1], line[0], "Summ-only"),
        "table_4": lambda budget: whole(budget, "Summ-only", "Retr-only", "TMC", "TMC-full"),
        "table_5": lambda _: whole("moderate", "SAM", "Summ-only"),
        "table_6": lambda line: whole(line[0], "DPM", "Summ-only"),
        "table_7": lambda arm: whole("moderate", arm),
        "table_8": lambda arm: whole("moderate", arm),
    }
    return {
        name: {key: texts for key, texts in printed[name].items() if keep(key)}
        if isinstance(printed[name], dict)
        else [line for line in printed[name] if keep(line)]
        for name, keep in keeps.items()
    }


def _means(
    rows: Sequence[Recorded], table: int, title: str, printed: Mapping[str, Sequence[str]]
) -> PrintedTable:
    """Means of the axes; Table 2 has the number of rows too."""
    axes = ("EDA", "FRP", "RCS", "CRR") if table == 1 else AXES
    counted = ("N",) if table == 2 else ()
    lines = []
    for arm, texts in printed.items():
        found = [row for row in rows if row.arm == arm]
        cells = [number(_mean(row.axes[axis] for row in found), text)
                 for axis, text in zip(axes, texts, strict=False)]  # fmt: skip
        lines.append((arm, (*cells, *(count(len(found), texts[-1]) for _ in counted))))
    return PrintedTable(number=table, title=title, columns=(*axes, *counted), rows=tuple(lines))


def _table_3(rows: Sequence[Recorded], printed: Sequence[Sequence[str]]) -> PrintedTable:
    convention = PublishedDraws()
    lines = []
    for other, budget, axis, delta, low, high, p, h in printed:
        found = convention.compare(
            column(rows, "Summ-only", budget, axis), column(rows, other, budget, axis)
        )
        cells = (
            number(found.delta, delta, sign=True),
            number(found.low, low, sign=True, drawn=True),
            number(found.high, high, sign=True, drawn=True),
            number(found.mcnemar_p, p),
            number(found.cohens_h, h, sign=True),
            number(found.permutation_p, digits=4, drawn=True),
        )
        lines.append((f"{other} {budget} {axis}", cells))
    columns = ("delta", "low", "high", "McNemar p", "h", "permutation p")
    return PrintedTable(number=3, title="Summ-only minus ...", columns=columns, rows=tuple(lines))


def _table_4(rows: Sequence[Recorded], printed: Mapping[str, Sequence[str]]) -> PrintedTable:
    lines = []
    for budget in filter(printed.__contains__, BUDGETS):

        def at(arm: str, axis: str, budget: str = budget) -> float:
            return _mean(column(rows, arm, budget, axis).values())

        deltas = (
            at("Retr-only", "FRP") - at("Summ-only", "FRP"),
            at("Summ-only", "RCS") - at("Retr-only", "RCS"),
            max(at("TMC", "EDA"), at("TMC-full", "EDA"))
            - max(at("Summ-only", "EDA"), at("Retr-only", "EDA")),
        )
        cells = zip(deltas, printed[budget], strict=True)
        lines.append((budget, tuple(number(100 * d, p, sign=True) for d, p in cells)))
    columns = ("H1 FRP Retr - Summ", "H2 RCS Summ - Retr", "H3 EDA typed - baseline")
    title = "the three hypotheses, percentage points"
    return PrintedTable(number=4, title=title, columns=columns, rows=tuple(lines))


def _table_5(rows: Sequence[Recorded], printed: Mapping[str, Sequence[str]]) -> PrintedTable:
    lines = []
    for axis, texts in printed.items():
        # As published: SAM's 5 cases against all 10 of Summ-only, not against the same 5.
        a = _mean(column(rows, "SAM", "moderate", axis).values())
        b = _mean(column(rows, "Summ-only", "moderate", axis).values())
        cells = (number(a, texts[0]), number(b, texts[1]), number(a - b, texts[2], sign=True))
        verdict = "PASS" if a - b >= -0.05 else "FAIL"
        lines.append((axis, (*cells, said(verdict))))
    columns = ("SAM", "Summ-only", "delta", "outcome at -0.05")
    return PrintedTable(number=5, title="the gate of SAM", columns=columns, rows=tuple(lines))


def _table_6(rows: Sequence[Recorded], printed: Sequence[Sequence[str]]) -> PrintedTable:
    convention = PublishedDraws()
    lines = []
    for budget, axis, *texts in printed:
        dpm = column(rows, "DPM", budget, axis)
        summ = column(rows, "Summ-only", budget, axis)
        found = convention.compare(dpm, {case: summ[case] for case in dpm})
        cells = (
            number(found.mean_a, texts[0]),
            number(found.mean_b, texts[1]),
            number(found.delta, texts[2], sign=True),
            number(found.low, texts[3], sign=True, drawn=True),
            number(found.high, texts[4], sign=True, drawn=True),
            number(found.permutation_p, texts[5], drawn=True),
        )
        lines.append((f"{budget} {axis}", cells))
    columns = ("DPM", "Summ-only", "delta", "low", "high", "permutation p")
    return PrintedTable(number=6, title="DPM against Summ-only", columns=columns, rows=tuple(lines))


def _car(
    rows: Sequence[Recorded], table: int, title: str, printed: Mapping[str, Sequence[str]]
) -> PrintedTable:
    lines = []
    for arm, texts in printed.items():
        found = [row for row in rows if row.arm == arm and row.budget == "moderate"]
        # As published, only the verified reader can abstain.
        committed = [r for r in found if r.label != ABSTAIN or not arm.startswith("VM")]
        right = sum(row.axes["EDA"] for row in committed)
        cells = (
            count(len(found), texts[0]),
            number(len(committed) / len(found), texts[1]),
            number(right / len(committed) if committed else None, texts[2]),
            number(right / len(found), texts[3]),
            count(len(found) - len(committed), texts[4]),
        )
        lines.append((arm, cells))
    columns = ("n", "commit rate", "cond. accuracy", "commit-all accuracy", "abstentions")
    return PrintedTable(number=table, title=title, columns=columns, rows=tuple(lines))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
