"""Consolidating memories and taking notes: strict reading, and what the rules make of words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from framework.contracts import Profile, answer_by_rule
from framework.operations.consolidate import Change, Consolidate, ConsolidateRequest
from framework.operations.take_note import Note, Revision, TakeNote, TakeNoteRequest

RULES = Profile()
MEMORIES = ("The credit score is 655.", "The gate opens at six.")


def consolidated(document: str, *memories: str) -> tuple[Change, ...]:
    request = ConsolidateRequest(document=document, memories=memories or MEMORIES)
    return answer_by_rule(Consolidate(), request, RULES).changes


def test_news_is_added_and_what_is_known_is_left() -> None:
    assert consolidated("Berths cost 12 dollars a day.\nThe gate opens at six.") == (
        Change(action="ADD", text="Berths cost 12 dollars a day."),
        Change(action="NOOP", number=2),
    )
    assert consolidated("Berths are free. Berths are free.") == (
        Change(action="ADD", text="Berths are free."),
    )


def test_a_correction_updates_the_memory_it_shares_most_words_with() -> None:
    said = "2026-03-05 | Letter | Office\nCorrection: the credit score is 610, not 655."
    assert consolidated(said) == (
        Change(
            action="UPDATE",
            number=1,
            text="2026-03-05: Correction: the credit score is 610, not 655.",
        ),
    )


def test_a_withdrawal_deletes_and_one_of_something_unknown_is_added() -> None:
    assert consolidated("The gate opens at six is withdrawn.") == (
        Change(action="DELETE", number=2),
    )
    (change,) = consolidated("The permit for the eastern crane is withdrawn.")
    assert change.action == "ADD"


def test_a_noisy_reader_misses_some() -> None:
    request = ConsolidateRequest(document="\n".join(f"Item {i} is blue." for i in range(100)))
    noisy = Profile(style="noisy", miss_rate=0.5)
    assert 20 < len(answer_by_rule(Consolidate(), request, noisy).changes) < 80


def changes(*entries: Any) -> str:
    keys = ("action", "number", "text")
    return json.dumps({"changes": [dict(zip(keys, entry, strict=True)) for entry in entries]})


def test_changes_are_read() -> None:
    request = ConsolidateRequest(document="d", memories=MEMORIES)
    text = changes(("ADD", 0, "new"), ("UPDATE", 1, "other"), ("DELETE", 2, ""), ("NOOP", 1, ""))
    assert Consolidate().parse(text, request).changes == (
        Change(action="ADD", text="new"),
        Change(action="UPDATE", number=1, text="other"),
        Change(action="DELETE", number=2),
        Change(action="NOOP", number=1),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no", "no JSON object"),
        (json.dumps({"changed": []}), "missing keys"),
        (changes(("MERGE", 1, "")), "action: .MERGE. given; allowed: ADD"),
        (changes(("UPDATE", 3, "x")), "1 to 2 expected"),
        (changes(("ADD", 1, "x")), "0 to 0 expected"),
        (changes(("DELETE", True, "")), "a whole number expected"),
        (changes(("ADD", 0, " ")), "text: missing for ADD"),
        (changes(("DELETE", 1, "x")), "text: not wanted for DELETE"),
    ],
)
def test_a_wrong_change_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Consolidate().parse(text, ConsolidateRequest(document="d", memories=MEMORIES))


NOTES = (
    Note(text="Invoices come from the ledger.", context="billing"),
    Note(text="The crane needs oil.", context="repairs"),
)
DOCUMENT = "The ledger holds invoices. Every entry of the ledger is kept, and invoices follow."


def test_a_note_has_the_words_that_recur_and_links_by_two_of_them() -> None:
    response = answer_by_rule(TakeNote(), TakeNoteRequest(document=DOCUMENT, notes=NOTES), RULES)
    assert set(response.keywords[:2]) == {"ledger", "invoices"}
    assert response.context == "The ledger holds invoices."
    assert response.links == (1,)
    ((revision),) = response.revised
    assert revision.number == 1
    assert revision.context.split()[0] == "billing"
    assert set(revision.context.split()[1:]) == {"ledger", "invoices"}


def test_a_note_is_read() -> None:
    request = TakeNoteRequest(document=DOCUMENT, notes=NOTES)
    text = json.dumps(
        {
            "keywords": ["ledger"],
            "context": "of the ledger",
            "links": [2, 1, 2],
            "revised": [{"number": 2, "context": "new"}],
        }
    )
    response = TakeNote().parse(text, request)
    assert response.links == (2, 1)
    assert response.revised == (Revision(number=2, context="new"),)


@pytest.mark.parametrize(
    "change", [{"links": [3]}, {"links": "1"}, {"keywords": "x"}, {"revised": [{"number": 1}]}]
)
def test_a_wrong_note_is_refused(change: dict[str, Any]) -> None:
    whole = {"keywords": [], "context": "", "links": [], "revised": []}
    with pytest.raises(ValueError, match=r"expected|missing"):
        TakeNote().parse(
            json.dumps(whole | change), TakeNoteRequest(document=DOCUMENT, notes=NOTES)
        )


def test_prompts_hold_the_request() -> None:
    prompt = Consolidate().prompt(ConsolidateRequest(document="DOC", memories=MEMORIES)).user
    assert "DOC" in prompt
    assert "2. The gate opens at six." in prompt
    prompt = TakeNote().prompt(TakeNoteRequest(document="DOC", notes=NOTES)).user
    assert '<note number="2">\nThe crane needs oil.\nContext: repairs\n</note>' in prompt
