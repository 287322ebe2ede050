"""Only what stands in the view counts, whoever lists it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.contracts import PLAIN, Client, Operation, Req, Res
from framework.records import ABSTAIN, EMPTY, Answer, Event, Item, MemoryView, TaskCard
from framework.registry import find, identity_of, settings_of
from framework.testing.arch_conformance import RuleClient, settle
from framework.testing.reader_conformance import answer_of, check_reader
from plugins.operators.count_listed_events import CountListedEvents, CountListedEventsSettings
from plugins.operators.list_events import ListEvents, ListEventsRequest, placed
from plugins.readers.guarded import Guarded, GuardedSettings
from tests.framework.operations.test_bounds_of_schemas import unbounded_parts

NAME = "count_listed_events"
TEXTS = (
    "2023/05/01 (Mon) 09:00 | user\nI visited the Harbour Museum today.",
    "2023/05/08 (Mon) 09:00 | user\nAs I told you, I visited the Harbour Museum a week ago.",
    "2023/05/20 (Sat) 09:00 | user\nI visited the Harbour Museum today. I bought two cups.",
    "2023/05/28 (Sun) 09:00 | user\nI am planning to visit the Granite Museum next month.",
)
VIEW = MemoryView(
    items=tuple(Item(id=f"m{n}", text=text) for n, text in enumerate(TEXTS, 1)),
    tokens=1,
    budget_tokens=None,
)
QUESTION = "How many times did I visit a museum?"
READ = Answer(text="once", rationale="so it was said", confidence=0.9, provisions=("kept",))


def card(query: str = QUESTION, operation: str = "answer_from_sessions") -> TaskCard:
    return TaskCard(
        instruction="Answer.",
        query=query,
        operation=operation,
        material={"question_date": "2023/06/01 (Thu) 12:00"},
    )


@dataclass(slots=True)
class Says:
    """A client whose model answers every question with the same text."""

    text: str
    asked: int = 0
    kind: ClassVar[str] = "llm"
    identity: ClassVar[Mapping[str, Any]] = EMPTY

    def choose(self, options: Sequence[str]) -> str:
        return options[0]

    async def ask(self, operation: Operation[Req, Res], request: Req) -> Res:
        self.asked += 1
        return operation.parse(self.text, request)


def listing(*events: tuple[int, str, str]) -> str:
    told = [{"memory": m, "date": d, "quote": q} for m, d, q in events]
    return json.dumps({"events": told})


def applied(client: Client, task: TaskCard | None = None, view: MemoryView = VIEW) -> Answer | None:
    operator = CountListedEvents(CountListedEventsSettings())
    return settle(operator.apply(task or card(), view, READ, client))


def test_it_counts_what_the_model_listed_and_says_what_it_rests_on() -> None:
    said = listing(
        (1, "2023-05-01", "I visited the Harbour Museum today"),
        (
            3,
            "2023-05-20",
            "i visited  the\nHarbour MUSEUM today.",
        ),
    )
    found = applied(Says(said))
    assert found is not None
    assert found.text == "2"
    assert found.rationale.startswith("2023-05-01: I visited the Harbour Museum today")
    assert found.confidence is None, "the reader's confidence was in another answer"
    assert found.provisions == (
        "kept", f"{NAME}:listed=2", f"{NAME}:unsupported=0", f"operator:{NAME}",
    )  # fmt: skip


def test_what_is_not_in_the_view_earns_no_count_and_is_tallied() -> None:
    invented = (2, "", "I visited the Louvre in Paris")
    found = applied(Says(listing((1, "", "I visited the Harbour Museum"), invented)))
    assert found is not None
    assert found.text == "1"
    assert f"{NAME}:unsupported=1" in found.provisions


@pytest.mark.parametrize(
    "events",
    [
        [],
        [(1, "2023-05-01", "I visited the Louvre in Paris")],
        [(1, "", "")],
        [(1, "", "the Harbour")],
        [(99, "", "nothing of the kind"), (1, "", "... ...  ...")],
    ],
)
def test_where_nothing_is_supported_the_answer_stays(events: list[tuple[int, str, str]]) -> None:
    found = applied(Says(listing(*events)))
    assert found is not None
    assert (found.text, found.rationale, found.confidence) == (
        READ.text, READ.rationale, READ.confidence,
    )  # fmt: skip
    assert f"{NAME}:unsupported={len(events)}" in found.provisions


@pytest.mark.parametrize(
    "task",
    [
        card("Which museum did I visit?"),
        card("How many days ago did I visit the Harbour Museum?"),
        card(operation="decide"),
    ],
)
def test_where_its_detector_does_not_fire_nothing_is_asked(task: TaskCard) -> None:
    client = Says(listing((1, "", "I visited the Harbour Museum")))
    assert applied(client, task) is None
    assert client.asked == 0


def test_a_number_that_is_wrong_is_set_right_by_the_words() -> None:
    events, unsupported = placed(
        [Event(id="m1", text="I bought two cups", time="", kind="event")], VIEW
    )
    assert ([e.id for e in events], unsupported) == (["m3"], 0)


def test_the_same_words_of_one_memory_count_once_and_of_two_twice() -> None:
    quote = "I visited the Harbour Museum today"
    found = applied(Says(listing((1, "", quote), (1, "", quote.upper()), (3, "", quote))))
    assert found is not None
    assert found.text == "2"


def test_the_rule_lists_events_by_name_and_day_so_that_it_runs_without_a_model() -> None:
    client = RuleClient()
    found = applied(client)
    assert found is not None
    assert found.text == "2", "a restatement is no event, and a plan is none"
    assert client.calls == 1
    events = settle(client.ask(ListEvents(), ListEventsRequest(task=card(), view=VIEW)))
    assert [(e.id, e.time) for e in events] == [("m1", "2023-05-01"), ("m3", "2023-05-20")]
    assert placed(events, VIEW) == (list(events), 0)


def test_an_abstention_is_taken_back_where_events_are_there() -> None:
    operator = CountListedEvents(CountListedEventsSettings())
    found = settle(
        operator.apply(card(), VIEW, Answer(decision=ABSTAIN, text="unknown"), RuleClient())
    )
    assert found is not None
    assert (found.decision, found.text) == ("", "2")


_SAID = [sentence for text in TEXTS for sentence in text.split("\n")[1].split(". ")]
_QUOTES = st.sampled_from([*_SAID, "I visited Rome", "never said by anyone", "", "museum"])
_EVENTS = st.lists(
    st.builds(
        Event,
        id=st.sampled_from(["m1", "m2", "m3", "m4", "", "m9"]),
        text=_QUOTES,
        time=st.just(""),
        kind=st.just("event"),
    ),
    max_size=12,
)


@given(_EVENTS, st.randoms(use_true_random=False))
def test_what_counts_stands_in_the_view_each_once_whatever_the_order(
    events: list[Event], draw: Any
) -> None:
    found, unsupported = placed(events, VIEW)
    texts = {item.id: item.text for item in VIEW.items}
    assert all(event.text in texts[event.id] for event in found)
    assert len({(e.id, e.text) for e in found}) == len(found)
    assert len(found) + unsupported <= len(events)
    shuffled = list(events)
    draw.shuffle(shuffled)
    again, others = placed(shuffled, VIEW)
    assert (len(again), others) == (len(found), unsupported)


def test_the_form_of_the_answer_is_bounded_by_the_view() -> None:
    schema = ListEvents().schema(ListEventsRequest(task=card(), view=VIEW))
    assert schema is not None
    assert list(unbounded_parts(schema)) == []
    events = schema["properties"]["events"]
    assert events["items"]["properties"]["memory"]["maximum"] == len(VIEW.items)
    empty = MemoryView(items=(), tokens=0, budget_tokens=None)
    none = ListEvents().schema(ListEventsRequest(task=card(), view=empty))
    assert none is not None
    assert none["properties"]["events"]["maxItems"] == 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no object", "no JSON object"),
        ('{"events": [{"memory": 1, "quote": "x"}]}', "missing keys"),
        ('{"events": [{"memory": "one", "date": "", "quote": "x"}]}', "memory"),
        ('{"events": [], "count": 2}', "unknown keys"),
        ('{"events": 7}', "events"),
    ],
)
def test_an_answer_in_another_form_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ListEvents().parse(text, ListEventsRequest(task=card(), view=VIEW))


def test_what_is_rendered_is_read_back() -> None:
    request = ListEventsRequest(task=card(), view=VIEW)
    events = settle(RuleClient().ask(ListEvents(), request))
    told = json.loads(ListEvents().render(events))["events"]
    assert [one["quote"] for one in told] == [event.text for event in events]


def test_the_question_and_every_memory_are_in_the_prompt() -> None:
    prompt = ListEvents().prompt(ListEventsRequest(task=card(), view=VIEW))
    assert QUESTION in prompt.user
    assert "2023/06/01" in prompt.user
    assert all(text in prompt.user for text in TEXTS)


def test_a_reader_with_it_keeps_the_laws_and_names_it() -> None:
    check_reader(Guarded, GuardedSettings(operators=(NAME,)))
    found = answer_of(Guarded(GuardedSettings(operators=(NAME,))), card(), VIEW, PLAIN)
    assert (found.text, found.provisions[-1]) == ("2", f"operator:{NAME}")


def test_its_prompts_are_part_of_what_a_reader_is_and_of_no_other_reader() -> None:
    plugin = find("reader", "guarded")
    plain = identity_of(plugin, settings_of(plugin, {"operators": ["fallback_to_raw_span"]}))
    assert plain == {"operators": ("fallback_to_raw_span",), "guidance": ""}
    with_it = identity_of(plugin, settings_of(plugin, {"operators": [NAME]}))
    assert with_it["asked"] == {NAME: {"list_events": ListEvents().files.digest}}
