"""The paired difference of two means over different cases of the same clusters."""

from __future__ import annotations

import numpy as np

from plugins.recipes.depth.causal_use import gap


def drawn(seed: int, clusters: int = 40, size: int = 6) -> tuple[dict[str, float], ...]:
    """Cases whose clusters differ in ease; the easier are retained more often. True gap: -.2."""
    rng = np.random.default_rng(seed)
    everywhere, somewhere, cluster = {}, {}, {}
    for c in range(clusters):
        ease = rng.uniform(0.2, 0.8)
        for k in range(size):
            case = f"{c}-{k}"
            cluster[case] = str(c)
            everywhere[case] = float(rng.random() < ease)
            if rng.random() < ease:
                somewhere[case] = everywhere[case]
    return everywhere, somewhere, cluster  # type: ignore[return-value]


def test_the_difference_is_that_of_the_means() -> None:
    everywhere, somewhere, clusters = drawn(1)
    found = gap(everywhere, somewhere, clusters)  # type: ignore[arg-type]
    means = [sum(v.values()) / len(v) for v in (everywhere, somewhere)]
    assert found.value is not None
    assert abs(found.value - (means[0] - means[1])) < 1e-12


def test_its_limits_hold_the_true_difference_in_95_of_100() -> None:
    # E(Y) - E(Y | R) with P(R) = P(Y) = ease: .5 - E(ease^2) / .5, ease uniform on [.2, .8].
    truth = 0.5 - (0.25 + 0.03) / 0.5
    held = 0
    for seed in range(400):
        found = gap(*drawn(seed))  # type: ignore[arg-type]
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_few_clusters_have_no_limits_and_none_is_undefined() -> None:
    everywhere, somewhere, clusters = drawn(2)
    few = {case: v for case, v in somewhere.items() if int(case.split("-")[0]) < 6}
    found = gap(everywhere, few, clusters)  # type: ignore[arg-type]
    assert found.value is not None
    assert found.low is None
    assert gap(everywhere, {}, clusters).value is None  # type: ignore[arg-type]
