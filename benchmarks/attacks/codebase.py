"""Links, length, order and rarity of decisions; one of a hundred governs a change.

Each ranks the decisions in force without a question; it earns the AUC of the 14
that govern. Learned ones are the better of L2 logistic regression and gradient
boosting, cross-validated. Allowed is what chance stays within in 999 of 1,000
runs. Two read words, tell and are only shown (docs/decisions/0018):
`rare_first`, the mean rarity of a decision's words in the history, and
`code_names`, the names in backticks that the files at hand have. Best:
typed_graph, asked with the ticket.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from benchmarks.attacks import Earned
from framework.contracts import ArchContext, Client, Query
from framework.records import Event
from framework.registry import find, settings_of
from plugins.archs.rare_first import rarity
from plugins.domains.codebase.domain import HISTORY, Codebase, CodebaseSettings

Scores = npt.NDArray[np.float64]
LINKS: Final = tuple(
    f"{relation} {way}"
    for relation in ("implements", "derived_from", "constrains", "supersedes")
    for way in ("out", "in")
)[:-1]
FIXED: Final = ("roots", "longest", "shortest", "oldest_first", "newest_first", *LINKS)
RARE: Final = "rare_first"
LEARNED: Final = ("links", "length", "links_and_length")
_CODE: Final = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """Decisions in force.

    links : by relation and direction; rarity : of their words in the whole history; governs :
    whether a task is by it.
    """

    events: Sequence[Event]
    links: Sequence[Counter[str]]
    rarity: Scores
    governs: npt.NDArray[np.bool_]


def records(domain: Codebase, events: Sequence[Event] | None = None) -> Records:
    """The domain's decisions in force. events : in the place of its history."""
    every = list(domain.history(HISTORY)) if events is None else list(events)
    links: dict[str, Counter[str]] = {event.id: Counter() for event in every}
    for event in every:
        for relation, target in event.edges:
            links[event.id][f"{relation} out"] += 1
            links[target][f"{relation} in"] += 1
    governing = {name for case in domain.cases(None, 0) for name in case.gold.governing}
    kept = [event for event in every if not links[event.id]["supersedes in"]]
    rare = dict(zip((event.id for event in every), rarity(every), strict=True))
    return Records(
        events=kept,
        links=[links[event.id] for event in kept],
        rarity=np.array([rare[event.id] for event in kept]),
        governs=np.array([event.id in governing for event in kept]),
    )


def auc(found: Records, name: str) -> tuple[float, float, float]:
    """A shortcut's AUC with its 95% interval, Student's t.

    Of a fixed order DeLong's (1988). A learned one ranks each decision that governs among a
    fourteenth of the others, trained on the rest. What is balanced by design it learns backwards,
    since what is left out is missing in the rest: below .5 it says nothing.
    """
    from scipy.stats import t

    if name in LEARNED:
        parts = max(_learned(found, name), key=lambda ranks: float(ranks[0].mean()))
    else:
        scores = _fixed(found, name)
        above = _above(scores[found.governs], scores[~found.governs])
        parts = [above.mean(axis=1), above.mean(axis=0)]
    error = math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in parts))
    value, reach = float(parts[0].mean()), float(t.ppf(0.975, len(parts[0]) - 1)) * error
    return value, value - reach, value + reach


def _above(mine: Scores, others: Scores) -> Scores:
    """Whether each of `mine` is above each of `others`; half where they tie."""
    found: Scores = (mine[:, None] > others) + 0.5 * (mine[:, None] == others)
    return found


def attempts(n: int, seed: int) -> Iterator[Earned]:
    """Every shortcut on the domain's default, whose cases are as many as there are."""
    domain = Codebase(CodebaseSettings())
    found = records(domain)
    mine = int(found.governs.sum())
    others = len(found.events) - mine
    allowed = 0.5 + 3.09 * math.sqrt((mine + others + 1) / (12 * mine * others))
    best = by_arm(domain, "typed_graph")
    for name in (*FIXED, *LEARNED):
        yield Earned(domain="codebase", attack=name, figure="AUC", value=auc(found, name)[0],
                     best=best, allowed=allowed, n=mine)  # fmt: skip
    for name, value in ((RARE, auc(found, RARE)[0]), ("code_names", by_names(domain))):
        yield Earned(domain="codebase", attack=name, figure="AUC", value=value,
                     best=best, allowed=None, n=mine)  # fmt: skip


def by_arm(domain: Codebase, arm: str) -> float:
    """Mean AUC over tasks of where an arm ranks the rule; what it does not recall is last."""
    found = records(domain)
    plugin = find("arch", arm)
    memory: Any = plugin.cls(
        settings_of(plugin, {}), ArchContext(budget_tokens=None, client=cast(Client, None))
    )
    events = list(domain.history(HISTORY))
    memory.ingest(events)
    values = []
    for case in domain.cases(None, 0):
        items = memory.recall(Query(text=case.task.query), len(events))
        rank = {item.id: float(-i) for i, item in enumerate(items)}
        scores = np.array([rank.get(event.id, -float(len(events))) for event in found.events])
        governs = np.array([event.id in case.gold.governing for event in found.events])
        values.append(float(_above(scores[governs], scores[~governs]).mean()))
    return fmean(values)


def by_names(domain: Codebase) -> float:
    """Mean AUC over tasks of how many of a decision's names in backticks the files at hand have."""
    found = records(domain)
    names = [set(re.findall(r"\w+", " ".join(_CODE.findall(e.text)))) for e in found.events]
    values = []
    for case in domain.cases(None, 0):
        known = set(re.findall(r"\w+", " ".join(case.task.material.values())))
        scores = np.array([len(one & known) / max(1, len(one)) for one in names])
        governs = np.array([e.id in case.gold.governing for e in found.events])
        values.append(float(_above(scores[governs], scores[~governs]).mean()))
    return fmean(values)


def _fixed(found: Records, name: str) -> Scores:
    if name == "roots":  # what is implied by nothing above it, and replaced by nothing
        up = ("implements out", "derived_from out", "constrains in")
        return np.array([float(not any(links[one] for one in up)) for links in found.links])
    if name == RARE:
        return found.rarity
    if name in LINKS:
        return np.array([float(links[name]) for links in found.links])
    if name in ("longest", "shortest"):
        sizes = np.array([float(len(event.text)) for event in found.events])
        return sizes if name == "longest" else -sizes
    order = np.arange(len(found.events), dtype=np.float64)
    return order if name == "newest_first" else -order


def _learned(found: Records, name: str) -> Iterator[list[Scores]]:
    """By model, the share of held-out others below each decision that governs."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    keys = LINKS if "links" in name else ()
    rows = np.array(
        [
            [*(float(links[key]) for key in keys), len(event.text) * ("length" in name)]
            for links, event in zip(found.links, found.events, strict=True)
        ]
    )
    models: tuple[Any, ...] = (
        make_pipeline(StandardScaler(), LogisticRegression(C=0.5, class_weight="balanced")),
        GradientBoostingClassifier(n_estimators=50, max_depth=2, random_state=0),
    )
    folds = StratifiedKFold(int(found.governs.sum()), shuffle=True, random_state=0)
    for model in models:
        ranks = []
        for train, test in folds.split(rows, found.governs):
            scores = model.fit(rows[train], found.governs[train]).predict_proba(rows[test])[:, 1]
            held = found.governs[test]
            ranks.append(_above(scores[held], scores[~held]).mean())
        yield [np.array(ranks)]
