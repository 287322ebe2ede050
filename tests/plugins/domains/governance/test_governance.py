"""What a governed corpus promises, whatever its knobs."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pytest

from framework.contracts import answer_by_rule
from framework.errors import UserError
from framework.operations.answering import AnswerRequest
from framework.operations.propose_edit import ProposeEdit
from framework.records import Answer, Case
from framework.registry import find, settings_of
from framework.testing.domain_conformance import check_domain
from framework.text.tokens import count_tokens
from plugins.domains.governance.domain import RECORD_TOKENS, Governance
from plugins.domains.governance.leaks import leaks
from plugins.domains.governance.lexicon import lexicon
from plugins.domains.governance.measured import drift, nearest_neighbours
from plugins.domains.governance.settings import GovernanceSettings
from plugins.domains.governance.tasks import INSTRUCTION, ticket_of
from tests.plugins.domains.governance.helpers import cases, domain, events_of, hops_to

SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"depth": 1},
    {"depth": 8, "distractors": 2},
    {"versions": 4, "depth": 2, "distractors": 2},
    {"scatter": 3, "depth": 3, "distractors": 1},
    {"scatter": 8, "depth": 1, "distractors": 0, "items": 40, "tasks_per_history": 2},
    {"capture": "raw", "depth": 3, "distractors": 1},
    {"capture": "discrete", "depth": 2},
    {"fidelity": 0.5, "edge_noise": "mixed"},
    {"items": 90, "distractors": 0, "tasks_per_history": 16},
    {"rho": 0.0, "visibility": 0.0, "similarity": 1.0, "forms": "held_out"},
    {"naming": "explicit", "query": "ticket", "labels": 24},
    {"query": "both", "labels": 5},
)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_keeps_the_contract_of_a_domain(shape: dict[str, Any]) -> None:
    check_domain(Governance, GovernanceSettings(**shape), 9)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"depth": 9}, "depth: 9"),
        ({"depths": (0, 1)}, "depths: 0 given"),
        ({"depths": ()}, "depths"),
        ({"rho": 1.5}, "rho"),
        ({"versions": 0}, "versions"),
        ({"labels": 4}, "labels: 4"),
        ({"items": 300_000}, "items"),
        ({"items": 100}, "items: 100 given, at least 305"),
        ({"depth": 8, "versions": 6}, "items: 500 given, at least 700"),
    ],
)
def test_a_knob_out_of_its_range_is_told(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        GovernanceSettings(**wrong)


def test_cases_never_end_and_ids_of_others_are_refused() -> None:
    with pytest.raises(UserError, match="n_cases"):
        list(domain().cases(None, 7))
    with pytest.raises(UserError, match="no history"):
        list(domain().history("loan-s7-000001"))


def test_depths_come_in_turn_or_one_is_set() -> None:
    assert [c.stratum for c in cases(10)] == [*(f"d{k}" for k in range(1, 9)), "d1", "d2"]
    assert {c.stratum for c in cases(9, depth=3)} == {"d3"}
    assert [c.stratum for c in cases(4, depths=(2, 5))] == ["d2", "d5", "d2", "d5"]


@pytest.mark.parametrize("versions", [1, 3])
def test_the_governing_record_lies_depth_links_from_the_entry(versions: int) -> None:
    made = domain(versions=versions, distractors=1)
    for case in made.cases(16, 7):
        events = events_of(case, made)
        first = case.gold.chain[int(case.stratum[1:])]
        found = hops_to(events.values(), case.gold.entry, first)
        assert f"d{found}" == case.stratum
        assert case.gold.chain[0] == case.gold.entry
        assert case.gold.chain[-1] == case.gold.governing[0]
        assert len(case.gold.retired) == versions - 1
        replaced = [target for e in events.values() for r, target in e.edges if r == "supersedes"]
        assert case.gold.governing[0] not in replaced
        for retired in case.gold.retired:
            assert set(retired.source_ids) <= set(replaced)


def test_versions_are_dated_in_order_and_links_lead_to_the_first() -> None:
    made = domain(versions=4, depth=2, distractors=1)
    for case in made.cases(8, 7):
        events = events_of(case, made)
        versions = [events[e] for e in case.gold.chain[2:]]
        assert len(versions) == 4
        assert [e.time for e in versions] == sorted(e.time for e in versions)
        for older, newer in pairwise(versions):
            assert ("supersedes", older.id) in newer.edges


def test_n_is_held_at_every_depth_and_under_every_knob() -> None:
    for depth in range(1, 9):
        made = domain(depth=depth)
        (case,) = made.cases(1, 7)
        assert len(list(made.history(case.history_id))) == 500
    for knob in ({"rho": 0.1}, {"distractors": 0}, {"versions": 3, "depth": 2}, {"fidelity": 0.1}):
        made = domain(**knob)
        (case,) = made.cases(1, 7)
        assert len(list(made.history(case.history_id))) == 500


def test_scatter_and_capture_split_the_same_records() -> None:
    parts = domain(scatter=4, depth=2, distractors=1)
    (case,) = parts.cases(1, 7)
    assert len(list(parts.history(case.history_id))) == 4 * 500
    assert len(case.gold.governing) == 4
    linked, raw = (domain(capture=capture, depth=2) for capture in ("linked", "raw"))
    (one,), (other,) = linked.cases(1, 7), raw.cases(1, 7)
    said = [
        sorted(w for e in d.history(one.history_id) for w in e.text.split()) for d in (linked, raw)
    ]
    assert said[0] == said[1]
    assert one.task == other.task
    assert one.gold.invariant == other.gold.invariant
    assert not any(e.edges for e in raw.history(other.history_id))


def test_only_edges_differ_between_linked_and_discrete_or_noisy() -> None:
    (case,) = cases(1, depth=2)
    texts = [
        [(e.id, e.text, e.time) for e in domain(depth=2, **knob).history(case.history_id)]
        for knob in ({}, {"capture": "discrete"}, {"fidelity": 0.3, "edge_noise": "mixed"})
    ]
    assert texts[0] == texts[1] == texts[2]


def test_look_alikes_match_the_governing_record() -> None:
    made = domain(distractors=3, versions=2)
    for case in made.cases(16, 7):
        events = events_of(case, made)
        governing = events[case.gold.governing[0]]
        assert len(case.gold.distractors) == 3
        assert governing.id not in case.gold.distractors
        others = [events[e] for e in case.gold.distractors]
        assert {other.kind for other in others} == {governing.kind}
        (governed,) = json.loads(case.gold.invariant)["require"]
        (rival,) = (key for key in open_settings(case) if key != governed)
        mine, rivals = (lexicon().settings[key].alias for key in (governed, rival))
        assert mine in governing.text
        assert all((mine in other.text) != (rivals in other.text) for other in others)
        assert sum(mine in other.text for other in others) + 1 == 2  # of four, so two of each


def open_settings(case: Case) -> list[str]:
    """The settings that the case's plan leaves open."""
    plan = json.loads(case.task.material["change_plan"])["settings"]
    return [s["setting"] for s in plan if s["status"] == "proposed"]


