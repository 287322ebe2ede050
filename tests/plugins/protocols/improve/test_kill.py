"""Thirty SIGKILLs of real loops; each ends with the undisturbed loop's events.

Two in three come at a random moment, the others when the journal has a random number of lines:
most of a loop's time is start-up and its page, most of its events are those of cases.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from framework.rows import measured
from framework.store import JOURNAL, verify_run
from framework.store.state import load_state, protocol_events
from tests.killing import finish, kill_after, kill_when
from tests.plugins.protocols.improve.scripted import told

KILLS = 30
ARGV = (
    *("protocol=improve", "domain=loan", "budget=moderate", "tracking=none"),
    *("protocol.pool=40", "protocol.optimize=12", "protocol.confirm=16", "protocol.test=12"),
    *("gate.rule=point", "protocol.min_net_flips=0", "gate.per_type_floor=1"),
    *("author=scripted", "author.drafts=[{seam: score, expression: similarity + number_density},"
      "{seam: assembly, rules: [{rule: dedupe, overlap: 0.8}]},"
      "{seam: reader_prompt, fragments: {guidance: Mind the policy.}}]"),
    *("routing=none", "protocol.max_candidates=3"),
)  # fmt: skip


def events_of(directory: Path) -> list[tuple[str, Mapping[str, Any]]]:
    return told(protocol_events(directory))


def lines_of(directory: Path) -> int:
    journal = directory / JOURNAL
    return journal.read_bytes().count(b"\n") if journal.is_file() else 0


def has_lines(directory: Path, wanted: int) -> bool:
    return lines_of(directory) >= wanted


def where_it_was(directory: Path) -> str:
    if not directory.exists():
        return "start-up"
    events = events_of(directory)
    return events[-1][0] if events else "before the first event"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_thirty_kills(tmp_path: Path) -> None:
    rng = random.Random(30)
    whole = tmp_path / "whole"
    seconds = finish(tmp_path, *ARGV, f"hydra.run.dir={whole}")
    wanted, rows, lines = events_of(whole), measured(load_state(whole).rows), lines_of(whole)
    hit: Counter[str] = Counter()
    attempt = 0
    while hit.total() < KILLS:
        directory = tmp_path / f"run-{attempt}"
        attempt += 1
        for _ in range(rng.randint(1, 4)):
            begun = directory.exists()
            given = (f"resume={directory}",) if begun else (*ARGV, f"hydra.run.dir={directory}")
            written = lines_of(directory)
            if hit.total() % 3 == 1 and written < lines:
                line = rng.randint(written + 1, lines)
                killed = kill_when(partial(has_lines, directory, line), tmp_path, *given)
            else:
                killed = kill_after(rng.uniform(0.3, 1.0) * seconds, tmp_path, *given)
                seconds *= 1.0 if killed else 0.8  # its load is not ours alone
            if not killed:
                break
            where = where_it_was(directory)
            hit[where] += 1
            seconds *= 1.1 if where == "start-up" else 1.0
        if not directory.exists():
            finish(tmp_path, *ARGV, f"hydra.run.dir={directory}")
        finish(tmp_path, f"resume={directory}")
        assert events_of(directory) == wanted
        assert measured(load_state(directory).rows) == rows
        assert not verify_run(directory).problems
    print(f"{hit.total()} kills in {attempt} loops, the last event before each:", dict(hit))
    assert hit["case.evaluated"] >= 5, "too few inside a step"
