"""Every knob moves its own covariate and no other's; what governs can't be told by its looks."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from framework.records import Case, Event
from framework.text.tokens import count_tokens
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.settings import GovernanceSettings
from tests.plugins.domains.governance.helpers import (
    cases,
    domain,
    edge_fidelity,
    events_of,
    hops_to,
)

KNOBS: dict[str, Sequence[Any]] = {
    "depth": range(1, 9),
    "rho": (0.3, 0.5, 0.67, 0.8, 0.95),
    "visibility": (0.2, 0.5, 0.8, 1.0),
    "items": (60, 80, 100, 120),
    "distractors": (0, 1, 2, 3),
    "fidelity": (0.5, 0.7, 0.9, 1.0),
    "versions": (1, 2, 3, 4),
    "scatter": (1, 2, 3),
}


def covariates(settings: GovernanceSettings, seed: int) -> dict[str, float]:
    """What a corpus of one task really has, one measure for each knob, from texts and edges."""
    made = Governance(settings)
    (case,) = made.cases(1, seed)
    events = list(made.history(case.history_id))
    layout = made.corpus(seed, 0).layout
    intact = domain(**{**_as_dict(settings), "fidelity": 1.0})
    truth = events if settings.fidelity == 1 else list(intact.history(case.history_id))
    first = layout.event_id(layout.chains[0].start + layout.chains[0].depth)
    entry = layout.event_id(layout.chains[0].start)
    drift = made.drift(case)
    depth = hops_to(truth, entry, first)
    assert depth is not None
    return {
        "depth": depth,
        "rho": fmean(drift.hops),
        "visibility": drift.surface[0],
        "items": len(events) / len(case.gold.governing),  # records: sigma events each
        "distractors": len(case.gold.distractors),
        "fidelity": edge_fidelity(events, truth),
        "versions": 1 + len(case.gold.retired),
        "scatter": len(case.gold.governing),
    }


def _as_dict(settings: GovernanceSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in GovernanceSettings.__slots__}


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_knob_moves_its_own_covariate_alone() -> None:
    """|Spearman| < .1 for every pair of a knob and another's covariate (validity.md 2)."""
    rng = random.Random(20)
    drawn: dict[str, list[float]] = {name: [] for name in KNOBS}
    found: dict[str, list[float]] = {name: [] for name in KNOBS}
    for seed in range(1_600):
        knobs = {name: rng.choice(values) for name, values in KNOBS.items()}
        settings = GovernanceSettings(**knobs, tasks_per_history=1, edge_noise="mixed")
        for name, value in covariates(settings, seed).items():
            drawn[name].append(knobs[name])
            found[name].append(value)
    cross = {(a, b): spearman(drawn[a], found[b]) for a in KNOBS for b in KNOBS}
    print("greatest:", max((abs(rho), pair) for pair, rho in cross.items() if pair[0] != pair[1]))
    for (knob, other), rho in cross.items():
        assert rho > 0.6 if knob == other else abs(rho) < 0.1, (knob, other, rho)


