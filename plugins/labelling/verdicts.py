"""A blinded sheet of a run's verdicts: do people agree with the judge?"""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.analysis.sheets import check_known, read_labels, write_rows
from framework.contracts.labelling import Labelling
from framework.errors import UserError
from framework.registry import register
from framework.statistics.agreement import agreement, agreement_limits
from framework.store.answers import answered
from framework.text.canonical import digest
from framework.text.counting import counted

COLUMNS: Final = ("id", "question", "demand", "decision", "rationale", "notice", "label", "comment")
_QUESTIONS: Final = {
    "entail": "Does the rationale say this, so that whoever accepts it must accept this?",
    "audit": "Does the notice meet this demand? Decision and rationale say what it is about.",
    "equivalent": "Does the given answer (in the column rationale) say what was expected?",
}
_YES: Final = frozenset({"yes", "y", "1", "true", "met"})
_NO: Final = frozenset({"no", "n", "0", "false", "not met"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One verdict of a run's judge, with what a person needs to give their own.

    id : a digest of the answer's key and the demand: it says neither arm nor case. case : of which
    the sheet shows nothing either.
    """

    id: str
    case: str
    question: str
    demand: str
    met: bool
    decision: str
    rationale: str
    notice: str


def verdicts_of(runs: Sequence[Path]) -> list[Verdict]:
    """Every verdict in the records of these runs, each demand on an answer once.

    Raises UserError where there are none.
    """
    found: dict[str, Verdict] = {}
    for path in runs:
        for record in answered(path):
            answer = record["answer"]
            for said in record.get("verdicts", ()):
                place = [record["key"], said["question"], said["id"], said["demand"]]
                identity = digest(place)[7:19]
                found[identity] = Verdict(
                    id=identity,
                    case=record["key"][0],
                    question=said["question"],
                    demand=said["demand"],
                    met=said["met"],
                    decision=answer["decision"],
                    rationale=answer["rationale"] or answer["text"],
                    notice=answer["notice"],
                )
    if not found:
        raise UserError(f"{', '.join(map(str, runs))}: no verdict of a judge to label")
    return list(found.values())


@register("labelling", "verdicts")
class VerdictLabels(Labelling):
    """Verdicts of a run's judge, each on one demand on an answer."""

    name = "verdicts"
    file = "labels"
    title = "the judge beside the labels"
    limits = "in brackets 95% limits, bootstrapped over cases"

    def __init__(self, runs: Sequence[Path]) -> None:
        self._verdicts = verdicts_of(runs)

    def write(self, n: int, seed: int, path: Path) -> Sequence[str]:
        """Write a simple random sample, so that agreement on it estimates agreement on all.

        It shows neither arm nor case nor what the judge said.
        """
        chosen = sorted(self._verdicts, key=lambda verdict: verdict.id)
        random.Random(seed).shuffle(chosen)
        chosen = chosen[:n]
        write_rows(
            path,
            COLUMNS,
            (
                {
                    "id": verdict.id,
                    "question": _QUESTIONS.get(verdict.question, verdict.question),
                    **{name: getattr(verdict, name) for name in COLUMNS[2:6]},
                }
                for verdict in chosen
            ),
        )
        told = f"{len(chosen)} of {counted(len(self._verdicts), 'verdict')}"
        return [f"{told}; write yes or no into the column label, then"]

    def compare(self, path: Path) -> list[dict[str, Any]]:
        return compare_labels(self._verdicts, read_labels(path, is_yes, "yes or no"))


def is_yes(label: str) -> bool:
    """What a label of yes or no says. Raises ValueError for any other."""
    word = label.casefold()
    if word not in _YES | _NO:
        raise ValueError(f"label: yes or no expected, not {word!r}")
    return word in _YES


def compare_labels(verdicts: Sequence[Verdict], labels: Mapping[str, bool]) -> list[dict[str, Any]]:
    """Agreement of the judge with the labels, by question and over all.

    Each holds `question`, `n`, `agree` (share), `judge_yes`, `person_yes` (shares),
    `cohens_kappa`, `alpha`, and `limits` of `agree`, `cohens_kappa` and `alpha`, bootstrapped over
    cases.
    Raises UserError for a label of no verdict of these runs.
    """
    of_id = {verdict.id: verdict for verdict in verdicts}
    check_known(labels, of_id, "verdict")
    pairs: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for identity, label in labels.items():
        verdict = of_id[identity]
        pairs[verdict.question].append((float(verdict.met), float(label), verdict.case))
    groups = dict(sorted(pairs.items()))
    if len(groups) > 1:
        groups["all"] = [pair for group in pairs.values() for pair in group]
    return [{"question": q, **_figures(q, group)} for q, group in groups.items()]


def _figures(question: str, pairs: Sequence[tuple[float, float, str]]) -> dict[str, Any]:
    judge, person, cases = (list(column) for column in zip(*pairs, strict=True))
    figures = dataclasses.asdict(agreement(judge, person))
    limits = agreement_limits(judge, person, cases, seed=0, names=("labels", question))
    apart = limits["mean_absolute_disagreement"]
    return {
        "n": figures["n"],
        "agree": 1.0 - figures["mean_absolute_disagreement"],
        "judge_yes": figures["mean_a"],
        "person_yes": figures["mean_b"],
        "cohens_kappa": figures["cohens_kappa_above"],
        "alpha": figures["alpha"],
        "limits": {
            "agree": None if apart is None else (1.0 - apart[1], 1.0 - apart[0]),
            "cohens_kappa": limits["cohens_kappa_above"],
            "alpha": limits["alpha"],
        },
    }
