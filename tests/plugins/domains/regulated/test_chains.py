"""Evidence that grows with the length, and that without it everything is as it was."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.contracts import Profile
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from framework.records import Case, Item, MemoryView
from framework.registry import identity_of, plugins
from framework.retention import closure, retained
from framework.testing.domain_conformance import check_domain
from framework.text.canonical import digest
from framework.text.tokens import count_tokens
from plugins.domains.regulated.chains import Entry, chains_of, is_figure, opening_of, with_chains
from plugins.domains.regulated.checks import faults
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.loading import find_spec, load_spec
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.models.rule_based.reading.read import read
from tests.plugins.domains.regulated.support import SPECS, domain

LESS = settings(max_examples=25, deadline=None)
cases = st.tuples(
    st.sampled_from(SPECS),
    st.integers(2_000, 30_000),  # tokens
    st.integers(500, 4_000),  # tokens for an entry
    st.integers(0, 50),  # seed
    st.integers(0, 200),  # index
)


def made(spec: str, tokens: int, every: int, **more: Any) -> Regulated:
    return domain(spec, tokens=tokens, entry_every=every, **more)


def evidence(one: Regulated, case: Case) -> dict[str, str]:
    """The documents that the decision rests on, as they stand in the history."""
    return {e.id: e.text for e in one.history(case.history_id) if e.id in set(case.gold.evidence)}


def deciding(one: Regulated, case: Case) -> set[str]:
    """The figures kept by entries on which the decision rests."""
    critical = {item.key for item in case.gold.items if item.critical}
    return {figure for figure in chains_of(one.spec) if figure in critical}


@LESS
@given(cases)
def test_entries_are_as_many_as_the_length_says_and_shared_out_alike(
    drawn: tuple[str, int, int, int, int],
) -> None:
    spec, tokens, every, *_ = drawn
    one = made(spec, tokens, every)
    chains = chains_of(one.spec)
    counts = [len(chains.get(f.key, ())) for f in load_spec(find_spec(spec)).facts.values()
              if is_figure(f)]  # fmt: skip
    assert sum(counts) == tokens // every
    assert max(counts) - min(counts) <= 1
    assert not list(faults(one.spec))


@LESS
@given(cases)
def test_a_decision_rests_on_every_entry_of_its_figures_each_in_its_own_document(
    drawn: tuple[str, int, int, int, int],
) -> None:
    spec, tokens, every, seed, index = drawn
    one = made(spec, tokens, every)
    case, sampled = one.case(seed, index), one.sampled(seed, index)
    items = {item.id: item for item in case.gold.items}
    chains = chains_of(one.spec)
    sources = [
        s for keys in chains.values() for key in keys for s in items[f"fact:{key}"].source_ids
    ]
    assert len(sources) == len(set(sources)) == tokens // every
    for figure in deciding(one, case):
        for key in chains[figure]:
            assert items[f"fact:{key}"].critical
            assert set(items[f"fact:{key}"].source_ids) <= set(case.gold.evidence)
    for figure, keys in chains.items():
        # The figure is what its account says, and nothing states it.
        signs = [1 if n % 2 == 0 else -1 for n in range(len(keys))]
        start = sampled.facts[opening_of(figure)]
        entries = [sampled.facts[key] for key in keys]
        assert all(entry > 0 for entry in entries)
        total = start + sum(s * e for s, e in zip(signs, entries, strict=True))
        assert sampled.facts[figure] == pytest.approx(total, abs=1e-6)
        low, high = one.spec.facts[figure].range
        assert low <= sampled.facts[figure] <= high
        if f"fact:{figure}" in items:
            assert not items[f"fact:{figure}"].spans
    stated = {key for key in sampled.stated if one.spec.facts[key].formula}
    assert not any(
        one.spec.bases(key) & {k for ks in chains.values() for k in ks} for key in stated
    )


@LESS
@given(cases)
def test_the_documents_alone_decide_and_without_one_entry_its_figure_is_unknown(
    drawn: tuple[str, int, int, int, int],
) -> None:
    spec, tokens, every, seed, index = drawn
    one = made(spec, tokens, every)
    case = one.case(seed, index)
    texts = evidence(one, case)
    view = MemoryView(
        items=tuple(Item(id=k, text=t) for k, t in texts.items()), tokens=0, budget_tokens=None
    )
    held = {name for name, there in retained(case.gold, view).items() if there}
    assert {item.id for item in case.gold.items if item.critical} <= held
    assert one.decision_from(case, frozenset(held)) == case.gold.decision
    assert one.suffices(case, frozenset(held))
    known = {item.id for item in case.gold.items}
    for figure in deciding(one, case) & {item.key for item in case.gold.items}:
        lacking = f"fact:{chains_of(one.spec)[figure][-1]}"
        left = MemoryView(
            items=tuple(
                Item(id=k, text=t) for k, t in texts.items()
                if k not in next(i for i in case.gold.items if i.id == lacking).source_ids
            ),
            tokens=0, budget_tokens=None,
        )  # fmt: skip
        found = {name for name, there in retained(case.gold, left).items() if there}
        assert lacking not in found
        assert f"fact:{figure}" not in found
        assert f"fact:{figure}" not in closure(
            case.gold.items, frozenset(known - {lacking, f"fact:{figure}"})
        )


@LESS
@given(cases)
def test_a_reader_of_the_whole_history_decides_as_gold(
    drawn: tuple[str, int, int, int, int],
) -> None:
    spec, tokens, every, seed, index = drawn
    one = made(spec, min(tokens, 12_000), every, forms="development")
    case = one.case(seed, index)
    if case.gold.decidable:
        text = "\n\n".join(event.text for event in one.history(case.history_id))
        assert read(text, case.task, Profile()).outcome().decision == case.gold.decision


@pytest.mark.slow
@LESS
@given(cases, st.integers(2_000, 30_000))
def test_more_tokens_never_give_a_figure_fewer_entries_nor_a_history_another_length(
    drawn: tuple[str, int, int, int, int], more: int
) -> None:
    spec, tokens, every, seed, index = drawn
    short, long = (made(spec, n, every) for n in sorted((tokens, more)))
    before, after = chains_of(short.spec), chains_of(long.spec)
    assert all(len(after[key]) >= len(entries) for key, entries in before.items())
    for one in (short, long):
        texts = [event.text for event in one.history(one.case(seed, index).history_id)]
        length = sum(map(count_tokens, texts))
        assert abs(length - one.settings.tokens) <= 0.05 * one.settings.tokens


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_the_evidence_grows_where_it_otherwise_stands_still(spec: str) -> None:
    def documents(tokens: int, every: int) -> float:
        one = made(spec, tokens, every)
        return mean(len(case.gold.evidence) for case in one.cases(40, 7))

    grown = [documents(tokens, 1_000) for tokens in (2_000, 20_000, 60_000)]
    assert grown[0] + 4 < grown[1]
    assert grown[1] + 10 < grown[2]
    assert documents(2_000, 0) == documents(60_000, 0)


@pytest.mark.parametrize("spec", SPECS)
def test_an_entry_refers_to_what_came_before_it(spec: str) -> None:
    one = made(spec, 20_000, 1_000)
    chained = 0
    for case in one.cases(10, 3):
        events = {event.id: event for event in one.history(case.history_id)}
        items = {item.id: item for item in case.gold.items}
        for keys in chains_of(one.spec).values():
            own = [items[f"fact:{key}"].source_ids[0] for key in keys]
            assert [events[i].time for i in own] == sorted(events[i].time for i in own)
            for n, entry in enumerate(own):
                earlier = [i for i in own[:n] if events[i].time < events[entry].time]
                if earlier:
                    assert ("cites", earlier[-1]) in events[entry].edges
                    assert events[earlier[-1]].time in events[entry].text.partition("\n")[2]
                    chained += 1
    assert chained > 50


@pytest.mark.parametrize("pairs", ["fact", "threshold", "protected"])
def test_the_two_of_a_pair_have_the_same_documents(pairs: str) -> None:
    one = made("loan", 8_000, 1_000, pairs=pairs, forms="development")
    for index in range(0, 12, 2):
        first, second = one.case(5, index), one.case(5, index + 1)
        ids = [[e.id for e in one.history(c.history_id)] for c in (first, second)]
        assert sorted(ids[0]) == sorted(ids[1])
        assert pairs == "protected" or first.gold.decision != second.gold.decision


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_it_meets_the_contract_of_a_domain(spec: str) -> None:
    options = RegulatedSettings(spec=spec, tokens=6_000, entry_every=750)
    check_domain(Regulated, options, n=6)


RECORDED = {
    "loan": "7ab908a68e561bcf5418be4a",
    "claims": "12314228dcc105c9bd2f649b",
    "prior_authorization": "62c657dd822d58adfddb248d",
}
"""Of 25 cases and their histories but for the notice's standard, as before there were entries."""


