"""What was wrong before the corrections, put back into the code: the test that fails then.

    python -m benchmarks.studies.mutations [--only POINT,...] [--into FILE]

A mutation (`mutations.yaml`) is one replacement in a copy of the files that git knows; its test
must pass in the copy as it is and fail in the mutated one. Status 1 where one does not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from framework.reporting.markdown import print_or_put

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """What was wrong, as one replacement in one file, and the test that finds it.

    point : of the fourteen that the corrections answer to.
    """

    point: int
    wrong: str
    file: str
    old: str
    new: str
    test: str


MUTATIONS: Final = Path(__file__).with_name("mutations.yaml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Try every mutation, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="points, separated by commas")
    parser.add_argument("--into", help="a file with markers for the table")
    asked = parser.parse_args(arguments)
    points = {int(word) for word in asked.only.split(",")} if asked.only else None
    every = [Mutation(**entry) for entry in yaml.safe_load(MUTATIONS.read_text(encoding="utf-8"))]
    tried = [one for one in every if points is None or one.point in points]
    lines = ["| | put back | test | in the code as it is | mutated |", "|---|---|---|---|---|"]
    unseen = 0
    with tempfile.TemporaryDirectory() as place:
        tree = copied(Path(place))
        passing = {test: passes(tree, test) for test in dict.fromkeys(one.test for one in tried)}
        for one in tried:
            found = not mutated(tree, one)
            unseen += not (found and passing[one.test])
            words = "passes" if passing[one.test] else "fails", "fails" if found else "**passes**"
            name = one.test.replace("::", " `") + ("`" if "::" in one.test else "")
            lines.append(f"| {one.point} | {one.wrong} | {name} | {words[0]} | {words[1]} |")
            print(lines[-1], file=sys.stderr, flush=True)
    print_or_put("\n".join(lines), asked.into)
    return int(unseen > 0)


def copied(into: Path) -> Path:
    """A copy of the files that git knows, as they are in the working tree."""
    named = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in named.stdout.splitlines():
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)
    return into


def mutated(tree: Path, one: Mutation) -> bool:
    """Whether the test passes with the mutation, which is taken back. Raises ValueError without."""
    path = tree / one.file
    before = path.read_text(encoding="utf-8")
    if before.count(one.old) != 1:
        raise ValueError(f"{one.file}: {one.old!r} is not there once")
    path.write_text(before.replace(one.old, one.new), encoding="utf-8")
    try:
        return passes(tree, one.test)
    finally:
        path.write_text(before, encoding="utf-8")


def passes(tree: Path, test: str) -> bool:
    """Whether a test of the tree passes there."""
    which = "slow or not slow" if "::" in test else "not slow"  # a test that is named is run
    words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", which]
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*words, test], cwd=tree, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise ValueError(f"{test}: pytest ended with status {done.returncode}\n{done.stdout}")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
