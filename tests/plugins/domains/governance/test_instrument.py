"""Instrument checks on generated corpora: what must hold if corpus and arms do what they say."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, cast

import pytest

from framework.contracts import Arch, ArchContext, Client, Profile, Query, answer_by_rule
from framework.engine.compose import compose_plan, composer
from framework.engine.prepare import build_pipeline
from framework.operations.answering import AnswerRequest, answering
from framework.pipeline.pack import pack
from framework.records import Answer, Case, Item
from framework.registry import find, plugins, settings_of
from framework.retention import retained
from plugins.archs.external._memory import ExternalMemory
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.lexicon import lexicon
from plugins.models.rule_based.reading.decisions import read_decisions
from tests.plugins.domains.governance.helpers import domain

BUDGET = 2_000


def opened(name: str, made: Governance, case: Case, **settings: Any) -> Arch[Any]:
    """An arm with the case's corpus taken in."""
    plugin = find("arch", name)
    context = ArchContext(budget_tokens=BUDGET, client=cast(Client, None))
    arm: Arch[Any] = plugin.cls(settings_of(plugin, settings), context)
    arm.ingest(made.history(case.history_id))
    return arm


def recalls(made: Governance, n: int, name: str, **settings: Any) -> list[float]:
    """By case, whether the governing decision is in the arm's view."""
    found = []
    arms: dict[str, Arch[Any]] = {}
    for case in made.cases(n, 7):
        if case.history_id not in arms:
            arms = {case.history_id: opened(name, made, case, **settings)}
        items = arms[case.history_id].recall(Query(text=case.task.query), BUDGET)
        view = pack(cast(Sequence[Item], items), BUDGET, "truncate")
        found.append(float(retained(case.gold, view)["decision"]))
    return found


def answer(case: Case, lines: Iterable[str]) -> Answer:
    """The rule-based answer to a case from a text."""
    operation = answering(case.task)
    request = AnswerRequest(task=case.task, view="\n".join(lines))
    return operation.answer_of(answer_by_rule(operation, request), case.task)


UP: dict[str, Any] = {"seeds": 1, "hops": None, "prune": True}
"""One seed, then links of dependency alone, upwards as long as there are any."""


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 2, 4, 6])
@pytest.mark.parametrize("noise", ["dropped", "rewired"])
def test_recall_of_a_walk_up_intact_links_is_q_to_the_depth(depth: int, noise: str) -> None:
    """Depth theorem 9, where the entry is the top hit and nothing else leads to the decision."""
    q = 0.8
    top = {"query": "ticket", "visibility": 1.0, "rho": 0.0, "similarity": 0.0}
    made = domain(depth=depth, fidelity=q, edge_noise=noise, **top)
    found = recalls(made, 200, "typed_graph", **UP)
    error = math.sqrt(q**depth * (1 - q**depth) / len(found))
    assert abs(fmean(found) - q**depth) < 3.5 * error + 0.02


def test_with_intact_links_a_walk_finds_every_decision() -> None:
    made = domain(query="ticket", visibility=1.0, rho=0.3, similarity=0.0)
    assert fmean(recalls(made, 40, "typed_graph", **UP)) == 1.0


BLIND = sorted(
    p.name
    for p in plugins("arch")
    if p.cls.__module__.startswith("plugins.")
    and not (p.cls.gold_edges or p.name == "rerank_ce" or issubclass(p.cls, ExternalMemory))
)
"""Every arm that is not given edges, those that ask the rule-based model too. A cross-encoder's
weights are not shipped; it ranks what `bm25` found. A third-party system is nothing
without a command, and is held to the same law in tests/plugins/archs/external."""


