"""The classifiers find what is there to be found, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.attacks._told import CASES, CHANCE, Row, Told, _each, told


def noise(n: int) -> tuple[list[Row], list[str]]:
    rng = np.random.default_rng(0)
    rows: list[Row] = [
        {f"x{k}": float(value) for k, value in enumerate(row)} for row in rng.normal(size=(n, 8))
    ]
    return rows, [str(label) for label in rng.integers(0, 3, n)]


@pytest.mark.slow
def test_noise_tells_nothing() -> None:
    found = told(*noise(500))
    assert found is not None
    assert found.at_chance
    assert found.low < found.auc < found.high
    assert "width" in str(found)


@pytest.mark.slow
def test_the_label_of_which_most_is_told_is_named() -> None:
    rows, labels = noise(500)
    marked: list[Row] = [
        {**row, "mark": float(label == "2")} for row, label in zip(rows, labels, strict=True)
    ]
    found = told(marked, labels)
    assert found is not None
    label, value = found.most
    assert label == "2"
    assert value == 1.0
    assert value > found.auc


@pytest.mark.slow
@pytest.mark.parametrize("words", [False, True])
def test_a_planted_shortcut_of_60_is_found(words: bool) -> None:
    """A mark in 30% of one label and 10% of the other: an AUC of .60."""
    rows, _ = noise(CASES)
    rng = np.random.default_rng(1)
    labels = rng.random(CASES) < 0.5
    marked = rng.random(CASES) < np.where(labels, 0.3, 0.1)
    given = [{**row, "mark": float(mark)} for row, mark in zip(rows, marked, strict=True)]
    filler = [f"word{k}" for k in range(100)]
    texts = [
        " ".join([*rng.choice(filler, 30), *(["heliotrope"] if mark else [])]) for mark in marked
    ]
    found = told(texts if words else given, list(labels))
    assert found is not None
    assert found.auc > CHANCE[1]
    assert not found.at_chance


@pytest.mark.slow
def test_cases_of_one_cluster_do_not_tell_of_each_other() -> None:
    """A word of its own in each cluster tells the label of the cluster, and of no other."""
    clusters = [f"c{i // 10}" for i in range(400)]
    rng = np.random.default_rng(2)
    of = {cluster: str(rng.random() < 0.5) for cluster in dict.fromkeys(clusters)}
    rows: list[Row] = [{"name": cluster} for cluster in clusters]
    labels = [of[cluster] for cluster in clusters]
    alone, together = told(rows, labels), told(rows, labels, clusters)
    assert alone is not None
    assert together is not None
    assert alone.auc > 0.9
    assert together.auc < 0.6
    assert together.clusters == 40


def test_too_few_of_a_label_give_none() -> None:
    assert told([{"x": 1.0}, {"x": 2.0}, {"x": 3.0}], ["a", "a", "b"]) is None


def test_few_cases_are_judged_by_their_interval() -> None:
    one = Told(auc=0.58, low=0.49, high=0.67, cases=200, clusters=200)
    assert one.at_chance
    assert not Told(auc=0.58, low=0.49, high=0.67, cases=CASES, clusters=CASES).at_chance
    assert not Told(auc=0.58, low=0.52, high=0.64, cases=200, clusters=200).at_chance


def test_the_auc_is_that_of_scikit_learn_ties_too() -> None:
    rng = np.random.default_rng(1)
    labels = np.r_[0, 1, 2, rng.integers(0, 3, 200)]
    chances = rng.random((203, 3)).round(1)
    of_each = [roc_auc_score(labels == k, chances[:, k]) for k in range(3)]
    assert _each(chances, labels) == pytest.approx(of_each, abs=1e-12)
