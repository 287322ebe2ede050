"""Retention of the standing clauses survives rewording, and nothing else."""

from __future__ import annotations

from functools import partial
from random import Random

import pytest

from framework.records import Item, MemoryView
from framework.retention import retained
from tests.plugins.domains.regulated import rewordings
from tests.plugins.domains.regulated.support import SEED, SPECS, cases, shared

TRIES = 500
CLAUSES = ("rules_in_force", "precedence", "remaining")

pytestmark = [
    pytest.mark.parametrize("spec", SPECS),
    pytest.mark.parametrize("clause", CLAUSES),
]


def view(text: str) -> MemoryView:
    return MemoryView(items=(Item(id="1", text=text),), tokens=0, budget_tokens=None)


def tried(spec: str, clause: str, *, same: bool) -> list[tuple[str, bool]]:
    """(sentence, whether it retains the clause) of `TRIES` sentences, a case each in turn."""
    domain, rng, found = shared(spec), Random(f"{spec}/{clause}/{same}"), []
    listed = cases(spec)
    for n in range(TRIES):
        index = n % len(listed)
        case, policy = listed[index], domain.sampled(SEED, index).policy
        verbs = domain.spec.verbs
        codes = [rule.code for rule in policy.rules]
        order = [verbs[decision] for decision in policy.precedence]
        rest = verbs[policy.remaining]
        others = [f"{code[:-1]}{digit}" for code in codes for digit in "123456789"]
        strange = [code for code in others if code not in codes]
        match clause, same:
            case "rules_in_force", True:
                said = rewordings.in_force(rng, codes)
            case "rules_in_force", False:
                said = rewordings.not_in_force(rng, codes, strange)
            case "precedence", True:
                said = rewordings.precedence(rng, order)
            case "precedence", False:
                said = rewordings.not_precedence(rng, order)
            case _, True:
                said = rewordings.remaining(rng, rest)
            case _:
                said = rewordings.not_remaining(rng, rest, [v for v in order if v != rest])
        kept = retained(case.gold, view(said), partial(domain.states, case))
        found.append((said, kept[f"policy:{clause}"]))
    return found


@pytest.mark.slow
def test_a_rewording_keeps_retention(spec: str, clause: str) -> None:
    found = tried(spec, clause, same=True)
    lost = [said for said, kept in found if not kept]
    assert len({said for said, _ in found}) > TRIES / 2
    assert len(lost) <= 0.05 * TRIES, lost[:5]


@pytest.mark.slow
def test_what_says_something_else_loses_it(spec: str, clause: str) -> None:
    wrong = [said for said, kept in tried(spec, clause, same=False) if kept]
    assert not wrong, wrong[:5]


@pytest.mark.slow
def test_no_other_sentence_of_a_history_states_a_clause(spec: str, clause: str) -> None:
    """Without its own sentence the whole rest of the history does not hold it, in any form."""
    domain = shared(spec)
    for case in cases(spec)[:80]:
        (item,) = (i for i in case.gold.items if i.id == f"policy:{clause}")
        own = item.spans[0].text
        rest = [event.text.replace(own, "") for event in domain.history(case.history_id)]
        kept = retained(case.gold, view("\n".join(rest)), partial(domain.states, case))
        assert not kept[item.id], case.id
        alone = retained(case.gold, view(own.upper()), partial(domain.states, case))
        assert alone[item.id], own
