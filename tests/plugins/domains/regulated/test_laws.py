"""What holds of every case of every built-in spec."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from datetime import date
from itertools import islice

import pytest

from framework.analysis.summary import names_fields
from framework.records import ABSTAIN, Item, MemoryView
from framework.registry import find, settings_of
from framework.reporting.format import declared_inputs
from framework.retention import closure, gold_tokens, retained
from framework.text.tokens import count_tokens
from framework.text.values import find_values
from plugins.domains.regulated.domain import Regulated
from tests.plugins.domains.regulated.support import (
    CASES,
    SEED,
    SPECS,
    cases,
    derived,
    domain,
    recomputed,
    shared,
)

pytestmark = pytest.mark.parametrize("spec", SPECS)


def check_labels(spec: str, n: int) -> None:
    one = shared(spec)
    for index in range(n):
        sampled = one.sampled(SEED, index)
        facts = {**sampled.facts, **derived(spec, sampled.facts)}
        assert facts == dict(sampled.facts)
        if sampled.gap is None:
            decision, codes = recomputed(sampled.policy, facts)
            assert sampled.decision == decision == sampled.plan.target
            assert [rule.code for rule in sampled.winners] == codes


def test_the_label_is_what_the_policy_computes(spec: str) -> None:
    check_labels(spec, CASES)


@pytest.mark.slow
def test_the_label_is_what_the_policy_computes_on_a_thousand(spec: str) -> None:
    check_labels(spec, 1_000)


def test_gold_says_what_was_drawn(spec: str) -> None:
    one = shared(spec)
    for index, case in enumerate(cases(spec)):
        sampled, gold = one.sampled(SEED, index), case.gold
        adverse = gold.decision in one.spec.adverse
        assert gold.decision == sampled.decision == case.tags["decision"]
        assert gold.provisions == tuple(r.code for r in sampled.winners if adverse)
        assert set(gold.principal_reasons) <= set(gold.all_reasons)
        assert bool(gold.principal_reasons) == adverse == (gold.standard is not None)
        rules = {i.key for i in gold.items if i.kind == "rule"}
        assert rules == {rule.code for rule in sampled.policy.rules}
        assert any(i.critical for i in gold.items if i.kind == "rule")
        known = {i.key for i in gold.items if i.kind == "fact"}
        open_key = {sampled.gap.key} if sampled.gap else set()
        assert not open_key & known
        assert sampled.stated - open_key <= known
        assert set(gold.evidence) == {s for i in gold.items if i.critical for s in i.source_ids}
        assert len({i.id for i in gold.items}) == len(gold.items)
        if gold.decision in one.spec.amounts:
            assert gold.amount is not None
        else:
            assert gold.amount is None


def test_a_referral_and_an_undecidable_case_are_told_apart(spec: str) -> None:
    one = shared(spec)
    seen = Counter()
    for index, case in enumerate(cases(spec)):
        sampled = one.sampled(SEED, index)
        outcomes = sampled.policy.outcomes(sampled.known(one.spec.formulas))
        expected = "undecidable" if len(outcomes) > 1 else "policy"
        if outcomes == {ABSTAIN}:
            expected = "referral"
        assert case.tags["label_source"] == expected
        seen[expected] += 1
    assert set(seen) == {"policy", "referral", "undecidable"}
    assert seen["policy"] == sum(case.gold.decision != ABSTAIN for case in cases(spec))


@pytest.mark.slow
def test_the_history_holds_the_gold_and_nothing_less_decides_it(spec: str) -> None:
    """Spans are verbatim, the whole view decides as gold, and so do the critical items alone."""
    one = shared(spec)
    for case in cases(spec)[:100]:
        events = list(one.history(case.history_id))
        texts = {event.id: event.text for event in events}
        for item in case.gold.items:
            assert item.spans or item.derived_from
            for span in item.spans:
                assert span.text in texts[span.source_id]
                assert span.text.strip() == span.text
        view = MemoryView(
            items=tuple(Item(id=k, text=t) for k, t in texts.items()), tokens=0, budget_tokens=None
        )
        held = retained(case.gold, view)
        assert all(held.values())
        assert one.decision_from(case, frozenset(held)) == case.gold.decision
        critical = frozenset(i.id for i in case.gold.items if i.critical)
        enough = closure(case.gold.items, critical)
        assert one.decision_from(case, enough) == case.gold.decision
        assert one.decision_from(case, frozenset()) == ABSTAIN
        if case.gold.decision != ABSTAIN:
            rules = {i.id for i in case.gold.items if i.kind == "rule" and i.critical}
            assert one.decision_from(case, frozenset(held) - rules) == ABSTAIN


def test_a_summary_that_keeps_code_and_threshold_keeps_the_rule(spec: str) -> None:
    for case in cases(spec)[:40]:
        for item in case.gold.items:
            if item.kind in ("rule", "fact") and item.anchors:
                said = f"On {item.bindings[0]}: {' and '.join(item.anchors)}."
                for text, kept in ((said, True), (said.replace(item.anchors[0], "0.123"), False)):
                    view = MemoryView(
                        items=(Item(id="1", text=text),), tokens=0, budget_tokens=None
                    )
                    assert retained(case.gold, view)[item.id] == kept, (item, text)


def test_events_are_dated_and_their_edges_lead_somewhere(spec: str) -> None:
    one = shared(spec)
    relations = set()
    for case in cases(spec)[:40]:
        events = list(one.history(case.history_id))
        ids = {event.id for event in events}
        assert len(ids) == len(events)
        for event in events:
            header, _, body = event.text.partition("\n")
            when, title, author = header.split(" | ")
            assert date.fromisoformat(when).isoformat() == event.time
            assert title == event.metadata["title"]
            assert author == event.metadata["author"]
            assert body.strip()
            for relation, target in event.edges:
                relations.add(relation)
                assert target in ids - {event.id}
    assert {"supersedes", "cites", "supports"} <= relations


@pytest.mark.slow
def test_edges_do_not_tell_what_matters(spec: str) -> None:
    """Gold is referred to as often as anything else that a later document could refer to."""
    one = shared(spec)
    filler = {d.title for use in ("filler", "supporting") for d in one.spec.used(use)}
    gold_targets, targets, gold_possible, possible = 0, 0, 0, 0
    for case in cases(spec)[:150]:
        events = {event.id: event for event in one.history(case.history_id)}
        gold = {source for item in case.gold.items for source in item.source_ids}
        last = max(event.time for event in events.values())
        ahead = [event.id for event in events.values() if event.time < last]
        possible += len(ahead)
        gold_possible += len(gold & set(ahead))
        for event in events.values():
            assert len({target for _, target in event.edges}) == len(event.edges)
            for relation, target in event.edges:
                assert events[target].time < event.time
                if relation != "supersedes":
                    targets += 1
                    gold_targets += target in gold
                elif event.metadata["title"] in filler:
                    assert events[target].metadata["title"] == event.metadata["title"]
    assert targets > 500
    assert gold_targets / targets == pytest.approx(gold_possible / possible, abs=0.04)
    in_gold = gold_targets / gold_possible
    in_other = (targets - gold_targets) / (possible - gold_possible)
    assert in_gold == pytest.approx(in_other, abs=0.06)


@pytest.mark.slow
def test_nothing_states_the_outcome(spec: str) -> None:
    """No document but the policy, and the injected sentence, has a word of decision in it."""
    one = domain(spec, injection=False)
    own = {
        "change_release": r"releas(e|ed|ing)|block(ed|ing)?",
        "lab_results": r"accept(ed|ance)?",
        "voucher_hearing": r"revers(e|ed|al)|affirm(ed|ing)?",
    }
    general = r"approv(e|ed|al)|den(y|ied|ial)|refer(red|ral to)?|reject(ed)?|pay in part"
    outcome = re.compile(rf"\b({general}|{own.get(spec, general)})\b", re.IGNORECASE)
    for case in cases(spec)[:60]:
        for event in one.history(case.history_id):
            if event.kind != "policy":
                body = event.text.partition("\n")[2].replace("referral slip", "")
                body = re.sub(r"(denial )?provision under review", "", body, flags=re.IGNORECASE)
                assert not outcome.search(body), event.text


@pytest.mark.slow
def test_no_sentence_binds_a_field_to_a_value_that_is_not_the_cases_own(spec: str) -> None:
    one = shared(spec)
    for index, case in enumerate(cases(spec)[:60]):
        sampled = one.sampled(SEED, index)
        own = {m.text for m in one._made(SEED, index).content.mentions}
        labels = [(n.casefold(), f.type) for f in one.spec.facts.values() for n in f.labels]
        for event in one.history(case.history_id):
            for line in re.split(r"(?<=[.?])\s+|\n", event.text.partition("\n")[2]):
                if event.kind == "policy" or line in own or any(line in text for text in own):
                    continue
                found = {value.type for value in find_values(line)}
                for label, kind in labels:
                    if re.search(rf"\b{re.escape(label)}\b", line.casefold()):
                        assert kind not in found, (line, sampled.plan.stratum)


def test_vendors_and_what_is_bought_are_elsewhere_than_the_applicant(spec: str) -> None:
    one = shared(spec)
    n = 0
    for index, case in enumerate(cases(spec)[:60]):
        street = one._made(SEED, index).content.cast["street"]
        for event in one.history(case.history_id):
            for sentence in re.findall(r"(?:moved to|premises are at) [^,]+", event.text):
                assert not sentence.endswith(f" {street}"), event.text
                n += 1
    assert n > 5


def test_every_case_depends_on_seed_and_index_alone(spec: str) -> None:
    first, again = domain(spec), domain(spec)
    wanted = list(first.cases(30, 3))
    assert list(again.cases(12, 3)) == wanted[:12]
    assert domain(spec).case(3, 29) == wanted[29]
    backwards = domain(spec)
    for case in reversed(wanted[::7]):
        events = list(backwards.history(case.history_id))
        assert events == list(first.history(case.history_id))
    assert list(domain(spec).cases(3, 4)) != wanted[:3]
    assert next(islice(first.cases(10**9, 3), 1)) == wanted[0]


@pytest.mark.parametrize("tokens", [2_000, 6_700, 20_000])
def test_a_history_is_as_long_as_asked(spec: str, tokens: int) -> None:
    one = domain(spec, tokens=tokens)
    assert one.nominal_tokens == tokens
    for case in one.cases(12, 5):
        length = sum(count_tokens(event.text) for event in one.history(case.history_id))
        assert abs(length - tokens) <= 0.05 * tokens


def test_length_changes_filler_and_nothing_else(spec: str) -> None:
    short, long = domain(spec, tokens=2_000), domain(spec, tokens=200_000, filler_share=0.9)
    case = short.case(5, 1)
    assert long.case(5, 1) == case
    events = list(long.history(case.history_id))
    length = sum(count_tokens(event.text) for event in events)
    assert abs(length - 200_000) <= 10_000
    bodies = [event.text.partition("\n")[2] for event in events]
    assert len(set(bodies)) > 0.99 * len(bodies)
    assert {e.id for e in short.history(case.history_id)} & {e.id for e in events}


def test_the_share_of_filler_is_as_asked(spec: str) -> None:
    titles = {d.title for d in shared(spec).spec.used("filler")}
    for share in (0.1, 0.5, 0.7):
        one = domain(spec, filler_share=share, strata={"clean": 1.0})
        case = one.case(5, 2)
        events = list(one.history(case.history_id))
        filler = sum(count_tokens(e.text) for e in events if e.metadata["title"] in titles)
        assert filler / 6_700 == pytest.approx(share, abs=0.03)


def test_the_critical_spans_fit_the_tight_budget(spec: str) -> None:
    def tokens(case: object) -> int:
        items = tuple(i for i in case.gold.items if i.critical)  # type: ignore[attr-defined]
        return gold_tokens(type(case.gold)(items=items))  # type: ignore[attr-defined]

    fits = [tokens(case) <= 0.05 * 6_700 for case in cases(spec)]
    assert sum(fits) >= 0.95 * len(fits)


def test_the_card_is_the_same_for_all_and_tells_the_form(spec: str) -> None:
    one, (first, *others) = shared(spec), cases(spec)
    assert all(case.task == first.task for case in others)
    card = first.task
    assert card.default_decision in card.decisions
    assert set(card.verbs) == {*card.decisions, ABSTAIN}
    assert card.fields == one.fields
    assert "question raised in the correspondence was settled" in card.instruction
    keys = {field.key for field in card.fields}
    assert set(re.findall(r"\{fact:(\w+)\}", card.notice)) <= keys
    for held_out in one.spec.facts.values():
        for form in held_out.held_out.forms:
            assert form not in card.instruction + card.query + card.notice


def test_memory_is_asked_without_the_labels_of_the_fields_unless_that_is_measured(
    spec: str,
) -> None:
    one = shared(spec)
    plain = one.case(SEED, 0).task
    assert one.settings.query_form == "plain"
    assert not names_fields(plain)
    asked = plain.query.casefold()
    named = [field.label for field in plain.fields if field.label.casefold() in asked]
    assert not named
    settings = replace(one.settings, query_form="labels")
    labels = type(one)(settings).case(SEED, 0).task
    assert names_fields(labels)
    assert replace(labels, query=plain.query) == plain
    assert declared_inputs({"query": "task", "query_names_fields": True}) == (
        "query names the fields"
    )
    assert declared_inputs({"query": "task", "query_names_fields": False}) == ""


def test_the_settings_reach_it_through_the_registry(spec: str) -> None:
    plugin = find("domain", "regulated")
    built = plugin.cls(settings_of(plugin, {"spec": spec, "tokens": 2_500}))
    assert isinstance(built, Regulated)
    assert built.nominal_tokens == 2_500
    assert built.digest().startswith("sha256:")
