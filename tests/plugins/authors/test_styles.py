"""Authors in the style of published methods: what they draft, and that they end."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from framework.contracts import Failure
from framework.contracts.improve import Tried
from plugins.authors.styles import DspyStyle, GraspStyle, ReflexionStyle, clauses_of
from tests.plugins.authors.test_authors import ASSIGNMENT, LIBRARY, drafts

STYLES = (GraspStyle, DspyStyle, ReflexionStyle)
CLAUSES = clauses_of(ASSIGNMENT)
ASKED = dataclasses.replace(
    ASSIGNMENT,
    failures=tuple(
        Failure(question=question, view="", answer="")
        for question in ("How many concerts did I attend?", "When did I move to Berlin?")
    ),
)


def lines(draft: str) -> list[str]:
    text: str = json.loads(draft)["fragments"]["guidance"]
    return [line.removeprefix("- ") for line in text.splitlines()]


def first(style: Any, count: int, **changed: Any) -> list[list[str]]:
    """The first drafts of an author, each discarded."""
    assignment = dataclasses.replace(ASKED, **changed)
    author, found = style(style.Settings()), []
    for attempt in range(count):
        again = dataclasses.replace(assignment, attempt=attempt)
        (draft,) = drafts(Once(author), again)
        found.append(lines(draft))
        tried = Tried(seam="reader_prompt", payload=json.loads(draft), reason="optimize: no gain")
        assignment = dataclasses.replace(assignment, tried=(*assignment.tried, tried))
    return found


class Once:
    """An author that is asked once."""

    def __init__(self, author: Any) -> None:
        self.author, self.asked = author, False

    async def draft(self, assignment: Any, client: Any) -> str | None:
        if self.asked:
            return None
        self.asked = True
        found: str | None = await self.author.draft(assignment, client)
        return found


def test_a_library_has_clauses_each_once() -> None:
    assert len(CLAUSES) == len(set(CLAUSES)) > 3
    assert all(clause and not clause.startswith("- ") for clause in CLAUSES)


@pytest.mark.parametrize("style", STYLES)
def test_drafts_are_the_seeds_and_none_comes_twice(style: Any) -> None:
    found = first(style, 6)
    assert found == first(style, 6)
    assert len({frozenset(one) for one in found}) == 6
    assert any(first(style, 3, seed=seed) != found[:3] for seed in range(5))


@pytest.mark.parametrize("style", STYLES)
def test_only_the_prompt_is_edited(style: Any) -> None:
    assert drafts(Once(style(style.Settings())), dataclasses.replace(ASKED, seams=("score",))) == []


def test_a_skill_is_one_clause_guarded_by_a_word_of_a_failed_question() -> None:
    words = {w.strip("?").lower() for f in ASKED.failures for w in f.question.split()}
    for (line,) in first(GraspStyle, 6):
        guard, _, clause = line.removeprefix('If the question contains "').partition('", ')
        assert guard in words
        assert clause[1:] in {known[1:] for known in CLAUSES}


def test_a_full_library_takes_no_skill() -> None:
    installed = Tried(seam="reader_prompt", payload={}, reason="installed")
    full = dataclasses.replace(ASKED, tried=(installed,) * 6)
    assert drafts(Once(GraspStyle(GraspStyle.Settings())), full) == []
    assert drafts(Once(GraspStyle(GraspStyle.Settings(skills=7))), full) != []


def test_an_instruction_has_several_clauses_of_the_library() -> None:
    found = first(DspyStyle, 12)
    assert {len(one) for one in found} <= {1, 2, 3, 4}
    assert max(map(len, found)) > 1
    assert all(set(one) <= set(CLAUSES) for one in found)


def test_reflections_are_kept_until_one_is_installed() -> None:
    one, two, three, four = first(ReflexionStyle, 4)
    assert (two[:1], three[:2], four[:2]) == (one, two, three[1:])
    installed = Tried(
        seam="reader_prompt",
        payload={"fragments": {"guidance": "\n".join(f"- {line}" for line in three)}},
        reason="installed",
    )
    assert len(first(ReflexionStyle, 1, tried=(installed,))[0]) == 1


@pytest.mark.parametrize("style", [GraspStyle, ReflexionStyle])
def test_without_failures_there_is_nothing_to_draft(style: Any) -> None:
    blind = dataclasses.replace(ASKED, failures=())
    assert drafts(Once(style(style.Settings())), blind) == []
    assert blind.library == LIBRARY
