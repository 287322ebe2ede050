"""BM25 a query at 100,000 items: the index of `arch=bm25` against rank-bm25's own scoring.

Both score the same queries over the same corpus in this process, each taking the best of its
repetitions per query (the peer fewer, since it is slow). Scores must agree to 1e-9.
"""

from __future__ import annotations

import json
import random
import statistics

import numpy as np
from _measure import ITEMS, LENGTH, QUERIES, QUERY_LENGTH, TOP, corpus, queries, result, timed
from rank_bm25 import BM25Okapi

from plugins.archs._bm25 import BM25Index, BM25Settings, words

SEED = 20
LEAST_RATIO = 50


def main() -> None:
    rng = random.Random(SEED)
    texts = corpus(rng)
    build_ours, index = timed(lambda: BM25Index(texts, BM25Settings()), 1)
    build_peer, peer = timed(lambda: BM25Okapi([words(text) for text in texts]), 1)
    ours, theirs, ranked, worst = [], [], [], 0.0
    for query in queries(rng, texts):
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
    found = result("bm25_query", mine, other, "rank-bm25 0.2.2", "ms per query", ITEMS,
                   ratio=other / mine)  # fmt: skip
    print(json.dumps(found))
    if other < LEAST_RATIO * mine:
        raise SystemExit(f"less than {LEAST_RATIO} times as fast as rank-bm25")


if __name__ == "__main__":
    main()
