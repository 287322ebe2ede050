"""What a published question gives away by itself is what its domain's card says, and no more.

Of LoCoMo's questions and others, whose cards have the tables of `benchmarks.studies.leaks`:
tests/benchmarks/test_leaks.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.studies.leaks import stands_in
from framework.contracts import Domain
from framework.records import Case
from framework.registry import find, settings_of

CARDS = Path(__file__).parents[3] / "docs" / "reference" / "domains"
FILES = {
    "hotpotqa": "hotpotqa/hotpotqa_train.json",
    "longmemeval": "longmemeval/snapshot.json",
}


def opened(name: str, data_dir: Path) -> tuple[Domain[Any], list[Case]]:
    plugin = find("domain", name)
    domain: Domain[Any] = plugin.cls(settings_of(plugin, {"path": str(data_dir / FILES[name])}))
    return domain, list(domain.cases(None, 0))


def row(name: str, look: str) -> list[str]:
    """The cells of the card's row, its label aside."""
    (line,) = (
        line
        for line in (CARDS / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if line.startswith(f"| {look} |")
    )
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_how_many_answers_stand_in_their_questions(data_dir: Path) -> None:
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
