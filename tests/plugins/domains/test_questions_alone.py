"""What a published question gives away by itself is what its domain's card says, and no more.

Of LoCoMo's questions and others, which take longer: tests/benchmarks/test_leaks.py.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.studies.leaks.measures import answered
from benchmarks.studies.leaks.subjects import opened, table
from framework.reporting.markdown import between_markers

CARDS = Path(__file__).parents[3] / "docs" / "reference" / "domains"


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
    found = answered(twelve)
    assert (
        f"stands in {found} of the {len(twelve)} questions" in row("longmemeval", "leak tests")[0]
    )
    assert between_markers(f"{CARDS / 'longmemeval.md'}#leaks") == table("longmemeval", data_dir)


def test_what_a_multi_hop_question_names(data_dir: Path) -> None:
    assert between_markers(f"{CARDS / 'hotpotqa.md'}#leaks") == table("hotpotqa", data_dir)
