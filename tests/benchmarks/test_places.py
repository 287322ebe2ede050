"""The place of an event tells nothing of the gold, where the order is ours to choose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.studies.order_of_arms import ROOT
from benchmarks.studies.places import (
    RULES,
    Lying,
    Share,
    fitted,
    lying,
    main,
    neighbours,
    opened,
    share,
)
from framework.contracts import Domain
from framework.records import Event

QUESTIONS, PASSAGES = 120, 10
CHANCE = 0.1


def passages_in_order(name: str) -> list[list[str]]:
    """By question the titles that it brings, each of them new."""
    return [[f"{name} {q}-{p}" for p in range(PASSAGES)] for q in range(QUESTIONS)]


def written(name: str, path: Path) -> Path:
    """A file of the benchmark's schema, in which two passages drawn at random support a question.

    The answer's words are in none of the others, so that nothing but the order can go together.
    """
    rng = np.random.default_rng(5)
    records: list[dict[str, Any]] = []
    for number, titles in enumerate(passages_in_order("Passage")):
        first, second = rng.choice(PASSAGES, 2, replace=False).tolist()
        said = {title: f"What {title} is." for title in titles}
        shared = {"question": f"What joins {number}?", "answer": f"answer {number}"}
        if name == "musique":
            paragraphs = [
                {"title": t, "paragraph_text": text, "is_supporting": i in (first, second)}
                for i, (t, text) in enumerate(said.items())
            ]
            steps = [{"question": "?"}, {"question": "?"}]
            records.append(
                {
                    "id": f"2hop__{number}",
                    "answerable": True,
                    "paragraphs": paragraphs,
                    "question_decomposition": steps,
                    **shared,
                }
            )
        else:
            facts = [[titles[first], 0], [titles[second], 0]]
            context = [[title, [text]] for title, text in said.items()]
            records.append(
                {"_id": f"q{number}", "context": context, "supporting_facts": facts, **shared}
            )
    lines = "\n".join(json.dumps(record) for record in records)
    path.write_text(lines if name == "musique" else json.dumps(records))
    return path


def domain_of(name: str, path: Path) -> Domain[Any]:
    return opened([f"domain={name}", f"domain.path={path}", "domain.unknown_file=true"])


class _InFileOrder:
    """The domain with its passages in the order of the file, as it was before."""

    def __init__(self, domain: Domain[Any]) -> None:
        self._domain = domain

    def history(self, history_id: str) -> Iterator[Event]:
        events = {event.id: event for event in self._domain.history(history_id)}
        return (events[title] for titles in passages_in_order("Passage") for title in titles)


def at_chance(found: Share | None) -> bool:
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    return found.low <= CHANCE <= found.high


@pytest.mark.parametrize("name", ["hotpotqa", "musique", "two_wiki"])
def test_no_place_in_a_pool_tells_what_belongs_together(name: str, tmp_path: Path) -> None:
    domain = domain_of(name, written(name, tmp_path / "questions.json"))
    cases = list(domain.cases(None, 0))
    found = lying(domain, cases)
    assert len(found) == QUESTIONS
    told = {rule: str(share(of, found)) for rule, of in RULES.items()}
    assert all(at_chance(share(of, found)) for of in RULES.values()), told
    # The control: in the order of the file the same rule finds every other passage.
    before: Any = _InFileOrder(domain)
    near = share(neighbours, lying(before, cases))
    assert near is not None
    assert near.mean == 1


def test_a_question_s_own_passages_stand_in_the_order_of_the_pool(tmp_path: Path) -> None:
    path = written("hotpotqa", tmp_path / "questions.json")
    pooled = domain_of("hotpotqa", path)
    own = opened(
        ["domain=hotpotqa", f"domain.path={path}", "domain.unknown_file=true", "domain.corpus=own"]
    )
    case = next(pooled.cases(1, 0))
    place = {event.id: i for i, event in enumerate(pooled.history(case.history_id))}
    ids = [event.id for event in own.history(case.id)]
    assert len(ids) == PASSAGES
    assert ids == sorted(ids, key=place.__getitem__)
    assert ids != passages_in_order("Passage")[0]


def test_the_rules_by_hand() -> None:
    one = Lying(cluster="a", n=20, places=(0, 2, 19))
    other = Lying(cluster="b", n=20, places=(18,))
    assert one.taken == 2
    assert [RULES[name]([one]) for name in ("first", "middle", "last")] == [
        [pytest.approx(1 / 3)],
        [0],
        [pytest.approx(1 / 3)],
    ]
    # The two nearest of 0 are 1 and 2, one of the two others; of 2 1 and 3, of 19 17 and 18.
    assert neighbours([one, other]) == [pytest.approx((1 / 2 + 0 + 0) / 3), None]
    # The other's gold is in the last tenth, where a third of this one's is; the other way round
    # three tenths hold as much, and the first of them is taken.
    assert fitted([one, other]) == [pytest.approx(1 / 3), 0]


def test_below_ten_clusters_there_is_no_interval() -> None:
    few = [Lying(cluster=str(i), n=20, places=(i,)) for i in range(9)]
    found = share(RULES["first"], few)
    assert str(found) == "0.22"
    assert share(neighbours, few) is None
    more = share(RULES["first"], [*few, Lying(cluster="9", n=20, places=(9,))])
    assert more is not None
    assert more.low is not None


@pytest.mark.slow
def test_on_the_published_file_no_place_tells_what_belongs_together(data_dir: Path) -> None:
    path = data_dir / "hotpotqa" / "hotpotqa_train.json"
    domain = opened(["domain=hotpotqa", f"domain.path={path}"])
    found = lying(domain, list(domain.cases(None, 0)))
    told = {rule: str(share(of, found)) for rule, of in RULES.items()}
    assert all(at_chance(share(of, found)) for of in RULES.values()), told


@pytest.mark.slow
def test_the_card_says_how_much_the_place_of_a_bank_s_policies_tells(data_dir: Path) -> None:
    bank = data_dir / "tau2_banking"
    files = [f"domain.path={bank / 'documents.json'}", f"domain.tasks={bank / 'tasks.json'}"]
    domain = opened(["domain=bank_support", *files])
    found = lying(domain, list(domain.cases(None, 0)))
    card = (ROOT / "docs" / "reference" / "domains" / "bank-support.md").read_text()
    for rule, of in (("first", "of what a task requires"), ("neighbours", "of the others")):
        told = share(RULES[rule], found)
        assert told is not None
        said = f"{told.mean:.2f} {of} ({told.low:.2f} to {told.high:.2f})".replace("0.", ".")
        assert said in card, (rule, said)


def test_files_that_are_not_there_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path), "--only", "hotpotqa,veterans"]) == 0
    assert "Not here, and left out: hotpotqa, veterans." in capsys.readouterr().out
