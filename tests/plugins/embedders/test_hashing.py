"""Hashed words: the laws of an embedder, and what the hashing trick promises."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.testing.embedder_conformance import check_embedder
from plugins.embedders.hashing import Hashing, HashingSettings


def test_the_laws_hold() -> None:
    check_embedder(Hashing, HashingSettings())
    check_embedder(Hashing, HashingSettings(dimension=3))


def test_the_hash_is_the_same_in_every_process() -> None:
    (vector,) = Hashing(HashingSettings(dimension=16)).embed(["loan"])
    (place,) = np.flatnonzero(vector)
    assert (int(place), float(vector[place])) == (8, 1.0)


@settings(max_examples=30)
@given(st.sets(st.sampled_from("abcdefghijklmnop"), min_size=2, max_size=12))
def test_similarity_is_about_the_cosine_of_the_words(words: set[str]) -> None:
    both = sorted(words)
    first, second = Hashing(HashingSettings(dimension=4096)).embed(
        [" ".join(both[1:]), " ".join(both[:-1])]
    )
    exact = (len(both) - 2) / (len(both) - 1)
    assert abs(float(first @ second) - exact) < 0.2


def test_a_word_that_is_there_more_often_counts_by_its_root() -> None:
    one, many = Hashing(HashingSettings(dimension=4096)).embed(["loan note", "loan " * 4 + "note"])
    assert abs(float(one @ many) - 3 / np.sqrt(10)) < 1e-6
