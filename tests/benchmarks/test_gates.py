"""The simulated loops: the truth is what it is said to be, and rules differ as they must."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.studies import gates
from benchmarks.studies.gate_populations import MIXTURE, Effect, Idea, Population, read_effects
from benchmarks.studies.gate_tables import draw, markdown
from benchmarks.studies.gates import ANALYSES, RULES, Found, Rule, simulate
from framework.engine.compose import compose_plan, composer
from framework.errors import DataError, UserError
from framework.reporting.figures.style import save

POINT: Mapping[str, Any] = {"rule": "point", "threshold": 0.02}
STRICT = Rule(name="point", gate=POINT)
OPEN = Rule(name="open", plugin="open")


@pytest.fixture(scope="module")
def found() -> list[Found]:
    return simulate(15, seed=1, rules=[STRICT, Rule(name="every", gate={"rule": "point"}), OPEN])


@pytest.mark.parametrize(
    "target", [("longmemeval",), ("pipeline", "domain=loan"), ("text_to_sql",)], ids=lambda t: t[0]
)
def test_the_rule_that_a_target_runs_is_simulated(target: tuple[str, ...]) -> None:
    with composer():
        plan = compose_plan(["protocol=improve", f"target={target[0]}", *target[1:]])
    settings = plan.parts["protocol"].create().settings
    domain = plan.parts["domain"].create()
    of = plan.parts["target"].create().on(domain)
    run = Rule(
        name="as run",
        plugin=plan.parts["gate"].plugin.name,
        fresh=of.generates(domain),
        confirm=settings.sizes(of.sizes(domain)).confirm,
        least=settings.min_net_flips,
        patience=settings.patience,
    )
    assert settings.fresh_confirm == "auto"
    assert any(replace(rule, name="as run") == run for rule in RULES), run


def test_the_declared_effects_are_the_true_ones() -> None:
    effects = {idea.name: idea.after(0.75) - 0.75 for idea in MIXTURE.ideas}
    assert effects == pytest.approx({"null": 0, "harmful": -0.0225, "small": 0.02, "large": 0.06})
    assert sum(idea.share for idea in MIXTURE.ideas) == pytest.approx(1)


@pytest.mark.slow
def test_promotions_grow_with_analyses_and_a_stricter_gate_makes_fewer(found: list[Found]) -> None:
    by = {(f.rule, f.analyses): f for f in found}
    for rule in ("point", "every", "open"):
        counts = [by[rule, analyses].promotions for analyses in ANALYSES]
        assert counts == sorted(counts)
        assert all(by[rule, analyses].regret >= -1e-9 for analyses in ANALYSES)
    assert by["point", 20].promotions < by["every", 20].promotions < by["open", 20].promotions
    assert by["point", 20].any_false <= by["every", 20].any_false
    assert by["open", 20].promotions == 20


def test_the_plateau_rule_ends_a_loop_that_gains_nothing() -> None:
    barren = Population(
        name="barren",
        accuracy=0.5,
        ideas=(Idea(name="null", share=1, fix=0.1, hurt=0.1),),
    )
    endless = Rule(name="endless", gate={"rule": "point"}, fresh=True)
    waits = Rule(name="waits", gate={"rule": "point"}, fresh=True, least=2, patience=3)
    last = [f for f in simulate(10, 0, barren, [endless, waits]) if f.analyses == ANALYSES[-1]]
    assert last[1].promotions < last[0].promotions
    assert all(f.gain == pytest.approx(0) and f.regret == pytest.approx(0) for f in last)


def test_noise_of_other_words_refuses_what_truly_gains() -> None:
    gains = Idea(name="gains", share=1, fix=0.3, hurt=0.0)  # about 6 of 100 cases, none lost
    loud = Population(name="loud", accuracy=0.8, ideas=(gains,), noise=0.4)
    quiet = Population(name="quiet", accuracy=0.8, ideas=(gains,), noise=0.0)
    rule = Rule(name="a", gate=POINT, fresh=True, least=2, patience=30, other_words=True)
    fixed = Rule(name="b", gate=POINT, fresh=True, least=2, patience=30)
    heard, unheard = (
        [f.promotions for f in simulate(50, 0, population, [rule, fixed]) if f.analyses == 20]
        for population in (loud, quiet)
    )
    # 40 flips of noise ask for 11 net flips of 100, which an idea that gains 6 hardly ever has.
    assert heard[0] < 0.2 * heard[1]
    assert unheard[0] == unheard[1]


@pytest.mark.slow
def test_counts_are_those_of_loops_drawn_case_by_case() -> None:
    """The same loops, with an array of cases each: promotions agree within four standard errors."""
    population = Population(
        name="two",
        accuracy=0.7,
        ideas=(
            Idea(name="up", share=0.4, fix=0.2, hurt=0.02),
            Idea(name="down", share=0.6, fix=0.1, hurt=0.06),
        ),
    )
    loops = 400
    for fresh in (True, False):
        rule = Rule(name="rule", gate=POINT, fresh=fresh)
        by_counts = next(f for f in simulate(loops, 3, population, [rule]) if f.analyses == 5)
        by_cases = np.array(
            [_by_cases(population, rule, np.random.default_rng([9, i])) for i in range(loops)]
        )
        error = by_cases.std(axis=0) / loops**0.5
        found = np.array([by_counts.promotions, by_counts.gain, by_counts.any_false])
        assert (np.abs(found - by_cases.mean(axis=0)) < 4 * 2**0.5 * error).all()


def _by_cases(
    population: Population, rule: Rule, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Promotions, true gain and whether one was false, of five analyses with every case drawn."""

    def edited(right: Any, idea: Idea) -> Any:
        draw = rng.random(len(right))
        return np.where(right, draw >= idea.hurt, draw < idea.fix)

    def flips(before: Any, after: Any) -> tuple[int, int]:
        return int((after & ~before).sum()), int((before & ~after).sum())

    stack: list[Idea] = []
    accuracy, analyses, false = population.accuracy, 0, False
    held = rng.random(rule.confirm) < accuracy
    while analyses < 5:
        idea = population.ideas[int(rng.random() < 0.6)]
        tried = rng.random(gates.OPTIMIZE) < population.accuracy
        if not gates._tried(*flips(tried, edited(tried, idea))):
            continue
        analyses += 1
        before = held
        if rule.fresh:
            before = rng.random(rule.confirm) < population.accuracy
            for entry in stack:
                before = edited(before, entry)
        after = edited(before, idea)
        fixed, broken = flips(before, after)
        if fixed >= gates._least_fixed(gates._asked(rule, analyses), broken):
            stack.append(idea)
            held = after
            false |= idea.after(accuracy) <= accuracy
            accuracy = idea.after(accuracy)
    return len(stack), accuracy - population.accuracy, float(false)


