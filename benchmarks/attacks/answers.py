"""Answers that list, hedge, assert both ways, copy the view, say much or nothing.

Each attack of framework.testing.adversarial is made with every decision; its
figure is that of the decision with which it earns the most. Allowed is a tenth,
or what the best constant decision earns where that is more. One line stands for
all where they earn the same. Best: the whole history in view, rule-based model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any, Final

from benchmarks.attacks import Earned
from framework.contracts import Axis, Domain, Scored, answer_by_rule
from framework.engine.compose import compose_plan, composer
from framework.operations.answering import AnsweringOperation, AnswerRequest
from framework.pipeline.pack import pack
from framework.records import Answer, Case, Event, Item, MemoryView
from framework.registry import NoSettings, find, settings_of
from framework.retention import retained
from framework.testing.adversarial import (
    COPIED,
    LIMIT,
    RuleJudge,
    adversarial_answers,
    constants,
)
from framework.testing.arch_conformance import RuleClient, settle

DOMAINS: Final = (
    *("loan", "claims", "prior_authorization", "change_release", "lab_results", "voucher_hearing"),
    *("longmemeval_synthetic", "text_to_sql"),
)
CONSTANT: Final = "constant decision"
BEST: Final = "full_context"
BESIDE: Final = (CONSTANT, BEST)

Means = dict[tuple[str, str], dict[str, list[float]]]


def attempts(n: int, seed: int) -> Iterator[Earned]:
    """Each attack of the suite, in each column that the answer moves and that has a direction."""
    for option in DOMAINS:
        yield from of_domain(option, n, seed)


def of_domain(option: str, n: int, seed: int) -> Iterator[Earned]:
    """The attacks on one domain."""
    with composer():
        plan = compose_plan([f"domain={option}", f"n_cases={n}", f"seed={seed}"])
    domain = plan.parts["domain"].create()
    axes = [_axis(name) for name in plan.axes]
    axes = [axis for axis in axes if axis.needs_answer and not axis.uses_embedder]
    values: Means = defaultdict(lambda: defaultdict(list))
    count = 0
    for case in domain.cases(n, seed):
        count += 1
        for name, answer, scored in _tried(domain, case):
            for axis in axes:
                for column, value in settle(axis.score(scored)).values.items():
                    if value is not None:
                        values[name, "" if name == BEST else answer.decision][column].append(value)
    costs = {column: cost for axis in axes for column, cost in axis.precision.items()}
    for axis in axes:
        for column, better in axis.higher_is_better.items():
            if better and column not in costs.values():
                yield from _of_column(option, column, costs.get(column), values, count)


def _of_column(
    option: str, column: str, cost: str | None, values: Means, n: int
) -> Iterator[Earned]:
    constant = _mean(values, CONSTANT, column) or 0.0
    allowed = max(constant, LIMIT)
    attacks = [name for name in dict.fromkeys(name for name, _ in values) if name not in BESIDE]
    earned = {name: _mean(values, name, column) for name in attacks}

    def row(attack: str, figure: str, value: float | None, most: float | None) -> Earned:
        best = _mean(values, BEST, figure)
        return Earned(
            domain=option, attack=attack, figure=figure, value=value, best=best, allowed=most, n=n
        )

    if len(set(earned.values())) == 1:
        # Nothing of an attack counts but its decision.
        if earned[attacks[0]] is not None:
            yield row(f"each of the {len(attacks)}", column, earned[attacks[0]], allowed)
        return
    for attack, value in earned.items():
        over = cost is not None and value is not None and value > allowed
        yield row(attack, column, value, None if over else allowed)
        if over and cost is not None:
            yield row(attack, cost, _mean(values, attack, cost), COPIED)


def _mean(
    values: Mapping[tuple[str, str], Mapping[str, list[float]]], name: str, column: str
) -> float | None:
    """The mean of a column for an attack: the best over its decisions."""
    means = [
        fmean(found[column])
        for (attack, _), found in values.items()
        if attack == name and column in found
    ]
    return max(means, default=None)


def read_whole(case: Case, events: Iterable[Event]) -> tuple[MemoryView, Answer]:
    """What the best arm does: the whole history in view, answered by the rule-based model."""
    view = pack(
        [Item(id=e.id, text=e.text, signals={}, source_ids=(e.id,)) for e in events],
        None,
        "truncate",
    )
    operation: AnsweringOperation[Any] = find("operation", case.task.operation).cls()
    request = AnswerRequest(task=case.task, view=view.text)
    return view, operation.answer_of(answer_by_rule(operation, request), case.task)


def _tried(domain: Domain[Any], case: Case) -> Iterator[tuple[str, Answer, Scored]]:
    view, honest = read_whole(case, domain.history(case.history_id))
    kept = retained(case.gold, view)
    tried = [(BEST, honest)]
    tried += [(CONSTANT, answer) for answer in constants(case.task)]
    tried += adversarial_answers(case, view.text)
    for name, answer in tried:
        yield (
            name,
            answer,
            Scored(
                case=case,
                domain=domain,
                view=view,
                answer=answer,
                retained=kept,
                judge=RuleJudge(NoSettings()),
                client=RuleClient(),
            ),
        )


def _axis(name: str) -> Axis[Any]:
    plugin = find("axis", name)
    made: Axis[Any] = plugin.cls(settings_of(plugin, {}))
    return made
