"""The router: figures, form lines and rules are facts; prose, dates and headers are not."""

from __future__ import annotations

import pytest

from framework.registry import find, settings_of
from plugins.archs._router import route, states_fact


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Annual income: $61,000", True),
        ("Occupancy: owner", True),
        ("The credit score is 640.", True),
        ("UP-1. Deny if the debt ratio is above 43%; reason: excessive obligations.", True),
        ("UP-2. Refer where the file is thin; reason: losses due to thin files.", True),
        ("The gap arose because the applicant cared for a parent.", False),
        ("A deposit of $4,500 is explained by the sale of a car.", False),
        ("The engineer attributed the 4 cracks to long-term settlement.", False),
        ("Your letter of 2026-03-12 has reached us.", False),
        ("Your letter of March 12, 2026 and that of 3/14/2026 have reached us.", False),
        ("Please call me at 555-0104 or 212-555-0104.", False),
        ("Kind regards.", False),
    ],
)
def test_states_fact(sentence: str, expected: bool) -> None:
    assert states_fact(sentence) is expected


HEADER = "2026-03-12 | Letter 14 | Hollis Appraisals\n"


def test_the_header_is_not_read() -> None:
    assert route(HEADER + "The gap is explained by illness.") == "reasoning"
    assert route(HEADER + "The score is 640.") == "fact"
    assert route("The score is 640.") == "fact"
    assert route(HEADER) == route("") == "reasoning"


def test_one_fact_makes_a_fact_of_the_chunk() -> None:
    prose = "Thank you for your letter. We have kept copies. "
    assert route(HEADER + prose) == "reasoning"
    assert route(HEADER + prose + "The score is 640.") == "fact"


def test_on_generated_events_the_router_beats_one_store_for_all() -> None:
    plugin = find("domain", "regulated")
    domain = plugin.cls(settings_of(plugin, {"spec": "loan", "forms": "development"}))
    routed: dict[str, list[str]] = {"fact": [], "reason": []}
    for case in domain.cases(30, 11):
        events = {event.id: event.text for event in domain.history(case.history_id)}
        facts = {i for item in case.gold.items if item.kind != "reason" for i in item.source_ids}
        for item in case.gold.items:
            for source_id in set(item.source_ids):
                if item.kind == "fact" or (item.kind == "reason" and source_id not in facts):
                    routed[item.kind].append(route(events[source_id]))
    right = [
        routed["fact"].count("fact") / len(routed["fact"]),
        routed["reason"].count("reasoning") / len(routed["reason"]),
    ]
    assert sum(right) / 2 > 0.5
