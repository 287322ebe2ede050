"""Neither links nor length nor order tell which decision governs a change; rare words do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.attacks.codebase import FIXED, LEARNED, RARE, Records, auc, records
from plugins.domains.codebase.domain import HISTORY, Codebase, CodebaseSettings


@pytest.fixture(scope="module")
def found() -> Records:
    """The decisions in force of the default."""
    return records(Codebase(CodebaseSettings()))


@pytest.mark.parametrize("name", [*FIXED, *LEARNED])
def test_a_shortcut_is_at_chance(name: str, found: Records) -> None:
    value, low, high = auc(found, name)
    print(f"{name}: AUC {value:.3f} [{low:.3f}, {high:.3f}], width {high - low:.2f}")
    assert low <= 0.5
    if name not in ("roots", *LEARNED):  # no rule is at an end of the graph; see `auc`
        assert high >= 0.5


def test_rare_words_tell_the_rules_as_much_as_the_card_says(found: Records) -> None:
    """A shortcut that stays (docs/decisions/0018): another value is another statement there."""
    value, low, high = auc(found, RARE)
    print(f"{RARE}: AUC {value:.3f} [{low:.3f}, {high:.3f}], width {high - low:.2f}")
    assert value == pytest.approx(0.971, abs=0.01)
    assert low > 0.9


@pytest.mark.parametrize("name", ["roots", "links", "links_and_length"])
def test_among_the_own_decisions_alone_links_tell(name: str) -> None:
    """As it was while nothing of the same shape stood beside them."""
    _, low, _ = auc(records(Codebase(CodebaseSettings(padding=0))), name)
    assert low > 0.8


@pytest.mark.parametrize("name", ["longest", "length"])
def test_a_planted_length_is_found(name: str, found: Records) -> None:
    made = Codebase(CodebaseSettings())
    governing = {one for case in made.cases(None, 0) for one in case.gold.governing}
    events = [
        replace(event, text=event.text + " So it was decided." * 3 * (event.id in governing))
        for event in made.history(HISTORY)
    ]
    _, low, _ = auc(records(made, events), name)
    assert low > 0.5
