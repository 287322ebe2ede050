"""What one long history takes: arms over a million items, ten million tokens and more.

    python -m benchmarks.histories [--items N] [--into PAGE#TABLE] [ARM ...]

Each arm is a fresh process that takes in generated records (four words and a sum; every tenth
supersedes an earlier one, the others depend on one) along the path's own ingest, then recalls for
20 queries. Tokens are those of every hundredth item, scaled. Peak memory is the whole process's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from framework.contracts import Query
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.pipeline.ingest import ingested
from framework.records import Event
from framework.reporting.markdown import put_between_markers
from framework.text.tokens import count_tokens

ITEMS: Final = 1_000_000
ARMS: Final = ("bm25", "dense", "typed_graph")
QUERIES: Final = 20
_ROOT: Final = Path(__file__).resolve().parent.parent
_SAMPLED: Final = 100


def events(n: int) -> Iterator[Event]:
    """So many records, made as they are read; the words are those of a vocabulary of 30,000."""
    rng = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(30_000)]
    for i in range(n):
        topic = " ".join(words[min(int(rng.paretovariate(0.5)), 29_999)] for _ in range(4))
        relation = "supersedes" if i % 10 == 9 else "depends_on"
        edges = ((relation, f"r{rng.randrange(max(0, i - 1000), i)}"),) if i else ()
        text = f"Record {i}: {topic}, {rng.randrange(10**6)} USD."
        yield Event(id=f"r{i}", text=text, time="2024-03-05", kind="record", edges=edges)


def measure(arm: str, n: int) -> dict[str, Any]:
    """What this process takes for an arm. Raises what the ingest raised."""
    with composer():
        plan = compose_plan([f"arch={arm}", "domain=loan", "budget=moderate", "tracking=none"])
    path = build_pipeline(plan, plan.parts["domain"].create())
    sampled = [count_tokens(e.text) for i, e in enumerate(events(n)) if i % _SAMPLED == 0]
    began = time.process_time()
    memory = asyncio.run(
        ingested(
            path.open_arch("history", 0),
            events(n),
            repeat=0,
            client=path.client,
            extractor=None,
            traces_sources=False,
        )
    )
    if memory.error is not None:
        raise memory.error
    ingest = time.process_time() - began
    asked = [e.text.partition(": ")[2] for e in events(QUERIES)]
    began = time.process_time()
    for text in asked:
        query = Query(text=text, task=None, gold=None, seed=1)
        found = asyncio.run(_recalled(memory.arch, query))
        assert found, text
    recall = (time.process_time() - began) / len(asked)
    return {
        "tokens": sum(sampled) / len(sampled) * n,
        "ingest": ingest,
        "recall": recall,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def _recalled(arch: Any, query: Query) -> Sequence[Any]:
    found = arch.recall(query, 100)
    return list(await found if asyncio.iscoroutine(found) else found)


def table(found: Sequence[tuple[str, int, dict[str, Any]]]) -> str:
    """What was measured as a Markdown table."""
    lines = [
        "| arm | items | tokens, million | ingest: CPU, s | items a CPU second "
        "| recall: CPU, ms a query | peak memory, MiB |",
        "|" + "---|" * 7,
    ]
    lines += [
        f"| {arm} | {n:,} | {of['tokens'] / 1e6:.1f} | {of['ingest']:.0f} "
        f"| {n / of['ingest']:,.0f} | {1000 * of['recall']:.1f} | {of['peak']:.0f} |"
        for arm, n, of in found
    ]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each arm in a process of its own, print the table, and put it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.histories")
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--into", help="PAGE#TABLE to write")
    parser.add_argument("--here", action="store_true", help="one arm, in this process, as JSON")
    parser.add_argument("arms", nargs="*", default=[])
    given = parser.parse_args(argv)
    if given.here:
        print(json.dumps(measure(given.arms[0], given.items)))
        return 0
    found = []
    for arm in given.arms or ARMS:
        command = [sys.executable, "-m", "benchmarks.histories", "--here"]
        command += ["--items", str(given.items), arm]
        done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
        found.append((arm, given.items, json.loads(done.stdout)))
        print(f"{arm}: {found[-1][2]['ingest']:.0f} s of CPU", file=sys.stderr, flush=True)
    text = table(found)
    print(text)
    if given.into:
        put_between_markers(given.into, text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
