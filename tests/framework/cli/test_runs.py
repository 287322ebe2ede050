"""`compare`, `verify` and `replay` on finished run and sweep directories."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import run as command
from framework.engine import manifest
from framework.engine.sweep import job_directories, write_sweep
from framework.store import Journal, read, seal
from framework.store.atomic import write_json
from framework.store.state import load_state, read_run
from framework.text.canonical import digest
from plugins.commands._across import compare_across
from tests.launching import HOTPOT, QUESTIONS, framework, read_json, run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs `bm25` and `none`, and a sweep of both."""
    place = tmp_path_factory.mktemp("made")
    for arm in ("bm25", "none"):
        assert command.main([*HOTPOT, f"arch={arm}", f"hydra.run.dir={place}/{arm}"]) == 0
    sweep = f"hydra.sweep.dir={place}/sweep"
    assert command.main(["-m", *HOTPOT, "arch=bm25,none", sweep]) == 0
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `made` as the current directory."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ----------------------------------------------------------------------------------------- compare


def test_two_runs_are_compared(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    done = framework(capsys, "compare", "bm25", "none")
    assert done.status == 0
    assert "recall_at_2" in done.out
    assert "none" in done.out
    assert "+1.00" in done.out


def test_a_run_is_not_compared_with_itself(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    shutil.copytree("bm25", "again")
    told = framework(capsys, "compare", "bm25", "again").mistake
    assert told.startswith("these are the same run: hotpotqa")
    assert "sweep" not in told


def test_a_comparison_goes_into_a_file(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    whole = framework(capsys, "compare", "bm25", "none", "--json")
    found = json.loads(whole.out)
    assert {row["arm_a"] for row in found["comparisons"]} == {"bm25"}
    assert found["notes"] == []
    done = framework(capsys, "compare", "bm25", "none", "--out", "c.json", "--json")
    assert done.out == "c.json\n"
    assert read_json(place / "c.json") == found
    assert framework(capsys, "compare", "bm25", "none", "--out", "c.md").out == "c.md\n"
    page = (place / "c.md").read_text()
    assert page.startswith("## Verdict\n\n- Highest recall_at_2")
    assert "+1.00" in page
    told = framework(capsys, "compare", "bm25", "none", "--out", "no/c.md").mistake
    assert told == "--out: no/c.md can't be written: No such file or directory"


def test_a_sweep_stands_for_its_jobs(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    runs = framework(capsys, "compare", "bm25", "none")
    sweep = framework(capsys, "compare", "sweep")
    assert sweep.out == runs.out


def test_the_table_of_one_budget_or_none(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    assert "| bm25 |" in framework(capsys, "table", "sweep").out
    message = framework(capsys, "table", "sweep", "--budget", "wide").mistake
    assert message.startswith("no budget 'wide' in the sweep")


@pytest.mark.slow
def test_a_published_convention_can_be_printed_too(
    capsys: pytest.CaptureFixture[str], place: Path, tmp_path: Path
) -> None:
    """`compare --compat` and a sweep with `compat=` say the same, from one function."""
    asked = framework(capsys, "compare", "sweep", "--compat", "longhorizon")
    assert "The same pairs in the convention of longhorizon" in asked.out
    again = run(capsys, "resume=sweep", "compat=longhorizon")
    assert again.status == 0
    assert again.out.partition("next: ")[0].split() == asked.out.split()
    assert (
        read_json(Path("sweep/sweep.json"))["published_convention"]["convention"] == "longhorizon"
    )
    assert framework(capsys, "verify", "sweep").status == 0
    assert run(capsys, "resume=sweep", "published_convention=longhorizon").out == again.out
    assert run(capsys, "resume=sweep").status == 0
    assert read_json(Path("sweep/sweep.json"))["published_convention"] is None
    message = framework(capsys, "compare", "sweep", "--compat", "depth").mistake
    assert message.startswith("published_convention: no convention 'depth'")


def test_axes_and_baseline_can_be_chosen(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    done = framework(capsys, "compare", "sweep", "--axes", "p_ret", "--baseline", "none")
    assert "p_ret" in done.out
    assert "minus none" in " ".join(done.out.split())
    assert framework(capsys, "compare", "sweep", "--axes", "prett").mistake.startswith(
        "--axes: the runs have no 'prett'; did you mean 'p_ret'?"
    )
    assert framework(capsys, "compare", "sweep", "--baseline", "bm52").mistake.startswith(
        "--baseline: the runs have no 'bm52'; did you mean 'bm25'?"
    )


@pytest.mark.slow
def test_runs_on_other_cases_are_not_compared(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    data = place / "questions.json"
    data.write_text(json.dumps(json.loads(QUESTIONS.read_bytes())[::-1]))
    for name, given in (
        ("seed", ["seed=8"]),
        ("repeats", ["repeats=2"]),
        ("domain", ["domain.corpus=own", "budget=loose"]),
        ("data", [f"domain.path={data}"]),
    ):
        run(capsys, *HOTPOT, "arch=none", *given, f"hydra.run.dir=other-{name}")
        message = framework(capsys, "compare", "bm25", f"other-{name}").mistake
        assert message.startswith(f"bm25 and other-{name} differ in ")
        assert name in message.split("differ in ")[1].split(", ")


@pytest.mark.slow
def test_two_versions_of_a_domain_are_never_set_side_by_side(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = read_json(place / "bm25/manifest.json")["data"]["version"]
    monkeypatch.setattr("plugins.domains.passages.hotpotqa.HotpotQA.version", "9.9")
    told = f"domain version ({began}, 9.9)"
    run(capsys, *HOTPOT, "arch=none", "hydra.run.dir=newer")
    assert framework(capsys, "compare", "bm25", "newer").mistake == (
        f"bm25 and newer differ in {told}"
    )
    gated = ("gate=noninferiority", "gate.axes=[recall_at_2]", "gate.baseline=bm25")
    mistake = run(capsys, *HOTPOT, "arch=none", *gated, "hydra.run.dir=gated").mistake
    assert mistake == f"gate.baseline=bm25: it differs in {told}"
    assert told in framework(capsys, "replay", "bm25").mistake
    assert {row.domain_version for row in load_state(place / "newer").rows} == {"9.9"}
    framework(capsys, "report", "newer")
    assert "| domain version | 9.9 |" in (place / "newer/report.md").read_text()


def test_what_cannot_be_compared(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    assert framework(capsys, "compare", "bm25").mistake == (
        "compare needs two finished runs, or a sweep that has two"
    )
    assert framework(capsys, "compare", "bm25", "x").mistake == "x: no such directory"
    assert "same run" in framework(capsys, "compare", "bm25", "bm25").mistake
    unfinish(place / "none")
    (place / "none" / "summary.json").unlink()
    assert "none has no summary.json" in framework(capsys, "compare", "bm25", "none").mistake


def test_runs_that_differ_in_more_than_the_arm(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "budget=loose", "hydra.run.dir=loose")
    told = framework(capsys, "compare", "none", "loose").mistake
    assert told.startswith("nothing to compare: ")
    assert "loose is not compared: it differs in budget" in told


def test_without_answers_a_view_is_as_full_and_a_shorter_ranking_is_told(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    given = ("domain=governance", "budget=loose", "arch=bm25", "n_cases=2", "tracking=none")
    told = {}
    for name, words in {
        "answered": ("protocol=evaluate",),
        "retrieved": ("protocol=retrieve",),
        "short": ("protocol=retrieve", "protocol.k=3"),
    }.items():
        done = run(capsys, *given, *words, f"hydra.run.dir={name}")
        assert done.status == 0, done.err
        told[name] = " ".join(done.out.split())
    views = {name: [row.view_tokens for row in read_run(place / name).rows] for name in told}
    assert views["retrieved"] == views["answered"]
    assert max(views["short"]) < min(views["retrieved"]) / 10
    assert "loose: bm25 offered less than the budget in 100% of its rows" in told["short"]
    assert "offered less" not in told["retrieved"] + told["answered"]


def test_what_is_compared_on_shared_cases_is_of_these_alone(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    given = ("domain=governance", "protocol=retrieve", "tracking=none", "report=false")
    for arm, n in (("bm25", 8), ("none", 3)):
        run(capsys, *given, f"arch={arm}", f"n_cases={n}", f"hydra.run.dir=of-{arm}")
    runs = [read_run(place / "of-bm25"), read_run(place / "of-none")]
    whole = {"unread": 5, "states": {"not offered": 4}, "constants": {"DENY": 1.0}}
    runs[0] = replace(runs[0], summary={**runs[0].summary, **whole})
    found = compare_across(runs)
    jobs = found.summary["jobs"]
    assert {job["run"]["n_cases"] for job in jobs} == {3}
    assert [(job["unread"], job["states"]) for job in jobs] == [(0, {})] * 2
    assert jobs[0]["constants"] != {"DENY": 1.0}
    for job in jobs:
        assert sum(entry["n"] for entry in job["by_stratum"]["recall"].values()) == 3


@pytest.mark.slow
def test_runs_of_different_sizes_are_paired_on_the_cases_they_share(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    run(capsys, *HOTPOT, "arch=none", "n_cases=3", "hydra.run.dir=fewer")
    run(capsys, *HOTPOT, "arch=bm25", "n_cases=3", "hydra.run.dir=few")
    told = "note: means and pairs are over the 3 cases that all runs have; left out: 3 of bm25"
    across = framework(capsys, "compare", "bm25", "fewer")
    assert told in across.out
    alike = framework(capsys, "compare", "few", "fewer")
    assert across.out.partition("note: ")[0] == alike.out.partition("note: ")[0]


def test_runs_with_other_prompts_or_budgets_by_another_tokenizer(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    for name in ("prompts", "model"):
        run_ = place / f"other-{name}"
        shutil.copytree(place / "none", run_)
        summary = read_json(run_ / "summary.json")
        summary["run"][name] = "another"
        (run_ / "summary.json").write_text(json.dumps(summary))
        told = framework(capsys, "compare", "bm25", f"other-{name}").mistake
        assert f"other-{name} is not compared: it differs in {name}" in told
    edit(place / "none/manifest.json", b'"tokenizer": "decisionbench', b'"tokenizer": "other')
    message = framework(capsys, "compare", "bm25", "none").mistake
    assert message.startswith("bm25 and none differ in tokenizer (decisionbench-v1, other-v1)")


def test_code_that_changed_between_runs_is_told(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    edit(place / "none/manifest.json", b'"framework": "sha256:', b'"framework": "sha256:0')
    done = framework(capsys, "compare", "bm25", "none")
    assert "note: bm25 and none were made by other code: framework" in done.out
    held = read_json(place / "none/manifest.json")
    held["packages"]["plugins"] = "sha256:" + "0" * 64
    (place / "none/manifest.json").write_text(json.dumps(held))
    done = framework(capsys, "compare", "bm25", "none")
    assert "were made by other code: framework, plugins" in " ".join(done.out.split())


def test_a_smallest_effect_can_be_declared(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    run(capsys, *HOTPOT, "arch=bm25", "arch.k1=1.4", "hydra.run.dir=alike")
    given = ("compare", "bm25", "alike", "--axes", "mrr", "--smallest-effect")
    done = framework(capsys, *given, "0.9").out
    assert "declared smallest effect is 0.9" in " ".join(done.split())
    # Nothing here is shown to fail where both succeed, so nothing is called equivalent.
    assert "+0.00=" not in done
    assert framework(capsys, *given, "2").mistake.startswith("--smallest-effect: 2 given")


# ------------------------------------------------------------------------------------------ verify


def unfinish(run_: Path) -> None:
    journal = run_ / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))


def edit(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def swap_lines(run_: Path) -> None:
    lines = (run_ / "journal.jsonl").read_bytes().splitlines(keepends=True)
    lines[2], lines[3] = lines[3], lines[2]
    (run_ / "journal.jsonl").write_bytes(b"".join(lines))


def drop_line(run_: Path) -> None:
    lines = (run_ / "journal.jsonl").read_bytes().splitlines(keepends=True)
    del lines[2]
    (run_ / "journal.jsonl").write_bytes(b"".join(lines))


def flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


TAMPERED: dict[str, tuple[Callable[[Path], object], str]] = {
    "an edited row": (
        lambda r: edit(r / "journal.jsonl", b'"mrr":1.0', b'"mrr":0.5'),
        "journal.jsonl:2: edited",
    ),
    "rows in another order": (swap_lines, "journal.jsonl:3"),
    "a dropped row": (drop_line, "journal.jsonl:3"),
    "a dropped end": (unfinish, "journal.jsonl: unfinished after 7 events"),
    "an edited answer": (
        lambda r: edit(r / "answers.jsonl", b"Aldermoor", b"Aldermere"),
        "answers.jsonl: changed",
    ),
    "an edited number": (
        lambda r: edit(r / "summary.json", b'"mean": 1.0', b'"mean": 0.9'),
        "summary.json: changed",
    ),
    "an edited table": (lambda r: flip_last_byte(r / "rows.parquet"), "rows.parquet: changed"),
    "an edited configuration": (
        lambda r: edit(r / "config.yaml", b"seed: 7", b"seed: 8"),
        "config.yaml: changed",
    ),
    "an edited manifest": (
        lambda r: edit(r / "manifest.json", b'"seed": 7', b'"seed": 8'),
        "manifest.json: changed",
    ),
    "another head hash": (
        lambda r: edit(r / "manifest.json", b'"head_hash": "sha256:', b'"head_hash": "sha256:0'),
        "manifest.json: head_hash is not that of journal.jsonl",
    ),
    "a manifest that is no JSON": (
        lambda r: (r / "manifest.json").write_text("{"),
        "manifest.json: changed",
    ),
    "a missing file": (lambda r: (r / "rows.parquet").unlink(), "rows.parquet: missing"),
    "an extra file": (lambda r: (r / "notes.txt").write_text("x"), "notes.txt: extra"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_status_1(capsys: pytest.CaptureFixture[str], place: Path, name: str) -> None:
    tamper, said = TAMPERED[name]
    assert framework(capsys, "verify", "bm25").status == 0
    tamper(place / "bm25")
    done = framework(capsys, "verify", "bm25")
    assert done.status == 1
    assert any(line.startswith(said) for line in done.out.splitlines()), done.out
    assert done.err == ""


def test_a_sound_run(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    head = read_json(place / "bm25/manifest.json")["head_hash"]
    done = framework(capsys, "verify", "bm25")
    assert (done.status, done.out) == (0, f"ok: 8 events, head {head}\n")
    assert framework(capsys, "verify", "bm25", "--head", head).status == 0
    # What may come after the seal: uploads and pictures.
    (place / "bm25/tracking.json").write_text("{}")
    (place / "bm25/figures").mkdir()
    (place / "bm25/figures/forest-0.svg").write_text("<svg/>")
    assert framework(capsys, "verify", "bm25").status == 0
    (place / "bm25/figures/a.svg").write_text("<svg/>")  # no picture of a page
    done = framework(capsys, "verify", "bm25")
    assert (done.status, done.out) == (1, "figures/a.svg: extra\n")


def rewrite(run_: Path, change: Callable[[str, Any], Any]) -> None:
    """A forger's work: the whole chain again, consistent in itself, with other content."""
    events = list(read(run_ / "journal.jsonl"))
    (run_ / "journal.jsonl").unlink()
    with Journal.create(run_ / "journal.jsonl") as journal:
        for event in events[:-1]:
            journal.append(event.type, change(event.type, event.payload))
        kept = {k: v for k, v in events[-1].payload.items() if k == "rows"}
        seal(journal, kept, exclude=events[-1].payload["excluded"])


def better(type_: str, payload: Any) -> Any:
    """Every mean reciprocal rank of 1 becomes .25."""
    if type_ == "case.finished":
        payload["row"]["axes"]["mrr"] = 0.25
    return payload


def test_a_rewritten_chain_is_found_by_a_head_kept_elsewhere(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    head = read_json(place / "bm25/manifest.json")["head_hash"]
    rewrite(place / "bm25", better)
    assert framework(capsys, "verify", "bm25").status == 0
    done = framework(capsys, "verify", "bm25", "--head", head)
    assert done.status == 1
    assert "not at the head asked for" in done.out


def test_a_chain_that_was_rewritten_in_a_sweep_is_found_by_the_sweep_s_head(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    head = framework(capsys, "verify", "sweep").out.split()[-1]
    assert framework(capsys, "verify", "sweep", "--head", head).status == 0
    job = job_directories(Path("sweep"))[1]
    rewrite(job, lambda type_, payload: payload | ({"new": 1} if "row" in payload else {}))
    assert framework(capsys, "verify", "sweep").status == 0
    done = framework(capsys, "verify", "sweep", "--head", head)
    assert done.status == 1
    assert done.out.splitlines()[-1].endswith(f", not {head}")


def test_answers_that_were_edited_and_sealed_anew_are_no_records_of_their_events(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    """Each case's event holds the digest of its record: the seal alone is not asked."""
    edit(place / "bm25/answers.jsonl", b'"text":', b'"text" :')
    rewrite(place / "bm25", lambda _, payload: payload)
    done = framework(capsys, "verify", "bm25")
    assert done.status == 1
    assert done.out.startswith("answers.jsonl:1: not the record written")


def test_a_sweep_is_verified_run_by_run(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    done = framework(capsys, "verify", "sweep")
    jobs = job_directories(Path("sweep"))
    assert done.status == 0
    named = [line.split(": ")[0] for line in done.out.splitlines()]
    assert named == [*map(str, jobs), "sweep"]
    for name in ("report.pdf", "figures2/a.svg", ".a"):
        (Path("sweep") / name).parent.mkdir(exist_ok=True)
        (Path("sweep") / name).write_text("x")
        done = framework(capsys, "verify", "sweep")
        assert (done.status, done.out.splitlines()[-1]) == (1, f"sweep/{name.split('/')[0]}: extra")
        (Path("sweep") / name).unlink()
    Path("sweep/figures2").rmdir()
    edit(Path("sweep/sweep.json"), b'": ', b'":  ')
    done = framework(capsys, "verify", "sweep")
    assert done.out.splitlines()[-1] == "sweep/sweep.json: not the text that was written"
    edit(Path("sweep/sweep.json"), b'":  ', b'": ')
    edit(jobs[1] / "summary.json", b'"seed": 7', b'"seed": 8')
    done = framework(capsys, "verify", "sweep")
    assert done.status == 1
    assert f"{jobs[1]}: summary.json: changed" in done.out
    shutil.rmtree(jobs[0])
    assert f"{jobs[0]}: not run yet" in framework(capsys, "verify", "sweep").out


def test_a_sweep_of_before_its_file_held_as_much_is_sound(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    path = Path("sweep")
    told = read_json(path / "sweep.json")
    for entry in told["jobs"]:
        del entry["checks"]
    for row in told["comparisons"]:
        for name in ("family_low", "family_high", "family_level"):
            del row[name]
    write_sweep(path, told)
    assert framework(capsys, "verify", "sweep").status == 0
    told["comparisons"][0]["delta"] = 0.9
    write_sweep(path, told)
    assert framework(capsys, "verify", "sweep").status == 1


@pytest.mark.parametrize("key", ["argv", "account", "identity"])
def test_a_plan_that_was_edited_after_the_sweep_is_found(
    capsys: pytest.CaptureFixture[str], place: Path, key: str
) -> None:
    head = framework(capsys, "verify", "sweep").out.split()[-1]
    plan, results = Path("sweep/sweep_plan.json"), Path("sweep/sweep.json")
    told = read_json(plan)
    holds = told["jobs"][0] if key == "identity" else told
    holds[key] = ["arch=none"] if key == "argv" else "other"
    plan.write_text(json.dumps(told), encoding="utf-8")
    edited = f"{plan}: not the plan that the sweep ended with"
    assert framework(capsys, "verify", "sweep").out.splitlines()[-1] == edited
    framework(capsys, "report", "sweep")
    warned = "sweep_plan.json is not the plan that the sweep ended with"
    assert warned in Path("sweep/report.md").read_text()
    run(capsys, "resume=sweep")
    assert framework(capsys, "verify", "sweep").status == 1, "to resume it changes nothing"
    # Whoever edits both is found by the head alone.
    write_json(results, {k: v for k, v in read_json(results).items() if k != "plan"})
    forged = framework(capsys, "verify", "sweep")
    assert (forged.status, head in forged.out) == (0, False)
    assert framework(capsys, "verify", "sweep", "--head", head).status == 1


def test_a_sweep_of_before_its_head_covered_the_plan_is_verified_by_its_head(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    results = Path("sweep/sweep.json")
    write_json(results, {k: v for k, v in read_json(results).items() if k != "plan"})
    heads = {job.name: load_state(job).head for job in job_directories(Path("sweep"))}
    done = framework(capsys, "verify", "sweep", "--head", digest(heads))
    assert done.status == 0
    last = done.out.splitlines()[-1]
    assert last.endswith("; the head given covers the runs and not the plan")
    assert digest(heads) not in last


def test_a_run_that_was_laid_into_a_sweep_is_found(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    assert framework(capsys, "verify", "sweep").status == 0
    shutil.copytree("bm25", "sweep/hotpotqa-bm25-tight-000000000000")
    done = framework(capsys, "verify", "sweep")
    told = "sweep/hotpotqa-bm25-tight-000000000000: extra"
    assert (done.status, done.out.splitlines()[-1]) == (1, told)


FORMER = {
    "budget_use": "fairness",
    "budget_flags": "fairness_flags",
    "unbudgeted": "exempt",
    "counterfactual_pairs": "treatment",
    "cost_effectiveness": "economy",
    "successes_per_1000_tokens": "return_on_tokens",
    "published_convention": "compat",
    ">= 0.5 (published convention)": ">= 0.5 (compat)",
    "model-free": "finding",
}


def test_overrides_that_no_job_was_run_from_are_found(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    shutil.copytree("sweep", "edited")
    plan = Path("edited/sweep_plan.json")
    job = read_json(plan)["jobs"][0]
    assert "arch=bm25" in job["overrides"]
    plan.write_text(plan.read_text().replace('"arch=bm25"', '"arch=none"'))
    done = framework(capsys, "verify", "edited")
    assert done.status == 1
    assert f"{plan}: {job['name']} was not run from these overrides" in done.out


@pytest.mark.slow
def test_a_sweep_in_former_words_is_verified_compared_and_reported(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    shutil.copytree("sweep", "old")
    for path in (*Path("old").rglob("summary.json"), Path("old/sweep.json")):
        text = path.read_text()
        for name, former in FORMER.items():
            text = text.replace(f'"{name}"', f'"{former}"')
        assert '"fairness"' in text
        path.write_text(text)
    table = Path("old/comparison.csv")
    table.write_bytes(table.read_bytes().replace(b"(published convention)", b"(compat)"))
    assert b"(compat)" in table.read_bytes()
    for job in job_directories(Path("old")):
        rewrite(job, lambda type_, payload: payload)
    assert framework(capsys, "verify", "old").status == 0
    for command_ in ("compare", "table", "report"):
        found, expected = (framework(capsys, command_, place) for place in ("old", "sweep"))
        assert found.status == expected.status == 0
        assert found.out.replace("old", "sweep") == expected.out


def test_what_is_no_run_cannot_be_verified(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    assert framework(capsys, "verify", "nope").mistake == "nope: no such directory"
    message = framework(capsys, "verify", ".").mistake
    assert message.startswith("cannot read the journal journal.jsonl")


# ------------------------------------------------------------------------------------------ replay


def test_a_replay_gives_the_same_rows(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    before = sorted(p.name for p in place.iterdir())
    done = framework(capsys, "replay", "bm25")
    assert (done.status, done.out) == (0, "same: 6 rows, every measured column equal\n")
    assert sorted(p.name for p in place.iterdir()) == before


def test_a_forged_row_is_found_by_a_replay(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    rewrite(place / "bm25", better)
    done = framework(capsys, "replay", "bm25")
    assert done.status == 1
    cases = [row.case_id for row in load_state(Path("bm25")).rows]
    expected = [f"{c} bm25 trial 0 repeat 0 turn 0: differs in mrr" for c in sorted(cases)]
    assert done.out.splitlines() == expected


def test_a_summary_and_a_table_that_were_edited_and_sealed_anew_are_found_by_a_replay(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    summary = read_json(place / "bm25/summary.json")
    summary["axes"]["mrr"]["mean"] = 0.99
    write_json(place / "bm25/summary.json", summary)
    table = pq.read_table(place / "bm25/rows.parquet")
    at = table.schema.get_field_index("mrr")
    forged = pa.array([0.5] * table.num_rows)
    pq.write_table(table.set_column(at, table.schema.field(at), forged), "bm25/rows.parquet")
    rewrite(place / "bm25", lambda _, payload: payload)
    assert framework(capsys, "verify", "bm25").status == 0
    done = framework(capsys, "replay", "bm25")
    said = "not what the rows give, which are the same"
    assert done.status == 1
    assert done.out.splitlines() == [f"summary.json: {said}", f"rows.parquet: {said}"]
    pq.write_table(table.replace_schema_metadata(None), "bm25/rows.parquet")
    done = framework(capsys, "replay", "bm25")
    assert (done.status, done.out.splitlines()[-1]) == (1, f"rows.parquet: {said}")
    (place / "bm25/rows.parquet").write_bytes(b"no table")
    done = framework(capsys, "replay", "bm25")
    assert (done.status, done.out.splitlines()[-1]) == (1, f"rows.parquet: {said}")


def test_a_page_of_a_run_is_written_nowhere_else(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    told = framework(capsys, "report", "bm25", "--to", "elsewhere").mistake
    assert told == "--to is for --recipe; the page of a run or sweep is in its directory"
    assert not (place / "elsewhere").exists()


def test_a_report_of_a_summary_that_was_edited_says_so(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    said = "bm25/summary.json is not the file that was sealed"
    assert framework(capsys, "report", "bm25").status == 0
    assert said not in Path("bm25/report.md").read_text()
    summary = read_json(place / "bm25/summary.json")
    summary["axes"]["mrr"]["mean"] = 0.99
    write_json(place / "bm25/summary.json", summary)
    assert framework(capsys, "report", "bm25").status == 0
    assert said in Path("bm25/report.md").read_text()


def test_whatever_prints_a_forged_sweep_says_so(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    commands = (
        ("table", "sweep"), ("export", "sweep", "t.tex", "--to", "latex"), ("compare", "sweep"),
        ("report", "sweep"),
    )  # fmt: skip

    def told() -> list[bool]:
        found = []
        Path("t.tex").unlink(missing_ok=True)
        for words in commands:
            done = framework(capsys, *words)
            assert done.status == 0, done.err
            text = done.out + done.err
            text += Path("sweep/report.md").read_text() if words[0] == "report" else ""
            found.append("verify` says more" in text.replace("\\", ""))
        return found

    assert told() == [False] * 4
    sound = Path("sweep/sweep.json").read_bytes()
    sweep = read_json(Path("sweep/sweep.json"))
    sweep["jobs"][0]["axes"]["mrr"]["mean"] = 0.99
    write_json(Path("sweep/sweep.json"), sweep)
    assert told() == [True, True, False, True], "compare computes it again"
    sweep = json.loads(sound)
    sweep["comparisons"][0]["conclusion"] = "a better"
    write_json(Path("sweep/sweep.json"), sweep)
    assert told() == [True, True, False, True]
    Path("sweep/sweep.json").write_bytes(sound)
    flip_last_byte(job_directories(Path("sweep"))[0] / "rows.parquet")
    assert told() == [True] * 4


def test_a_finished_run_that_was_edited_is_told_when_it_is_resumed(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    edit(place / "bm25/summary.json", b'"mean": 1.0', b'"mean": 0.9')
    assert "bm25/summary.json is not the file that was sealed" in run(capsys, "resume=bm25").err
    first = job_directories(Path("sweep"))[0]
    edit(first / "summary.json", b'"mean": 1.0', b'"mean": 0.9')
    said = f"{first.name}/summary.json is not the file that was sealed"
    assert said in run(capsys, "resume=sweep").err


def test_other_code_of_a_package_is_told_by_a_replay(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also code that is in no plugin's own file: a helper, a rule, a prompt."""
    assert "plugins" in read_json(place / "bm25/manifest.json")["packages"]
    assert "changed since" not in framework(capsys, "replay", "bm25").err
    code = manifest._code_of
    monkeypatch.setattr(manifest, "_code_of", lambda name: code(name) + "x" * (name == "plugins"))
    assert "changed since the run: plugins\n" in framework(capsys, "replay", "bm25").err


def test_the_code_of_a_package_is_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("__init__.py", "sub/helper.py", "sub/forms.yaml", "notes.bin"):
        (tmp_path / "made" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / name).write_text("first")
    package = ModuleType("made")
    package.__file__ = str(tmp_path / "made/__init__.py")
    monkeypatch.setitem(sys.modules, "made", package)
    code = manifest._code_of.__wrapped__  # as another process would find it
    found = [code("made")]
    for name in ("__init__.py", "sub/helper.py", "sub/forms.yaml"):
        (tmp_path / "made" / name).write_text("second")
        found.append(code("made"))
    assert len(set(found)) == 4
    (tmp_path / "made/notes.bin").write_text("second")
    assert code("made") == found[-1]


def test_a_column_that_came_later_is_no_difference(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    def former(type_: str, payload: Any) -> Any:
        if type_ == "case.finished":
            del payload["row"]["axes"]["mrr"]
        return payload

    rewrite(place / "bm25", former)
    done = framework(capsys, "replay", "bm25")
    assert (done.status, done.out) == (0, "same: 6 rows, every measured column equal\n")
    assert "columns that the run does not have: mrr" in done.err


def test_a_row_too_many_or_too_few_is_found_by_a_replay(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    def renamed(type_: str, payload: Any) -> Any:
        if type_ == "case.finished" and payload["row"]["case_id"] == "fx03":
            payload["row"]["case_id"] = "fx99"
        return payload

    rewrite(place / "bm25", renamed)
    done = framework(capsys, "replay", "bm25")
    assert done.status == 1
    assert "fx03 bm25 trial 0 repeat 0 turn 0: only in the replay" in done.out
    assert "fx99 bm25 trial 0 repeat 0 turn 0: only in the run" in done.out


@pytest.mark.slow
def test_a_run_with_errors_is_replayed(
    capsys: pytest.CaptureFixture[str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plugins.axes.ranking import Ranking

    def failing(self: Ranking, scored: object) -> None:
        raise RuntimeError("told to fail")

    monkeypatch.setattr(Ranking, "score", failing)
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=r")
    assert run(capsys, "resume=r", "max_errors=100").status == 0
    done = framework(capsys, "replay", "r")
    assert (done.status, done.out) == (0, "same: 6 rows, every measured column equal\n")


def test_what_cannot_be_replayed(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    data = place / "questions.json"
    data.write_bytes(QUESTIONS.read_bytes())
    run(capsys, *HOTPOT, "arch=bm25", f"domain.path={data}", "hydra.run.dir=r")
    data.write_text(json.dumps(json.loads(QUESTIONS.read_bytes())[::-1]))
    assert "r was begun on other data" in framework(capsys, "replay", "r").mistake
    unfinish(place / "none")
    assert "none is not finished" in framework(capsys, "replay", "none").mistake
    assert "nope is not a run directory" in framework(capsys, "replay", "nope").mistake
    jobs = sorted(job.name for job in job_directories(Path("sweep")))
    said = f"sweep is a sweep; name one of its runs: {', '.join(jobs)}"
    assert framework(capsys, "replay", "sweep").mistake == said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("an edited row", "journal.jsonl:2: edited"),
        ("a dropped row", "journal.jsonl:3"),
        ("a manifest that is no JSON", "manifest.json: missing or not JSON"),
    ],
)
def test_a_run_that_was_tampered_with_is_a_finding_of_a_replay(
    capsys: pytest.CaptureFixture[str], place: Path, name: str, said: str
) -> None:
    tamper, _ = TAMPERED[name]
    tamper(place / "bm25")
    done = framework(capsys, "replay", "bm25")
    assert done.status == 1
    assert done.out.startswith(f"bm25/{said}")
    assert "error" not in done.err


def test_code_that_changed_is_told(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    manifest = read_json(place / "bm25/manifest.json")
    manifest["plugins"]["arch"]["code"] = "sha256:" + "0" * 64
    (place / "bm25/manifest.json").write_text(json.dumps(manifest))
    done = framework(capsys, "replay", "bm25")
    assert done.status == 0
    assert done.err.startswith("changed since the run: arch=bm25")


@pytest.mark.slow
def test_fewer_cases_than_asked_for_are_told_once(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    told = "n_cases=20: there are 6 cases, all were measured"
    assert run(capsys, *HOTPOT, "arch=bm25", "n_cases=20").err.count(told) == 1
    swept = run(capsys, "-m", *HOTPOT, "arch=none,bm25", "n_cases=20")
    assert swept.status == 0
    assert swept.err.count(told) == 1
    assert "n_cases=" not in run(capsys, *HOTPOT, "arch=bm25", "n_cases=6").err
    assert "n_cases=" not in run(capsys, *HOTPOT, "arch=bm25", "run_name=default").err


@pytest.mark.slow
def test_what_to_look_at_next_is_a_case_of_the_arm_that_leads(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    done = run(capsys, "-m", *HOTPOT, "arch=none,random_context,bm25,oracle", "budget=tight,loose")
    (line,) = (
        line for line in done.out.splitlines() if line.startswith("next: ") and "show" in line
    )
    assert "-bm25-tight-" in line


_DAMAGED = {
    "sweep/sweep.json": ("sweep", "table", "report"),
    "sweep/sweep_plan.json": ("sweep", "report"),
    "bm25/summary.json": ("bm25", "report"),
}


@pytest.mark.parametrize("text", ["{", "{}", "[]", '{"jobs": [{}], "comparisons": []}'])
@pytest.mark.parametrize("file", _DAMAGED)
def test_a_damaged_result_is_told_in_a_line_and_is_a_finding_of_verify(
    capsys: pytest.CaptureFixture[str], place: Path, file: str, text: str
) -> None:
    damaged = place / file
    damaged.write_text(text)
    directory, *commands = _DAMAGED[file]
    found = framework(capsys, "verify", directory)
    assert (found.status, found.err) == (1, "")
    assert Path(file).name in found.out
    for name in commands:
        assert Path(file).name in framework(capsys, name, directory).mistake


def test_a_table_is_put_into_no_file_that_is_not_there(
    capsys: pytest.CaptureFixture[str], place: Path
) -> None:
    told = framework(capsys, "table", "sweep", "--into", "no/file.md").mistake
    assert told == "no/file.md: No such file or directory"
    assert framework(capsys, "table", "sweep", "--into", ".").mistake == ".: Is a directory"