def views(arch: str, capture: str) -> list[Any]:
    """What the arm put into the view of each case, on the one path."""
    words = f"domain=governance domain.items=60 domain.tasks_per_history=3 arch={arch}"
    words += f" domain.distractors=1 budget=absolute budget.tokens=500 domain.capture={capture}"
    with composer():
        plan = compose_plan(words.split())
    path = build_pipeline(plan, plan.parts["domain"].create())
    found = []
    cases = list(path.domain.cases(3, 7))

    async def run() -> None:
        async for row, record in path.rows(cases, frozenset(), answer=True, k=None):
            assert not row.error
            found.append((row.case_id, row.trial, record["view"], row.decision))

    asyncio.run(run())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("arch", BLIND)
def test_an_arm_that_reads_no_edges_is_blind_to_them(arch: str) -> None:
    with_edges, without = views(arch, "linked"), views(arch, "discrete")
    assert with_edges == without


def test_an_arm_that_reads_edges_is_not() -> None:
    assert views("typed_graph", "linked") != views("typed_graph", "discrete")


@pytest.mark.parametrize(
    "shape",
    [{}, {"versions": 4, "depth": 3, "distractors": 2}, {"scatter": 3, "depth": 2}],
    ids=str,
)
def test_the_rule_based_reader_complies_where_it_sees_the_whole_chain(
    shape: dict[str, Any],
) -> None:
    """In development forms; in held-out ones it reads nothing and its edit is the naive one."""
    for forms, right in (("development", 1.0), ("held_out", None)):
        made = domain(forms=forms, **shape)
        found = []
        for case in made.cases(20, 7):
            spans = [item.spans[0].text for item in case.gold.items if item.spans]
            given = made.checks(answer(case, spans), case)
            found.append(float(bool(given["compliance"])))
            naive = case.tags["leaks"] == "yes"
            assert right is not None or bool(given["compliance"]) == naive
        assert right is None or fmean(found) == right


def test_the_rule_based_reader_reads_an_alias_as_the_name() -> None:
    """In its own dictionary, which holds what the domain says and is no part of it."""
    words = lexicon()
    for number in range(0, words.names, 101):
        for which in (0, 1):
            called = words.alias(number, which)
            text = f"The Calm Gull charter follows from the {called}."
            log = read_decisions(text, Profile())
            assert log.above == {"Calm Gull charter": [words.name(number)]}
    for setting in words.settings.values():
        text = f"The Calm Gull charter fixes the {setting.alias} at 3 steps."
        (constraint,) = read_decisions(text, Profile()).constraints
        assert constraint.label == setting.label


def test_a_retired_version_alone_misleads_and_the_newer_one_sets_it_right() -> None:
    made = domain(versions=2, depth=1, distractors=1, forms="development")
    for case in made.cases(20, 7):
        if case.tags["leaks"] == "yes":
            continue
        events = {e.id: e.text for e in made.history(case.history_id)}
        entry, old, new = (events[e] for e in case.gold.chain)
        assert made.checks(answer(case, (entry, old)), case)["compliance"] is False
        assert made.checks(answer(case, (entry, old, new)), case)["compliance"] is True


def test_an_edited_value_moves_the_answer() -> None:
    """Probe: what the view says decides, not the case."""
    made = domain(depth=2, forms="development")
    for case in made.cases(10, 7):
        spans = [item.spans[0].text for item in case.gold.items]
        governed = case.gold.items[-1].spans[0].text
        other = governed.replace("must be", "may be").replace("requires", "suggests")
        other = other.replace("fixes", "discusses")
        lines = [other if text == governed else text for text in spans]
        complied = made.checks(answer(case, lines), case)["compliance"]
        assert complied == (case.tags["leaks"] == "yes")


def test_a_decision_in_other_words_is_retained_and_half_of_one_is_not() -> None:
    made = domain(depth=1, forms="development")
    for case in made.cases(20, 7):
        item = case.gold.items[-1]
        label, *values = item.anchors
        words = f"{item.key}: {label} = {' - '.join(values)}"
        for text, held in (
            (words, True),
            (words.replace(label, "limit"), False),
            (f"{item.key}: {label}", False),
            (words.replace(item.key, "Somebody"), False),
        ):
            view = pack([Item(id="note", text=text)], None, "whole")
            assert retained(case.gold, view)["decision"] is held, text