@pytest.mark.slow
def test_neither_open_setting_is_fixed_more_often_by_look_alikes() -> None:
    """Of an odd number of records one has one more: as often the governing one's as the other."""
    more = []
    for case in cases(200, distractors=2):
        (governed,) = json.loads(case.gold.invariant)["require"]
        alias = lexicon().settings[governed].alias
        events = events_of(case, domain(distractors=2))
        mine = 1 + sum(alias in events[e].text for e in case.gold.distractors)
        assert mine in (1, 2)
        more.append(mine == 2)
    assert 70 <= sum(more) <= 130


def test_a_memory_is_asked_with_the_plan_the_ticket_or_both_and_the_reader_gets_one_prompt() -> (
    None
):
    cards = {
        query: next(iter(domain(query=query).cases(1, 7))).task
        for query in ("plan", "ticket", "both")
    }
    ticket, plan = (cards[query].query for query in ("ticket", "plan"))
    assert cards["both"].query == f"{ticket} {plan}"
    component = json.loads(cards["plan"].material["change_plan"])["component"]
    assert component in plan
    assert component not in ticket
    for key in open_settings(next(iter(domain().cases(1, 7)))):
        assert lexicon().settings[key].label in plan
    asked = [AnswerRequest(task=card, view="the view") for card in cards.values()]
    prompts = [ProposeEdit().fill(request) for request in asked]
    assert prompts[0] == prompts[1] == prompts[2]
    assert prompts[0]["ticket"] == ticket
    assert ticket not in prompts[0]["material"]
    assert len({answer_by_rule(ProposeEdit(), request) for request in asked}) == 1


