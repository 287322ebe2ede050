"""Recall at 100,000 items, arm by arm: the time to take them in, and that of a query.

Each arm recalls the top 20 for the same queries over the same corpus, embedded by hashed words;
the fastest repetition of each query counts. Two have a peer in this process that must recall the
same scores to 1e-5: `dense` a plain numpy product with a full sort, `tfidf` scikit-learn's matrix.
(Items may differ where scores tie: BLAS gives equal rows scores that differ in the last digit.)
"""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from _measure import ITEMS, LENGTH, QUERIES, QUERY_LENGTH, TOP, corpus, queries, result, timed
from sklearn.feature_extraction.text import TfidfVectorizer

from framework.contracts import Arch, ArchContext, Query
from framework.records import Event
from framework.testing.arch_conformance import NoClient, settle
from plugins.archs._bm25 import words
from plugins.archs.bm25 import BM25
from plugins.archs.chat_log import ChatLog
from plugins.archs.dense import Dense
from plugins.archs.graph_ppr import GraphPPR
from plugins.archs.hierarchical_docs import HierarchicalDocs
from plugins.archs.hybrid_rrf import HybridRRF
from plugins.archs.mmr import MMR
from plugins.archs.random_context import RandomContext
from plugins.archs.rerank import RerankLexical
from plugins.archs.tag_index import TagIndex
from plugins.archs.tfidf import Tfidf
from plugins.embedders.hashing import Hashing, HashingSettings

SEED = 20
ARMS: Sequence[type[Arch[Any]]] = (
    BM25,
    Tfidf,
    Dense,
    HybridRRF,
    MMR,
    RerankLexical,
    TagIndex,
    HierarchicalDocs,
    GraphPPR,
    ChatLog,
    RandomContext,
)


def peers(texts: Sequence[str], embedder: Hashing) -> dict[str, tuple[str, Callable[[str], Any]]]:
    """By arm, the name of its peer and the peer's best scores for a query."""
    vectors = embedder.embed(texts)
    vectorizer = TfidfVectorizer(analyzer=words)
    matrix = vectorizer.fit_transform(texts).tocsc()

    def nearest(query: str) -> Any:
        return np.sort(vectors @ embedder.embed([query])[0])[::-1][:TOP]

    def cosine(query: str) -> Any:
        scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
        return np.sort(scores)[::-1][:TOP]

    return {"dense": ("numpy", nearest), "tfidf": ("scikit-learn", cosine)}


def main() -> None:
    rng = random.Random(SEED)
    texts = corpus(rng)
    events = [
        Event(id=f"e{i}", text=text, time="2026-01-01", kind=f"kind {i % 7}")
        for i, text in enumerate(texts)
    ]
    asked = queries(rng, texts)
    embedder = Hashing(HashingSettings())
    beside = peers(texts, embedder)
    results = []
    print(f"Top {TOP} of {ITEMS:,} items of {LENGTH} words, {QUERIES} queries of {QUERY_LENGTH}")
    print(f"{'arm':20}{'take in, s':>12}{'query, ms':>12}{'peer, ms':>12}  peer")
    for cls in ARMS:
        context = ArchContext(budget_tokens=None, client=NoClient(), embedder=embedder)
        arm = cls(cls.Settings(), context)
        taken_in, _ = timed(lambda arm=arm: settle(arm.ingest(iter(events))), 1)
        mine, other = [], []
        peer_name, peer = beside.get(cls.name, ("", None))
        for text in asked:
            seconds, items = timed(
                lambda arm=arm, text=text: settle(arm.recall(Query(text=text), TOP))
            )
            mine.append(seconds)
            if peer is not None:
                seconds, scores = timed(lambda peer=peer, text=text: peer(text))
                other.append(seconds)
                if not np.allclose([i.signals[cls.name] for i in items], scores, atol=1e-5):
                    raise SystemExit(f"{cls.name} and {peer_name} give other scores")
        ours = 1000 * statistics.median(mine)
        theirs = 1000 * statistics.median(other) if other else None
        shown = "" if theirs is None else f"{theirs:.1f}"
        print(f"{cls.name:20}{taken_in:12.1f}{ours:12.1f}{shown:>12}  {peer_name}")
        ratio = None if theirs is None else theirs / ours
        results.append(
            result(f"recall_{cls.name}", ours, theirs, peer_name or None, "ms per query", ITEMS,
                   ratio=ratio)
        )  # fmt: skip
    print(json.dumps(results))


if __name__ == "__main__":
    main()
