"""`prereg` and `power` on a real sweep of the loan domain, and on the recorded rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from framework.analysis.prereg.results import judged_runs, measured_in
from framework.errors import UserError
from framework.store.hypotheses import parse, read_file
from framework.store.state import read_run
from tests.launching import LOAN, framework, read_json, run

pytestmark = pytest.mark.slow

CONF = Path(__file__).resolve().parents[3] / "conf" / "prereg"
CASES = ("n_cases=24", "seed=101", "protocol=evaluate")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prereg")


@pytest.fixture
def here(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def conf(here: Path) -> Path:
    """A pre-registration of one's own, found through a directory of one's own."""
    folder = here / "own" / "prereg"
    folder.mkdir(parents=True, exist_ok=True)
    content = yaml.safe_load((CONF / "loan.yaml").read_text())
    for hypothesis in content["hypotheses"]:
        hypothesis["n"] = 24
    (folder / "mine.yaml").write_text("# Mine.\n" + yaml.safe_dump(content))
    return folder / "mine.yaml"


def sweep_of(here: Path, capsys: pytest.CaptureFixture[str], conf: Path) -> Path:
    """The locked sweep, run once for the module."""
    if not (here / "s").is_dir():
        given = ("--config-dir", str(conf.parents[1]), "prereg=mine", *LOAN, *CASES)
        refused = run(capsys, *given, "arch=bm25").mistake
        assert refused.startswith("prereg: this pre-registration is not locked as composed")
        assert not (here / "runs").exists()
        done = framework(capsys, "prereg", "lock", str(conf))
        assert done.out.startswith("locked mine: sha256:")
        run(capsys, "-m", *given, "arch=none,bm25,last_mention", "hydra.sweep.dir=s")
    return here / "s"


def test_a_locked_file_is_judged_on_its_sweep(
    here: Path, conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    done = framework(capsys, "prereg", "judge", str(conf), str(sweep))
    assert done.status == 0, done.out
    assert "No flags: locked before every run, and unchanged since" in done.out
    for name in ("retrieval-beats-none", "retrieval-beats-recency", "recency-not-worse"):
        assert f"{name} (" in done.out
    listed = framework(capsys, "prereg", "list")
    assert " mine  sha256:" in listed.out
    twice = framework(capsys, "prereg", "lock", str(conf)).mistake
    assert twice.startswith("mine is locked already")


def test_tampering_is_flagged_with_status_1(
    here: Path, conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    text = conf.read_text()
    conf.write_text(text.replace("margin: 0.0", "margin: 0.01", 1))
    changed = framework(capsys, "prereg", "judge", str(conf), str(sweep))
    assert changed.status == 1
    assert "FLAG mine changed since it was locked" in changed.out
    conf.write_text(text)

    late = here / "late.jsonl"
    framework(capsys, "prereg", "lock", str(conf), "--register", str(late))
    early = framework(capsys, "prereg", "judge", str(conf), str(sweep), "--register", str(late))
    assert (early.status, early.out.count("before the lock")) == (1, 3)

    bad = here / "bad.jsonl"
    shutil.copy(here / "runs" / "prereg.jsonl", bad)
    bad.write_text(bad.read_text().replace('"name":"mine"', '"name":"more"'))
    edited = framework(capsys, "prereg", "judge", str(conf), str(sweep), "--register", str(bad))
    assert edited.status == 1
    assert "FLAG the register is damaged" in edited.out


def test_the_register_beside_the_file_is_its_own(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "studies" / "mine.yaml"
    mine.parent.mkdir()
    shutil.copy(conf, mine)
    common, beside = Path("runs") / "prereg.jsonl", mine.with_name("register.jsonl")

    assert framework(capsys, "prereg", "lock", str(mine)).status == 0
    assert common.exists()
    assert not beside.exists()
    assert " mine  " in framework(capsys, "prereg", "list", str(mine)).out

    beside.touch()
    assert framework(capsys, "prereg", "list", str(mine)).out == ""
    locked = framework(capsys, "prereg", "lock", str(mine))
    assert f"register: {beside}, head: sha256:" in locked.out
    assert " mine  " in framework(capsys, "prereg", "list", str(mine)).out
    other = mine.with_name("other.yaml")
    other.write_text(mine.read_text().replace("seed: 101", "seed: 102"))
    framework(capsys, "prereg", "lock", str(other), "--register", str(common))
    assert " other  " not in framework(capsys, "prereg", "list", str(mine)).out
    assert " other  " in framework(capsys, "prereg", "list").out


def test_judging_looks_into_the_register_beside_the_file(
    here: Path, conf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    mine = tmp_path / "mine.yaml"
    shutil.copy(conf, mine)
    mine.with_name("register.jsonl").touch()
    never = framework(capsys, "prereg", "judge", str(mine), str(sweep))
    assert (never.status, "mine was never locked" in never.out) == (1, True)
    shutil.copy(here / "runs" / "prereg.jsonl", mine.with_name("register.jsonl"))
    judged = framework(capsys, "prereg", "judge", str(mine), str(sweep))
    assert (judged.status, "No flags: locked before every run" in judged.out) == (0, True)


def test_the_sweep_itself_tells_and_keeps_its_judgement(
    here: Path, conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    found = read_json(sweep / "sweep.json")["prereg"]
    asked = framework(capsys, "prereg", "judge", str(conf), str(sweep), "--json")
    assert {k: found[k] for k in ("plan", "verdicts", "flags")} == yaml.safe_load(asked.out)
    assert found["flags"] == []
    assert [lock["name"] for lock in found["register"]] == ["mine"]
    shown = run(capsys, f"resume={sweep}")
    assert "Pre-registration mine: Retrieval against recency" in shown.out
    assert "No flags: locked before every run" in shown.out
    # What is locked later does not make the record of this sweep unsound.
    more = conf.with_name("more.yaml")
    more.write_text(conf.read_text().replace("seed: 101", "seed: 102"))
    assert framework(capsys, "prereg", "lock", str(more)).status == 0
    assert framework(capsys, "verify", str(sweep)).status == 0


@pytest.mark.parametrize(
    ("tampering", "flag"),
    [
        ("edited", "mine changed since it was locked"),
        ("axis", "axis rcs was added after the lock"),
        ("late", "before the lock"),
        ("damaged", "the register is damaged"),
        ("lost", "was never locked"),
    ],
)
def test_tampering_shows_in_the_sweep(
    tampering: str,
    flag: str,
    conf: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    register = Path("runs") / "prereg.jsonl"
    assert framework(capsys, "prereg", "lock", str(conf)).status == 0
    text = conf.read_text()
    if tampering == "edited":
        conf.write_text(text.replace("margin: 0.0", "margin: 0.01", 1))
    if tampering == "axis":
        conf.write_text(text.replace("axis: frp", "axis: rcs"))
    if tampering in ("edited", "axis"):  # locked again, as it would not run otherwise
        assert framework(capsys, "prereg", "lock", str(conf)).status == 0
    given = ("--config-dir", str(conf.parents[1]), "prereg=mine", *LOAN, *CASES, "gate=open")
    done = run(capsys, "-m", *given, "arch=none,bm25,last_mention", "hydra.sweep.dir=s")
    assert done.status == 0, done.err
    assert "No flags: locked" in done.out or tampering in ("edited", "axis")
    if tampering in ("late", "damaged", "lost"):
        if tampering == "damaged":
            register.write_text(register.read_text().replace("holm", "none"))
        else:
            register.unlink()
        if tampering == "late":
            assert framework(capsys, "prereg", "lock", str(conf)).status == 0
        (Path("s") / "sweep.json").unlink()
        found = judged_runs(
            [read_run(path.parent) for path in sorted(Path("s").glob("*/summary.json"))]
        )
    else:
        found = read_json(Path("s") / "sweep.json")["prereg"]
        assert f"FLAG {found['flags'][0]}" in done.out
    assert found is not None
    assert any(flag in line for line in found["flags"]), found["flags"]
    assert len(found["verdicts"]) == 3
    conf.write_text(text)


def test_a_sweep_without_the_arms_that_were_named_says_so(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    framework(capsys, "prereg", "lock", str(conf))
    given = ("--config-dir", str(conf.parents[1]), "prereg=mine", *LOAN, *CASES, "gate=open")
    done = run(capsys, "-m", *given, "arch=none,oracle", "hydra.sweep.dir=s")
    assert done.status == 0
    assert "FLAG can't be judged: retrieval-beats-none: no row of arm 'bm25'" in done.out
    assert framework(capsys, "verify", "s").status == 0


def test_one_sweep_of_several_settings_is_not_said_to_be_beyond_judging(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    conf.write_text(conf.read_text() + "base:\n  domain.pairs: protected\n")
    locked = framework(capsys, "prereg", "lock", str(conf))
    assert ("data_digest is null" in locked.out) == ("data_digest: null" in conf.read_text())
    given = ("--config-dir", str(conf.parents[1]), "prereg=mine", *LOAN, *CASES, "gate=open")
    done = run(capsys, "-m", *given, "arch=none,oracle", "hydra.sweep.dir=s")
    assert done.status == 0
    assert "FLAG not judged on these runs alone" in done.out
    assert "can't be judged" not in done.out


def test_power_from_the_same_sweep(
    here: Path, conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    given = ("power", str(sweep), "--axis", "eda")
    done = framework(capsys, *given, "--smallest-effect", "0.1", "--baseline", "bm25")
    assert done.status == 0
    assert done.out.count("pilot of 8 cases") == 2, "of the 24 those in forms that the reader reads"
    assert "over 2 comparisons" in done.out
    for wrong, message in (
        (("--axis", "nope", "--smallest-effect", "0.1"), "the runs have no 'nope'"),
        (("--axis", "eda", "--smallest-effect", "0"), "smallest effect 0.0"),
        (("--axis", "eda", "--smallest-effect", "0.1", "--baseline", "x"), "no two arms"),
    ):
        assert message in framework(capsys, "power", str(sweep), *wrong).mistake


def test_runs_that_differ_in_more_than_the_arm_are_not_mixed(
    here: Path, conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = sweep_of(here, capsys, conf)
    other = ("arch=bm25", "model=rule_based_blind", *LOAN, *CASES, "hydra.run.dir=blind")
    run(capsys, *other)
    message = framework(capsys, "prereg", "judge", str(conf), str(sweep), "blind").mistake
    assert message.endswith("differ in model: judge them separately")
    run(capsys, "arch=bm25", *LOAN, *CASES, "gate=open", "hydra.run.dir=again")
    for command in (
        ("prereg", "judge", str(conf), str(sweep), "again"),
        ("power", str(sweep), "again", "--axis", "eda", "--smallest-effect", "0.1"),
    ):
        assert "bm25" in framework(capsys, *command).mistake


@pytest.mark.parametrize("name", ["longhorizon", "longhorizon_sam", "longhorizon_dpm"])
def test_the_published_outcomes_on_the_recorded_rows(
    name: str, data_dir: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = data_dir / "recorded" / "longhorizon_rows.csv"
    if not recorded.is_file():
        pytest.skip(f"no recorded rows: {recorded}")
    done = framework(capsys, "prereg", "judge", str(CONF / f"{name}.yaml"), str(recorded), "--json")
    judged = yaml.safe_load(done.out)
    assert done.status == 1
    assert any("recorded rows" in flag for flag in judged["flags"])
    for verdict in judged["verdicts"]:
        assert verdict["by_point"] == verdict["hypothesis"]["published"]
    outcomes = [verdict["outcome"] for verdict in judged["verdicts"]]
    if name == "longhorizon":
        assert outcomes == ["reversed", "underpowered", "rejected"]
    else:
        assert outcomes == ["underpowered"] * 3


def test_settings_of_one_base_may_have_their_own_number_of_cases(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan, content = read_file(conf)
    with_base = parse("mine", {**content, "base": {"domain.pairs": "none"}})
    runs = []
    for name, n in (("bm25", 4), ("none", 3)):
        run(capsys, *LOAN, f"arch={name}", f"n_cases={n}", f"hydra.run.dir={name}")
        runs.append(read_run(Path(name)))
    assert len(measured_in(runs, with_base).rows) == 7
    with pytest.raises(UserError, match="differ in n_cases: judge them separately"):
        measured_in(runs, plan)


def test_a_verdict_is_of_the_forms_that_were_read(
    conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(capsys, *LOAN, "arch=bm25", "n_cases=12", "hydra.run.dir=bm25")
    finished = read_run(Path("bm25"))
    unread = {row.case_id for row in finished.rows if not row.form_read}
    assert 0 < len(unread) < 12
    plan, _ = read_file(conf)
    for row in measured_in([finished], plan).rows:
        assert (row["axes"]["eda"] is None) == (row["case_id"] in unread)
        assert row["axes"]["surface_ceiling"] is not None
