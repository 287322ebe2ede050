"""Records that are missing, wrong or there twice: by share, nested, and never in the gold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from framework.contracts import Query
from framework.errors import UserError
from framework.records import Case, Event
from framework.registry import find, identity_of, settings_of
from framework.testing.domain_conformance import check_domain
from plugins.domains.governance.domain import Governance
from plugins.domains.governance.edges import PART_OF
from plugins.domains.governance.invariant import complies
from plugins.domains.governance.recorder import Recorder
from plugins.domains.governance.settings import CaptureNoise, GovernanceSettings
from tests.plugins.archs.helpers import opened

SMALL: dict[str, Any] = {"items": 60, "distractors": 1, "tasks_per_history": 4, "depth": 2}
SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 5)
KINDS = ("missing", "wrong", "duplicated")
SHAPES = st.sampled_from(
    [
        {},
        {"versions": 2},
        {"scatter": 2},
        {"capture": "raw"},
        {"fidelity": 0.5},
        {"capture": "discrete"},
    ]
)


@cache
def made(shape: tuple[tuple[str, Any], ...] = (), **noise: float) -> Governance:
    return Governance(
        GovernanceSettings(**SMALL, **dict(shape), capture_noise=CaptureNoise(**noise))
    )


def recorder(seed: int, **noise: float) -> Recorder:
    return made((), **noise).corpus(seed, 0).recorder


def spoilt(kind: str, share: float, seed: int) -> set[int]:
    """The records that are missing, wrong or there twice."""
    found = recorder(seed, **{kind: share})
    told = {"missing": found.missing, "wrong": found.wrong, "duplicated": found.doubled}[kind]
    return {record for record in range(SMALL["items"]) if told(record)}


def events(domain: Governance, seed: int) -> list[Event]:
    (case,) = domain.cases(1, seed)
    return list(domain.history(case.history_id))


def bare(case: Case) -> Case:
    """The case without the tag that says what was captured."""
    return replace(
        case, tags={k: v for k, v in case.tags.items() if k not in ("captured", "edges")}
    )


@pytest.mark.parametrize(
    "shape", [{}, {"scatter": 3, "items": 90}, {"versions": 2, "capture": "raw"}]
)
def test_without_a_share_nothing_changes_nor_the_identity(shape: dict[str, Any]) -> None:
    plain = GovernanceSettings(**{**SMALL, **shape})
    none = replace(plain, capture_noise=CaptureNoise())
    plugin = find("domain", "governance")
    assert identity_of(plugin, plain) == identity_of(plugin, none)
    assert "capture_noise" not in identity_of(plugin, plain)
    noisy = replace(plain, capture_noise=CaptureNoise(wrong=0.1))
    assert identity_of(plugin, noisy)["capture_noise"] == {
        "missing": 0.0, "wrong": 0.1, "duplicated": 0.0,
    }  # fmt: skip
    for seed in (0, 7):
        one, other = Governance(plain), Governance(none)
        assert list(one.cases(4, seed)) == list(other.cases(4, seed))
        assert events(one, seed) == events(other, seed)
        assert all("captured" not in case.tags for case in one.cases(4, seed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_outside_zero_to_one_is_told(kind: str) -> None:
    with pytest.raises(UserError, match=rf"{kind}: 1.5 given, 0 to 1 expected"):
        settings_of(find("domain", "governance"), {"capture_noise": {kind: 1.5}})


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), SHARES, SHARES, SEEDS)
def test_what_is_spoilt_at_a_share_is_so_at_every_greater_one(
    kind: str, one: float, other: float, seed: int
) -> None:
    low, high = sorted((one, other))
    assert spoilt(kind, low, seed) <= spoilt(kind, high, seed)
    first, second = recorder(seed, wrong=low), recorder(seed, wrong=high)
    for record in spoilt("wrong", low, seed):
        assert first.wrong(record) == second.wrong(record)
        assert first.write(record) == second.write(record)


@pytest.mark.parametrize("kind", KINDS)
def test_all_records_are_spoilt_at_one_and_none_at_zero(kind: str) -> None:
    assert spoilt(kind, 0.0, 3) == set()
    assert spoilt(kind, 1.0, 3) == set(range(SMALL["items"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_shares_are_within_binomial_bounds(kind: str, share: float) -> None:
    seeds = range(20)
    n = len(seeds) * SMALL["items"]
    low, high = binom.ppf([0.0005, 0.9995], n, share)
    assert low <= sum(len(spoilt(kind, share, seed)) for seed in seeds) <= high


@settings(max_examples=15, deadline=None)
@given(SHARES, SHARES, SHARES, SEEDS, SHAPES)
def test_gold_and_task_stay_what_was_decided(
    missing: float, wrong: float, duplicated: float, seed: int, shape: dict[str, Any]
) -> None:
    key = tuple(shape.items())
    noisy = made(key, missing=missing, wrong=wrong, duplicated=duplicated)
    pairs = zip(noisy.cases(4, seed), made(key).cases(4, seed), strict=True)
    assert all(bare(one) == bare(other) for one, other in pairs)


@settings(max_examples=15, deadline=None)
@given(SHARES, SEEDS, SHAPES)
def test_missing_leaves_a_part_of_the_events_and_no_edge_to_what_is_not_there(
    share: float, seed: int, shape: dict[str, Any]
) -> None:
    key = tuple(shape.items())
    whole = {event.id: event for event in events(made(key), seed)}
    left = events(made(key, missing=share), seed)
    ids = {event.id for event in left}
    assert ids <= set(whole)
    for event in left:
        assert replace(event, edges=whole[event.id].edges) == whole[event.id]
        assert event.edges == tuple(e for e in whole[event.id].edges if e[1] in ids)


@settings(max_examples=15, deadline=None)
@given(SHARES, SEEDS, SHAPES)
def test_a_copy_says_the_same_on_the_same_day_and_leads_where_the_first_does(
    share: float, seed: int, shape: dict[str, Any]
) -> None:
    key = tuple(shape.items())
    once = {event.id: event for event in events(made(key), seed)}
    twice = events(made(key, duplicated=share), seed)
    kept = [event for event in twice if event.id in once]
    copies = [event for event in twice if event.id not in once]
    assert kept == list(once.values())
    assert len({event.id for event in twice}) == len(twice)
    said = {(e.text, e.time): e for e in kept}
    for copy in copies:
        first = said[copy.text, copy.time]
        links = [[e for e in event.edges if e[0] != PART_OF] for event in (copy, first)]
        assert links[0] == links[1]
        parts = {target for relation, target in copy.edges if relation == PART_OF}
        assert parts <= {event.id for event in copies}


@settings(max_examples=10, deadline=None)
@given(SHARES, SEEDS)
def test_a_wrong_record_differs_in_one_statement_that_another_of_the_corpus_makes(
    share: float, seed: int
) -> None:
    corpus = made((), wrong=share).corpus(seed, 0)
    values = {corpus.writer.fixed(record)[1] for record in range(SMALL["items"])}
    for record in range(SMALL["items"]):
        right, captured = corpus.writer.write(record), corpus.recorder.write(record)
        what = corpus.recorder.wrong(record)
        changed = {k for k in right.said if right.said[k] != captured.said[k]}
        assert changed == ({"constraint" if what == "value" else what} if what else set())
        value = corpus.recorder.fixed(record)[1]
        assert value in values
        assert (value == corpus.writer.fixed(record)[1]) == (what != "value")
        links, stated = corpus.writer.links(record), corpus.recorder.links(record)
        assert {k for k in links if links[k] != stated[k]} == ({what} & set(links))
        assert all(links[k].relation == stated[k].relation for k in links)


def test_a_wrong_value_is_never_one_that_complies() -> None:
    domain = made((), wrong=1.0)
    seen = 0
    for case in domain.cases(40, 7):
        seed, block, task = domain._place(case)
        corpus = domain.corpus(seed, block)
        head = corpus.gold_chain(task).head
        if corpus.recorder.wrong(head) == "value":
            seen += 1
            low = str(corpus.recorder.fixed(head)[1].low)
            assert not complies(edit_of(case, low), case.gold.invariant)
    assert seen > 10


def edit_of(case: Case, value: str) -> str:
    """The reference edit with another value for the governed setting."""
    (governed,) = json.loads(case.gold.invariant)["require"]
    edit = json.loads(case.gold.answer)
    return json.dumps([{**e, "value": value} if e["setting"] == governed else e for e in edit])


def tags(**noise: float) -> Iterable[tuple[Case, str, set[str]]]:
    """By case: the tag, and the gold items that stand in no event of its history."""
    domain = made((), **noise)
    for case in domain.cases(24, 7):
        texts = {e.id: e.text for e in domain.history(case.history_id)}
        gone = {
            item.id
            for item in case.gold.items
            if not any(span.text in texts.get(span.source_id, "") for span in item.spans)
        }
        yield case, case.tags["captured"], gone


@pytest.mark.parametrize("noise", [{"missing": 0.3}, {"wrong": 0.5}, {"duplicated": 0.5}], ids=str)
def test_what_is_lost_is_declared_with_the_case(noise: dict[str, float]) -> None:
    told = list(tags(**noise))
    for _, tag, gone in told:
        assert tag == ("no decision" if "decision" in gone else "no path" if gone else "all")
    found = {tag for _, tag, _ in told}
    assert found == ({"all"} if "duplicated" in noise else {"all", "no path", "no decision"})


@pytest.mark.parametrize("noise", [{"missing": 0.3}, {"wrong": 0.5}], ids=str)
def test_the_upper_bound_has_what_was_captured_and_no_more(noise: dict[str, float]) -> None:
    plugin = find("arch", "oracle")
    domain = made((), **noise)
    for case, _, gone in tags(**noise):
        oracle = opened(plugin.cls, list(domain.history(case.history_id)))
        given_ = " ".join(i.text for i in oracle.recall(Query(text="", gold=case.gold), 99))
        held = {i.id for i in case.gold.items if any(s.text in given_ for s in i.spans)}
        assert held == {item.id for item in case.gold.items} - gone


def test_where_records_are_only_there_twice_the_contract_of_a_domain_holds() -> None:
    noise = CaptureNoise(duplicated=0.5)
    check_domain(Governance, GovernanceSettings(**SMALL, capture_noise=noise), 6)
