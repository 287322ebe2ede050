"""Regimes by people: a sheet of a loop's failures without their regimes, and the agreement.

Regimes, table 2: the labels are those of predicates over gold evidence, and what they are worth is
for people to say who see the same evidence.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.analysis.sheets import check_known, read_labels, write_rows
from framework.config import load_plan
from framework.contracts import Domain
from framework.contracts.improve import (
    CASE_EVALUATED,
    EVALUATION_RECORDED,
    EVALUATION_STARTED,
    SPLIT_MADE,
    UNCLASSIFIED,
)
from framework.contracts.labelling import Labelling
from framework.errors import UserError
from framework.records import Case
from framework.registry import nearest, register
from framework.store import JOURNAL, read
from framework.text.canonical import digest

COLUMNS: Final = (
    *("id", "type", "question", "expected", "answer", "correct"),
    *("evidence", "truncated", "view", "label", "comment"),
)
RIGHT: Final = "correct"
"""A person's label for what is no failure: the answer is right, whatever the judge found."""

_BRIEF: Final = 80
"""Characters up to which what is handed over with a question stands beside it."""
_RESAMPLES: Final = 2_000
_LEAST: Final = 10
"""Below so many labels no limits are claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A failure of the bare pipeline on OPTIMIZE, as the journal has it, and its regime.

    id : a digest of the case's id: it tells neither template nor structure.
    places : by id of each piece of gold evidence, its rank and what packing made of it.
    truncated : whether something recalled did not fit into the view.
    cut : whether more was in the view than is known here (`protocol.shown_chars`).
    """

    id: str
    case: str
    kind: str
    places: Mapping[str, str]
    truncated: bool
    view: str
    cut: bool
    answer: str
    regime: str


def failures_of(run: Path) -> tuple[list[Failed], dict[str, str]]:
    """The failures that the loop diagnosed first, and what each label means.

    Raises UserError for a run that is no loop.
    """
    plan = load_plan(run)
    if "target" not in plan.parts:
        raise UserError(f"{run}: protocol={plan.label('protocol')} diagnoses no regimes")
    taxonomy = plan.parts["target"].create().taxonomy
    meanings = {regime.name: regime.meaning for regime in taxonomy.regimes}
    meanings[UNCLASSIFIED] = "none of these"
    meanings[RIGHT] = "no failure: the answer is right"
    shown = plan.parts["protocol"].settings.shown_chars
    first = None
    failures = []
    for event in read(run / JOURNAL):
        payload = event.payload
        if event.type == EVALUATION_STARTED and first is None:
            first = payload["evaluation"]
        elif event.type == EVALUATION_RECORDED and payload["evaluation"] == first:
            break
        elif event.type == CASE_EVALUATED and not payload["correct"]:
            failures.append(_failed(payload, shown))
    return failures, meanings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a person is shown of a case that the journal does not hold: it has no gold.

    question : with what is handed over with it in a line or less, as a date.
    evidence : by id of each piece of gold evidence, its text under the dates of what carries it.
    """

    question: str
    expected: str
    evidence: Mapping[str, str]


def shown_of(run: Path, failures: Sequence[Failed]) -> dict[str, Shown]:
    """By case id, what the domain holds of these failures.

    Raises UserError where it no longer has one of them.
    """
    plan = load_plan(run)
    domain: Domain[Any] = plan.parts["domain"].create()
    cases = {case.id: case for case in domain.cases(_pool(run), plan.top.seed)}
    shown = {}
    for failed in failures:
        case = cases.get(failed.case)
        if case is None:
            raise UserError(f"{run}: the domain has changed since: it has no case {failed.case}")
        dates = {event.id: event.time for event in domain.history(case.history_id)}
        shown[case.id] = _shown(case, dates)
    return shown


def _pool(run: Path) -> int:
    """Cases that the loop's splits were dealt from."""
    made = (e.payload["pool"] for e in read(run / JOURNAL) if e.type == SPLIT_MADE)
    return int(next(made, 0))