def test_no_text_names_another_record_or_a_plans_setting_unless_it_is_explicit() -> None:
    for naming, named in (("alias", False), ("explicit", True)):
        made = domain(naming=naming, versions=2, depth=2, items=150, distractors=1)
        (case,) = made.cases(1, 7)
        layout = made.corpus(7, 0).layout
        by_name = {layout.name(i): layout.event_id(i) for i in range(150)}
        events = events_of(case, made)
        others = {
            (name, e.id)
            for e in events.values()
            for name, own in by_name.items()
            if own != e.id and name in e.text
        }
        labels = [s.label for s in lexicon().settings.values()]
        assert bool(others) is named
        assert any(label in e.text for e in events.values() for label in labels) is named
        edges = {edge for e in events.values() for edge in e.edges}
        assert {target for _, target in edges} <= set(events)


def test_what_lies_at_two_sides_of_a_record_calls_it_by_two_aliases() -> None:
    made = domain(versions=2, items=200, distractors=1)
    corpus = made.corpus(7, 0)
    said: dict[int, dict[bool, set[str]]] = {}
    for record in range(200):
        sentences = corpus.writer.write(record).said
        for what, link in corpus.writer.links(record).items():
            if what in ("up", "down", "older"):
                aliases = corpus.layout.words.alias(corpus.layout._names[link.target], what != "up")
                assert aliases in sentences[what][0]
                said.setdefault(link.target, {}).setdefault(what == "up", set()).add(aliases)
    assert all(not (by[True] & by[False]) for by in said.values() if len(by) == 2)
    assert any(len(by) == 2 for by in said.values())


def test_ids_of_events_tell_neither_seed_nor_place() -> None:
    made = domain()
    for case in list(made.cases(20, 7))[::10]:
        for event in made.history(case.history_id):
            assert re.fullmatch(r"ev-[0-9a-f]{16}", event.id)
            assert not event.metadata
            assert all(re.fullmatch(r"ev-[0-9a-f]{16}", target) for _, target in event.edges)


