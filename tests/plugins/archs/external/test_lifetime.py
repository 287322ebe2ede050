"""Third-party systems over their life: what a mapping declares to forget is asked, and probed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from framework.contracts import Mutable
from framework.errors import UserError
from framework.records import Event
from framework.registry import find, settings_of
from framework.rows import measured
from framework.store.state import read_run
from framework.testing.arch_conformance import ask, history, open_arch
from framework.text.canonical import canonical_bytes
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external.http import HttpMemory, HttpSettings, HttpSystem
from plugins.archs.external.process import ProcessMemory, ProcessSettings
from tests.launching import Done, run
from tests.plugins.archs.external.systems import SHELL, TOY
from tests.plugins.archs.external.test_shipped import stand_in

LATE = Event(id="late", text="The ferry of Piran leaves at noon.", time="2026-04-01", kind="note")
SMALL = ["protocol=lifecycle", "tracking=none", "domain.sizes=[40]", "n_cases=11"]


def lived(
    capsys: pytest.CaptureFixture[str], place: Path, mapping: dict[str, Any], *words: str
) -> Done:
    """A run of a mapping over its life."""
    (place / "arch").mkdir(exist_ok=True)
    (place / "arch/mine.yaml").write_text(json.dumps(mapping))
    done = run(capsys, *SMALL, "--config-dir", str(place), "arch=mine", *words)
    assert done.status == 0, done.err
    return done


def means(done: Done) -> dict[str, Any]:
    axes = read_run(done.directory).summary["axes"]
    return {name: entry["mean"] for name, entry in axes.items()}


def states(done: Done) -> dict[str, str]:
    return {row.stratum: row.state for row in read_run(done.directory).rows if row.state}


def test_it_takes_in_more_and_forgets() -> None:
    settings = ProcessSettings(command=TOY, forgets=True)
    arm = open_arch(ProcessMemory, settings, history())
    assert isinstance(arm, Mutable)
    assert arm.forgets
    assert not arm.concurrent
    (first, *_) = ask(arm, history(), 3, "credit score")
    arm.write([LATE])
    assert ask(arm, history(), 1, "ferry of Piran")[0].source_ids == ("late",)
    arm.forget([*first.source_ids, "late"])
    left = {
        source
        for item in ask(arm, history(), 9, "credit score ferry")
        for source in item.source_ids
    }
    assert not left & {*first.source_ids, "late"}


@pytest.mark.slow
def test_a_system_that_forgets_passes_and_a_deaf_one_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mapping = {"defaults": ["process", "_self_"], "command": list(TOY), "forgets": True}
    good = lived(capsys, tmp_path, mapping)
    found = means(good)
    assert (found["gone"], found["neighbours_kept"], found["tenants_apart"]) == (1, 1, 1)
    assert states(good) == {"concurrent": "takes one writer at a time"}
    deaf = {**mapping, "command": [*TOY, "--fault", "deaf_forget"]}
    found = means(lived(capsys, tmp_path, deaf, "run_name=deaf"))
    assert (found["found_before"], found["gone"]) == (1, 0)


@pytest.mark.slow
def test_a_system_without_deletion_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mapping = {"defaults": ["process", "_self_"], "command": list(SHELL)}
    done = lived(capsys, tmp_path, mapping)
    assert means(done)["gone"] is None
    assert states(done)["deletion"] == states(done)["retold"] == "declares no deletion"
    assert read_run(done.directory).summary["errors"]["n"] == 0


@pytest.mark.slow
def test_a_life_is_replayed_without_the_system(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "memory"
    program.write_text(f"#!/bin/sh\nexec {' '.join(TOY)}\n")
    program.chmod(0o755)
    mapping = {
        "defaults": ["process", "_self_"],
        "command": ["{here}/memory"],
        "forgets": True,
        "exchanges": str(tmp_path / "kept"),
    }
    first = lived(capsys, tmp_path, mapping)
    program.unlink()
    again = lived(capsys, tmp_path, mapping, "arch.replay=true", "run_name=again")
    rows = [canonical_bytes(measured(read_run(done.directory).rows)) for done in (first, again)]
    assert rows[0] == rows[1]
    assert means(again)["gone"] == 1


def test_a_request_deletes_by_the_id_that_the_server_gave(httpserver: HTTPServer) -> None:
    seen: list[Request] = []

    def answer(request: Request) -> Response:
        seen.append(request)
        told = {"uid": f"uid-{len(seen)}", "results": []}
        return Response(json.dumps(told), content_type="application/json")

    for path in ("/add", "/search"):
        httpserver.expect_request(path).respond_with_handler(answer)
    httpserver.expect_request("/one/uid-1", method="DELETE").respond_with_handler(answer)
    mapping = {
        "address": httpserver.url_for("").rstrip("/"),
        "add": {"path": "/add", "fields": {"text": "{text}", "of": "{tenant}"}, "id": "uid"},
        "search": {"path": "/search", "fields": {"q": "{query}", "of": "{tenant}"}},
        "forget": {"path": "/one/{given}", "method": "DELETE", "fields": {"key": "{id}"}},
        "answer": {"items": "results"},
    }
    arm = open_arch(HttpMemory, settings_of(find("arch", "http"), mapping), history())
    first = history()[0].id
    arm.forget([first])
    assert (seen[-1].method, seen[-1].path) == ("DELETE", "/one/uid-1")
    assert dict(seen[-1].args) == {"key": first}
    wrong = {**mapping, "forget": {"path": "/one/{givn}"}}
    with pytest.raises(UserError, match=r"forget: no placeholder \{givn\}.*given"):
        settings_of(find("arch", "http"), wrong)


@pytest.mark.parametrize("kept", [False, True])
def test_what_a_server_made_one_memory_of_is_deleted_once_and_never_without_an_id(
    httpserver: HTTPServer, tmp_path: Path, kept: bool
) -> None:
    deleted: list[str] = []
    texts = {event.id: event.text for event in history()}

    def answer(request: Request) -> Response:
        told: dict[str, Any] = {"uid": "one", "results": [{"uid": "one", "text": "A gist."}]}
        if request.path == "/add":
            text = json.loads(request.data)["text"]
            told["uid"] = "one" if text in (texts["e1"], texts["e2"]) else f"of {text}"
        if request.method == "DELETE":
            if request.path in deleted:
                return Response(status=404)
            deleted.append(request.path)
        return Response(json.dumps(told), content_type="application/json")

    httpserver.expect_request(re.compile(".*")).respond_with_handler(answer)
    mapping = {
        "address": httpserver.url_for("").rstrip("/"),
        "add": {"path": "/add", "fields": {"text": "{text}", "of": "{tenant}"}, "id": "uid"},
        "search": {"path": "/search", "fields": {"q": "{query}", "of": "{tenant}"}},
        "forget": {"path": "/one/{given}", "method": "DELETE"},
        "answer": {"items": "results", "id": "uid"},
        "exchanges": str(tmp_path) if kept else None,
    }
    arm = open_arch(HttpMemory, settings_of(find("arch", "http"), mapping), history())
    (found,) = ask(arm, history(), 5, "anything")
    assert found.source_ids == ("e2", "e1")
    arm.forget(["e1", "e2"])
    assert deleted == ["/one/one"]
    if not kept:
        settings = settings_of(find("arch", "http"), mapping)
        assert isinstance(settings, HttpSettings)
        system = HttpSystem(settings, "t")
        with pytest.raises(SystemFailed, match=r"forget: e3 was given no id"):
            system.forget(history()[2], "")
        system.close()


@pytest.mark.slow
def test_the_shipped_mapping_deletes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stand_in(tmp_path, monkeypatch)
    done = run(capsys, *SMALL, "arch=server_memory")
    assert done.status == 0, done.err
    found = means(done)
    assert (found["gone"], found["told_again"], found["tenants_apart"]) == (1, 1, 1)
    assert (found["concurrent_found"], found["concurrent_single"]) == (1, 1)
