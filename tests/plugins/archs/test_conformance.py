"""Every shipped arm keeps the laws of an arch."""

from __future__ import annotations

import pytest

from framework.registry import Plugin, plugins, settings_of
from framework.testing.arch_conformance import check_arch
from plugins.archs.external._memory import ExternalMemory

VARIANTS = {
    "bm25": [{"tokenizer": "split"}],
    "retr_only": [{"top_k": 1, "chunk_tokens": 8}],
    "typed_graph": [
        {"superseded": "drop"},
        {"hops": 0},
        {"hops": None},
        {"seeds": 1, "fan_out": 1},
        {"prune": True, "decay": 1.0},
        {"edges": "removed"},
        {"edges": "relabelled"},
        {"edges": "rewired"},
    ],
    "typed_graph_dense": [{"edges": "removed"}, {"edges": "rewired"}],
    "raptor": [
        {"cluster_size": 2},
        {"cluster_size": 2, "clustering": "hard", "search": "traversal", "beam": 1},
        {"clustering": "communities", "search": "traversal", "beam": 2},
    ],
    "rolling_summary": [{"window_share": 0.0}, {"window_share": 0.9}],
    "paged": [{"page_events": 1, "queue_share": 0.5}],
    "consolidate": [{"similar": 1}],
    "linked_notes": [{"neighbours": 1}, {"expanded": 0}, {"calls": "three"}],
    "random_context": [{"trials": 2}],
    "last_mention": [{"order": "newest"}],
    "figures_first": [{"order": "shortest"}],
    "typed_routing": [{"store": "full", "summary_share": 0.1, "chunk_events": 4}],
    "summ_only": [{"chunk_events": 4}],
    "hybrid_rrf": [{"smoothing": 0.0}],
    "mmr": [{"relevance": 0.0}, {"relevance": 1.0, "candidates": 3}],
    "rerank_lexical": [{"candidates": 1}],
    "rerank_llm": [{"candidates": 3}],
    "rerank_ce": [{"candidates": 3}],
    "tag_index": [{"tags": 1}],
    "hierarchical_docs": [{"document_events": 2}],
    "graph_ppr": [
        {"restart": 1.0},
        {"restart": 0.1},
        {"phrases": "model"},
        {"phrases": "model", "synonyms": None},
        {"phrases": "model", "synonyms": 0.1, "restart": 1.0},
    ],
}
CASES = [
    (plugin, values)
    for plugin in plugins("arch")
    if plugin.cls.__module__.startswith("plugins.")
    and not issubclass(plugin.cls, ExternalMemory)  # held to the laws with a system, in external/
    for values in [{}, *VARIANTS.get(plugin.name, [])]
]


@pytest.mark.parametrize(("plugin", "values"), CASES, ids=lambda v: getattr(v, "name", str(v)))
def test_arch_keeps_the_laws(plugin: Plugin, values: dict[str, object]) -> None:
    settings = settings_of(plugin, values)
    check_arch(plugin.cls.under(settings), settings)