@pytest.mark.parametrize("spec", RECORDED)
def test_without_it_every_case_is_byte_for_byte_as_it_was(spec: str) -> None:
    one = domain(spec)
    found = blake2b(digest_size=12)
    for case in one.cases(25, 7):
        bare = replace(case, gold=replace(case.gold, standard=None))
        found.update(repr(bare).encode())
        for event in one.history(case.history_id):
            found.update(repr(event).encode())
        found.update(repr(replace(one.rerendered(case, 1).gold, standard=None)).encode())
    assert found.hexdigest() == RECORDED[spec]
    assert with_chains(one.spec, 0) is one.spec


def test_runs_of_before_keep_their_identity() -> None:
    (plugin,) = [p for p in plugins("domain") if p.cls is Regulated]
    before = identity_of(plugin, RegulatedSettings())
    assert "entry_every" not in before
    assert before["twins"] is None
    assert len(before) == 11
    after = identity_of(plugin, RegulatedSettings(entry_every=1_000))
    assert after == {**before, "entry_every": 1_000}
    with composer():
        plan = compose_plan(["domain=loan", "arch=bm25"])
        longer = compose_plan(["domain=loan", "arch=bm25", "domain.entry_every=1000"])
    # Prompts are part of an identity: a run of before other wording is another run.
    kept = digest({name: value for name, value in plan.identity.items() if name != "prompts"})
    assert kept == "sha256:f10c6523e0122cdf14a97f2ae7ca679a14a37c0e7799f0f4df0bd819fdd008cf"
    assert longer.digest != plan.digest
    assert domain(entry_every=1_000).digest() != domain().digest()


def test_what_can_not_be_kept_by_entries_is_told() -> None:
    with pytest.raises(ValueError, match="entry_every: 0, or at least 500, expected"):
        RegulatedSettings(entry_every=499)
    spec = load_spec(find_spec("loan"))
    with pytest.raises(UserError, match=r"entry_every: \d+ entries of income are too many"):
        with_chains(spec, 2_000)
    fixed = {key: replace(fact, revision=None) for key, fact in spec.facts.items()}
    with pytest.raises(UserError, match="entry_every: loan has no number that can be corrected"):
        with_chains(replace(spec, facts=fixed), 10)
    for name in SPECS:  # the most that the settings allow
        longest = made(name, 200_000, 500)
        assert sum(isinstance(f, Entry) for f in longest.spec.facts.values()) == 400
