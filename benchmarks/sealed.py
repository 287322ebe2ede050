"""What a submitter can write into a bundle: a run's journal and answers, sealed as they are."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from framework.store import JOURNAL
from framework.store.directory import ANSWERS
from framework.store.event import FINISHED, GENESIS, encode
from framework.text.canonical import canonical_bytes, digest_bytes
from framework.text.reading import read_json
from plugins.commands.leaderboard.bundle import Refused, write
from plugins.commands.leaderboard.checks import checked
from plugins.commands.leaderboard.rules import RULES, BoardRules, Drawn, draw, read_rules

ROOT: Final = Path(__file__).resolve().parents[1]
KEY: Final = Ed25519PrivateKey.from_private_bytes(bytes(32))
_BOARD: Final = """
title: Loans
run: [domain=loan, budget=loose]
n_cases: 1
seeds: [101]
axis: eda
"""
_PARTED: Final = b"\n---\n"


@dataclass(frozen=True)
class SealedRun:
    """A board's check of one run, as a reader of bytes: the journal's lines, and the answers'."""

    refuses: tuple[type[Exception], ...] = (Refused,)

    @cached_property
    def valid(self) -> bytes:
        """Of a run that the board takes."""
        return _PARTED.join((_run() / name).read_bytes() for name in (JOURNAL, ANSWERS))

    def read(self, data: bytes) -> object:
        """Seal what the lines say and check it. Raises Refused."""
        rules, drawn = _board()
        journal, _, answers = data.partition(_PARTED)
        with tempfile.TemporaryDirectory() as scratch:
            run = Path(scratch) / "run"
            (into := Path(scratch) / "into").mkdir()
            run.mkdir()
            (run / ANSWERS).write_bytes(answers)
            (run / JOURNAL).write_bytes(_sealed(journal, answers))
            write([run], "A lab", KEY, Path(scratch) / "forged.bundle")
            return checked(Path(scratch) / "forged.bundle", rules, drawn, into)


def _sealed(journal: bytes, answers: bytes) -> bytes:
    """The lines as a chain that holds; what is no event stays as it is."""
    lines, found, head = journal.splitlines(), b"", GENESIS
    ends = _ends(answers)
    for seq, given in enumerate(lines):
        try:
            event = read_json(given)
            payload: dict[str, Any] = event["payload"]
            if "record" in payload and ends:
                payload |= ends.pop(0)
            if event["type"] == FINISHED:
                payload["files"][ANSWERS] = digest_bytes(answers)
                payload |= {"n_events": len(lines), "rows": len(lines) - 2}
            line, head = encode(
                seq=seq, time=event["time"], actor=event["actor"], type=event["type"],
                payload=canonical_bytes(payload), prev_hash=head,
            )  # fmt: skip
        except (LookupError, TypeError, ValueError, AttributeError):
            line = given + b"\n"
        found += line
    return found


def _ends(answers: bytes) -> list[Mapping[str, object]]:
    """What binds each record to its case's event."""
    end = 0
    found: list[Mapping[str, object]] = []
    for line in answers.splitlines(keepends=True):
        end += len(line)
        found.append({"answers_end": end, "record": digest_bytes(line)})
    return found


@cache
def _run() -> Path:
    place = Path(tempfile.mkdtemp(prefix="fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    words = ["domain=loan", "budget=loose", "arch=bm25", "seed=101", "n_cases=1", "tracking=none"]
    subprocess.run(
        [sys.executable, str(ROOT / "run.py"), *words, "report=false", "hydra.run.dir=run"],
        cwd=place, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    return place / "run"


@cache
def _board() -> tuple[BoardRules, Mapping[int, Drawn]]:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / RULES).write_text(_BOARD)
        rules = read_rules(Path(scratch))
    return rules, draw(rules)