@register("labelling", "regimes")
class RegimeLabels(Labelling):
    """Failures of a loop's bare pipeline, by regime (Regimes, table 2)."""

    file = "regimes"
    title = "the predicates beside the labels"
    limits = "in brackets 95% limits: Wilson's, and of cohens_kappa and AC1 over failures"

    def __init__(self, runs: Sequence[Path]) -> None:
        if len(runs) > 1:
            raise UserError(f"{runs[0].parent}: one loop expected; give the directory of its run")
        (self._run,) = runs
        self._failures, self._meanings = failures_of(self._run)

    def write(self, n: int, seed: int, path: Path) -> Sequence[str]:
        drawn = write_sheet(self._failures, shown_of(self._run, self._failures), n, seed, path)
        return [
            "the labels, of which one goes into the column label:",
            *(f"  {name}: {meaning}" for name, meaning in self._meanings.items()),
            f"{drawn} of {len(self._failures)} failures; then",
        ]

    def compare(self, path: Path) -> list[dict[str, Any]]:
        labels = labels_of(path, self._meanings)
        return compare(self._failures, labels, len(self._meanings))


def write_sheet(
    failures: Sequence[Failed], shown: Mapping[str, Shown], n: int, seed: int, path: Path
) -> int:
    """Write at most `n` failures, drawn evenly over the regimes; how many there are.

    The sheet does not tell the regimes, and its order says nothing of them. `shown` is that of
    `shown_of`. Raises UserError where there are none, or the file exists: labels must not be lost.
    """
    if not failures:
        raise UserError("the loop began without a failure: there is nothing to label")
    generator = random.Random(f"regimes:{seed}")
    by_regime: dict[str, list[Failed]] = defaultdict(list)
    for failed in generator.sample(list(failures), len(failures)):
        by_regime[failed.regime].append(failed)
    drawn: list[Failed] = []
    while len(drawn) < min(n, len(failures)):
        for members in by_regime.values():
            if members and len(drawn) < n:
                drawn.append(members.pop())
    generator.shuffle(drawn)
    write_rows(path, COLUMNS, (_line(failed, shown[failed.case]) for failed in drawn))
    return len(drawn)


def labels_of(path: Path, meanings: Mapping[str, str]) -> dict[str, str]:
    """Regime by id of a sheet: see `framework.analysis.sheets`."""

    def known(label: str) -> str:
        if label not in meanings:
            raise ValueError(f"no regime {label!r}{nearest(label, meanings)}")
        return label

    return read_labels(path, known, "a regime")


def compare(
    failures: Sequence[Failed], labels: Mapping[str, str], categories: int
) -> list[dict[str, Any]]:
    """By regime of the predicates, and over all: labelled, agreed, and the commonest confusion.

    `limits` holds those of `share` (Wilson) and, over all, of Cohen's kappa and Gwet's AC1
    (bootstrapped over failures). `categories` is the number of labels to choose from. Raises
    UserError for a label of no failure of this loop.
    """
    from framework.statistics.agreement import cohens_kappa
    from framework.statistics.intervals import wilson

    check_known(labels, (failed.id for failed in failures), "failure")
    pairs = [(f.regime, labels[f.id]) for f in failures if f.id in labels]

    def kappa(those: Sequence[tuple[str, str]]) -> float | None:
        return cohens_kappa([a for a, _ in those], [b for _, b in those])

    def ac1(those: Sequence[tuple[str, str]]) -> float | None:
        return gwets_ac1([a for a, _ in those], [b for _, b in those], categories)

    rows: list[dict[str, Any]] = []
    for regime in [*sorted({mine for mine, _ in pairs}), None]:
        those = [(a, b) for a, b in pairs if regime in (None, a)]
        agreed = sum(a == b for a, b in those)
        confused = Counter(f"{a} as {b}" for a, b in those if a != b)
        row: dict[str, Any] = {
            "regime": regime or "all",
            "n": len(those),
            "agreed": agreed,
            "share": agreed / len(those),
            "confusion": confused.most_common(1)[0][0] if confused else "",
            "cohens_kappa": None if regime else kappa(those),
            "ac1": None if regime else ac1(those),
            "limits": {"share": wilson(agreed, len(those)), "cohens_kappa": None, "ac1": None},
        }
        if regime is None:
            row["limits"] |= {"cohens_kappa": _limits(those, kappa), "ac1": _limits(those, ac1)}
        rows.append(row)
    return rows


