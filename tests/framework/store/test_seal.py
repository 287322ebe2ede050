from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from framework.errors import DataError, UserError
from framework.store import (
    FINISHED,
    JOURNAL,
    MANIFEST,
    Journal,
    JournalEvent,
    read,
    seal,
    stamp_head,
    verify_run,
)
from framework.store.seal import FileChanges, verify_files
from framework.text.canonical import digest, digest_bytes


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A sealed run directory with a manifest, a log that grows, and files in a folder."""
    run = tmp_path / "run"
    (run / "figures" / "__pycache__").mkdir(parents=True)
    (run / "summary.json").write_text("{}")
    (run / "figures" / "axes.svg").write_text("<svg/>")
    (run / "latest").symlink_to("summary.json")
    (run / "logs").mkdir()
    (run / "logs" / "run.log").write_text("start\n")
    (run / MANIFEST).write_text('{"seed": 7, "name": "é"}')
    with Journal.create(run / JOURNAL) as journal:
        journal.append("run.started", {})
        seal(journal, {"status": "done"}, exclude=["logs/*"])
    return run


def last(run: Path) -> JournalEvent:
    return list(read(run / JOURNAL))[-1]


def test_the_seal_holds_every_file(run_dir: Path) -> None:
    event = last(run_dir)
    assert event.type == FINISHED
    assert event.payload == {
        "status": "done",
        "n_events": 2,
        "excluded": [JOURNAL, "logs/*"],
        "files": {
            "figures/axes.svg": digest_bytes(b"<svg/>"),
            "latest": digest_bytes(b"symlink:summary.json"),
            MANIFEST: digest({"seed": 7, "name": "é"}),
            "summary.json": digest_bytes(b"{}"),
        },
    }
    manifest = json.loads((run_dir / MANIFEST).read_text())
    assert manifest == {"seed": 7, "name": "é", "head_hash": event.hash}
    verdict = verify_run(run_dir)
    assert verdict.ok
    assert verdict.files == FileChanges()
    assert verify_run(run_dir, head=event.hash).ok


def test_changed_missing_and_extra_files_are_named(run_dir: Path) -> None:
    (run_dir / "summary.json").write_text("{ }")
    (run_dir / "figures" / "axes.svg").unlink()
    (run_dir / "figures" / "__pycache__" / "hidden").write_text("")
    (run_dir / "rows.parquet").write_text("")
    (run_dir / "elsewhere").symlink_to("/")
    (run_dir / "logs" / "run.log").write_text("may grow")
    changes = verify_files(run_dir, last(run_dir))
    assert changes == FileChanges(
        changed=("summary.json",),
        missing=("figures/axes.svg",),
        extra=("elsewhere", "figures/__pycache__/hidden", "rows.parquet"),
    )
    assert verify_run(run_dir).problems == (
        "summary.json: changed",
        "figures/axes.svg: missing",
        "elsewhere: extra",
        "figures/__pycache__/hidden: extra",
        "rows.parquet: extra",
    )


def test_a_file_replaced_by_something_else_has_changed(run_dir: Path) -> None:
    (run_dir / "summary.json").rename(run_dir / "logs" / "original")
    (run_dir / "summary.json").symlink_to("logs/original")
    (run_dir / "latest").unlink()
    os.mkfifo(run_dir / "latest")
    (run_dir / MANIFEST).write_text("[]")
    changes = verify_files(run_dir, last(run_dir))
    assert changes == FileChanges(changed=("latest", MANIFEST, "summary.json"))
    assert not verify_run(run_dir).ok


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ('{"seed": 8, "name": "é", "head_hash": "%s"}', "manifest.json: changed"),
        ('{"seed": 7, "name": "é"}', "manifest.json: no head_hash"),
        (
            '{"seed": 7, "name": "é", "head_hash": "x"}',
            "manifest.json: head_hash is not that of journal.jsonl",
        ),
        ("{", "manifest.json: changed"),
    ],
)
def test_an_edited_manifest_is_found(run_dir: Path, manifest: str, problem: str) -> None:
    (run_dir / MANIFEST).write_text(manifest.replace("%s", last(run_dir).hash))
    assert verify_run(run_dir).problems == (problem,)


def test_a_run_killed_before_its_stamp_is_stamped_later(run_dir: Path) -> None:
    stamped = (run_dir / MANIFEST).read_bytes()
    (run_dir / MANIFEST).write_text('{"seed": 7, "name": "é"}')
    (run_dir / f".{MANIFEST}.999999999.draft").write_text("{")  # killed in the middle of stamping
    assert not verify_run(run_dir).ok
    for _ in range(2):
        stamp_head(run_dir, last(run_dir).hash)
        assert (run_dir / MANIFEST).read_bytes() == stamped
    assert verify_run(run_dir).ok


def test_damage_in_the_journal_is_told_with_its_line(run_dir: Path) -> None:
    lines = (run_dir / JOURNAL).read_bytes().splitlines(keepends=True)
    (run_dir / JOURNAL).write_bytes(lines[0].replace(b"run.started", b"run.startex") + lines[1])
    verdict = verify_run(run_dir)
    assert verdict.problems == ("journal.jsonl:1: edited: its content does not match its hash",)
    assert verdict.files is None


def test_an_unfinished_run_has_no_files_to_check(run_dir: Path) -> None:
    lines = (run_dir / JOURNAL).read_bytes().splitlines(keepends=True)
    (run_dir / JOURNAL).write_bytes(lines[0])
    verdict = verify_run(run_dir)
    assert verdict.problems == ("journal.jsonl: unfinished after 1 event",)
    assert (verdict.files, verdict.journal.intact) == (None, True)
    with pytest.raises(ValueError, match=r"run\.started holds no digests"):
        verify_files(run_dir, last(run_dir))


def test_a_rewritten_run_is_found_by_the_head_kept_elsewhere(run_dir: Path) -> None:
    head = last(run_dir).hash
    (run_dir / JOURNAL).unlink()
    with Journal.create(run_dir / JOURNAL) as journal:
        journal.append("run.started", {"better": True})
        seal(journal, exclude=["logs/*"])
    assert verify_run(run_dir).ok
    (problem,) = verify_run(run_dir, head=head).problems
    assert "not at the head asked for" in problem


def test_what_cannot_be_sealed(tmp_path: Path) -> None:
    with Journal.create(tmp_path / JOURNAL) as journal:
        with pytest.raises(ValueError, match=r"\['files'\] are filled in by the seal"):
            seal(journal, {"files": {}})
        (tmp_path / MANIFEST).write_text("{")
        with pytest.raises(DataError, match=r"manifest\.json: not JSON"):
            seal(journal)
        (tmp_path / MANIFEST).unlink()
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ValueError, match="pipe is neither"):
            seal(journal)
        (tmp_path / "pipe").unlink()
        assert journal.n_events == 0
        seal(journal)
    assert verify_run(tmp_path).ok
    assert not (tmp_path / MANIFEST).exists()


def test_a_directory_without_a_journal(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read the journal"):
        verify_run(tmp_path)


def test_a_resumed_run_seals_its_torn_line_too(tmp_path: Path) -> None:
    path = tmp_path / JOURNAL
    Journal.create(path).close()
    path.write_bytes(b"torn")
    with Journal.open(path) as journal:
        seal(journal)
    assert list(last(tmp_path).payload["files"]) == [f"{JOURNAL}.torn-1"]
    (tmp_path / f"{JOURNAL}.torn-1").unlink()
    assert verify_run(tmp_path).problems == (f"{JOURNAL}.torn-1: missing",)
