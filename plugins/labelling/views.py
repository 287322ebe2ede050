"""A sheet of views: do people find them sufficient where the policy does?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from framework.analysis.sheets import read_labels, write_rows
from framework.contracts.labelling import Labelling
from framework.errors import UserError
from framework.records import ABSTAIN
from framework.registry import register
from framework.store.answers import answer_records
from framework.store.state import load_state
from framework.text.canonical import digest
from plugins.labelling.verdicts import Verdict, compare_labels, is_yes

COLUMNS: Final = ("id", "question", "task", "view", "label", "comment")
QUESTION: Final = (
    "From this text alone, by the policy in it: does one decision follow, whatever else the file "
    "may say? A rule or figure that is not in the text may be anything."
)


@register("labelling", "views")
class ViewLabels(Labelling):
    """Views of a run with their tasks: does exactly one decision follow from the text?

    Beside the labels stands `Row.sufficient`. Cases in which abstaining is right are left out, as
    `p_ret` leaves them out, and so are cases without gold items.
    """

    name = "views"
    file = "views"
    title = "sufficiency by the domain's rule beside the labels"
    limits = "in brackets 95% limits, bootstrapped over cases"

    def __init__(self, runs: Sequence[Path]) -> None:
        self._found: list[Verdict] = []
        self._texts: dict[str, tuple[str, str]] = {}
        for path in runs:
            rows = {row.key: row for row in load_state(path).rows if not row.error}
            for record in answer_records(path):
                case, arm, trial, repeat, turn = record["key"]
                row = rows.get((case, arm, trial, repeat, turn))
                if row is not None and row.sufficient is not None and row.expected != ABSTAIN:
                    self._add(path, record, bool(row.sufficient))
        if not self._found:
            raise UserError(f"{', '.join(map(str, runs))}: no view of a case with a decision")

    def _add(self, path: Path, record: Mapping[str, Any], sufficient: bool) -> None:
        identity = digest([path.name, record["key"]])[7:19]
        view = "\n".join(item["text"] for item in record["view"])
        asked = (p["user"] for p in record["prompts"] if p["phase"] == "answer" and view)
        # The prompt tells the task, and then the view.
        task = next((user.partition(view)[0] for user in asked if view in user), record["query"])
        self._texts[identity] = (task.strip(), view)
        self._found.append(
            Verdict(
                id=identity,
                case=record["key"][0],
                question="sufficient",
                demand="",
                met=sufficient,
                decision="",
                rationale="",
                notice="",
            )
        )

    def write(self, n: int, seed: int, path: Path) -> Sequence[str]:
        """Write a simple random sample; it shows neither arm nor case nor any decision."""
        chosen = sorted(self._texts)
        random.Random(seed).shuffle(chosen)
        chosen = chosen[:n]
        write_rows(
            path,
            COLUMNS,
            (
                {"id": id_, "question": QUESTION, "task": task, "view": view}
                for id_ in chosen
                for task, view in (self._texts[id_],)
            ),
        )
        told = f"{len(chosen)} of {len(self._texts)} views"
        return [f"{told}; write yes or no into the column label, then"]

    def compare(self, path: Path) -> list[dict[str, Any]]:
        return compare_labels(self._found, read_labels(path, is_yes, "yes or no"))
