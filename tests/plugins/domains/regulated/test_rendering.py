"""Cases in other words: the same facts and documents, other sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.plugins.domains.regulated.support import SEED, SPECS, cases, domain, only, shared


@pytest.mark.parametrize("spec", SPECS)
def test_in_other_words_the_same_documents_state_the_same(spec: str) -> None:
    one = shared(spec)
    alike = stated = 0
    for index, case in enumerate(cases(spec)[:40]):
        other = one.rerendered(case, 1)
        assert (other.id, other.tags, other.task) == (case.id, case.tags, case.task)
        assert one.rerendered(other, 1) == other
        assert one.decision_from(other, frozenset(i.id for i in other.gold.items)) in (
            None,
            other.gold.decision,
        )
        mine = one._made(SEED, index).content
        its = one._made(SEED, index, 1).content
        for mention, again in zip(mine.mentions, its.mentions, strict=True):
            assert replace(again, text=mention.text) == mention
            stated += 1
            alike += again.text == mention.text
        for draft, again in zip(mine.drafts, its.drafts, strict=True):
            assert (draft.id, draft.day, draft.arrival) == (again.id, again.day, again.arrival)
            assert (draft.title, draft.author) == (again.title, again.author)
        texts = {event.text for event in one.history(case.history_id)}
        others = {event.text for event in one.history(other.history_id)}
        # What was drawn with few wordings, as a line of a form, may be worded alike again.
        assert len(texts & others) < 0.2 * len(texts)
    assert alike < 0.5 * stated


def test_the_clean_twin_of_a_case_in_other_words_has_those_words() -> None:
    one = domain(strata=only("injected"))
    for case in one.cases(5, SEED):
        other = one.rerendered(case, 2)
        clean = one.without_injection(other)
        assert clean is not None
        texts = [event.text for event in one.history(other.history_id)]
        left = [event.text for event in one.history(clean.history_id)]
        changed = [(a, b) for a, b in zip(texts, left, strict=True) if a != b]
        assert len(changed) == 1
