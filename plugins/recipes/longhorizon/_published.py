"""Tables 1-8 of LongHorizon from its recorded rows, in the published conventions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from framework.contracts.recipe import PrintedCell, PrintedTable
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
        _table_1(rows, printed["table_1"]),
        _table_2(rows, printed["table_2"]),
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
    kept: dict[str, Any] = {
        name: {arm: texts for arm, texts in printed[name].items() if arm in arms}
        for name in ("table_1", "table_2")
    }
    kept["table_3"] = [
        line
        for line in printed["table_3"]
        if held.issuperset({(line[0], line[1]), ("Summ-only", line[1])})
    ]
    three = {"Summ-only", "Retr-only", "TMC", "TMC-full"}
    kept["table_4"] = {
        budget: texts
        for budget, texts in printed["table_4"].items()
        if held.issuperset({(arm, budget) for arm in three})
    }
    both = {("SAM", "moderate"), ("Summ-only", "moderate")}
    kept["table_5"] = printed["table_5"] if both <= held else {}
    kept["table_6"] = [
        line
        for line in printed["table_6"]
        if held.issuperset({("DPM", line[0]), ("Summ-only", line[0])})
    ]
    for name in ("table_7", "table_8"):
        kept[name] = {a: t for a, t in printed[name].items() if (a, "moderate") in held}
    return kept


def _table_1(rows: Sequence[Recorded], printed: Mapping[str, Sequence[str]]) -> PrintedTable:
    axes = ("EDA", "FRP", "RCS", "CRR")
    lines = tuple(
        (arm, tuple(_cell(_pooled(rows, arm, a), p) for a, p in zip(axes, texts, strict=True)))
        for arm, texts in printed.items()
    )
    return PrintedTable(
        number=1, title="same accuracy, different profiles", columns=axes, rows=lines
    )


def _table_2(rows: Sequence[Recorded], printed: Mapping[str, Sequence[str]]) -> PrintedTable:
    lines = []
    for arm, texts in printed.items():
        values = [_pooled(rows, arm, axis) for axis in AXES]
        n = sum(row.arm == arm for row in rows)
        cells = [_cell(v, p) for v, p in zip(values, texts[:4], strict=True)]
        lines.append((arm, (*cells, _count(n, texts[4]))))
    title = "means over case x budget"
    return PrintedTable(number=2, title=title, columns=(*AXES, "N"), rows=tuple(lines))


def _table_3(rows: Sequence[Recorded], printed: Sequence[Sequence[str]]) -> PrintedTable:
    convention = PublishedDraws()
    lines = []
    for other, budget, axis, delta, low, high, p, h in printed:
        found = convention.compare(
            column(rows, "Summ-only", budget, axis), column(rows, other, budget, axis)
        )
        cells = (
            _cell(found.delta, delta, sign=True),
            _cell(found.low, low, sign=True, drawn=True),
            _cell(found.high, high, sign=True, drawn=True),
            _cell(found.mcnemar_p, p),
            _cell(found.cohens_h, h, sign=True),
            _cell(found.permutation_p, "", digits=4, drawn=True),
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
        lines.append((budget, tuple(_cell(100 * d, p, sign=True) for d, p in cells)))
    columns = ("H1 FRP Retr - Summ", "H2 RCS Summ - Retr", "H3 EDA typed - baseline")
    title = "the three hypotheses, percentage points"
    return PrintedTable(number=4, title=title, columns=columns, rows=tuple(lines))


def _table_5(rows: Sequence[Recorded], printed: Mapping[str, Sequence[str]]) -> PrintedTable:
    lines = []
    for axis, texts in printed.items():
        # As published: SAM's 5 cases against all 10 of Summ-only, not against the same 5.
        a = _mean(column(rows, "SAM", "moderate", axis).values())
        b = _mean(column(rows, "Summ-only", "moderate", axis).values())
        cells = (_cell(a, texts[0]), _cell(b, texts[1]), _cell(a - b, texts[2], sign=True))
        verdict = "PASS" if a - b >= -0.05 else "FAIL"
        lines.append((axis, (*cells, PrintedCell(value=None, text=verdict))))
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
            _cell(found.mean_a, texts[0]),
            _cell(found.mean_b, texts[1]),
            _cell(found.delta, texts[2], sign=True),
            _cell(found.low, texts[3], sign=True, drawn=True),
            _cell(found.high, texts[4], sign=True, drawn=True),
            _cell(found.permutation_p, texts[5], drawn=True),
        )
        lines.append((f"{budget} {axis}", cells))
    columns = ("DPM", "Summ-only", "delta", "low", "high", "permutation p")
    return PrintedTable(number=6, title="DPM against Summ-only", columns=columns, rows=tuple(lines))


def _car(
    rows: Sequence[Recorded], number: int, title: str, printed: Mapping[str, Sequence[str]]
) -> PrintedTable:
    lines = []
    for arm, texts in printed.items():
        found = [row for row in rows if row.arm == arm and row.budget == "moderate"]
        # As published, only the verified reader can abstain.
        committed = [r for r in found if r.label != ABSTAIN or not arm.startswith("VM")]
        right = sum(row.axes["EDA"] for row in committed)
        cells = (
            _count(len(found), texts[0]),
            _cell(len(committed) / len(found), texts[1]),
            _cell(right / len(committed) if committed else None, texts[2]),
            _cell(right / len(found), texts[3]),
            _count(len(found) - len(committed), texts[4]),
        )
        lines.append((arm, cells))
    columns = ("n", "commit rate", "cond. accuracy", "commit-all accuracy", "abstentions")
    return PrintedTable(number=number, title=title, columns=columns, rows=tuple(lines))


def _pooled(rows: Sequence[Recorded], arm: str, axis: str) -> float:
    return _mean(row.axes[axis] for row in rows if row.arm == arm)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _cell(
    value: float | None, printed: str, *, sign: bool = False, digits: int = 3, drawn: bool = False
) -> PrintedCell:
    text = "-" if value is None else f"{value:{'+' if sign else ''}.{digits}f}"
    return PrintedCell(value=value, text=text, printed=printed, drawn=drawn)


def _count(value: int, printed: Any) -> PrintedCell:
    return PrintedCell(value=float(value), text=str(value), printed=str(printed))
