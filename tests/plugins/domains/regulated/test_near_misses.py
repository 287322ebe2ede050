"""Near misses: statements that are no facts of the case, whatever they look like."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from string import Formatter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Profile
from framework.engine.compose import compose_plan, composer
from framework.records import Case, Event, Item, MemoryView
from framework.registry import identity_of, plugins
from framework.retention import retained
from framework.testing.domain_conformance import check_domain
from framework.text.canonical import digest
from framework.text.tokens import count_tokens
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.near_misses import PLAIN_KINDS, forms
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.models.rule_based.reading.read import read
from tests.plugins.domains.regulated.support import SEED, SPECS, domain, shared

LESS = settings(max_examples=10, deadline=None)
drawn = st.tuples(st.sampled_from(SPECS), st.integers(0, 50), st.integers(0, 200))
EVERY = 1.0


def marks(one: Regulated) -> re.Pattern[str]:
    """What every near miss of a domain has and no other sentence of it."""
    found = []
    wording = forms()
    matters = "|".join(map(re.escape, wording.matters.get(one.spec.name, wording.matters["other"])))
    for kinds in (wording.hedged, wording.elsewhere):
        for form in (f for own in kinds.values() for f in own):
            pattern = ""
            for literal, name, *_ in Formatter().parse(form):
                pattern += re.escape(literal)
                pattern += {"matter": f"(?:{matters})", None: ""}.get(name, ".+?")
            found.append(pattern)
    return re.compile("|".join(found), re.IGNORECASE)


def history(one: Regulated, case: Case) -> list[Event]:
    return list(one.history(case.history_id))


def necessary(one: Regulated, case: Case) -> dict[str, str]:
    """The documents that a case must have, as they stand in its history but for references."""
    own = {d.id: d for d in one._made(*one._parse(case.history_id)).content.drafts}
    return {e.id: e.text for e in history(one, case) if e.id in own}


@pytest.mark.slow
@LESS
@given(drawn, st.sampled_from([0.25, 1.0]))
def test_gold_and_evidence_stay_as_they_are(one: tuple[str, int, int], share: float) -> None:
    spec, seed, index = one
    plain, dense = shared(spec), domain(spec, ambiguity=share)
    case, other = plain.case(seed, index), dense.case(seed, index)
    assert replace(other, task=case.task) == case
    assert other.task.instruction != case.task.instruction
    assert other.task.instruction.startswith(case.task.instruction.rstrip())
    assert replace(other.task, instruction=case.task.instruction) == case.task
    found, again = necessary(plain, case), necessary(dense, other)
    assert found.keys() == again.keys()
    for item in case.gold.items:
        for span in item.spans:
            assert span.text in again[span.source_id]
    length = sum(count_tokens(event.text) for event in history(dense, other))
    assert abs(length - 6_700) <= 0.05 * 6_700


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_as_many_documents_carry_one_as_the_share_says(spec: str) -> None:
    found = {}
    for share in (0.25, 0.5, 1.0):
        one = domain(spec, ambiguity=share, strata={"clean": 1.0})
        mark, past = marks(one), re.compile(r"formerly|Earlier paperwork")
        carried = told = 0
        for case in one.cases(12, SEED):
            for event in history(one, case):
                title = event.metadata["title"]
                uses = {d.use for d in one.spec.documents.values() if d.title == title}
                near = bool(mark.search(event.text) or past.search(event.text))
                if event.kind in PLAIN_KINDS:
                    assert not near, event.text
                elif uses & {"filler"} and case.tags["form"] == "development":
                    told += 1
                    carried += near
        found[share] = carried / told
    assert found[0.25] == pytest.approx(0.25, abs=0.1)
    assert found[0.5] == pytest.approx(0.5, abs=0.1)
    # The last one of a history has no room for one where little is left of its length.
    assert found[1.0] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_the_rules_decide_as_without_them(spec: str) -> None:
    """A reader of the whole history, and of the evidence alone, is as right as without them."""
    plain, dense = (
        domain(spec, forms="development"),
        domain(spec, forms="development", ambiguity=EVERY),
    )
    right = [0, 0]
    for case, other in zip(plain.cases(25, SEED), dense.cases(25, SEED), strict=True):
        outcomes = [
            read("\n\n".join(e.text for e in history(one, c)), c.task, Profile()).outcome().decision
            for one, c in ((plain, case), (dense, other))
        ]
        assert outcomes[0] == outcomes[1], case.id
        if case.gold.decidable:
            right[0] += 1
            right[1] += outcomes[1] == case.gold.decision
        texts = [
            [e.text for e in history(one, c) if e.id in set(case.gold.evidence)]
            for one, c in ((plain, case), (dense, other))
        ]
        found = [read("\n\n".join(own), case.task, Profile()).outcome().decision for own in texts]
        assert found[0] == found[1]
    assert right[1] == right[0]


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_no_near_miss_holds_what_decides(spec: str) -> None:
    """Without its own documents a history holds no fact, rule or clause of the gold."""
    one = domain(spec, ambiguity=EVERY)
    for case in one.cases(20, SEED):
        own = necessary(one, case)
        added = "\n".join(e.text for e in history(one, case) if e.id not in own)
        view = MemoryView(items=(Item(id="1", text=added),), tokens=0, budget_tokens=None)
        held = retained(case.gold, view, partial(one.states, case))
        kept = {i.id for i in case.gold.items if held[i.id] and i.spans and i.kind != "reason"}
        assert not kept, case.id


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("pairs", ["fact", "threshold", "protected"])
def test_near_misses_are_the_same_whatever_the_label(spec: str, pairs: Any) -> None:
    """The two of a pair have other labels, or other attributes, and the very same near misses."""
    one = domain(spec, ambiguity=EVERY, pairs=pairs)
    for index in range(0, 10, 2):
        added = []
        for case in (one.case(SEED, index), one.case(SEED, index + 1)):
            own = necessary(one, case)
            added.append([e.text for e in history(one, case) if e.id not in own])
        assert added[0] == added[1]
        assert len(added[0]) > 10


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("spec", SPECS)
def test_the_words_of_near_misses_tell_nothing_of_the_label(spec: str) -> None:
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer

    from tests.plugins.domains.regulated.test_shortcuts import check

    one = domain(spec, ambiguity=EVERY)
    texts, labels = [], []
    for case in one.cases(400, SEED):
        own = {d.id for d in one._made(*one._parse(case.history_id)).content.drafts}
        added = "\n".join(e.text for e in history(one, case) if e.id not in own)
        texts.append(re.sub(r"\d+", "0", added))
        labels.append(case.gold.decision)
    counts = CountVectorizer(min_df=40, binary=True).fit_transform(texts).toarray()
    check(counts.astype(np.float64), labels)


@pytest.mark.parametrize("spec", SPECS)
def test_nothing_of_it_states_an_outcome(spec: str) -> None:
    outcome = re.compile(
        r"\b(approv(e|ed|al)|den(y|ied|ial)|refer(red|ral)?|reject(ed)?|pay in part)\b",
        re.IGNORECASE,
    )
    wording = forms()
    listed = [f for kinds in (wording.hedged, wording.elsewhere) for own in kinds.values()
              for f in own]  # fmt: skip
    matters = wording.matters.get(spec, wording.matters["other"])
    labels = [name.casefold() for f in shared(spec).fields for name in (f.label, *f.aliases)]
    for text in (*listed, *matters, *wording.matters["other"]):
        assert not outcome.search(text), text
        assert not any(label in text.casefold() for label in labels), text
    assert all(re.match(r"(the|a|an) ", m) for m in (*matters, *wording.matters["other"]))


def test_the_forms_have_what_is_filled_in() -> None:
    wording = forms()
    assert {*SPECS, "other"} == set(wording.matters)
    for kinds, more in ((wording.hedged, set()), (wording.elsewhere, {"matter"})):
        assert set(kinds) == {"development", "held_out"}
        for form, own in kinds.items():
            noun = "noun" if form == "held_out" else "label"
            for text in own:
                named = [name for _, name, *_ in Formatter().parse(text) if name]
                assert sorted(n.lower() for n in named) == sorted({noun, "value", *more}), text


def test_each_rendering_has_its_own_and_each_case_the_same_again() -> None:
    one, again = (domain(ambiguity=0.5) for _ in range(2))
    case = one.case(3, 4)
    assert history(one, case) == history(again, again.case(3, 4))
    other = one.rerendered(case, 1)
    assert history(one, other) != history(one, case)
    assert other.gold.decision == case.gold.decision


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("more", [{}, {"entry_every": 750, "tokens": 6_000}])
def test_it_meets_the_contract_of_a_domain(spec: str, more: dict[str, Any]) -> None:
    check_domain(Regulated, RegulatedSettings(spec=spec, ambiguity=0.5, **more), n=6)


def test_runs_without_it_keep_their_identity() -> None:
    (plugin,) = [p for p in plugins("domain") if p.cls is Regulated]
    before = identity_of(plugin, RegulatedSettings())
    assert "ambiguity" not in before
    after = identity_of(plugin, RegulatedSettings(ambiguity=0.5))
    assert after == {**before, "ambiguity": 0.5}
    with composer():
        plan = compose_plan(["domain=loan", "arch=bm25"])
        dense = compose_plan(["domain=loan", "arch=bm25", "domain.ambiguity=0.5"])
    # Prompts are part of an identity: a run of before other wording is another run.
    kept = digest({name: value for name, value in plan.identity.items() if name != "prompts"})
    assert kept == "sha256:f10c6523e0122cdf14a97f2ae7ca679a14a37c0e7799f0f4df0bd819fdd008cf"
    assert dense.digest != plan.digest
    assert domain(ambiguity=0.5).digest() != domain().digest()


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_is_between_none_and_all(share: float) -> None:
    with pytest.raises(ValueError, match="ambiguity"):
        RegulatedSettings(ambiguity=share)
