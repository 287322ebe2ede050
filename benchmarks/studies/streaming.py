"""LongMemEval at its full size: time and memory of a made-up file of 500 questions.

    python -m benchmarks.studies.streaming --into=docs/reference/domains/longmemeval.md#streaming

Every question has 48 sessions of 10 turns, 115,000 tokens in all, as `longmemeval_s_cleaned.json`
has. Measured is a process of its own that opens the domain, draws every case and reads every
history once. Times depend on the machine; the peak of memory does not.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from framework.reporting.markdown import put_between_markers
from framework.text.tokens import count_tokens
from plugins.domains.longmemeval.domain import LongMemEval, LongMemEvalSettings

QUESTIONS: Final = 500
SESSIONS: Final = 48
TURNS: Final = 10
WORDS: Final = 225
"""Of a turn."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, measure, and print or place the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--into", metavar="PATH#NAME")
    parser.add_argument("--read", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.read:
        print(json.dumps(measure(Path(args.read))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made_up.json"
        write(path)
        command = [sys.executable, "-m", "benchmarks.studies.streaming", f"--read={path}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    text = table(json.loads(done.stdout))
    print(text)
    if args.into:
        put_between_markers(args.into, text)
    return 0


def write(path: Path) -> None:
    """The made-up file, in the published schema."""
    rng = random.Random(17)
    ends = ("al", "er", "ing", "ot", "un", "ist", "om")
    known = [f"{start}{end}" for start in "bdfgklmnprst" for end in ends]
    said = [" ".join(rng.choices(known, k=WORDS)) for _ in range(2_000)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(QUESTIONS):
            file.write("[" if number == 0 else ",\n")
            json.dump(_question(number, said, rng), file)
        file.write("]")


def _question(number: int, said: Sequence[str], rng: random.Random) -> dict[str, object]:
    sessions: list[list[dict[str, object]]] = [
        [
            {"role": ("user", "assistant")[turn % 2], "content": rng.choice(said)}
            for turn in range(TURNS)
        ]
        for _ in range(SESSIONS)
    ]
    gold = rng.randrange(SESSIONS)
    answer = str(sessions[gold][0]["content"]).split()[0]
    sessions[gold][0]["has_answer"] = True
    return {
        "question_id": f"q{number:03d}",
        "question_type": "single-session-user",
        "question": "What was said?",
        "answer": answer,
        "question_date": "2023/06/13 (Tue) 01:30",
        "haystack_dates": ["2023/05/29 (Mon) 01:53"] * SESSIONS,
        "haystack_session_ids": [f"s{number}_{place}" for place in range(SESSIONS)],
        "haystack_sessions": sessions,
        "answer_session_ids": [f"s{number}_{gold}"],
    }


def measure(path: Path) -> dict[str, float]:
    """Seconds and megabytes of opening the file, and of all of its cases and histories."""
    bare, begun = _peak(), time.perf_counter()
    domain = LongMemEval(LongMemEvalSettings(path=str(path), unknown_file=True))
    opened = time.perf_counter()
    cases = events = 0
    for case in domain.cases(None, 0):
        cases += 1
        events += sum(1 for _ in domain.history(case.history_id))
    first = next(domain.cases(1, 0))
    return {
        "file_mb": path.stat().st_size / 1e6,
        "tokens": sum(count_tokens(event.text) for event in domain.history(first.history_id)),
        "cases": cases,
        "events": events,
        "open_s": opened - begun,
        "read_s": time.perf_counter() - opened,
        "bare_mb": bare,
        "peak_mb": _peak(),
    }


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def table(found: dict[str, float]) -> str:
    """The measured numbers in Markdown."""
    rows = [
        ("questions", f"{found['cases']:,.0f}"),
        ("tokens of the first history", f"{found['tokens']:,.0f}"),
        ("turns read", f"{found['events']:,.0f}"),
        ("size of the file", f"{found['file_mb']:,.0f} MB"),
        ("opened and checked in", f"{found['open_s']:,.0f} s"),
        ("all cases and histories read in", f"{found['read_s']:,.0f} s"),
        ("memory of the process before", f"{found['bare_mb']:,.0f} MB"),
        ("peak of memory", f"{found['peak_mb']:,.0f} MB"),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


if __name__ == "__main__":
    sys.exit(main())