def test_scatter_moves_the_size_of_the_corpus_too() -> None:
    """The declared exception: parts name what they belong to, so that sigma adds words."""
    events, tokens = {}, {}
    for sigma in (1, 3, 6):
        made = domain(scatter=sigma, items=120, distractors=1, tasks_per_history=1)
        (case,) = made.cases(1, 7)
        texts = [event.text for event in made.history(case.history_id)]
        events[sigma], tokens[sigma] = len(texts), sum(count_tokens(text) for text in texts)
    assert {sigma: n // sigma for sigma, n in events.items()} == {1: 120, 3: 120, 6: 120}
    assert 1.15 < tokens[3] / tokens[1] < 1.35
    assert 1.5 < tokens[6] / tokens[1] < 1.75


@pytest.mark.parametrize("knob", ["rho", "visibility", "fidelity", "distractors", "depth"])
def test_no_other_knob_moves_the_size_of_the_corpus(knob: str) -> None:
    tokens = []
    for value in (KNOBS[knob][0], KNOBS[knob][-1]):
        made = domain(**{knob: value}, items=120, tasks_per_history=1)
        sizes = []
        for seed in range(6):
            (case,) = made.cases(1, seed)
            sizes.append(sum(count_tokens(e.text) for e in made.history(case.history_id)))
        tokens.append(fmean(sizes))
    assert tokens[1] / tokens[0] == pytest.approx(1, abs=0.03)


LOOKS: dict[str, Callable[[Event, dict[str, int]], float]] = {
    "degree": lambda event, degree: degree[event.id],
    "length in words": lambda event, degree: len(event.text.split()),
    "age": lambda event, degree: float(event.time.replace("-", "")),
    "branching": lambda event, degree: len(event.edges),
    "associations": lambda event, degree: sum(r == "relates_to" for r, _ in event.edges),
}


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_look_alikes_have_the_looks_of_what_governs(look: str) -> None:
    """validity.md 2: the governing record is above its look-alikes as often as below."""
    made = domain(items=300, tasks_per_history=6, distractors=4, depths=(1, 2, 4))
    above = []
    for case in made.cases(180, 11):
        events = events_of(case, made)
        degree = dict.fromkeys(events, 0)
        for event in events.values():
            for _, target in event.edges:
                degree[event.id] += 1
                degree[target] += 1
        of = {name: LOOKS[look](events[name], degree) for name in case.gold.distractors}
        mine = LOOKS[look](events[case.gold.governing[0]], degree)
        above.append(fmean((mine > other) + 0.5 * (mine == other) for other in of.values()))
    error = max(float(np.std(above)) / math.sqrt(len(above)), 1e-9)
    assert abs(fmean(above) - 0.5) <= 4 * error


@pytest.mark.parametrize("rho", [0.3, 0.67, 0.9])
def test_drift_is_geometric_at_the_rate_of_the_knob(rho: float) -> None:
    """Overlap with the ticket falls as visibility * rho^k, but for words that meet by chance."""
    made = domain(rho=rho, visibility=0.8)
    drifts = [made.drift(case) for case in made.cases(240, 5)]
    for k in range(6):
        found = fmean(d.surface[k] for d in drifts if len(d.surface) > k)
        assert found == pytest.approx(0.8 * rho**k, abs=0.05), k


Heuristic = Callable[[Event, dict[str, int]], float]
HEURISTICS: dict[str, Heuristic] = {
    "newest": lambda event, degree: float(event.time.replace("-", "")),
    "oldest": lambda event, degree: -float(event.time.replace("-", "")),
    "highest degree": lambda event, degree: degree[event.id],
    "most edges of its own": lambda event, degree: len(event.edges),
    "constraint-typed": lambda event, degree: sum(r == "constrains" for r, _ in event.edges),
    "longest": lambda event, degree: len(event.text),
    "shortest": lambda event, degree: -len(event.text),
    "first by id": lambda event, degree: -int(event.id[3:], 16),
}


def standing(case: Case, made: Governance, heuristic: Heuristic, among: set[str] | None) -> float:
    """Share of the corpus that the heuristic puts behind the governing event; .5 is chance."""
    events = events_of(case, made)
    degree = dict.fromkeys(events, 0)
    for event in events.values():
        for _, target in event.edges:
            degree[event.id] += 1
            degree[target] += 1
    scores = {e.id: heuristic(e, degree) for e in events.values() if among is None or e.id in among}
    mine = scores.pop(case.gold.governing[0])
    return fmean((mine > s) + 0.5 * (mine == s) for s in scores.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", HEURISTICS)
def test_no_heuristic_finds_what_governs(name: str) -> None:
    made = domain(items=300, tasks_per_history=8, distractors=2)
    found = [standing(case, made, HEURISTICS[name], None) for case in made.cases(320, 9)]
    error = float(np.std(found)) / math.sqrt(len(found))
    assert abs(fmean(found) - 0.5) <= 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("name", HEURISTICS)
def test_nor_among_the_decisions_in_force_where_there_are_versions(name: str) -> None:
    made = domain(items=300, tasks_per_history=4, distractors=3, versions=3, depths=(1, 2, 4))
    found = []
    for case in made.cases(320, 9):
        layout = made.corpus(9, int(case.history_id[-5:])).layout
        heads = {layout.event_id(c.head) for c in layout.chains if c.versions > 1}
        found.append(standing(case, made, HEURISTICS[name], heads))
    error = float(np.std(found)) / math.sqrt(len(found))
    assert abs(fmean(found) - 0.5) <= 4 * error


@pytest.mark.parametrize("kind", ["dropped", "rewired", "mistyped", "stale"])
def test_fidelity_is_the_share_of_edges_that_are_as_stated(kind: str) -> None:
    """And noise is of its kind."""
    noisy = domain(fidelity=0.6, edge_noise=kind)
    intact = domain()
    kept, all_of = 0, 0
    for case in list(noisy.cases(24, 3))[::8]:
        given = {e.id: e for e in noisy.history(case.history_id)}
        truth = {e.id: e for e in intact.history(case.history_id)}
        for event in truth.values():
            have, should = given[event.id].edges, event.edges
            all_of += len(should)
            kept += sum(edge in have for edge in should)
            for edge in set(have) - set(should):
                assert kind != "dropped"
                if kind == "mistyped":
                    assert any(edge[1] == target for _, target in should)
                    assert edge not in should
                if kind in ("rewired", "stale"):
                    assert any(edge[0] == relation for relation, _ in should)
            assert len(have) <= len(should)
    assert kept / all_of == pytest.approx(0.6, abs=0.03)


def test_a_stale_edge_leads_to_what_is_older() -> None:
    noisy, intact = domain(fidelity=0.0, edge_noise="stale"), domain()
    (case,) = noisy.cases(1, 3)
    truth = {e.id: e for e in intact.history(case.history_id)}
    later = []
    for event in noisy.history(case.history_id):
        pairs = zip(event.edges, truth[event.id].edges, strict=True)
        later += [truth[new[1]].time > truth[old[1]].time for new, old in pairs]
    assert fmean(later) < 0.02  # only where nothing older is met


@pytest.mark.slow
def test_proposals_tell_nothing_of_what_governs() -> None:
    """Half of the values are one step of sixty, the others three to five: 2.5 of 60 on average."""
    met = []
    for case in cases(600, items=600, tasks_per_history=20):
        ((governed, clause),) = json.loads(case.gold.invariant)["require"].items()
        plan = json.loads(case.task.material["change_plan"])["settings"]
        proposed = next(s["value"] for s in plan if s["setting"] == governed)
        met.append(clause["low"] <= int(proposed) <= clause["high"])
    chance = 2.5 / 60
    assert fmean(met) == pytest.approx(chance, abs=4 * math.sqrt(chance * (1 - chance) / len(met)))
