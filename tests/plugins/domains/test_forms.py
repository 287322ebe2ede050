"""A right answer fits into the form that its operation asks for, the short one too."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from framework.operations.answering import AnswerRequest, answering
from framework.operations.prompted import PromptSet
from tests.plugins.domains.test_floors import FILES, opened

ASKED_FOR_A_TEXT = ("airline_fees", "hotpotqa", "locomo", "longmemeval", "regulation_updates")


@pytest.mark.parametrize("prompts", ["", "small"])
@pytest.mark.parametrize("name", ASKED_FOR_A_TEXT)
def test_no_gold_answer_is_longer_than_the_form(name: str, prompts: str, data_dir: Path) -> None:
    assert name in FILES
    chosen = PromptSet(prompts)
    longest = {}
    for case in opened(name, data_dir)[1]:
        request = AnswerRequest(task=case.task, view="")
        schema: Any = chosen.bind(answering(case.task)).schema(request)
        most = schema["properties"]["answer"].get("maxLength", math.inf)
        if len(case.gold.answer) > most:
            longest[case.id] = len(case.gold.answer)
    assert longest == {}
