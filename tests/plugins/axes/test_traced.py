from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from framework.contracts import Scored
from framework.pipeline.pack import pack
from framework.records import Case, Gold, GoldItem, Item, Span, TaskCard
from framework.registry import NoSettings
from plugins.axes.traced import Traced

GOLD = Gold(
    items=tuple(
        GoldItem(id=name, kind="fact", key=name, spans=(Span(source_id=f"e-{name}", text=name),))
        for name in ("income", "score", "rate")
    )
)
TEXTS = {"known": "one two three", "gist": "four", "other": "five six seven eight"}


def traced(sources: Mapping[str, tuple[str, ...]], kept: set[str]) -> Mapping[str, float | None]:
    items = [Item(id=name, text=TEXTS[name], source_ids=ids) for name, ids in sources.items()]
    scored = Scored(
        case=Case(id="c", history_id="h", task=TaskCard(instruction="", query="q"), gold=GOLD),
        domain=cast(Any, None),
        view=pack(items, 4, "whole"),
        answer=None,
        retained={item.id: item.id in kept for item in GOLD.items},
        judge=None,
        client=cast(Any, None),
    )
    return Traced(NoSettings()).score(scored).values


@pytest.mark.parametrize(
    ("sources", "kept", "gist", "kept_as_gist"),
    [
        ({"known": ("e-income",)}, {"income"}, 0.0, 0.0),
        ({"known": ("e-income",), "gist": ()}, {"income", "score"}, 0.25, 0.5),
        ({"gist": ()}, {"income", "score"}, 1.0, 1.0),
        ({"known": ("e-rate",)}, set(), 0.0, None),
        ({}, set(), None, None),
        # What did not fit is no source of what was kept.
        ({"known": ("e-rate",), "gist": (), "other": ("e-score",)}, {"score"}, 0.25, 1.0),
    ],
)
def test_what_rests_on_texts_without_a_source_is_its_own_class(
    sources: dict[str, tuple[str, ...]],
    kept: set[str],
    gist: float | None,
    kept_as_gist: float | None,
) -> None:
    assert traced(sources, kept) == {"gist": gist, "kept_as_gist": kept_as_gist}
