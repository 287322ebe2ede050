"""BM25 a query at 100,000 items: the index of `arch=bm25` against rank-bm25's own scoring.

Both score the same queries over the same corpus in this process, each taking the best of its
repetitions per query (the peer fewer, since it is slow). Scores must agree to 1e-9.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from rank_bm25 import BM25Okapi

from plugins.archs._bm25 import BM25Index, BM25Settings, words

ITEMS = 100_000
LENGTH = 40
VOCABULARY = 30_000
QUERIES = 5
QUERY_LENGTH = 8
TOP = 20
SEED = 20
LEAST_RATIO = 50

T = TypeVar("T")


def corpus(rng: random.Random) -> list[str]:
    """Items of `LENGTH` words each, drawn with the frequencies of Zipf's law."""
    vocabulary = [f"w{i}" for i in range(VOCABULARY)]
    weights = [1 / (i + 1) for i in range(VOCABULARY)]
    drawn = rng.choices(vocabulary, weights, k=ITEMS * LENGTH)
    return [" ".join(drawn[i : i + LENGTH]) for i in range(0, len(drawn), LENGTH)]


def timed(work: Callable[[], T], repeats: int) -> tuple[float, T]:
    """Seconds of the fastest of `repeats` calls, and what it returned."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def main() -> None:
    rng = random.Random(SEED)
    texts = corpus(rng)
    queries = [" ".join(rng.choice(texts).split()[:QUERY_LENGTH]) for _ in range(QUERIES)]
    build_ours, index = timed(lambda: BM25Index(texts, BM25Settings()), 1)
    build_peer, peer = timed(lambda: BM25Okapi([words(text) for text in texts]), 1)
    ours, theirs, ranked, worst = [], [], [], 0.0
    for query in queries:
        seconds, scores = timed(lambda query=query: index.scores(query), 20)
        ours.append(seconds)
        seconds, expected = timed(lambda query=query: peer.get_scores(words(query)), 2)
        theirs.append(seconds)
        ranked.append(timed(lambda query=query: index.rank(query, TOP), 20)[0])
        worst = max(worst, float(np.abs(scores - expected).max()))
    if worst > 1e-9:
        raise SystemExit(f"scores differ by up to {worst}")
    mine, other = (1000 * statistics.median(times) for times in (ours, theirs))
    print(f"BM25 over {ITEMS:,} items of {LENGTH} words, {QUERIES} queries of {QUERY_LENGTH} words")
    print(f"{'':28}{'ours':>12}{'rank-bm25':>12}{'ratio':>9}")
    print(f"{'build, s':28}{build_ours:12.2f}{build_peer:12.2f}{build_peer / build_ours:9.2f}")
    print(f"{'score a query, ms':28}{mine:12.3f}{other:12.1f}{other / mine:9.0f}")
    print(f"{f'score and top {TOP}, ms':28}{1000 * statistics.median(ranked):12.3f}")
    print(f"{'largest difference of scores':28}{worst:12.1e}")
    print(
        json.dumps(
            {
                "name": "bm25_query",
                "ours": mine,
                "peer": other,
                "peer_name": "rank-bm25 0.2.2",
                "ratio": other / mine,
                "unit": "ms per query",
                "n": ITEMS,
            }
        )
    )
    if other < LEAST_RATIO * mine:
        raise SystemExit(f"less than {LEAST_RATIO} times as fast as rank-bm25")


if __name__ == "__main__":
    main()
