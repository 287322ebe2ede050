"""No shortcut to the label: what is not the facts under the policy predicts it at chance.

Chance is what the same classifier reaches on permuted labels. The bound is Bonferroni's for all the
comparisons of this file at a level of .05 (one-sided), so that they fail together one time in 20.
What needs documents, and the policy without the facts, is in tests/benchmarks/test_surface.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2_contingency, t
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.sampled import Sampled
from tests.plugins.domains.regulated.support import SEED, SPECS, shared

FEATURES = {"facts": 5_000, "protected": 5_000}
PERMUTATIONS = 40
LEVEL = 0.05 / (len(FEATURES) * len(SPECS) * 2)
# Of a further draw from the null, whose mean and spread are known from the permutations alone.
BOUND = float(t.isf(LEVEL, PERMUTATIONS - 1)) * (1 + 1 / PERMUTATIONS) ** 0.5


class Drawn(NamedTuple):
    """Of the first cases, in order: every fact, the protected attributes, the label, the stratum.

    Facts stand as they are; and what is missing, in conflict or revised, and which way.
    """

    facts: list[dict[str, float | str]]
    protected: list[dict[str, Any]]
    labels: list[str]
    strata: list[str]


@cache
def drawn(spec: str) -> Drawn:
    """Every case once: drawing them takes longer than all fits."""
    one, found = shared(spec), Drawn([], [], [], [])
    for index in range(max(FEATURES.values())):
        sampled = one.sampled(SEED, index)
        found.facts.append(of_facts(one, sampled))
        found.protected.append(dict(sampled.protected))
        found.labels.append(sampled.decision)
        found.strata.append(sampled.plan.stratum)
    return found


def of_facts(one: Regulated, sampled: Sampled) -> dict[str, float | str]:
    known = sampled.known(one.spec.formulas)
    row: dict[str, float | str] = {}
    for key, value in sampled.facts.items():
        if one.spec.facts[key].type in ("identifier", "provision"):
            continue
        if key not in known:
            row[f"{key} missing"] = 1
        elif isinstance(value, date):
            row[key] = (sampled.plan.intake - value).days
        else:
            row[key] = value
        row[f"{key} open"] = len(known.get(key, ())) != 1
    for revision in sampled.revisions:
        risen = revision.retired[-1] < sampled.facts[revision.key]  # type: ignore[operator]
        row[f"{revision.key} risen"] = 1 if risen else -1
        row[f"{revision.key} rescinded"] = revision.rescinded
    return row


def matrix(features: str, spec: str, n: int) -> Any:
    return DictVectorizer(sparse=False).fit_transform(getattr(drawn(spec), features)[:n])


def score(X: Any, labels: Any) -> tuple[float, float]:
    """(accuracy, mean one-against-rest AUC), five-fold cross-validated."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.02, max_iter=2_000))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    chances = cross_val_predict(model, X, labels, cv=folds, method="predict_proba")
    classes = np.unique(labels)
    accuracy = float((classes[chances.argmax(1)] == labels).mean())
    return accuracy, float(roc_auc_score(labels, chances, multi_class="ovr"))


def check(X: Any, labels: Sequence[str]) -> None:
    y = np.array(labels)
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        accuracy, auc = score(X, y)
        null = np.array([score(X, rng.permutation(y)) for _ in range(PERMUTATIONS)])
    mean, sd = null.mean(0), null.std(0, ddof=1)
    assert accuracy <= mean[0] + BOUND * sd[0], (accuracy, mean[0], sd[0])
    assert auc <= mean[1] + BOUND * sd[1], (auc, mean[1], sd[1])
    majority = max(Counter(labels).values()) / len(labels)
    assert accuracy <= majority + BOUND * np.sqrt(majority * (1 - majority) / len(labels))


@pytest.mark.slow
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("spec", SPECS)
def test_at_chance_on_200_cases(spec: str, features: str) -> None:
    check(matrix(features, spec, 200), drawn(spec).labels[:200])


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("spec", SPECS)
def test_at_chance(spec: str, features: str) -> None:
    n = FEATURES[features]
    check(matrix(features, spec, n), drawn(spec).labels[:n])


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_the_check_finds_a_planted_shortcut(spec: str) -> None:
    """The instrument itself: one feature that is right five times in six is enough to fail it."""
    y = drawn(spec).labels[:200]
    rng = np.random.default_rng(1)
    hint = np.array([[label == y[0]] for label in y], dtype=float) + rng.normal(0, 0.5, (200, 1))
    with pytest.raises(AssertionError):
        check(np.hstack([matrix("facts", spec, 200), hint]), y)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_labels_come_in_the_same_shares_in_every_stratum(spec: str) -> None:
    """Were abstention commoner among open cases, seeing that a case is open would be a hint.

    The label is the plan's target: test_laws. Over ten seeds, as one seed's first 1,000 cases of
    one spec may differ by chance: of change_release those of seed 20 do, with a p of .0024.
    """
    one, outcomes = shared(spec), list(shared(spec).spec.labels)
    plans = [one._plan(seed, i) for seed in range(SEED, SEED + 10) for i in range(1_000)]
    found = Counter((plan.stratum, plan.target) for plan in plans)
    strata = sorted({stratum for stratum, _ in found})
    table = [[found[stratum, outcome] for outcome in outcomes] for stratum in strata]
    assert chi2_contingency(table).pvalue > 0.01
