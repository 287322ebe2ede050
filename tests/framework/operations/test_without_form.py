"""What a real model says where nothing holds it to a form: each answer is refused in one line.

The answers of SmolLM2-135M-Instruct (Q4_1, llama.cpp) to loans, chats and governed tasks of seed 5
in views of `bm25`, asked by `model.structured_output=none` and `json` with `prompt_set=small` and
600 tokens: first answers and those to the one repair. None can be read.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.studies.places import opened
from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptSet
from framework.records import TaskCard
from framework.registry import find

FILE = Path(__file__).parents[2] / "fixtures" / "answers" / "smollm2_without_form.jsonl"
SAID = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


@cache
def cards(*overrides: str) -> list[TaskCard]:
    return [case.task for case in opened(list(overrides)).cases(8, 5)]


def parsed(one: dict[str, Any], text: str) -> Any:
    operation = PromptSet("small").bind(find("operation", one["operation"]).cls())
    request = AnswerRequest(task=cards(*one["domain"])[one["case"]], view="")
    return operation.parse(text, request)


@pytest.mark.parametrize("one", SAID, ids=lambda one: f"{one['operation']}-{one['form']}")
def test_each_is_refused_with_its_reason(one: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parsed(one, one["text"])
    assert str(refused.value) == one["problem"]
    assert len(one["problem"].splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("one", SAID[::4], ids=lambda one: f"{one['operation']}-{one['form']}")
def test_no_part_of_one_raises_anything_else(one: dict[str, Any]) -> None:
    for end in range(0, len(one["text"]), 7):
        with pytest.raises(ValueError, match=r"."):
            parsed(one, one["text"][:end])
        with pytest.raises(ValueError, match=r"."):
            parsed(one, f"{one['text'][:end]}}}")


def test_the_page_counts_them() -> None:
    counts = Counter((one["operation"], one["form"]) for one in SAID)
    asked = {"decide": 8, "answer_from_sessions": 8, "propose_edit": 6}  # first and asked again
    assert counts == {(name, form): 2 * n for name, n in asked.items() for form in ("none", "json")}
    assert all(one["problem"] for one in SAID)
    page = FILE.parents[3] / "docs" / "results" / "language-model.md"
    assert f"{len(SAID)} texts" in page.read_text(encoding="utf-8")
