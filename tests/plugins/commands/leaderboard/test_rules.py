"""A board's file and its mistakes; a submitter's name and key."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from framework.analysis.axes import axis_meta
from framework.errors import UserError
from framework.records import Case, Gold, Row, TaskCard, Usage
from framework.reporting.blocks import Cell, Details, Table
from framework.reporting.html import to_html
from plugins.commands.leaderboard.bundle import named, private_key
from plugins.commands.leaderboard.checks import Entry
from plugins.commands.leaderboard.page import page_of
from plugins.commands.leaderboard.ranking import name_of, ranked
from plugins.commands.leaderboard.rules import draw, read_rules, renamed
from tests.launching import framework

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


def test_no_board_and_another_protocol(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a board"):
        read_rules(tmp_path)
    with pytest.raises(UserError, match="answers once"):
        draw(read_rules(rules_of(tmp_path, GOOD.replace("=loan", "=loan, protocol=retrieve"))))


@pytest.mark.parametrize(
    ("domain", "axis", "said"),
    [
        ("loan", "edda", "axis: the runs have no 'edda'; did you mean 'eda'? allowed: abst"),
        ("loan", "xyz", "axis: the runs have no 'xyz'; allowed: abst"),
        ("loan", "leak", "axis: 'leak' has no better direction; allowed: abst"),
        ("loan", "gold_tokens", "axis: 'gold_tokens' is an amount, not a share from 0 to 1; all"),
        ("codebase", "entry_rank", "axis: 'entry_rank' is an amount, not a share from 0 to 1; all"),
    ],
)
def test_an_axis_that_ranks_nothing_is_refused(
    tmp_path: Path, domain: str, axis: str, said: str
) -> None:
    text = GOOD.replace("domain=loan", f"domain={domain}").replace("axis: eda", f"axis: {axis}")
    with pytest.raises(UserError, match=re.escape(said)) as found:
        draw(read_rules(rules_of(tmp_path, text)))
    assert "\n" not in str(found.value)
    allowed = str(found.value).split("allowed: ")[1].split(", ")
    assert not {"leak", "gold_tokens", "depth", "entry_rank"} & set(allowed)


def test_an_axis_of_differences_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = axis_meta()
    meta["eda"]["signed"] = True
    monkeypatch.setattr("plugins.commands.leaderboard.rules.axis_meta", lambda: meta)
    with pytest.raises(UserError, match="'eda' is a difference, not a share"):
        draw(read_rules(rules_of(tmp_path, GOOD)))


def test_a_case_that_two_seeds_draw_is_one_and_other_content_is_another() -> None:
    def case(name: str, text: str) -> Case:
        return Case(id=name, history_id="h", task=TaskCard(instruction=text, query=""), gold=Gold())

    known: dict[str, list[Case]] = defaultdict(list)
    assert renamed([case("a", "one"), case("b", "two")], known) == {}
    assert renamed([case("b", "two"), case("a", "other")], known) == {"a": "a (content 2)"}
    assert renamed([case("a", "other"), case("b", "two")], known) == {"a": "a (content 2)"}
    assert renamed([case("a", "one"), case("b", "third")], known) == {"b": "b (content 2)"}


@pytest.mark.parametrize(("domain", "distinct"), [("text_to_sql", 4), ("loan", 8)])
def test_what_two_seeds_of_a_domain_have_in_common(
    tmp_path: Path, domain: str, distinct: int
) -> None:
    text = GOOD.replace("domain=loan", f"domain={domain}").replace("n_cases: 2", "n_cases: 4")
    axis = "eda" if domain == "loan" else "execution_correct"
    drawn = draw(read_rules(rules_of(tmp_path, text.replace("axis: eda", f"axis: {axis}"))))
    assert len({case.id for of in drawn.values() for case in of.cases}) == distinct
    assert [dict(of.renamed) for of in drawn.values()] == [{}, {}]
    assert drawn[2].place(drawn[2].cases[3].id) == "case 4 of seed number 2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--name", "A lab"), "error: submit: --key is needed, as in --key key.pem"),
        (("--key", "k.pem"), 'error: submit: --name is needed, as in --name "A lab"'),
    ],
)
def test_what_submit_needs_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    done = framework(capsys, "submit", str(tmp_path), *words)
    assert (done.status, done.err) == (2, f"{said}\n")


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


def of_seeds(entry: Entry, seeds: int, n_cases: int) -> Entry:
    """The first cases of an arm, the same ones for every seed."""
    return replace(entry, rows=dict.fromkeys(range(seeds), entry.rows[1][:n_cases]))


def clustered(entry: Entry) -> Entry:
    """The same arm where cases of one history are one cluster."""
    return replace(
        entry, rows={1: tuple(replace(row, cluster=row.history_id) for row in entry.rows[1])}
    )


def test_cases_that_every_seed_draws_are_no_new_ones() -> None:
    """Three cases under ten seeds are three cases, of two histories here."""
    entries = [of_seeds(clustered(entry), 10, 3) for entry in (arm("right", 3), arm("wrong", 0))]
    lines, (pair,) = ranked(entries, "eda")
    assert [(line.rank, line.last) for line in lines] == [(1, 2), (1, 2)]
    assert [(line.cases, line.drawn, line.counted) for line in lines] == [(3, 30, 3)] * 2
    assert (pair["n"], pair["n_clusters"], pair["conclusion"]) == (3, 2, "cannot conclude")


def test_a_case_that_several_seeds_draw_counts_with_its_mean() -> None:
    """`c0` is right under one seed of two; a second case is drawn by the other seed alone."""
    one, two = arm("a", 1).rows[1][:2]
    wrong = replace(one, axes={"eda": 0.0})
    entry = replace(arm("a", 1), rows={1: (one,), 2: (wrong, replace(two, axes={"eda": 1.0}))})
    (line,), _ = ranked([entry], "eda")
    assert (line.accuracy, line.cases, line.drawn) == (0.75, 2, 3)


def test_seeds_with_cases_of_their_own_are_pooled_as_before() -> None:
    def apart(entry: Entry) -> Entry:
        rows = entry.rows[1]
        return replace(entry, rows={1: rows[:20], 2: rows[20:]})

    whole = [arm("high", 30), arm("low", 2)]
    assert ranked([*map(apart, whole)], "eda")[1] == ranked(whole, "eda")[1]


def test_failed_cases_are_counted_as_cases_are() -> None:
    whole = of_seeds(arm("a", 40), 2, 10)
    broken = tuple(replace(row, error="broke", axes={}) for row in whole.rows[0][:3])
    entry = replace(whole, rows={0: (*broken, *whole.rows[0][3:]), 1: whole.rows[1]})
    (line,), _ = ranked([entry], "eda")
    assert (line.failed, line.cases) == (3, 10)
    assert line.accuracy == pytest.approx(8.5 / 10)


def test_values_that_are_no_shares_are_refused() -> None:
    whole = arm("a", 1)
    rows = (replace(whole.rows[1][0], axes={"eda": 7.0}), *whole.rows[1][1:])
    with pytest.raises(UserError, match="axis: eda has values outside 0 to 1"):
        ranked([replace(whole, rows={1: rows})], "eda")


def test_the_page_says_what_counts_and_what_a_decision_needs(tmp_path: Path) -> None:
    rules = read_rules(rules_of(tmp_path, GOOD))
    few = of_seeds(arm("few", 2), 2, 6)
    read = {
        s: tuple(replace(r, form_read=i < 2) for i, r in enumerate(of))
        for s, of in few.rows.items()
    }
    entries = [replace(few, rows=read), of_seeds(arm("all", 3), 2, 6)]
    page = page_of(rules, *ranked(entries, "eda"), {})
    (table,) = [b for b in page.blocks if isinstance(b, Table)]
    cells = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    counts = {
        c["arm"]: (value_of(c["counted"]), value_of(c["cases"]), value_of(c["not read"]))
        for c in cells
    }
    assert counts == {"few": (2, 6, 4), "all": (6, 6, 0)}
    (details,) = [b for b in page.blocks if isinstance(b, Details)]
    (pairs,) = details.blocks
    assert isinstance(pairs, Table)
    (pair,) = (dict(zip(pairs.columns, row, strict=True)) for row in pairs.rows)
    assert (value_of(pair["cases"]), pair["conclusion"]) == (2, "cannot conclude")
    assert "2 cases reach p" in str(pair["why"])
    text = to_html(page)
    assert "of 12 cases drawn, 6 differ" in text
    assert "decision bounds of the difference exclude 0 too" in text


def test_a_pair_is_printed_with_its_bounds_and_why(tmp_path: Path) -> None:
    rules = read_rules(rules_of(tmp_path, GOOD))
    lines, compared = ranked([arm("low", 18), arm("high", 40), arm("nearly", 19)], "eda")
    # Bounds of their own: of these cases they are those of the interval.
    told = [{**pair, "bound_low": -0.9, "bound_high": 0.95} for pair in compared]
    (details,) = [b for b in page_of(rules, lines, told, {}).blocks if isinstance(b, Details)]
    (pairs,) = details.blocks
    assert isinstance(pairs, Table)
    for row, pair in zip(pairs.rows, told, strict=True):
        cells = dict(zip(pairs.columns, row, strict=True))
        assert [value_of(cells[name]) for name in ("from", "to", "bound from", "bound to")] == [
            pair["ci_low"], pair["ci_high"], -0.9, 0.95
        ]  # fmt: skip
        decided = pair["conclusion"] != "undecided"
        assert str(cells["why"]).startswith("Holm p is below" if decided else "Holm p is not below")
    assert {pair["conclusion"] for pair in told} > {"undecided"}


def value_of(cell: object) -> float:
    assert isinstance(cell, Cell)
    assert cell.value is not None
    return cell.value


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
