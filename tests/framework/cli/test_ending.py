"""What happens when runs end, where it is not said by what they print."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from framework.cli import ending


def test_a_page_waits_for_what_is_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_to_import.py").write_text(
        "import time\ntimes = globals().get('times', 0) + 1\ntime.sleep(0.5)\nwhole = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(ending, "_DRAWING", "slow_to_import")
    monkeypatch.setattr(ending, "_importing", [])
    for _ in range(3):  # as each job of a sweep asks for it
        ending.get_ready_to_draw()
    assert len(ending._importing) == 1
    ending.write_page(tmp_path / "no-run")
    assert sys.modules.pop("slow_to_import").whole


@pytest.mark.parametrize(
    ("case", "proposed"),
    [("loan-7.a:0", "loan-7.a:0"), ("x; rm -rf ~", "0"), ("\x1b[31m", "0"), ("../a\nb", "0")],
)
def test_no_id_of_a_case_is_proposed_that_a_shell_or_terminal_would_obey(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: str, proposed: str
) -> None:
    (tmp_path / "answers.jsonl").write_text(json.dumps({"key": [case, "arm", 0, 0, 0]}) + "\n")
    ending.print_next(tmp_path, tmp_path)
    assert f"show {tmp_path} case={proposed}  #" in capsys.readouterr().out
