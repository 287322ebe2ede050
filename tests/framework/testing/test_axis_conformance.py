"""The conformance suite finds an axis that breaks a law: one broken axis per law."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from framework.contracts import Axis, Scored
from framework.records import AxisScore
from framework.registry import NoSettings
from framework.testing.adversarial import listing
from framework.testing.axis_conformance import cases, check_axis


class Good(Axis[NoSettings]):
    """Share of gold retained. Every broken axis below differs from it in one thing."""

    names = ("kept",)
    needs_answer = False
    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"kept": True}
    model_free: ClassVar[frozenset[str]] = frozenset({"kept"})

    def score(self, scored: Scored) -> AxisScore:
        kept = scored.retained.values()
        return AxisScore(values={"kept": sum(kept) / len(kept) if kept else None})


def scoring(score: Callable[[Scored], Any]) -> type[Good]:
    """`Good` with another score."""

    class Broken(Good):
        """Broken."""

        def score(self, scored: Scored) -> AxisScore:
            given: AxisScore = score(scored)
            return given

    return Broken


def declaring(**declared: Any) -> type[Good]:
    return type("Broken", (Good,), {"__doc__": "Broken.", **declared})


def value(number: Any) -> type[Good]:
    return scoring(lambda scored: AxisScore(values={"kept": number}))


def forgets(scored: Scored) -> AxisScore:
    vars_ = dict(scored.retained)
    scored.retained.clear()  # type: ignore[attr-defined]
    return AxisScore(values={"kept": float(len(vars_))})


class Counts(Good):
    """Scores by how often it was asked."""

    asked = 0

    def score(self, scored: Scored) -> AxisScore:
        Counts.asked += 1
        return AxisScore(values={"kept": float(Counts.asked)})


class AsksJudge(Good):
    """Takes a judge for granted."""

    needs_answer = True
    model_free: ClassVar[frozenset[str]] = frozenset()

    def score(self, scored: Scored) -> AxisScore:
        assert scored.judge is not None, "there is no judge"
        return super().score(scored)


class Words(Axis[NoSettings]):
    """Share of the words of the gold's reasons that the rationale has."""

    names = ("words",)
    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"words": True}

    def score(self, scored: Scored) -> AxisScore:
        answer, wanted = scored.answer, listing(scored.case.gold)
        if answer is None or not wanted:
            return self.undefined()
        said = sum(option in answer.rationale for option in wanted)
        return AxisScore(values={"words": said / len(wanted)})


class Overlap(Axis[NoSettings]):
    """Recall of the expected words, with a precision beside it that does not see what it costs."""

    names = ("found", "cost")
    higher_is_better: ClassVar[Mapping[str, bool | None]] = {"found": True, "cost": True}
    precision: ClassVar[Mapping[str, str]] = {"found": "cost"}

    def score(self, scored: Scored) -> AxisScore:
        if scored.answer is None or not scored.case.gold.answer:
            return self.undefined()
        found = float(scored.case.gold.answer in scored.answer.text)
        return AxisScore(values={"found": found, "cost": found})


BROKEN: list[tuple[type[Axis[Any]], str]] = [
    (declaring(__doc__=""), "docstring"),
    (declaring(names=()), "no columns"),
    (declaring(names=("kept", "kept")), "two columns of one name"),
    (declaring(names=("Kept@5",)), "Kept@5: only a to z"),
    (declaring(names=("kept",), higher_is_better={}), "higher_is_better must name every column"),
    (declaring(higher_is_better={"kept": "yes"}), "higher_is_better of kept is 'yes'"),
    (declaring(needs=("evidense",)), "no domain provides 'evidense'; did you mean 'evidence'"),
    (declaring(model_free=frozenset({"lost"})), "model_free: lost is no column"),
    (declaring(of_success=frozenset({"lost"})), "of_success: lost is no column"),
    (declaring(signed=frozenset({"lost"})), "signed: lost is no column"),
    (scoring(lambda scored: {"kept": 1.0}), "score gives dict"),
    (scoring(lambda scored: AxisScore(values={})), "declared differ: kept"),
    (scoring(lambda scored: AxisScore(values={"kept": 1.0, "x": 0.0})), "declared differ: x"),
    (value(float("nan")), "kept is nan"),
    (value("1"), "kept is '1'"),
    (value(True), "kept is True"),
    (
        scoring(lambda scored: AxisScore(values={"kept": 1.0}, evidence=["a"])),  # type: ignore[arg-type]
        "not a tuple",
    ),
    (scoring(forgets), "changed what it was given"),
    (Counts, "the same case got other values"),
    (
        scoring(
            lambda scored: AxisScore(
                values={"kept": float(bool(scored.answer and scored.answer.facts))}
            )
        ),
        "kept moved with the answer",
    ),
    (AsksJudge, "there is no judge"),
    (Words, "words: the attack 'list everything' earns"),
    (Overlap, "found: the attack 'list everything' earns 1.00, and 1.00 in cost"),
    (type("Overlap", (Overlap,), {"__doc__": "No cost.", "precision": {}}), "found: the attack"),
    (type("Overlap", (Overlap,), {"__doc__": "x", "precision": {"no": "cost"}}), "no is no column"),
]


def test_a_good_axis_passes() -> None:
    check_axis(Good, NoSettings())


@pytest.mark.parametrize(("axis", "law"), BROKEN)
def test_a_broken_axis_is_found(axis: type[Axis[Any]], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_axis(axis, NoSettings())


def test_an_axis_that_needs_no_answer_is_scored_without_one() -> None:
    needs = scoring(lambda s: AxisScore(values={"kept": float(len(s.answer.text) * 0)}))
    with pytest.raises(AttributeError, match="NoneType"):
        check_axis(needs, NoSettings())


def test_cases_of_ones_own_are_held_to_the_laws_too() -> None:
    def on_long_views(scored: Scored) -> AxisScore:
        return AxisScore(values={"kept": 2.0 if scored.view.tokens > 10**6 else 1.0, **extra})

    extra: dict[str, float | None] = {}
    axis = scoring(on_long_views)
    check_axis(axis, NoSettings(), cases()[:2])
    extra["x"] = 1.0
    with pytest.raises(AssertionError, match="declared differ: x"):
        check_axis(axis, NoSettings(), cases()[:2])
