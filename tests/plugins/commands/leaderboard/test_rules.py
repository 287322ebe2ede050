"""A board's file and its mistakes; a submitter's name and key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.records import Row, Usage
from plugins.commands.leaderboard.bundle import named, private_key
from plugins.commands.leaderboard.checks import Entry
from plugins.commands.leaderboard.ranking import name_of, ranked
from plugins.commands.leaderboard.rules import draw, read_rules

GOOD = "title: T\nrun: [domain=loan]\nseeds: [1, 2]\nn_cases: 2\naxis: eda\n"


def rules_of(tmp_path: Path, text: str) -> Path:
    (tmp_path / "board.yaml").write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list\n", "a mapping expected"),
        (GOOD + "sedes: [3]\n", "sedes: no such key"),
        (GOOD.replace("[1, 2]", "[1, 1]"), "seeds: at least one, each once"),
        (GOOD.replace("n_cases: 2", "n_cases: 0"), "at least 1"),
        (GOOD.replace("n_cases: 2\n", ""), "n_cases: a value is required"),
        (GOOD + "private_seeds: true\n", "need a salt"),
        (GOOD + "title: twice\n", "twice"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as found:
        read_rules(rules_of(tmp_path, text))
    assert "\n" not in str(found.value)


def test_no_board_and_no_such_axis(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no board"):
        read_rules(tmp_path)
    with pytest.raises(UserError, match="axis: the runs have no 'recall_at_9'"):
        draw(read_rules(rules_of(tmp_path, GOOD.replace("eda", "recall_at_9"))))
    with pytest.raises(UserError, match="answers once"):
        draw(read_rules(rules_of(tmp_path, GOOD.replace("=loan", "=loan, protocol=retrieve"))))


def test_private_seeds_are_a_digest(tmp_path: Path) -> None:
    shown = read_rules(
        rules_of(tmp_path, GOOD + "private_seeds: true\nsalt: 0123456789abcdef\n")
    ).shown_seeds
    assert shown.startswith("2 private, sha256:")
    assert read_rules(rules_of(tmp_path, GOOD)).shown_seeds == "1, 2"


def test_a_key_is_made_once_and_must_be_of_the_kind(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    made = private_key(path)
    assert private_key(path).private_bytes_raw() == made.private_bytes_raw()
    path.write_text("no key")
    with pytest.raises(UserError, match="--key: "):
        private_key(path)
    for name in ("", " a", "<b>", "a" * 61):
        with pytest.raises(UserError):
            named(name)


def arm(name: str, right: int, tokens: int = 100) -> Entry:
    """Forty cases, the first `right` of them right, two cases of each history."""
    rows = tuple(
        Row(
            case_id=f"c{i}", arm=name, history_id=f"h{i // 2}", axes={"eda": float(i < right)},
            usage={"ingest": Usage(tokens_in=10), "answer": Usage(tokens_in=tokens, cost_usd=0.1)},
        )
        for i in range(40)
    )  # fmt: skip
    return Entry(submitter="lab", key="k" * 64, arm=name, model="m", rows={1: rows})


def test_arms_that_can_not_be_told_apart_share_a_rank() -> None:
    lines, compared = ranked([arm("low", 2), arm("high", 30), arm("nearly", 29)], "eda")
    assert [(line.entry.arm, line.rank, line.last) for line in lines] == [
        ("high", 1, 2), ("nearly", 1, 2), ("low", 3, 3)
    ]  # fmt: skip
    assert len(compared) == 3
    assert lines[2].better == tuple(sorted(map(name_of, (lines[0].entry, lines[1].entry))))
    assert lines[0].tokens == 105.0  # half of the history's memory
    assert lines[0].dollars == pytest.approx(0.1)
    assert ranked([arm("alone", 3)], "eda")[0][0].rank == 1


def test_two_that_can_not_be_told_apart_have_a_rank_in_common_whatever_a_third_is() -> None:
    lines, compared = ranked([arm("low", 18), arm("high", 30), arm("nearly", 24)], "eda")
    assert [(line.entry.arm, line.rank, line.last) for line in lines] == [
        ("high", 1, 2), ("nearly", 1, 3), ("low", 2, 3)
    ]  # fmt: skip
    found = {frozenset((pair["arm_a"], pair["arm_b"])): pair["conclusion"] for pair in compared}
    names = {line.entry.arm: name_of(line.entry) for line in lines}
    assert found[frozenset((names["nearly"], names["low"]))] == "undecided"


def test_forms_that_one_model_does_not_read_are_left_out_for_it_alone() -> None:
    whole, half = arm("whole", 40), arm("half", 10)
    unread = replace(
        half, rows={1: tuple(replace(row, form_read=i < 4) for i, row in enumerate(half.rows[1]))}
    )
    (alone,), _ = ranked([whole], "eda")
    second, first = ranked([whole, unread], "eda")[0]  # by name, where all else is equal
    assert (alone.accuracy, alone.cases, alone.unread) == (1.0, 40, 0)
    assert (
        replace(first, entry=alone.entry, last=1) == alone
    )  # another's entry takes nothing from it
    assert (second.accuracy, second.cases, second.unread, second.undefined) == (1.0, 40, 36, 0)
    assert (second.rank, second.last) == (
        1,
        2,
    )  # on the four cases that both have, they are the same


def test_an_axis_without_a_model_counts_every_case() -> None:
    rows = tuple(
        Row(case_id=f"c{i}", arm="a", history_id=f"h{i}", axes={"p_ret": 1.0}, form_read=i < 2)
        for i in range(10)
    )
    entry = Entry(submitter="lab", key="k" * 64, arm="a", model="m", rows={1: rows})
    (line,), _ = ranked([entry], "p_ret")
    assert (line.accuracy, line.cases, line.unread, line.undefined) == (1.0, 10, 0, 0)


def test_a_failed_case_counts_as_wrong() -> None:
    whole = arm("a", 40)
    (first, *rest) = whole.rows[1]
    failed = replace(whole, rows={1: (replace(first, error="broke", axes={}), *rest)})
    (line,), _ = ranked([failed], "eda")
    assert line.accuracy == 39 / 40
    assert (line.failed, line.undefined) == (1, 0)
