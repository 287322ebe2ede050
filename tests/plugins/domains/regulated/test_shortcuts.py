"""No shortcut to the label: what is not the facts under the policy predicts it at chance.

Chance is what the same classifier reaches on permuted labels. The bound is Bonferroni's for all the
comparisons of this file at a level of .05 (one-sided), so that they fail together one time in 20.
What needs documents, and the policy without the facts, is in tests/benchmarks/test_surface.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

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

from tests.plugins.domains.regulated.support import SEED, SPECS, shared

FEATURES = {"facts": 5_000, "protected": 5_000}
PERMUTATIONS = 40
LEVEL = 0.05 / (len(FEATURES) * len(SPECS) * 2)
# Of a further draw from the null, whose mean and spread are known from the permutations alone.
BOUND = float(t.isf(LEVEL, PERMUTATIONS - 1)) * (1 + 1 / PERMUTATIONS) ** 0.5


def facts(spec: str, n: int) -> Any:
    """Every fact as it stands, what is missing, in conflict or revised, and which way."""
    one = shared(spec)
    rows = []
    for index in range(n):
        sampled = one.sampled(SEED, index)
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
        rows.append(row)
    return DictVectorizer(sparse=False).fit_transform(rows)


def protected(spec: str, n: int) -> Any:
    """The protected attributes."""
    one = shared(spec)
    rows = [dict(one.sampled(SEED, index).protected) for index in range(n)]
    return DictVectorizer(sparse=False).fit_transform(rows)


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


def labels(spec: str, n: int) -> list[str]:
    return [shared(spec).sampled(SEED, index).decision for index in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("features", FEATURES)
def test_at_chance_on_200_cases(spec: str, features: str) -> None:
    check(globals()[features](spec, 200), labels(spec, 200))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("features", FEATURES)
def test_at_chance(spec: str, features: str) -> None:
    n = FEATURES[features]
    check(globals()[features](spec, n), labels(spec, n))


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_the_check_finds_a_planted_shortcut(spec: str) -> None:
    """The instrument itself: one feature that is right five times in six is enough to fail it."""
    y = labels(spec, 200)
    rng = np.random.default_rng(1)
    hint = np.array([[label == y[0]] for label in y], dtype=float) + rng.normal(0, 0.5, (200, 1))
    with pytest.raises(AssertionError):
        check(np.hstack([facts(spec, 200), hint]), y)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_labels_come_in_the_same_shares_in_every_stratum(spec: str) -> None:
    """Were abstention commoner among open cases, seeing that a case is open would be a hint."""
    one = shared(spec)
    sampled = [one.sampled(SEED, index) for index in range(1_000)]
    strata = sorted({d.plan.stratum for d in sampled})
    outcomes = list(one.spec.labels)
    table = [
        [sum(d.plan.stratum == s and d.decision == o for d in sampled) for o in outcomes]
        for s in strata
    ]
    assert chi2_contingency(table).pvalue > 0.01
