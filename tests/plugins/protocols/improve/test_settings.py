"""Sizes of the splits: as given, and where none are as the target plans on its domain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from framework.contracts import Sizes
from framework.engine.compose import compose_plan, composer
from framework.errors import UserError
from plugins.protocols.improve.settings import ImproveSettings


def test_a_size_that_is_given_stands_beside_those_that_are_planned() -> None:
    planned = Sizes(pool=300, optimize=50, confirm=100, test=100)
    assert ImproveSettings().sizes(planned) == planned
    given = ImproveSettings(confirm=400).sizes(planned)
    assert given == Sizes(pool=550, optimize=50, confirm=400, test=100)
    assert ImproveSettings(confirm=20).sizes(planned).pool == 300


def test_a_pool_that_is_too_small_is_refused() -> None:
    with pytest.raises(UserError, match=r"protocol.pool: 200 given, less than the 250"):
        ImproveSettings(pool=200).sizes(Sizes())
    with pytest.raises(ValueError, match="less than the three splits"):
        ImproveSettings(pool=10, confirm=11)
    with pytest.raises(ValueError, match="confirm: 0 given"):
        ImproveSettings(confirm=0)


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("target=longmemeval", Sizes(pool=700, optimize=100, confirm=400, test=200)),
        ("target=text_to_sql", Sizes()),
        ("target=pipeline domain=loan", Sizes()),
    ],
)
def test_targets_plan_more_where_more_can_be_drawn(words: str, sizes: Sizes) -> None:
    with composer():
        plan = compose_plan(["protocol=improve", *words.split()])
    target = plan.parts["target"].create()
    assert target.sizes(plan.parts["domain"].create()) == sizes


def test_questions_of_a_file_are_split_as_published() -> None:
    from plugins.domains.longmemeval.domain import LongMemEval
    from plugins.targets.longmemeval import LongMemEvalTarget

    target = LongMemEvalTarget(LongMemEvalTarget.Settings())
    assert target.sizes(cast(LongMemEval, SimpleNamespace(name="longmemeval"))) == Sizes()
