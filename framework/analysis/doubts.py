"""What is read of a run or sweep and is not what was sealed: cheap to see, so it is always said.

`verify` says more, and alone is proof: here no interval is computed again.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framework.analysis.sheets import all_comparisons, write_comparisons
from framework.analysis.sweep import job_entry
from framework.errors import UserError
from framework.store import JOURNAL
from framework.store.chain import read_open
from framework.store.directory import COMPARISON, ROWS, SWEEP, SWEEP_PLAN
from framework.store.former import renamed_table
from framework.store.state import SUMMARY, State, read_summary
from framework.store.sweep import PLAN, plan_digest
from framework.text.canonical import digest_entry

_MORE = "(`verify` says more)"


def doubts_of_run(path: Path, finished: Mapping[str, Any] | None) -> list[str]:
    """Which of a run's results are not the files that were sealed; `finished` is its last event."""
    files = (finished or {}).get("files", {})
    return [
        f"{path.name}/{name} is not the file that was sealed {_MORE}"
        for name in (SUMMARY, ROWS)
        if name in files and (path / name).exists() and digest_entry(path / name) != files[name]
    ]


def doubts_of_state(state: State) -> list[str]:
    """The same of a run whose state was read."""
    return doubts_of_run(state.path, state.finished)


def doubts_of_sweep(
    path: Path, sweep: Mapping[str, Any], summaries: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Where sweep.json says other than its runs' summaries, by directory, plan and comparison.csv.

    Of an older sweep only what it holds is compared.
    """
    for entry in sweep["jobs"]:
        if (summary := summaries.get(entry["directory"])) is not None:
            made = job_entry(entry["directory"], summary)
            if any(entry[key] != made[key] for key in entry.keys() & made.keys()):
                return [f"{SWEEP} is not what its runs' summaries give {_MORE}"]
    if PLAN in sweep and (path / SWEEP_PLAN).is_file() and sweep[PLAN] != plan_digest(path):
        return [f"{SWEEP_PLAN} is not the plan that the sweep ended with {_MORE}"]
    if (path / COMPARISON).is_file():
        file = io.StringIO(newline="")
        write_comparisons(file, all_comparisons(sweep))
        with (path / COMPARISON).open(encoding="utf-8", newline="") as stored:
            if renamed_table(stored.read()) != file.getvalue():
                return [f"the comparisons of {SWEEP} are not those of {COMPARISON} {_MORE}"]
    return []


def doubts_of(path: Path, sweep: Mapping[str, Any]) -> list[str]:
    """All doubts of a sweep's directory and its runs, as far as their files are there."""
    summaries, found = {}, []
    for entry in sweep["jobs"]:
        place = path / entry["directory"]
        try:
            summaries[entry["directory"]] = read_summary(place)
        except UserError:  # not beside it
            continue
        if (place / JOURNAL).is_file():
            ends = (e for e in read_open(place / JOURNAL) if e.type == "run.finished")
            found += doubts_of_run(place, next((end.payload for end in ends), None))
    return [*doubts_of_sweep(path, sweep, summaries), *found]
