"""Untouched bundles hold, every kind of tampering is found, and ranks say what tests can tell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import run as command
from framework.engine.sweep import finished_jobs
from framework.errors import UserError
from framework.store import JOURNAL
from plugins.commands.leaderboard import bundle
from plugins.commands.leaderboard.board import NOT_FOUND, judged
from plugins.commands.leaderboard.bundle import Refused
from plugins.commands.leaderboard.checks import checked
from plugins.commands.leaderboard.ranking import ranked
from plugins.commands.leaderboard.rules import BoardRules, Drawn, draw, read_rules
from tests.launching import framework
from tests.plugins.commands.leaderboard.forging import TAMPERED, Forger, Json, longer_view, put

ARMS = ("bm25", "newest_first", "oldest_first", "last_mention", "oracle")
RULES = """
title: Loans, half of the history
run: [domain=loan, budget=loose]
n_cases: 3
seeds: [101, 102]
axis: eda
"""
NAMED = "loan-s101-000000"
BUDGET_S = 60.0
"""Processor time that thirty kinds of tampering and thirty untouched bundles may take."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Path]]:
    """By arm, a run of each seed."""
    place = tmp_path_factory.mktemp("sweep") / "sweep"
    words = ["-m", "domain=loan", "budget=loose", f"arch={','.join(ARMS)}", "seed=101,102"]
    words += ["n_cases=3", "tracking=none", "report=false", "hydra.launcher.workers=1"]
    assert command.main([*words, f"hydra.sweep.dir={place}"]) == 0
    found: dict[str, list[Path]] = {}
    for state in finished_jobs(place):
        found.setdefault(state.rows[0].arm, []).append(state.path)
    return found


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> BoardRules:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "board.yaml").write_text(RULES)
    return read_rules(folder)


@pytest.fixture(scope="module")
def drawn(rules: BoardRules) -> Mapping[int, Drawn]:
    return draw(rules)


@pytest.fixture(scope="module", autouse=True)
def spent(runs: Mapping[str, list[Path]], drawn: Mapping[int, Drawn]) -> Iterator[None]:
    """The processor time of all checks, once runs and cases are there."""
    began = time.process_time()
    yield
    assert time.process_time() - began < BUDGET_S


def test_there_are_thirty_kinds() -> None:
    assert len(TAMPERED) >= 30


def test_thirty_untouched_bundles_hold(
    runs: Mapping[str, list[Path]], rules: BoardRules, tmp_path: Path
) -> None:
    (tmp_path / "board.yaml").write_text(RULES)
    for i, arm in zip(range(30), cycle(runs), strict=False):
        key = Ed25519PrivateKey.generate()
        bundle.write(runs[arm], f"lab {i}", key, tmp_path / f"{i}.bundle")
    entries, refused = judged(tmp_path, rules)
    assert refused == {}
    assert len(entries) == 30
    assert {entry.arm for entry in entries} == runs.keys()


