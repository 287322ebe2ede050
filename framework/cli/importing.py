"""`import`: a published corpus of documents as a decision corpus."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from framework.errors import UserError


def import_peps(args: argparse.Namespace) -> int:
    """Convert Python Enhancement Proposals and say what the file holds."""
    from framework.corpora import write_corpus
    from framework.corpora.peps import convert_peps

    corpus = convert_peps(Path(args.path), args.revision)
    target = Path(args.to)
    try:
        write_corpus(corpus, target)
    except OSError as error:
        raise UserError(f"{target}: can't be written: {error.strerror}") from None
    counts = Counter(edge.relation for edge in corpus.edges)
    edges = ", ".join(f"{n} {relation}" for relation, n in sorted(counts.items()))
    print(f"{target}: {len(corpus.nodes)} documents, {edges}")
    return 0
