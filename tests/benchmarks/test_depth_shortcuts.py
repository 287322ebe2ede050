"""Where a decision governs by links, no search for strings and no look finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.attacks.depth import SHORTCUTS, Found, tried
from framework.records import Event
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.settings import GovernanceSettings

CASES, SEED = 400, 23


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    """On 40 corpora of the default, in which records call each other by aliases."""
    return tried(CASES, SEED, Governance(GovernanceSettings()), SHORTCUTS)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_earns_no_more_than_chance(name: str, found: dict[str, Found]) -> None:
    mean, low, high = found[name].over_chance()
    print(f"{name}: {mean:+.3f} [{low:+.3f}, {high:+.3f}] over chance, 40 corpora")
    assert low <= 0
    assert high < 0.1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("grep_names", 0.9), ("grep_labels", 0.4)])
def test_where_texts_call_records_by_name_the_same_search_finds_them(
    name: str, least: float
) -> None:
    named = Governance(GovernanceSettings(naming="explicit"))
    mean, low, high = tried(100, SEED, named, [name])[name].over_chance()
    print(f"{name}, explicit: {mean:+.3f} [{low:+.3f}, {high:+.3f}] over chance, 10 corpora")
    assert low > least


def planted(made: Governance, history_id: str) -> list[Event]:
    """A corpus whose governing records are longer and newer, and whose label all records have."""
    seed, block = made._parse(history_id)
    corpus = made.corpus(seed, block)
    chains = [corpus.gold_chain(task) for task in range(made.settings.tasks_per_history)]
    heads = {corpus.layout.event_id(chain.head) for chain in chains}
    label = corpus.layout.label(corpus.contents.of(chains[0]).governed)
    events = [
        replace(
            event,
            text=f"{event.text} Mind the {label}. " + "So it was. " * 30 * (event.id in heads),
            time="2031-01-01" if event.id in heads else event.time,
        )
        for event in made.history(history_id)
    ]
    return sorted(events, key=lambda event: event.time)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["longest", "newest_first", "commoner_label"])
def test_a_planted_shortcut_is_found(name: str) -> None:
    made = Governance(GovernanceSettings(tasks_per_history=1, depth=3))
    mean, low, high = tried(20, SEED, made, [name], planted)[name].over_chance()
    print(f"{name}, planted: {mean:+.3f} [{low:+.3f}, {high:+.3f}] over chance, 20 corpora")
    assert low > 0.3
