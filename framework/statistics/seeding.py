"""Random generators named by what they are for."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """Return the generator of `names` under `seed`: the same on every machine and in every process.

    A comparison takes its generator from the names of what is compared, so another arm in the sweep
    leaves the numbers of an existing pair as they were.

    Args:
        seed: the run's seed, 0 or more.
        names: what the draws are for, in order; ("ab", "c") and ("a", "bc") differ.

    Raises:
        ValueError: a negative seed.
    """
    digest = hashlib.sha256()
    for name in names:
        encoded = name.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    words = np.frombuffer(digest.digest(), dtype=">u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *(int(word) for word in words)]))