def test_the_ticket_names_neither_decision_nor_setting() -> None:
    made = domain(depths=(1, 4), distractors=1)
    names = [re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+ [a-z]+")]
    for case in made.cases(64, 7):
        ticket = ticket_of(case.task)
        assert not any(name.search(ticket) for name in names)
        for setting in lexicon().settings.values():
            assert setting.label not in ticket
            assert setting.alias not in ticket
        assert not re.search(r"\d", ticket)


def test_words_of_one_kind_are_none_of_another() -> None:
    words = lexicon()
    nouns = [noun for listed in words.nouns.values() for noun in listed]
    glue = set(re.findall(r"[a-z]+", f"{INSTRUCTION} {words.tickets} {words.topics}".casefold()))
    glue |= set(re.findall(r"[a-z]+", f"{words.rationales} {dict(words.said)}".casefold()))
    assert len(words.areas) >= 60
    assert len(nouns) == len(set(nouns)) == 14 * len(words.areas)
    assert not set(words.modifiers) & set(nouns)
    assert not words.content & glue
    labels = {word for setting in words.settings.values() for word in setting.label.split()}
    assert not words.content & labels
    names = {word.casefold() for part in words.name_parts for word in part}
    settings = {word for s in words.settings.values() for word in s.alias.split()}
    assert not settings & (words.content | labels | names | glue)
    for part in words.aliases:
        said = [set(re.findall("[a-z]+", alias.casefold())) for alias in chain(*part.values())]
        assert not set().union(*said) & (names | labels | settings | words.content)
        assert len(set(chain(*part.values()))) == 2 * len(part)
        for one, other in part.values():
            assert not set(one.split()) & (set(other.split()) - {"of"})


LEAKING = [10, 22, 40, 53, 94, 111, 151, 201, 259, 270, 286, 289]


@pytest.mark.slow
def test_the_tasks_that_leak_are_these_and_by_chance_alone() -> None:
    """Pinned for the cases of depth/crossover (seed 7): proposals that happen to comply."""
    found = {i: leaks(case) for i, case in enumerate(cases(320))}
    assert [i for i, ways in found.items() if ways] == LEAKING
    assert {way for ways in found.values() for way in ways} == {"naive"}


def test_a_card_that_tells_is_caught() -> None:
    case = next(c for c in cases(64) if not leaks(c))
    (clause,) = json.loads(case.gold.invariant)["require"].values()
    for said, way in (
        (f"See the {case.gold.provisions[0]}.", "named"),
        (f"Use {clause['low']}.", "stated"),
    ):
        ticket = {"ticket": f"{ticket_of(case.task)} {said}"}
        task = replace(case.task, material={**case.task.material, **ticket})
        assert leaks(replace(case, task=task)) == (way,)


def test_checks_are_executed_on_the_edit() -> None:
    made = domain()
    for case in made.cases(16, 7):
        right = Answer(edit=case.gold.answer)
        assert made.checks(right, case) == {
            "compliance": True,
            "merge_ready": True,
            "asserted_only": False,
        }
        entries = json.loads(case.gold.answer)
        (governed,) = json.loads(case.gold.invariant)["require"]
        wrong = [{**e, "value": "no such"} if e["setting"] == governed else e for e in entries]
        said = f"As the {case.gold.provisions[0]} says."
        claimed = made.checks(Answer(edit=json.dumps(wrong), rationale=said), case)
        assert claimed == {"compliance": False, "merge_ready": False, "asserted_only": True}
        assert made.checks(Answer(edit=json.dumps(wrong)), case)["asserted_only"] is False
        asked = next(iter(json.loads(case.gold.invariant)["keep"]))
        unkept = [{**e, "value": "61"} if e["setting"] == asked else e for e in entries]
        assert made.checks(Answer(edit=json.dumps(unkept)), case)["compliance"] is True
        assert made.checks(Answer(edit=json.dumps(unkept)), case)["merge_ready"] is False
        assert not made.success(Answer(edit=json.dumps(entries + entries)), case.gold)


@pytest.mark.parametrize("edit", ["", "no JSON", "{}", "[1]", '[{"component": "c"}]', "[]"])
def test_what_is_no_edit_does_not_comply(edit: str) -> None:
    made = domain()
    (case,) = made.cases(1, 7)
    assert made.checks(Answer(edit=edit), case)["compliance"] is False


def test_an_option_of_its_name_and_a_nominal_length() -> None:
    plugin = find("domain", "governance")
    assert settings_of(plugin, {}) == GovernanceSettings()
    for naming, record in RECORD_TOKENS.items():
        made = domain(naming=naming)
        (case,) = made.cases(1, 7)
        tokens = sum(count_tokens(e.text) for e in made.history(case.history_id))
        assert abs(tokens / made.nominal_tokens - 1) < 0.03
        assert made.nominal_tokens == 500 * record


@pytest.mark.slow
def test_a_thousand_tasks_are_a_thousand() -> None:
    found = cases(1000, tasks_per_history=20, items=600)
    nearest = sorted(nearest_neighbours(found).values())
    assert len({ticket_of(case.task) for case in found}) == 1000
    assert nearest[500] < 0.45
    assert nearest[-1] < 0.65


def test_what_it_reports_is_counted_from_its_cases() -> None:
    made = domain(items=80, distractors=1, scatter=2, depths=(1, 3), tasks_per_history=4)
    drawn = list(made.cases(8, 7))
    report = made.report(iter(drawn))
    alike = sorted(nearest_neighbours(drawn).values())
    assert (report["tasks"], report["corpora"], report["records_a_corpus"]) == (8, 2, 80)
    assert (report["events_a_corpus"], report["mean_depth"]) == (160, 2)
    assert report["nearest_ticket_most"] == alike[-1]
    assert report["nearest_ticket_median"] == (alike[3] + alike[4]) / 2
    assert report["leaking_tasks"] == sum(bool(leaks(case)) for case in drawn)
    rhos = [rho for case in drawn if (rho := made.drift(case).rho) is not None]
    assert report["achieved_rho"] == pytest.approx(sum(rhos) / len(rhos))
    assert made.report(()) == {}


@pytest.mark.parametrize("settings", [{}, {"scatter": 3}, {"versions": 3}, {"capture": "raw"}])
def test_the_texts_of_a_chain_are_those_of_its_events(settings: dict[str, Any]) -> None:
    made = domain(items=200, distractors=1, **settings)
    for case in made.cases(8, 7):
        texts = made.chain_texts(case)
        assert len(texts) == int(case.stratum[1:]) + 1
        whole = " ".join(event.text for event in made.history(case.history_id))
        for text in texts:
            for sentence in text.split(". "):
                assert sentence.rstrip(".") in whole
        assert drift(ticket_of(case.task), texts) == made.drift(case)
