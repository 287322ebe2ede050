"""What is asked for, what is chosen, and what can't be searched."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.config import Plan
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.registry import hints_of, plugins
from plugins.tuning.study import Space, Study

SHIPPED: dict[str, Space] = yaml.safe_load(
    (Path(__file__).parents[3] / "conf/experiment/tune.yaml").read_text(encoding="utf-8")
)["hydra"]["sweeper"]["space"]
UNTUNED = {
    "http": "says how a third-party system is asked",
    "mcp": "says how a third-party system is asked",
    "misrouted": "a control of typed_routing: its settings are those of what it controls",
    "process": "says how a third-party system is asked",
    "random_context": "a control: only its number of trials is set",
}
SPACE = {"seeds": [1, 20], "decay": [0.0, 3.0], "prune": [False, True]}


def plan_of(arch: str, *overrides: str) -> Plan:
    with composer():
        return compose_plan([f"arch={arch}", *overrides])


def value(settings: dict[str, Any]) -> float:
    """Best at 11 seeds and pruned; the arm as it is has 5 and does not."""
    return 1 - abs(settings.get("seeds", 5) - 11) / 20 + 0.1 * settings.get("prune", False)


def searched(plan: Plan, n: int, space: Space = SPACE, *, higher: bool = True) -> Study:
    study = Study(plan, space, higher_is_better=higher)
    for _ in range(n):
        settings = study.ask()
        study.tell(settings, value(settings) if higher else -value(settings))
    return study


def has_a_number(settings: Any) -> bool:
    """Whether an arm has a number to search, which changes its rows."""
    hints = hints_of(settings)
    fields = dataclasses.fields(settings)
    return any(
        not f.metadata.get("operational")
        and ("int" in str(hints[f.name]) or "float" in str(hints[f.name]))
        for f in fields
    )


def test_every_arm_with_a_number_to_search_has_a_space_or_a_reason_for_none() -> None:
    ours = (p for p in plugins("arch") if p.cls.__module__.startswith("plugins."))
    settable = {p.name for p in ours if has_a_number(p.settings)}
    assert settable == SHIPPED.keys() | UNTUNED.keys()
    assert not SHIPPED.keys() & UNTUNED.keys()


@pytest.mark.slow
@pytest.mark.parametrize("arch", sorted(SHIPPED))
def test_all_that_is_asked_for_in_a_shipped_space_is_a_setting_of_the_arm(arch: str) -> None:
    plan = plan_of(arch)
    study = Study(plan, SHIPPED[arch], higher_is_better=True)
    for number in range(15):
        settings = study.ask()
        assert settings.keys() == (SHIPPED[arch].keys() if number else set())
        dataclasses.replace(plan.parts["arch"].settings, **settings)
        study.tell(settings, 0.0)


def test_the_first_trial_is_the_arm_as_it_is() -> None:
    assert Study(plan_of("typed_graph"), SPACE, higher_is_better=True).ask() == {}


def test_the_same_values_make_it_ask_the_same_and_another_seed_something_else() -> None:
    plan = plan_of("typed_graph")
    found = searched(plan, 15).trials
    assert found == searched(plan, 15).trials
    assert found != searched(plan_of("typed_graph", "seed=8"), 15).trials
    # To make the lowest best is to make the highest of the negated best.
    lowest = searched(plan, 15, higher=False).trials
    assert [trial.settings for trial in lowest] == [trial.settings for trial in found]


def test_what_is_asked_for_is_in_the_space_and_can_be_read() -> None:
    for trial in searched(plan_of("typed_graph"), 20).trials[1:]:
        settings = trial.settings
        assert settings.keys() == SPACE.keys()
        assert type(settings["seeds"]) is int
        assert 1 <= settings["seeds"] <= 20
        assert 0 <= settings["decay"] <= 3
        assert float(f"{settings['decay']:.3g}") == settings["decay"]
        assert settings["prune"] in (False, True)


def test_the_best_is_chosen_and_of_equals_the_first() -> None:
    study = searched(plan_of("typed_graph"), 30)
    assert study.chosen.value == max(trial.value for trial in study.trials)
    assert study.chosen.value > study.trials[0].value
    flat = Study(plan_of("bm25"), {"k1": [0.0, 3.0]}, higher_is_better=True)
    for _ in range(5):
        flat.tell(flat.ask(), 0.5)
    assert flat.chosen.settings == {}


def test_it_searches_where_it_found_much() -> None:
    study = searched(plan_of("typed_graph"), 40)
    late = [abs(trial.settings["seeds"] - 11) for trial in study.trials[20:]]
    assert sum(late) / len(late) < 4, "at random it would be about 5"


def test_an_arm_whose_own_setting_lies_outside_is_measured_too() -> None:
    study = searched(plan_of("typed_graph", "arch.hops=null"), 12, {"hops": [1, 4]})
    assert study.trials[0].settings == {}
    assert all(1 <= trial.settings["hops"] <= 4 for trial in study.trials[1:])


@pytest.mark.parametrize(
    ("space", "told"),
    [
        ({"kl": [0, 1]}, "hydra.sweeper.space.bm25.kl: no such setting; did you mean 'k1'?"),
        ({"k1": [0.5]}, "bm25.k1: [0.5] given, a list of two values or more expected"),
        ({"k1": 0.5}, "bm25.k1: 0.5 given, a list of two values or more expected"),
        ({"k1": ["a", "b"]}, "bm25.k1: 'a' given, a number expected"),
        ({"k1": [2, 1]}, "bm25.k1: [2, 1] given, [lowest, highest] expected"),
        ({"k1": [1, 2, 3]}, "bm25.k1: [1, 2, 3] given, [lowest, highest] expected"),
        ({"b": [0.5, 1.5]}, "bm25.b: b: 1.5 given, 0 to 1 expected"),
        ({"tokenizer": ["words", "letters"]}, "bm25.tokenizer: 'letters' given"),
    ],
)
def test_what_can_not_be_searched(space: dict[str, Any], told: str) -> None:
    with pytest.raises(UserError) as raised:
        Study(plan_of("bm25"), space, higher_is_better=True)
    assert told in str(raised.value)