@pytest.mark.parametrize("kind", TAMPERED)
def test_tampering_is_found(
    kind: str,
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged")
    path = TAMPERED[kind](forger)
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(Refused) as found:
        checked(path, rules, drawn, tmp_path / "unpacked")
    print(f"{kind}: {found.value}")
    assert not (tmp_path / "outside").exists()
    assert str(tmp_path) not in str(found.value)
    told = ids_and_gold(drawn, runs["bm25"])
    assert not [word for word in told if word in found.value.shown]
    assert not re.search(r"\b(101|102|999|None|True|False|[01]\.\d)\b", found.value.shown)


def ids_and_gold(drawn: Mapping[int, Drawn], runs: list[Path]) -> set[str]:
    """What a page of private seeds may not say: names of runs and cases, and gold decisions."""
    cases = [case for of in drawn.values() for case in of.cases]
    names = {name for case in cases for name in (case.id, case.history_id, case.cluster)}
    return {*names, *(case.gold.decision for case in cases), *(run.name for run in runs), "loan-s"}


def test_a_refusal_on_a_private_board_names_no_case(
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for number, kind in enumerate(("a score", "another case", "a case twice", "a longer view")):
        forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / f"of {number}")
        TAMPERED[kind](forger).rename(tmp_path / f"{number}.bundle")
    (tmp_path / "board.yaml").write_text(RULES)
    _, refused = judged(tmp_path, rules)
    first = drawn[101].cases[0].id
    assert re.fullmatch(rf".*: case {first}: scored again, eda is .*, not .*", refused["0.bundle"])
    salted = RULES + "private_seeds: true\nsalt: 0123456789abcdef\n"
    (tmp_path / "board.yaml").write_text(salted)
    done = framework(capsys, "board", str(tmp_path))
    assert done.status == 1
    page = (tmp_path / "board.html").read_text()
    for said in (page, done.err):
        assert "0.bundle: run " in said
        assert ": case 1 of seed number 1: scored again, eda is another" in said
        assert not [word for word in ids_and_gold(drawn, runs["bm25"]) if word in said]


def _unread_zip(forger: Forger) -> Path:
    path = forger.packed(lambda files: None)
    path.write_bytes(path.read_bytes().replace(b'"actor"', b'"actoR"', 1))
    return path


@pytest.mark.parametrize(
    ("forged", "shown"),
    [
        (_unread_zip, "not a whole bundle"),
        (
            lambda f: f.sealed(started=put(f"config.domain.{NAMED}", 1)),
            "run [12]: it can't be read again",
        ),
        (
            lambda f: f.sealed(record=lambda row, record: put(NAMED, 1)(record["view"][0])),
            "run [12]: not the form of a run",
        ),
    ],
)
def test_what_an_error_says_of_a_run_is_not_shown(
    forged: Callable[[Forger], Path],
    shown: str,
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    """An error may hold any name of the bundle: on a private board it says its kind alone."""
    path = forged(Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged"))
    (tmp_path / "unpacked").mkdir()
    with pytest.raises(Refused) as found:
        checked(path, rules, drawn, tmp_path / "unpacked")
    assert any(word in str(found.value) for word in (NAMED, *(run.name for run in runs["bm25"])))
    assert re.fullmatch(shown, found.value.shown)


def test_a_view_beyond_the_budget_is_told_with_the_budget(
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    def beyond(row: Json, record: Json) -> None:
        for _ in range(40):
            longer_view(row, record)

    forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged")
    budget = drawn[101].pipeline.budget_tokens
    with pytest.raises(Refused, match=rf"a view of [\d,]+ tokens; the budget is {budget:,}$"):
        checked(forger.sealed(record=beyond), rules, drawn, tmp_path / "unpacked")


def test_a_case_of_other_content_under_one_id_has_a_name_of_its_own(
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    path = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "of").signed()
    case = drawn[102].cases[1]
    own = {**drawn, 102: replace(drawn[102], renamed={case.id: "another"})}
    (entry,) = checked(path, rules, own, tmp_path / "unpacked")
    assert [row.case_id for row in entry.rows[102]].count("another") == 1
    (row,) = (row for row in entry.rows[102] if row.case_id == "another")
    assert row.cluster == (case.cluster or case.id)


def test_a_domain_that_ignores_the_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Four statements under three seeds are four cases, however often they are drawn."""
    place = tmp_path / "sweep"
    words = ["-m", "domain=text_to_sql", "budget=loose", "arch=bm25,none", "seed=1,2,3"]
    words += ["n_cases=4", "tracking=none", "report=false", "hydra.launcher.workers=1"]
    assert command.main([*words, f"hydra.sweep.dir={place}"]) == 0
    (tmp_path / "board.yaml").write_text(
        "title: T\nrun: [domain=text_to_sql, budget=loose]\nn_cases: 4\nseeds: [1, 2, 3]\n"
        "axis: execution_correct\n"
    )
    submitted = framework(
        capsys, "submit", str(place), "--name", "A lab", "--key", str(tmp_path / "key.pem"),
        "--out", str(tmp_path / "a.bundle"),
    )  # fmt: skip
    assert submitted.status == 0
    entries, refused = judged(tmp_path, read_rules(tmp_path))
    assert refused == {}
    lines, (pair,) = ranked(entries, "execution_correct")
    assert [(line.cases, line.drawn) for line in lines] == [(4, 12), (4, 12)]
    assert [(line.counted, line.unread, line.undefined) for line in lines] == [(2, 2, 0)] * 2
    assert pair["n"] == 2
    assert framework(capsys, "board", str(tmp_path)).status == 0
    assert "of 12 cases drawn, 4 differ" in (tmp_path / "board.html").read_text()


def test_what_a_forger_signs_again_without_a_change_holds(
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    """So that what is refused is refused for its change, not for how the tests write it."""
    forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged")
    (entry,) = checked(forger.sealed(all_runs=True), rules, drawn, tmp_path / "unpacked")
    assert entry.arm == "bm25"


def test_closed_segments_are_of_the_bundle(
    rules: BoardRules, drawn: Mapping[int, Drawn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("framework.store.directory.SEGMENT_BYTES", 20_000)
    place = tmp_path / "sweep"
    words = ["-m", "domain=loan", "budget=loose", "arch=bm25", "seed=101,102", "n_cases=3"]
    words += ["tracking=none", "report=false", "hydra.launcher.workers=1"]
    assert command.main([*words, f"hydra.sweep.dir={place}"]) == 0
    runs = [state.path for state in finished_jobs(place)]
    assert all(len(bundle.kept_of(run)) >= 4 for run in runs)
    key = Ed25519PrivateKey.generate()
    for name in ("whole", "cut", "without"):
        (tmp_path / f"{name}.into").mkdir()
    bundle.write(runs, "A lab", key, tmp_path / "whole.bundle")
    (entry,) = checked(tmp_path / "whole.bundle", rules, drawn, tmp_path / "whole.into")
    assert (entry.arm, len(entry.rows)) == ("bm25", 2)
    segment = runs[0] / "segments" / "answers-000001.jsonl.gz"
    content = segment.read_bytes()
    segment.write_bytes(content[:-20])
    bundle.write(runs, "A lab", key, tmp_path / "cut.bundle")
    with pytest.raises(Refused, match=r"segments/answers-000001.jsonl.gz: damaged") as found:
        checked(tmp_path / "cut.bundle", rules, drawn, tmp_path / "cut.into")
    shown = r"run [12]: segments/answers-000001.jsonl.gz: can't be unpacked"
    assert re.fullmatch(shown, found.value.shown)
    segment.write_bytes(content)
    monkeypatch.setattr(bundle, "kept_of", lambda run: list(bundle.KEPT))
    bundle.write(runs, "A lab", key, tmp_path / "without.bundle")
    monkeypatch.undo()
    with pytest.raises(Refused, match="other segments than its journal names"):
        checked(tmp_path / "without.bundle", rules, drawn, tmp_path / "without.into")


def test_a_name_is_its_keys(
    runs: Mapping[str, list[Path]], rules: BoardRules, tmp_path: Path
) -> None:
    """Two keys under one name, one arm twice, or a key that the board does not name."""
    keys = [Ed25519PrivateKey.generate() for _ in range(2)]
    for i, key in enumerate(keys):
        bundle.write(runs["bm25"], "A lab", key, tmp_path / f"{i}.bundle")
    _, refused = judged(tmp_path, rules)
    assert set(refused.values()) == {"two keys sign as A lab; the board must name one"}
    for i, (name, key) in enumerate(
        zip(("a Lab", "\N{FULLWIDTH LATIN CAPITAL LETTER A} lab"), keys, strict=True)
    ):
        (tmp_path / f"{i}.bundle").unlink()
        bundle.write(runs["bm25"], name, key, tmp_path / f"{i}.bundle")
    _, refused = judged(tmp_path, rules)
    assert refused.keys() == {"0.bundle", "1.bundle"}
    for i, key in enumerate(keys):
        (tmp_path / f"{i}.bundle").unlink()
        bundle.write(runs["bm25"], "A lab", key, tmp_path / f"{i}.bundle")
    public = [key.public_key().public_bytes_raw().hex() for key in keys]
    named = BoardRules(
        title="", run=rules.run, seeds=rules.seeds, n_cases=3, axis="eda",
        submitters={"A lab": public[0]},
    )  # fmt: skip
    entries, refused = judged(tmp_path, named)
    assert refused == {"1.bundle": "signed by another key than that of A lab"}
    assert [entry.key for entry in entries] == [public[0]]
    bundle.write(runs["bm25"], "A lab", keys[0], tmp_path / "2.bundle")
    _, refused = judged(tmp_path, named)
    assert refused["2.bundle"] == "arm bm25 of A lab is in 0.bundle too"


@pytest.mark.parametrize("name", ["A lab ", " A lab", "A  lab", "A\u00a0lab", "A lab\n", ""])
def test_a_name_that_reads_as_another_is_refused(
    name: str, runs: Mapping[str, list[Path]], tmp_path: Path
) -> None:
    bundle.write(runs["bm25"], name, Ed25519PrivateKey.generate(), tmp_path / "x.bundle")
    with pytest.raises(Refused, match=r"^the submitter's name can't be shown$"):
        bundle.unpack(tmp_path / "x.bundle", tmp_path / "into")
    with pytest.raises(UserError):
        bundle.named(name)


@pytest.mark.parametrize(
    "label", ["bm25 ", "bm25\n2", "\x1b[31mbm25", "bm25\N{ZERO WIDTH SPACE}", "\u202e52mb"]
)
def test_a_label_that_a_page_does_not_show_as_it_is(
    label: str,
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    drawn: Mapping[int, Drawn],
    tmp_path: Path,
) -> None:
    forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged")
    path = forger.sealed(started=put("config.labels.arch", label))
    with pytest.raises(Refused, match="label has characters that a page does not show"):
        checked(path, rules, drawn, tmp_path / "unpacked")


def test_a_line_too_long_to_be_read_is_not_read(
    runs: Mapping[str, list[Path]], tmp_path: Path
) -> None:
    """Fifty megabytes of one letter are fifty kilobytes of a bundle."""
    forger = Forger.of(runs["bm25"], Ed25519PrivateKey.generate(), tmp_path / "forged")
    for at, run in enumerate(forger.runs):
        with (run / JOURNAL).open("ab") as file:
            file.write(b'{"a":"' + b"a" * (bundle.MAX_LINE - 8 + at) + b'"}\n')
    path = forger.signed()
    assert path.stat().st_size < 5_000_000
    with pytest.raises(Refused, match=r"^a line of more than 50,000,000 bytes$"):
        bundle.unpack(path, tmp_path / "into")


def test_what_is_refused_acts_on_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "board.yaml").write_text(RULES)
    (tmp_path / "\x1b[31m.bundle").write_bytes(b"none")
    assert framework(capsys, "board", str(tmp_path)).err.startswith("refused: \\x1b[31m.bundle: ")


@pytest.mark.parametrize("place", [".", "..", "../one"])
def test_a_bundle_is_beside_the_first_however_that_is_named(
    place: str,
    runs: Mapping[str, list[Path]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(runs["bm25"][0], tmp_path / "one")
    (within := tmp_path / "one" / "figures").mkdir()
    monkeypatch.chdir(within if place == ".." else tmp_path / "one")
    words = ("--name", "A lab", "--key", str(tmp_path / "key.pem"))
    done = framework(capsys, "submit", place, *words)
    assert done.status == 0, done.err
    assert (tmp_path / "one.bundle").is_file()


def test_runs_are_submitted_together(
    runs: Mapping[str, list[Path]],
    rules: BoardRules,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One of each seed, as those are whose cases were dealt into shards."""
    places = [tmp_path / "one", tmp_path / "two", tmp_path / "other" / "One"]
    for place, run in zip(places, [*runs["bm25"], runs["oracle"][0]], strict=True):
        shutil.copytree(run, place)
    words = ("--name", "A lab", "--key", str(tmp_path / "key.pem"))
    one, two, other = map(str, places)
    twice = framework(capsys, "submit", one, two, f"{two}/../one", *words)
    assert twice.mistake == f"submit: {two}/../one is given twice"
    named = framework(capsys, "submit", one, other, *words)
    assert named.mistake == f"submit: {one} and {other} have one name in the bundle"
    sweep = str(runs["bm25"][0].parent)
    within = framework(capsys, "submit", sweep, str(runs["bm25"][0]), *words)
    assert within.mistake == f"submit: {runs['bm25'][0]} is given twice"
    assert not list(tmp_path.glob("*.bundle"))
    done = framework(capsys, "submit", one, two, *words)
    assert done.status == 0, done.err
    assert done.out.endswith(f"bundle: {one}.bundle\n")
    (entry,), refused = judged(tmp_path, rules)
    assert refused == {}
    assert entry.rows.keys() == {101, 102}


def test_what_is_no_regular_file_is_refused(rules: BoardRules, tmp_path: Path) -> None:
    (tmp_path / "zero.bundle").symlink_to("/dev/zero")
    (tmp_path / "gone.bundle").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder.bundle").mkdir()
    os.mkfifo(tmp_path / "pipe.bundle")
    entries, refused = judged(tmp_path, rules)
    assert entries == []
    assert refused == {path.name: "not a regular file" for path in tmp_path.iterdir()}


def test_submit_and_board(
    runs: Mapping[str, list[Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = runs["bm25"][0].parent
    key, out = tmp_path / "key.pem", tmp_path / "a.bundle"
    words = ("submit", str(sweep), "--name", "A lab", "--key", str(key), "--out", str(out))
    done = framework(capsys, *words)
    assert done.status == 0
    assert key.stat().st_mode & 0o077 == 0
    assert "exists already" in framework(capsys, *words).mistake
    nowhere = str(tmp_path / "nowhere")
    lost = framework(capsys, *words[:-1], f"{nowhere}/x.bundle")
    assert (lost.status, lost.err) == (2, f"error: --out: {nowhere}: no such directory\n")
    salted = RULES + "private_seeds: true\nsalt: 0123456789abcdef\n"
    (tmp_path / "board.yaml").write_text(salted)
    done = framework(capsys, "board", str(tmp_path))
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("5 arms accepted, 0 bundles refused\n")
    page = (tmp_path / "board.html").read_text()
    assert all(arm in page for arm in ARMS)
    assert "101, 102" not in page
    assert "2 private, sha256:" in page
    assert all(sentence.split(",")[0].split("'")[0] in page for sentence in NOT_FOUND)
    (tmp_path / "b.bundle").write_bytes(out.read_bytes()[:500])
    refused = framework(capsys, "board", str(tmp_path))
    assert refused.status == 1
    assert refused.err.startswith("refused: b.bundle: not a whole bundle")
    page = (tmp_path / "board.html").read_text()
    assert "b.bundle" in page
    before = {path.name for path in tmp_path.iterdir()}
    board = [sys.executable, "-m", "framework", "board", str(tmp_path)]
    at_once = [subprocess.Popen(board, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(60) for process in at_once] == [1, 1]
    assert (tmp_path / "board.html").read_text() == page
    assert {path.name for path in tmp_path.iterdir()} == before
