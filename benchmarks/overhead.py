"""CPU per case of the harness: 1,000 trivial cases through the whole path and the durable journal.

Beside it, in the same process, a bare loop: the same events, view and answers with no harness, each
case's row and record written as JSON lines of the same content and flushed, with no hash chain. The
two alternate; each takes the median of its rounds. What the harness does once a run (plan, summary,
Parquet, seal) is shown apart and counted in `ours`.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _measure import result

from framework.engine.run import execute
from framework.store import JOURNAL, verify_run
from framework.store.directory import ANSWERS, load_state

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for tests, which are not installed
from tests.trivial import trivial_plan

CASES = 1000
ROUNDS = 5
TARGET_MS = 1.0


def harness(place: Path) -> Path:
    """One run of the trivial plugins."""
    plan = trivial_plan(n_cases=CASES)
    return execute(plan, place).directory


def bare(place: Path, lines: list[tuple[dict[str, Any], dict[str, Any]]]) -> Path:
    """The same cases answered in a loop, the same lines written."""
    domain = trivial_plan(n_cases=CASES).parts["domain"].create()
    place.mkdir()
    with (place / JOURNAL).open("w") as rows, (place / ANSWERS).open("w") as answers:
        for case, (row, record) in zip(domain.cases(CASES, 7), lines, strict=True):
            view = "\n".join(event.text for event in domain.history(case.history_id))
            number = next(word for word in view.replace(".", "").split() if word.isdigit())
            decision = "NO" if int(number) % 2 else "YES"
            assert decision == case.gold.decision == row["payload"]["row"]["decision"]
            answers.write(json.dumps(record) + "\n")
            answers.flush()
            rows.write(json.dumps(row) + "\n")
            rows.flush()
    return place


def cpu(work: Any, *args: Any) -> float:
    """CPU milliseconds a case, in all threads of this process."""
    start = time.process_time()
    work(*args)
    return (time.process_time() - start) * 1000 / CASES


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        first = harness(place / "warm")
        assert verify_run(first).ok
        assert len(load_state(first).rows) == CASES
        events = [json.loads(line) for line in (first / JOURNAL).read_text().splitlines()]
        written = [event for event in events if event["type"] == "case.finished"]
        records = [json.loads(line) for line in (first / ANSWERS).read_text().splitlines()]
        lines = list(zip(written, records, strict=True))
        ours, peer = [], []
        for i in range(ROUNDS):
            ours.append(cpu(harness, place / f"ours-{i}"))
            peer.append(cpu(bare, place / f"bare-{i}", lines))
        size = sum(path.stat().st_size for path in first.iterdir()) / CASES
    mine, theirs = statistics.median(ours), statistics.median(peer)
    print(f"{CASES} trivial cases, median of {ROUNDS} rounds, CPU ms a case")
    print(f"  {'harness, durable journal':<34} {mine:8.3f}   (rounds {spread(ours)})")
    print(f"  {'bare loop, same JSON lines':<34} {theirs:8.3f}   (rounds {spread(peer)})")
    print(f"  {'ratio':<34} {mine / theirs:8.2f}")
    print(f"  {'target':<34} {TARGET_MS:8.3f}   {'met' if mine < TARGET_MS else 'MISSED'}")
    print(f"  {'bytes a case on disk':<34} {size:8.0f}")
    found = result(
        "overhead", round(mine, 4), round(theirs, 4),
        "bare loop writing the same JSON lines, no journal", "ms CPU a case", CASES,
        ratio=round(mine / theirs, 2),
    )  # fmt: skip
    print(json.dumps(found))


def spread(values: list[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f}"


if __name__ == "__main__":
    main()
