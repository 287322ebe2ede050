"""What one long history takes: arms over a million items, ten million tokens and more.

    python -m benchmarks.histories [--kept] [--items N] [--into PAGE#TABLE] [ARM ...]

Each arm is a fresh process that takes in generated records (four words and a sum; every tenth
supersedes an earlier one, the others depend on one) along the path's own ingest, then recalls for
20 queries. Tokens are those of every hundredth item, scaled. Peak memory is the whole process's; it
ends with status 1 where that is more than 4 GB.

What an index on disk saves is measured in further processes, for each arm that can keep one: the
arm alone takes in records that are there already, without a folder, with an empty one, into which
it writes its index, and with the index there: 100,000 records, the best of three processes each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from framework.contracts import Query, maybe_await
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.pipeline.ingest import ingested
from framework.pipeline.path import Pipeline
from framework.records import Event
from framework.reporting.markdown import put_between_markers
from framework.text.tokens import count_tokens

ITEMS: Final = 1_000_000
ARMS: Final = ("bm25", "dense", "typed_graph")
KEEPING: Final = ("bm25", "dense", "typed_graph")
"""Arms that can keep their index on disk."""
MOST_MIB: Final = 3_814
"""Peak memory of an arm over a history of `ITEMS`: 4 GB."""
QUERIES: Final = 20
_ROUNDS: Final = 3
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


def _path(arm: str, *settings: str) -> Pipeline:
    words = [f"arch={arm}", "domain=loan", "budget=moderate", "tracking=none", *settings]
    with composer():
        plan = compose_plan(words)
    return build_pipeline(plan, plan.parts["domain"].create())


def indexing(arm: str, n: int, folder: str | None) -> dict[str, Any]:
    """What an arm alone takes in this process to index records, which it may keep in `folder`."""
    path = _path(arm, *([f"arch.cache={folder}"] if folder else ()))
    records = [replace(event, edges=()) for event in events(n)]
    asyncio.run(_taken_in(path.open_arch("a few", 0), records[:10]))  # with what is imported
    arch = path.open_arch("history", 0)
    began = time.process_time()
    asyncio.run(_taken_in(arch, records))
    return {"cpu": time.process_time() - began, "peak": _peak()}


async def _taken_in(arch: Any, records: Sequence[Event]) -> None:
    await maybe_await(arch.ingest(iter(records)))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(arm: str, n: int) -> dict[str, Any]:
    """What this process takes for an arm. Raises what the ingest raised."""
    path = _path(arm)
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
        "peak": _peak(),
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
        f"| {_printed(arm)} | {n:,} | {of['tokens'] / 1e6:.1f} | {of['ingest']:.0f} "
        f"| {n / of['ingest']:,.0f} | {1000 * of['recall']:.1f} | {of['peak']:.0f} |"
        for arm, n, of in found
    ]
    return "\n".join(lines)


def beyond(found: Sequence[tuple[str, int, dict[str, Any]]]) -> list[str]:
    """Which arms took more memory than they may, a line each."""
    return [
        f"{_printed(arm)}, {n:,} items: {of['peak']:.0f} MiB, {MOST_MIB:,} at most"
        for arm, n, of in found
        if of["peak"] > MOST_MIB
    ]


def kept_table(found: Sequence[tuple[str, int, dict[str, Any]]]) -> str:
    """What an index on disk takes and saves as a Markdown table; a ratio is of CPU times."""
    lines = [
        "| arm | items | index made: CPU, s | made and written | read | made / read | MB on disk "
        "| peak memory when made, MiB | when read |",
        "|" + "---|" * 9,
    ]
    lines += [
        f"| {_printed(arm)} | {n:,} | {of['made']['cpu']:.2f} | {of['written']['cpu']:.2f} "
        f"| {of['read']['cpu']:.2f} | {of['made']['cpu'] / of['read']['cpu']:.1f} "
        f"| {of['disk'] / 1e6:,.0f} | {of['made']['peak']:.0f} | {of['read']['peak']:.0f} |"
        for arm, n, of in found
    ]
    return "\n".join(lines)


def kept(arm: str, n: int) -> dict[str, Any]:
    """What an arm takes without an index on disk, writing it and reading it, in fresh processes."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / str(number) for number in range(_ROUNDS)]
        for name, places in (
            ("made", [None] * _ROUNDS),
            ("written", folders),
            ("read", folders),
        ):
            took = [_apart(arm, n, "--index", str(place or "")) for place in places]
            found[name] = min(took, key=lambda each: float(each["cpu"]))
        (index,) = folders[0].iterdir()
        found["disk"] = index.stat().st_size
    return found


def _printed(arm: str) -> str:
    """Its name in tables: vectors of hashed words are lexical, and are called so."""
    return "dense(lexical)" if arm == "dense" else arm


def _apart(arm: str, n: int, *words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.histories", "--here", "--items", str(n), *words]
    done = subprocess.run([*command, arm], cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Measure each arm in a process of its own, print the table, and put it into a page.

    1 where an arm is beyond the limit.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.histories")
    parser.add_argument("--items", type=int, help=f"{ITEMS}, or {ITEMS // 10} with --kept")
    parser.add_argument("--into", help="PAGE#TABLE to write")
    parser.add_argument("--kept", action="store_true", help="measure indexes on disk instead")
    parser.add_argument("--here", action="store_true", help="one arm, in this process, as JSON")
    parser.add_argument("--index", help="its index alone; the folder for it, or nothing")
    parser.add_argument("arms", nargs="*", default=[])
    given = parser.parse_args(argv)
    if given.here:
        n = given.items or ITEMS
        alone = given.index is not None
        took = (
            indexing(given.arms[0], n, given.index or None) if alone else measure(given.arms[0], n)
        )
        print(json.dumps(took))
        return 0
    found = []
    n = given.items or (ITEMS // 10 if given.kept else ITEMS)
    for arm in given.arms or (KEEPING if given.kept else ARMS):
        found.append((arm, n, (kept if given.kept else _apart)(arm, n)))
        print(f"{arm}: measured", file=sys.stderr, flush=True)
    text = (kept_table if given.kept else table)(found)
    print(text)
    if given.into:
        put_between_markers(given.into, text)
    said = [] if given.kept else beyond(found)
    for line in said:
        print(f"beyond a limit: {line}", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
