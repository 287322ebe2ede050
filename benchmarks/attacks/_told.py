"""How well what lies open about a case tells its label.

The better of L2 logistic regression and gradient boosting, cross-validated by cluster. The figure
is the area under the ROC curve (AUC), the mean over labels of one against the rest; .5 is chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

import numpy as np

CHANCE: Final = (0.45, 0.55)
"""What an AUC over `CASES` cases stays within where nothing is told."""
CASES: Final = 2_000
RARE: Final = 1.68
"""Half of an interval that chance leaves in 1 of 1,000 runs, over half of one at 95%."""
_FOLDS: Final = 5
_RESAMPLES: Final = 200
_WORDS: Final = 60
_WIDER: Final = 2**0.5
"""Resampled predictions miss that other cases would be fitted otherwise, and that the better of two
is shown: over 25 draws of 150 cases of noise their spread was .76 of that of the AUC."""

Row = Mapping[str, float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An AUC with its 95% bootstrap interval over clusters, and over how many of each.

    most : the label of which most is told, and its AUC against the rest.
    """

    auc: float
    low: float
    high: float
    cases: int
    clusters: int
    most: tuple[str, float] = ("", 0.5)

    @property
    def at_chance(self) -> bool:
        """Within .45 to .55; over fewer cases than 2,000 an interval that holds .5 is enough."""
        within = CHANCE[0] <= self.auc <= CHANCE[1]
        return within or (self.cases < CASES and self.low <= 0.5 <= self.high)

    def __str__(self) -> str:
        width = self.high - self.low
        of = f"{self.cases} cases, {self.clusters} clusters"
        return f"AUC {self.auc:.3f} [{self.low:.3f}, {self.high:.3f}], width {width:.3f}, {of}"


def told(
    rows: Sequence[Row] | Sequence[str],
    labels: Sequence[Hashable],
    clusters: Sequence[Hashable] | None = None,
) -> Told | None:
    """What rows of features, or texts by their words, tell of the labels.

    clusters : what is never split between fitting and telling; a case of its own where None.
    None where a label has fewer than two clusters.
    """
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from threadpoolctl import threadpool_limits

    names, y = np.unique([str(label) for label in labels], return_inverse=True)
    given = range(len(y)) if clusters is None else clusters
    groups = np.unique([str(cluster) for cluster in given], return_inverse=True)[1]
    least = min((len(set(groups[y == k])) for k in range(len(names))), default=0)
    if len(names) < 2 or least < 2:
        return None
    folds = StratifiedGroupKFold(min(_FOLDS, least), shuffle=True, random_state=0)
    texts = isinstance(rows[0], str)
    X = _words(rows) if texts else _matrix(rows)
    with threadpool_limits(1):
        chances = [
            cross_val_predict(model, X, y, groups=groups, cv=folds, method="predict_proba")
            for model in _models(texts, X.shape[1])
        ]
    best = max(chances, key=lambda found: _auc(found, y))
    low, high = _interval(best, y, groups)
    return Told(
        auc=_auc(best, y),
        low=low,
        high=high,
        cases=len(y),
        clusters=int(groups.max()) + 1,
        most=max(zip(map(str, names), _each(best, y), strict=True), key=lambda found: found[1]),
    )


def _models(texts: bool, features: int) -> list[Any]:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def before() -> Any:
        # Words are chosen within each fold, by its labels alone.
        return SelectKBest(chi2, k=min(_WORDS, features)) if texts else StandardScaler()

    boosted = GradientBoostingClassifier(n_estimators=50, subsample=0.5, random_state=0)
    linear = LogisticRegression(C=0.1 if texts else 0.05, max_iter=1_000)
    return [make_pipeline(before(), linear), make_pipeline(before(), boosted)]


def _words(texts: Sequence[Any]) -> Any:
    """By text, which words and pairs of words are in it, those of few texts left out."""
    from sklearn.feature_extraction.text import CountVectorizer

    rare = max(2, min(10, len(texts) // 50))
    return CountVectorizer(min_df=rare, ngram_range=(1, 2), binary=True).fit_transform(texts)


def _matrix(rows: Sequence[Any]) -> Any:
    """Numbers as they are, words as indicators; what a row lacks has the mean of the others."""
    from sklearn.feature_extraction import DictVectorizer

    means: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            if not isinstance(value, str):
                means.setdefault(key, []).append(float(value))
    filled = {key: float(np.mean(values)) for key, values in means.items()}
    full = [
        {**filled, **{f"has {key}": 1.0 for key in row.keys() & filled.keys()}, **row}
        for row in rows
    ]
    matrix = DictVectorizer(sparse=False).fit_transform(full)
    return matrix[:, matrix.std(axis=0) > 0] if (matrix.std(axis=0) > 0).any() else matrix


def _each(chances: Any, y: Any) -> list[float]:
    """By label, the AUC of it against the rest, by its sum of ranks (Mann and Whitney 1947)."""
    from scipy.stats import rankdata

    ranks = rankdata(chances, axis=0)
    found = []
    for k in np.unique(y):
        n = np.count_nonzero(y == k)
        above = ranks[y == k, k].sum() - n * (n + 1) / 2
        found.append(float(above / (n * (len(y) - n))))
    return found


def _auc(chances: Any, y: Any) -> float:
    return fmean(_each(chances, y))


def _interval(chances: Any, y: Any, groups: Any) -> tuple[float, float]:
    rng = np.random.default_rng(0)
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    found = []
    for _ in range(_RESAMPLES):
        drawn = np.concatenate([members[i] for i in rng.integers(0, len(members), len(members))])
        if len(np.unique(y[drawn])) == len(np.unique(y)):
            found.append(_auc(chances[drawn], y[drawn]))
    auc, (low, high) = _auc(chances, y), np.quantile(found, (0.025, 0.975))
    return float(auc - _WIDER * (auc - low)), float(auc + _WIDER * (high - auc))
