"""A class that is not what its group's contract says is refused where it is registered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from framework import registry
from framework.contracts import Arch, Axis, Judge, Query, Reader, Scored
from framework.records import AxisScore, Event, Item
from framework.registry import NoSettings, register


class Memory(Arch[NoSettings]):
    """Keeps nothing."""

    def ingest(self, events: Iterable[Event]) -> None:
        list(events)

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return []


class WithoutIngest(Arch[NoSettings]):
    """Takes in nothing."""

    def recall(self, query: Query, k: int) -> Sequence[Item]:
        return []


class WithoutKind(Judge[NoSettings]):
    """Does not say how it judges."""

    def entail(self, *_: Any) -> Any:
        return []

    def audit(self, *_: Any) -> Any:
        return []


class Measure(Axis[NoSettings]):
    """A column."""

    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"zz": True}

    def score(self, scored: Scored) -> AxisScore:
        return self.undefined()


class Plain:
    """No plugin at all."""


def with_(cls: type[Any], **declared: Any) -> type[Any]:
    return type(f"My{cls.__name__}", (cls,), declared)


@pytest.fixture(autouse=True)
def _cleared() -> Iterator[None]:
    yield
    for key in [key for key in registry._plugins if key[1] == "zz_declared"]:
        del registry._plugins[key]


@pytest.mark.parametrize(
    ("group", "cls", "said"),
    [
        ("arch", Plain, "Plain is no Arch"),
        ("reader", Memory, "Memory is no Reader"),
        ("arch", Arch, "Arch: not implemented: ingest, recall"),
        ("reader", Reader, "Reader: not implemented: answer"),
        ("arch", WithoutIngest, "WithoutIngest: not implemented: ingest"),
        ("judge", WithoutKind, "WithoutKind: not declared: kind"),
        ("judge", with_(WithoutKind, kind="lmm"), "MyWithoutKind: kind: 'lmm' given; did you "
         "mean 'llm'? allowed: llm, rule-based"),
        ("arch", with_(Memory, budget_at="always"), "MyMemory: budget_at: 'always' given; "
         "allowed: ingest, none, recall"),
        ("arch", with_(Memory, needs_model="no"), "MyMemory: needs_model: 'no' given, true or "
         "false expected"),
        ("arch", with_(Memory, sees_task=lambda self: False), "MyMemory: sees_task: "),
        ("arch", with_(Memory, axes="traced"), "MyMemory: axes: 'traced' given, a list of text "
         "expected"),
        ("axis", with_(Measure, names=("zz", "yy")), "MyMeasure: higher_is_better must name every "
         "column and no other; differing: yy"),
        ("axis", with_(Measure, model_free={"frp"}), "MyMeasure: model_free: frp is no column"),
        ("axis", with_(Measure, judged={"eda"}), "MyMeasure: judged: eda is no column"),
        ("axis", with_(Measure, amounts={"eda"}), "MyMeasure: amounts: eda is no column"),
        ("axis", with_(Measure, corrected={"y": "eda"}), "MyMeasure: corrected: eda is no column"),
    ],
)  # fmt: skip
def test_it_is_told_with_its_class(group: str, cls: type[Any], said: str) -> None:
    with pytest.raises(TypeError) as told:
        register(group, "zz_declared")(cls)
    assert str(told.value).startswith(said)
    assert (group, "zz_declared") not in registry._plugins


@pytest.mark.parametrize(
    ("group", "cls"),
    [
        ("arch", Memory),
        ("arch", with_(Memory, needs_model=property(lambda self: True))),
        ("judge", with_(WithoutKind, kind="llm")),
        ("axis", Measure),
    ],
)
def test_what_is_whole_is_registered(group: str, cls: type[Any]) -> None:
    assert register(group, "zz_declared")(cls) is cls
    assert registry._plugins[group, "zz_declared"].cls is cls
