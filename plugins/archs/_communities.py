"""Communities of events that share phrases, within each other: those of a graph of entities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from framework.errors import UserError
from plugins.archs._phrases import phrases
from plugins.archs._postings import Postings


def communities(texts: Sequence[str], seed: int = 0) -> list[list[int]]:
    """The community of each text on every level, those of a level within those of the next.

    The graph has the texts and their phrases for nodes; a phrase is joined to each text that holds
    it, by the logarithm of how few do, so that one that every text or only one text holds joins
    nothing. Its levels are those of the Louvain method (Blondel et al. 2008), from the smallest
    communities to the largest; one that joins no texts is left out. A text that shares no phrase is
    a community of its own.

    Args:
        texts: of the events.
        seed: of the order in which the method visits nodes.
    """
    import networkx as nx

    postings = Postings(texts, phrases)
    size = len(texts)
    weights = np.log(size / np.maximum(postings.documents, 1))[postings.columns]
    joins = (weights > 0) & (postings.documents[postings.columns] > 1)
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from(
        zip(
            postings.rows[joins].tolist(),
            (size + postings.columns[joins]).tolist(),
            weights[joins].tolist(),
            strict=True,
        )
    )
    levels: list[list[int]] = []
    found = size
    for parts in nx.community.louvain_partitions(graph, seed=seed):
        own = [0] * size
        for number, nodes in enumerate(sorted(parts, key=min)):
            for node in nodes:
                if node < size:
                    own[node] = number
        if len(set(own)) < found:  # others join a text with its phrases alone
            levels.append(own)
            found = len(set(own))
    return levels


def check_networkx() -> None:
    """Raise UserError where the package that finds communities is not installed."""
    try:
        import networkx  # noqa: F401
    except ImportError:
        raise UserError(
            "arch.clustering=communities needs the package networkx: pip install "
            "'decisionbench[communities]' (soft and hard need none)"
        ) from None
