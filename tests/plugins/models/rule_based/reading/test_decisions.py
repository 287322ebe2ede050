"""Reading decision records: links, replacements, what is fixed, and what governs a component."""

from __future__ import annotations

import pytest

from framework.contracts import Profile
from plugins.models.rule_based.reading.decisions import read_decisions

SCHEMA = Profile()
ENTRY = "Component cx-01f4a is built under the Amber Heron covenant."


def governing(*sentences: str) -> list[str]:
    return list(read_decisions("\n".join((ENTRY, *sentences)), SCHEMA).governing("cx-01f4a"))


@pytest.mark.parametrize(
    "link",
    [
        "The Amber Heron covenant implements the Bold Owl canon.",
        "The Amber Heron covenant puts the Bold Owl canon into practice.",
        "The Amber Heron covenant is derived from the Bold Owl canon.",
        "The Amber Heron covenant follows from the Bold Owl canon.",
        "The Bold Owl canon constrains the Amber Heron covenant.",
        "The Bold Owl canon binds the Amber Heron covenant.",
    ],
)
def test_links_of_dependency_lead_up(link: str) -> None:
    assert governing(link) == ["Amber Heron covenant", "Bold Owl canon"]


@pytest.mark.parametrize(
    "other",
    [
        "The Bold Owl canon implements the Amber Heron covenant.",
        "The Amber Heron covenant constrains the Bold Owl canon.",
        "The Amber Heron covenant is related to the Bold Owl canon.",
        "The Amber Heron covenant was discussed alongside the Bold Owl canon.",
        "What the Bold Owl canon lays down, the Amber Heron covenant carries out.",
    ],
)
def test_what_stands_below_beside_or_is_worded_otherwise_does_not(other: str) -> None:
    assert governing(other) == ["Amber Heron covenant"]


def test_the_nearest_comes_first_and_a_ring_ends() -> None:
    assert governing(
        "The Bold Owl canon implements the Calm Crane charter.",
        "The Amber Heron covenant implements the Bold Owl canon.",
        "The Calm Crane charter follows from the Amber Heron covenant.",
    ) == ["Amber Heron covenant", "Bold Owl canon", "Calm Crane charter"]


@pytest.mark.parametrize("verb", ["supersedes", "replaces"])
def test_what_was_replaced_gives_way_to_the_last_and_its_links_hold_on(verb: str) -> None:
    assert governing(
        "The Amber Heron covenant implements the Bold Owl canon.",
        f"The Calm Crane charter {verb} the Bold Owl canon.",
        f"The Deep Finch stance {verb} the Calm Crane charter.",
        "The Bold Owl canon implements the Early Lynx accord.",
    ) == ["Amber Heron covenant", "Deep Finch stance", "Early Lynx accord"]


def test_replacements_in_a_ring_end() -> None:
    log = read_decisions(
        "The Bold Owl canon replaces the Calm Crane charter.\n"
        "The Calm Crane charter replaces the Bold Owl canon.",
        SCHEMA,
    )
    assert log.head("Bold Owl canon") in ("Bold Owl canon", "Calm Crane charter")


@pytest.mark.parametrize(
    ("sentence", "label", "value"),
    [
        ("Under the {}, the request timeout must be 30 days.", "request timeout", "30 days"),
        ("The {} requires the cipher profile to be bluefin.", "cipher profile", "bluefin"),
        ("The {} fixes the page length at 30 to 50 lines.", "page length", "30 to 50 lines"),
    ],
)
def test_what_is_fixed(sentence: str, label: str, value: str) -> None:
    text = f"First line.\n{sentence.format('Bold Owl canon')}"
    (found,) = read_decisions(text, SCHEMA).constraints
    assert (found.name, found.label, found.value) == ("Bold Owl canon", label, value)
    assert found.place == 1


def test_marks_are_looked_up_within_their_record_alone() -> None:
    log = read_decisions(
        "Under the Bold Owl canon, the page length must be mark K7.\n"
        "Mark K7 of the Bold Owl canon means mark A2.\n"
        "In the Bold Owl canon, mark A2 stands for 40 lines.\n"
        "The Calm Crane charter fixes the page length at mark K7.",
        SCHEMA,
    )
    assert [log.value(found) for found in log.constraints] == ["40 lines", ""]


def test_marks_that_mean_each_other_mean_nothing() -> None:
    log = read_decisions(
        "Under the Bold Owl canon, the page length must be mark K7.\n"
        "Mark K7 of the Bold Owl canon means mark A2.\n"
        "Mark A2 of the Bold Owl canon means mark K7.",
        SCHEMA,
    )
    assert log.value(log.constraints[0]) == ""


def test_a_noisy_reader_misses_or_misreads() -> None:
    sentence = "Under the Bold Owl canon, the page length must be 30 lines."
    deaf = Profile(style="noisy", miss_rate=1.0)
    confused = Profile(style="noisy", confuse_rate=1.0)
    assert not read_decisions(sentence, deaf).constraints
    (found,) = read_decisions(sentence, confused).constraints
    assert found.value == "40 lines"
