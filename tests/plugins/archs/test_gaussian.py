"""RAPTOR's own clustering: mixtures by BIC, of all rows and of each group, and groups again."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from framework.errors import UserError
from framework.operations.summarize import SummarizeResponse
from plugins.archs import _gaussian
from plugins.archs._gaussian import DIMENSIONS, MOST_TOKENS, gaussian_clusters
from plugins.archs.raptor import Raptor, RaptorSettings
from tests.plugins.archs.helpers import event, opened, recall
from tests.plugins.archs.test_memory_systems import Scripted


def first_columns(rows: NDArray[np.float32], neighbours: int, dimensions: int) -> NDArray[Any]:
    """In the place of UMAP."""
    assert 1 <= neighbours < len(rows)
    assert dimensions <= min(DIMENSIONS, len(rows) - 2)
    return rows[:, : min(dimensions, 3)]


def blobs(sizes: tuple[int, ...], dimensions: int = 16) -> NDArray[np.float32]:
    """Rows of well separated groups, in order."""
    rng = np.random.default_rng(5)
    centres = 8 * np.eye(dimensions)[: len(sizes)]
    near = [c + 0.1 * rng.normal(size=(n, dimensions)) for c, n in zip(centres, sizes, strict=True)]
    return np.concatenate(near).astype(np.float32)


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 20), st.integers(0, 3), st.sampled_from([10, 900]))
def test_every_row_is_in_a_group_and_the_same_each_time(n: int, seed: int, tokens: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, 12)).astype(np.float32)
    groups = gaussian_clusters(vectors, [tokens] * n, first_columns)
    assert {row for group in groups for row in group} == set(range(n))
    assert all(groups)
    assert groups == gaussian_clusters(vectors, [tokens] * n, first_columns)


def test_groups_that_stand_apart_are_never_mixed() -> None:
    found = gaussian_clusters(blobs((9, 9, 9)), [10] * 27, first_columns)
    assert {row for group in found for row in group} == set(range(27))
    assert all(len({row // 9 for row in group}) == 1 for group in found)
    assert len(found) < 27


def test_few_rows_are_one_group() -> None:
    few = blobs((5, 6))
    assert gaussian_clusters(few, [MOST_TOKENS] * 11, first_columns) == [tuple(range(11))]


def test_a_group_of_too_many_tokens_is_grouped_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def halves(rows: NDArray[np.float32], reduce: Any) -> list[NDArray[np.int64]]:
        return np.array_split(np.arange(len(rows)), 2) if len(rows) > 1 else [np.arange(1)]

    monkeypatch.setattr(_gaussian, "_twice", halves)
    rows = np.zeros((8, 2), dtype=np.float32)
    short, long = (gaussian_clusters(rows, [n] * 8, first_columns) for n in (10, 1_000))
    assert short == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert long == [(0, 1), (2, 3), (4, 5), (6, 7)]
    # One row that is too long by itself stays a group.
    assert gaussian_clusters(rows[:1], [9_000], first_columns) == [(0,)]


def test_raptor_builds_its_tree_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class UMAP:
        def __init__(self, **given: Any) -> None:
            assert given["metric"] == "cosine"
            self.dimensions = given["n_components"]

        def fit_transform(self, rows: NDArray[np.float32]) -> NDArray[Any]:
            # Most of what hashed words differ by.
            spread = np.argsort(-rows.var(axis=0), kind="stable")
            return rows[:, spread[: self.dimensions]]

    monkeypatch.setitem(sys.modules, "umap", types.SimpleNamespace(UMAP=UMAP))
    topics = ("tide water level", "berth booking skipper", "invoice ledger fee")
    events = [event(f"e{i}", f"{topics[i % 3]} {topics[i % 3]} n{i}") for i in range(27)]
    client = Scripted(lambda r: SummarizeResponse(summary=" ".join(min(r.chunks).split()[:3])))
    arch = opened(Raptor, events, RaptorSettings(clustering="gaussian"), client=client)
    assert arch.report()["summaries"] >= 3
    assert len({chunk.split()[0] for chunk in client.requests[0].chunks}) == 1
    assert {"level"} <= recall(arch, "tide water")[0].signals.keys()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(UserError, match=r"needs the package umap-learn: pip install"):
        opened(Raptor, [], RaptorSettings(clustering="gaussian"))
    opened(Raptor, [], RaptorSettings(clustering="soft"))


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_with_umap_groups_that_stand_apart_are_never_mixed() -> None:
    vectors = blobs((14, 14, 14), 64)
    groups = gaussian_clusters(vectors, [10] * 42)
    assert groups == gaussian_clusters(vectors, [10] * 42)
    assert {row for group in groups for row in group} == set(range(42))
    assert all(len({row // 14 for row in group}) == 1 for group in groups)
