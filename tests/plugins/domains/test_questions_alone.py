"""What a published question gives away by itself is what its domain's card says, and no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.attacks._told import Told, told
from framework.contracts import Domain
from framework.records import Case
from framework.registry import find, settings_of
from plugins.domains.passages.shape import normalise_answer

CARDS = Path(__file__).parents[3] / "docs" / "reference" / "domains"
FILES = {
    "locomo": "locomo/locomo_first5.json",
    "hotpotqa": "hotpotqa/hotpotqa_train.json",
    "longmemeval": "longmemeval/snapshot.json",
}


def opened(name: str, data_dir: Path) -> tuple[Domain[Any], list[Case]]:
    plugin = find("domain", name)
    domain: Domain[Any] = plugin.cls(settings_of(plugin, {"path": str(data_dir / FILES[name])}))
    return domain, list(domain.cases(None, 0))


def stands_in(part: str, whole: str) -> bool:
    return f" {normalise_answer(part)} " in f" {normalise_answer(whole)} "


def row(name: str, look: str) -> list[str]:
    """The cells of the card's row, its label aside."""
    (line,) = (
        line
        for line in (CARDS / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| {look} |")
    )
    return [cell.strip() for cell in line.split("|")[2:-1]]


def form(found: Told | None) -> str:
    assert found is not None
    return re.sub(r"\b0(?=\.)", "", f"AUC {found.auc:.2f} [{found.low:.2f}, {found.high:.2f}]")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("look", "of"),
    [
        ("the words of the question, of whether it is adversarial", str),
        ("the number of its words", lambda query: {"words": float(len(query.split()))}),
    ],
    ids=["words", "length"],
)
def test_wording_tells_an_adversarial_question(look: str, of: Any, data_dir: Path) -> None:
    _, cases = opened("locomo", data_dir)
    found = told(
        [of(case.task.query) for case in cases],
        [case.stratum == "adversarial" for case in cases],
        [case.cluster for case in cases],
    )
    assert row("locomo", look) == [form(found)]


def test_how_many_answers_stand_in_their_questions(data_dir: Path) -> None:
    _, cases = opened("locomo", data_dir)
    answerable = [case for case in cases if case.stratum != "adversarial"]
    found = sum(stands_in(case.gold.answer, case.task.query) for case in answerable)
    said = row("locomo", "the words of the answer stand in the question")
    assert said == [f"{found} of {len(answerable)}"]

    _, twelve = opened("longmemeval", data_dir)
    found = sum(stands_in(case.gold.answer, case.task.query) for case in twelve)
    assert (
        f"stands in {found} of the {len(twelve)} questions" in row("longmemeval", "leak tests")[0]
    )


def test_what_a_multi_hop_question_names(data_dir: Path) -> None:
    domain, cases = opened("hotpotqa", data_dir)
    titles = {event.id: event.metadata["title"] for event in domain.history("pool")}
    looks: dict[str, list[str]] = {}
    for stratum in ("bridge", "comparison"):
        of = [case for case in cases if case.stratum == stratum]
        named = [
            [stands_in(titles[one], case.task.query) for one in case.gold.evidence] for case in of
        ]
        counts = {
            "the answer stands in the question": sum(
                stands_in(case.gold.answer, case.task.query) for case in of
            ),
            "it names a supporting passage by its title": sum(map(any, named)),
            "it names all of them": sum(map(all, named)),
        }
        for look, count in counts.items():
            looks.setdefault(look, []).append(f"{count} of {len(of)}")
    assert {look: row("hotpotqa", look) for look in looks} == looks
