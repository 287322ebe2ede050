"""Results are traced by id, else by their words, else they are a gist."""

from __future__ import annotations

import time

import pytest

from framework.records import Event
from plugins.archs.external._mapping import Found
from plugins.archs.external._trace import Tracer

TEXTS = {
    "a": "The credit score of the applicant is 655 and two accounts are open.",
    "b": "The annual income is 61,000 dollars; the employer is Pacific Logistics.",
    "c": "The applicant called to ask when the office opens on Monday.",
    "d": "The applicant called to ask when the office opens on Monday.",
    "e": "The applicant called to ask when the office opens on Friday.",
    "f": "Approved.",
}
EVENTS = [Event(id=name, text=text, time="", kind="") for name, text in TEXTS.items()]


def traced(text: str, *ids: str, **named: str) -> tuple[tuple[str, ...], float]:
    given = {name: tuple(events) for name, events in named.items()}
    return Tracer(EVENTS).trace(Found(text=text, ids=ids), given)


def test_an_id_of_ours_or_one_given_at_the_write_is_sure() -> None:
    assert traced("whatever it wrote", "b") == (("b",), 1.0)
    assert traced("whatever it wrote", "m-17", **{"m-17": "a"}) == (("a",), 1.0)
    assert traced("two at once", "a", "b", "a") == (("a", "b"), 1.0)
    assert traced(TEXTS["c"], "d") == (("d",), 1.0)
    assert traced("made of two", "m-17", **{"m-17": "ab"}) == (("b", "a"), 1.0)


def test_an_id_is_not_believed_against_all_words_of_a_result() -> None:
    # As where a system numbers what it holds, and the events are numbered too.
    assert traced(TEXTS["a"], "b") == (("a",), 1.0)
    assert traced(TEXTS["c"], "a") == (("c", "d"), 1.0)
    assert traced(TEXTS["e"], "c") == (("e",), 1.0)
    # Words of its own, or of both, are none of another's alone.
    assert traced(f"Noted: {TEXTS['a']}", "b") == (("b",), 1.0)
    assert traced(f"{TEXTS['a']} {TEXTS['b']}", "b") == (("b",), 1.0)
    assert traced("the applicant called to ask", "e") == (("e",), 1.0)


@pytest.mark.parametrize(
    ("text", "sources", "low", "high"),
    [
        (TEXTS["a"], ("a",), 1.0, 1.0),
        ("the credit score of the applicant is 655", ("a",), 1.0, 1.0),
        (f"{TEXTS['b']}\n{TEXTS['a']}", ("b", "a"), 0.8, 1.0),
        ("2026: annual income is 61,000 dollars", ("b",), 0.5, 0.99),
        (TEXTS["c"], ("c", "d"), 1.0, 1.0),
        (TEXTS["e"], ("e",), 1.0, 1.0),
        ("Approved", ("f",), 1.0, 1.0),
        ("The person earns well and has good credit.", (), 0.0, 0.0),
        ("...", (), 0.0, 0.0),
    ],
)
def test_words_are_aligned_with_a_stated_score(
    text: str, sources: tuple[str, ...], low: float, high: float
) -> None:
    found, score = traced(text, "an id of its own")
    assert sorted(found) == sorted(sources)
    assert low <= score <= high


def test_a_result_that_holds_a_whole_history_is_traced_at_once() -> None:
    texts = [" ".join(f"w{n}x{i}" for i in range(40)) for n in range(1_000)]
    events = [Event(id=f"e{n}", text=text, time="", kind="") for n, text in enumerate(texts)]
    tracer, begun = Tracer(events), time.process_time()
    found, share = tracer.trace(Found(text="\n".join(reversed(texts))), {})
    assert sorted(found) == sorted(event.id for event in events)
    assert share > 0.9
    assert time.process_time() - begun < 5  # 12, if each event were compared each time


def test_items_have_names_of_their_own_and_no_random_ids() -> None:
    found = [
        Found(text=TEXTS["a"], ids=("uuid-1",), score=2.5),
        Found(text=" "),
        Found(text="credit score of the applicant is 655", score=float("nan")),
        Found(text="A gist."),
        Found(text="Another gist."),
    ]
    items = Tracer(EVENTS).items(found, {})
    assert [item.id for item in items] == ["a", "a#2", "gist", "gist#2"]
    assert [item.signals["rank"] for item in items] == [1, 2, 3, 4]
    assert [item.signals.get("score") for item in items] == [2.5, None, None, None]
    assert [item.source_ids for item in items] == [("a",), ("a",), (), ()]