@pytest.mark.parametrize("gate", [{}, POINT], ids=["bound", "point"])
def test_the_gate_is_asked_at_the_border_and_its_word_holds_beyond(gate: Mapping[str, Any]) -> None:
    rule = Rule(name="rule", gate=gate, fresh=True)
    asked = gates._asked(rule, 1)
    for broken in (0, 2, 5):
        for fixed in range(0, 16, 3):
            passes = gates._word(asked, fixed, broken)[0]
            assert passes is (fixed >= gates._least_fixed(asked, broken))


@pytest.mark.slow
def test_a_simulation_is_its_seeds(found: list[Found]) -> None:
    assert simulate(15, seed=1, rules=[STRICT]) == found[: len(ANALYSES)]


def test_measured_effects_become_rates(tmp_path: Path) -> None:
    effect = Effect(name="a", seam="score", wrong=40, fixed=10, right=60, broken=3)
    assert effect.delta == pytest.approx(0.07)
    path = tmp_path / "effects.json"
    entry = {name: getattr(effect, name) for name in Effect.__slots__}
    data = {"name": "mine", "cases": 100, "finite": False, "effects": [entry]}
    path.write_text(json.dumps({**data, "noise": {"fixed": 3, "broken": 5}}))
    population = read_effects(path)
    assert population.name == "library of mine, measured on 100 cases"
    assert (population.accuracy, population.noise) == (0.6, 0.08)
    assert population.ideas[0].after(0.6) == pytest.approx(0.67)
    path.write_text(json.dumps({**data, "noise": None, "finite": True}))
    population = read_effects(path)
    assert population.name == "library of mine, measured on all 100 cases"
    assert population.noise == 0
    path.write_text('{"effects": []}')
    with pytest.raises(DataError, match="no measured effects"):
        read_effects(path)
    with pytest.raises(UserError):
        read_effects(tmp_path / "none.json")


def test_ideas_that_never_fix_anything_are_refused() -> None:
    inert = Population(
        name="inert", accuracy=0.5, ideas=(Idea(name="n", share=1, fix=0, hurt=0.1),)
    )
    with pytest.raises(UserError, match="no idea fixes a case"):
        simulate(1, population=inert)


def test_the_table_and_the_picture(found: list[Found], tmp_path: Path) -> None:
    rows = [line for line in markdown(found).splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 3  # the head, and one line a rule
    for path in save(draw(found), tmp_path):
        assert path.stat().st_size > 1_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gate", "low", "high"), [(POINT, 0.28, 0.40), ({}, 0.0, 0.03)], ids=["point", "bound"]
)
def test_a_null_edit_passes_the_point_rule_a_third_of_the_time(
    gate: Mapping[str, Any], low: float, high: float
) -> None:
    """An edit that flips as many cases of 100 as seed 101's last one did: 13, for nothing.

    The bound rule has the one-sided level .025; .03 allows for three standard errors of 4,000.
    """
    rule = Rule(name="rule", gate=gate, fresh=True)
    rng = np.random.default_rng(7)
    counts = rng.multinomial(100, (0.065, 0.065, 0.87), size=4_000)
    asked = gates._asked(rule, 1)
    passed = [fixed >= gates._least_fixed(asked, int(broken)) for fixed, broken, _ in counts]
    assert low < np.mean(passed) < high
