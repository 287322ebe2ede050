"""The board as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.reporting.blocks import (
    NOTHING,
    Block,
    Cell,
    Details,
    Heading,
    Listing,
    Note,
    Page,
    Table,
    Text,
)
from framework.text.counting import counted
from plugins.commands.leaderboard.board import FOUND, NOT_FOUND
from plugins.commands.leaderboard.ranking import Ranked
from plugins.commands.leaderboard.rules import BoardRules


def page_of(
    rules: BoardRules,
    lines: Sequence[Ranked],
    compared: Sequence[Mapping[str, Any]],
    refused: Mapping[str, str],
) -> Page:
    """Rules, ranks, what was refused, and what no check can find."""
    blocks: list[Block] = [Heading("Rules", "rules"), Listing(_rules(rules))]
    if not rules.submitters:
        blocks.append(Note("Anyone may submit under any name: this board names no keys."))
    blocks += [
        Heading("Ranks", "ranks"),
        Text(
            f"Accuracy is {rules.axis}. An arm's ranks are those that the comparisons leave open: "
            "from one more than the arms that are better on the same cases (paired permutation "
            "test, 5%, Holm's adjustment over all pairs) to the number of all arms less those that "
            "are worse. An arm is better only where the decision bounds of the difference "
            "exclude 0 too: the test assumes symmetric differences, the bounds do not. "
            "Two arms with a rank in common could not be told apart, or only through "
            "others; the comparisons say it of each pair."
        ),
        _table(lines) if lines else Text("No bundle was accepted."),
    ]
    if any(line.drawn > line.cases for line in lines):
        one = lines[0]
        blocks.append(
            Note(
                f"The seeds have cases in common: of {counted(one.drawn, 'case')} drawn, "
                f"{one.cases:,} differ. Each counts once, with the mean over its seeds."
            )
        )
    if any(line.unread for line in lines):
        blocks.append(
            Note(
                "Not read: worded in a form that the rule-based model of the line was not made to "
                "read, and so left out there; two arms are compared on the cases that both have."
            )
        )
    if compared:
        pairs = counted(len(compared), "comparison")
        blocks.append(Details(f"All of {pairs}", [_pairs(compared)]))
    if refused:
        blocks += [
            Heading("Refused", "refused"),
            Listing([f"{name}: {why}" for name, why in sorted(refused.items())]),
        ]
    blocks += [
        Heading("What was checked", "checked"),
        Listing(FOUND),
        Heading("What can't be found", "not-found"),
        Listing(NOT_FOUND),
    ]
    return Page(title=rules.title, blocks=blocks)


def _rules(rules: BoardRules) -> list[str]:
    return [
        f"Run: {' '.join(rules.run)}",
        f"Cases: {rules.n_cases} of each seed",
        f"Seeds: {rules.shown_seeds}",
        f"k: {rules.k} answers to each case",
        "Model: of the submitter's choice" if rules.any_model else "Model: as the run says",
    ]


def _table(lines: Sequence[Ranked]) -> Table:
    columns = ("submitter", "arm", "model", "ranks", "accuracy", "from", "to", "counted", "cases",
               "not read", "undefined", "failed", "tokens a case", "seconds a case",
               "dollars a case", "key")  # fmt: skip
    return Table(
        anchor="board",
        caption="Accuracy, the mean of the counted cases, with its 95% interval (none is claimed "
        "of too few clusters); tokens, latency and dollars. Latency (median of recall and answer) "
        "and dollars (list price) are the submitter's own figures.",
        columns=columns,
        rows=[
            (
                line.entry.submitter,
                line.entry.arm,
                line.entry.model,
                Cell(text=_ranks(line), value=line.rank),
                _number(line.accuracy, ".3f"),
                _number(line.low, ".3f"),
                _number(line.high, ".3f"),
                _number(line.counted, ",.0f"),
                _number(line.cases, ",.0f"),
                _number(line.unread, ",.0f"),
                _number(line.undefined, ",.0f"),
                _number(line.failed, ",.0f"),
                _number(line.tokens, ",.0f"),
                _number(line.seconds, ".3f"),
                _number(line.dollars, ".5f"),
                f"{line.entry.key[:16]}…",
            )
            for line in lines
        ],
    )


def _ranks(line: Ranked) -> str:
    return str(line.rank) if line.rank == line.last else f"{line.rank} to {line.last}"


def _pairs(compared: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        anchor="pairs",
        caption="Difference of a minus b over the cases that count for both, with its 95% "
        "interval, its 95% decision bounds and p after Holm's adjustment. A decision needs bounds "
        "within the family without 0: at the level of the pair among all pairs, and so further "
        "apart; they are told where p alone would decide.",
        columns=(
            "a",
            "b",
            "cases",
            "clusters",
            "difference",
            "from",
            "to",
            "bound from",
            "bound to",
            "family from",
            "family to",
            "Holm p",
            "conclusion",
            "why",
        ),
        rows=[
            (
                pair["arm_a"],
                pair["arm_b"],
                _number(pair["n"], ",.0f"),
                _number(pair["n_clusters"] or pair["n"], ",.0f"),
                _number(pair["delta"], "+.3f"),
                _number(pair["ci_low"], "+.3f"),
                _number(pair["ci_high"], "+.3f"),
                _number(pair["bound_low"], "+.3f"),
                _number(pair["bound_high"], "+.3f"),
                _number(pair["family_low"], "+.3f"),
                _number(pair["family_high"], "+.3f"),
                _number(pair["holm_p"], ".4f"),
                pair["conclusion"],
                _why(pair),
            )
            for pair in compared
        ],
    )


def _why(pair: Mapping[str, Any]) -> str:
    """Why a pair is decided or not, where the comparison itself gives no reason."""
    if pair["conclusion"] == "undecided":
        return pair["reason"] or "Holm p is not below 0.05"
    return pair["reason"] or "Holm p is below 0.05, and the bounds within the family exclude 0"


def _number(value: float | None, form: str) -> Cell:
    if value is None:
        return Cell(text=NOTHING)
    return Cell(text=format(value, form), value=float(value))