def gwets_ac1(a: Sequence[Hashable], b: Sequence[Hashable], categories: int) -> float:
    """Agreement of two raters on labels beyond chance (Gwet 2008, equation 7), for skewed labels.

    Chance agreement is sum p (1 - p) / (categories - 1), p the mean share of a label: where nearly
    all is of one label it goes to 0, while that of kappa goes to 1.

    Args:
        a: labels of one rater.
        b: those of the other on the same things.
        categories: how many labels there are to choose from, used or not.

    Raises:
        ValueError: no values, unequal numbers of them, or fewer categories than 2 or than are used.
    """
    if not a or len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} labels: as many of each, and some, expected")
    counts = Counter([*a, *b])
    if categories < max(2, len(counts)):
        raise ValueError(f"{categories} categories, {len(counts)} used: at least 2, and as many")
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    shares = (count / (2 * len(a)) for count in counts.values())
    expected = sum(share * (1 - share) for share in shares) / (categories - 1)
    return (observed - expected) / (1 - expected)


def _limits(
    pairs: Sequence[tuple[str, str]], figure: Callable[[Sequence[tuple[str, str]]], float | None]
) -> tuple[float, float] | None:
    """95% percentile bootstrap limits of a figure; None for few pairs, or where all draws agree."""
    import numpy as np

    from framework.statistics.seeding import generator

    if len(pairs) < _LEAST:
        return None
    draws = generator(0, "regimes").integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    found = [figure([pairs[i] for i in draw]) for draw in draws]
    defined = [value for value in found if value is not None]
    if len(defined) < 0.95 * _RESAMPLES or max(defined) - min(defined) < 1e-12:
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return float(low), float(high)


def _failed(payload: Mapping[str, Any], shown_chars: int) -> Failed:
    shown = payload.get("shown", {})
    view = shown.get("view", "")
    pieces = (*payload["turns"], *payload["sessions"])
    return Failed(
        id=digest(payload["case"])[7:19],
        case=payload["case"],
        kind=payload["kind"],
        places={piece["id"]: _place(piece) for piece in pieces},
        truncated=payload["truncated"],
        view=view,
        cut=len(view) >= shown_chars,
        answer=shown.get("answer", ""),
        regime=payload["regime"],
    )


def _place(piece: Mapping[str, Any]) -> str:
    rank = "not recalled" if piece["rank"] is None else f"rank {piece['rank']}"
    if piece["in_view"]:
        place = f"{rank}, in the view"
    else:
        place = f"{rank}, {'did not fit' if piece['considered'] else 'never come to'}"
    used = {True: ", used", False: ", not used", None: ""}
    return place + used[piece.get("used")]


def _shown(case: Case, dates: Mapping[str, str]) -> Shown:
    brief = [value for value in case.task.material.values() if value and len(value) <= _BRIEF]
    evidence = {}
    for item in case.gold.items:
        by_source = dict.fromkeys((span.source_id, span.text) for span in item.spans)
        evidence[item.id] = "\n".join(
            f"[{dates[source]}] {text}" if dates.get(source) else text for source, text in by_source
        )
    return Shown(
        question=" ".join([case.task.query, *(f"[{value}]" for value in brief)]),
        expected=case.gold.answer or case.gold.decision,
        evidence=evidence,
    )


def _line(failed: Failed, shown: Shown) -> dict[str, str]:
    """A row of the sheet: all that a person needs, and not the regime."""
    evidence = [
        ": ".join(filter(None, (f"{number}. {place}", shown.evidence.get(id_))))
        for number, (id_, place) in enumerate(failed.places.items(), start=1)
    ]
    return {
        "id": failed.id,
        "type": failed.kind,
        "question": shown.question,
        "expected": shown.expected,
        "answer": failed.answer,
        "correct": "no",
        "evidence": "\n".join(evidence) or "no gold evidence",
        "truncated": "yes" if failed.truncated else "no",
        "view": failed.view + ("\n[cut here: protocol.shown_chars]" if failed.cut else ""),
    }
