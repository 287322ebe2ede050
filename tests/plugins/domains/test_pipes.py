"""A path that is neither a file nor a folder ends in one line: what reads a pipe waits for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framework.errors import UserError
from framework.records import Case
from framework.registry import Plugin, find, settings_of

WAYS = [
    ("airline_fees", {"path": "pipe"}),
    ("bank_support", {"path": "pipe", "tasks": "pipe"}),
    ("beam", {"path": "pipe"}),
    ("decision_corpus", {"path": "pipe"}),
    ("dmr", {"path": "pipe"}),
    ("hotpotqa", {"path": "pipe"}),
    ("hotpotqa", {"path": "/dev/zero"}),
    ("regulated", {"spec": "loan", "calibration": "pipe"}),
    ("regulated", {"spec": "pipe"}),
    ("regulated", {"spec": "loan", "written": "pipe"}),
    ("locomo", {"path": "pipe"}),
    ("longmemeval", {"path": "/dev/zero"}),
    ("longmemeval", {"path": "pipe"}),
    ("memory_agent_bench", {"path": "pipe"}),
    ("musique", {"path": "pipe"}),
    ("personamem", {"path": "pipe", "contexts": "pipe"}),
    ("regulation_updates", {"path": "folder"}),
    ("regulation_updates", {"path": "pipe"}),
    ("spider", {"path": "pipe"}),
    ("swe_contextbench", {"path": "pipe"}),
    ("text_to_sql", {"path": "pipe", "questions": "pipe"}),
    ("two_wiki", {"path": "pipe"}),
    ("veterans", {"path": "folder"}),
    ("veterans", {"path": "pipe"}),
]

REFUSED = r"neither a file nor a folder|no such (file|folder)"


def _first_case(plugin: Plugin, values: dict[str, str]) -> Case:
    domain = plugin.cls(settings_of(plugin, values))
    case: Case = next(domain.cases(1, 0))
    return case


@pytest.mark.timeout(20)
@pytest.mark.parametrize(("name", "values"), WAYS, ids=lambda v: str(v))
def test_no_domain_waits_for_what_never_comes(
    name: str, values: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for place in ("pipe", "folder/a.json", "folder/a.xml"):
        os.mkfifo(place)
    plugin = find("domain", name)
    with pytest.raises(UserError, match=REFUSED):
        _first_case(plugin, values)


@pytest.mark.timeout(20)
def test_a_calibration_and_a_model_are_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    judge, local = find("judge", "llm"), find("model", "local")
    for path in ("pipe", "/dev/zero"):
        settings = settings_of(judge, {"calibration": path})
        with pytest.raises(UserError, match=f"{path}: can't be read: neither a file nor a folder"):
            settings.identity()
        with pytest.raises(UserError, match=f"{path}: not a readable model: "):
            settings_of(local, {"path": path}).identity()
