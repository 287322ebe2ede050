"""Rankings of a domain's own cases, measured by the axis and by ir-measures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from framework.contracts import Domain
from framework.records import Case
from plugins.archs._bm25 import BM25Index, BM25Settings
from tests.plugins.axes.test_ranking import reference, score, trace_of


def check_ranking(domain: Domain[Any], cases: Iterable[Case]) -> dict[str, float]:
    """Rank by BM25, compare axis and ir-measures case by case to 1e-9; the axis's means."""
    indices: dict[str, tuple[list[str], BM25Index]] = {}
    evidence, rankings = {}, {}
    for case in cases:
        if case.history_id not in indices:
            events = list(domain.history(case.history_id))
            index = BM25Index([event.text for event in events], BM25Settings())
            indices[case.history_id] = [event.id for event in events], index
        ids, index = indices[case.history_id]
        evidence[case.id] = case.gold.evidence
        rankings[case.id] = [ids[i] for i, _ in index.rank(case.task.query, len(ids))]
    ours = {name: score(trace_of(ids), evidence[name]) for name, ids in rankings.items()}
    theirs = reference(evidence, rankings)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert values == pytest.approx(theirs[name], abs=1e-9), name
    columns = next(iter(ours.values()))
    return {
        name: float(np.mean([found for v in ours.values() if (found := v[name]) is not None]))
        for name in columns
    }
