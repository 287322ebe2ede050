"""What benchmarks share: the fastest of some calls, a corpus of Zipf's words, and a result."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

ITEMS, LENGTH, VOCABULARY = 100_000, 40, 30_000
"""Of the corpus: texts, words of each, and different words."""
QUERIES, QUERY_LENGTH, TOP = 5, 8, 20

T = TypeVar("T")


def timed(
    work: Callable[[], T], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, T]:
    """Seconds of the fastest of `repeats` calls, and what it returned."""
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        result = work()
        best = min(best, clock() - start)
    return best, result


def corpus(rng: random.Random) -> list[str]:
    """Texts of `LENGTH` words each, drawn with the frequencies of Zipf's law."""
    vocabulary = [f"w{i}" for i in range(VOCABULARY)]
    weights = [1 / (i + 1) for i in range(VOCABULARY)]
    drawn = rng.choices(vocabulary, weights, k=ITEMS * LENGTH)
    return [" ".join(drawn[i : i + LENGTH]) for i in range(0, len(drawn), LENGTH)]


def queries(rng: random.Random, texts: list[str]) -> list[str]:
    """The first words of some of the texts."""
    return [" ".join(rng.choice(texts).split()[:QUERY_LENGTH]) for _ in range(QUERIES)]


def result(
    name: str,
    ours: float,
    peer: float | None,
    peer_name: str | None,
    unit: str,
    n: int,
    *,
    ratio: float | None = None,
    digits: int | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A line of `runs/benchmarks.jsonl`.

    ratio : ours to the peer's where None is given. digits : to which numbers are rounded.
    """
    if ratio is None and peer is not None:
        ratio = ours / peer
    found = {"name": name, "ours": ours, "peer": peer, "peer_name": peer_name, "ratio": ratio}
    if digits is not None:
        found = {k: round(v, digits) if isinstance(v, float) else v for k, v in found.items()}
    return {**found, "unit": unit, "n": n, **more}
