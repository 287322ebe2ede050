"""The pytest plugin: the fixture `memory_gate`, which fails a test where a memory is worse."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from decisionbench_gate.verdict import NoVerdict, Verdict, judge

_UNDECIDED: Final = "decisionbench_undecided"
_ALLOWED: Final = ("fail", "skip")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting of what an undecided gate does to its test."""
    parser.addini(_UNDECIDED, "an undecided memory gate: fail (default) or skip", default="fail")


@pytest.fixture
def memory_gate(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """Compare a memory with its baseline; the test fails where it is worse.

    Call it as `memory_gate("domain=loan arch=mine n_cases=80", baseline="bm25", axes=["frp"])`:
    what `decisionbench` is given, the baseline (an option of `arch` or a run's directory), the
    gated axes and, if not .05, the margin. Paths are those of pytest's root directory. Runs stand
    in pytest's cache, where those of a baseline are used again. It fails the test where no verdict
    can be had, such as without a baseline; returns the `Verdict` where it passes.
    """
    config = request.config
    undecided = str(config.getini(_UNDECIDED))
    if undecided not in _ALLOWED:
        raise pytest.UsageError(f"{_UNDECIDED}: {undecided!r} given; allowed: fail, skip")
    cache: pytest.Cache | None = getattr(config, "cache", None)  # it can be switched off
    runs = cache.mkdir("decisionbench") if cache else request.getfixturevalue("tmp_path")
    run = runs / _name(request.node.nodeid)

    def gate(
        overrides: str | Sequence[str],
        *,
        baseline: str,
        axes: Sequence[str] = (),
        margin: float = 0.05,
    ) -> Verdict:
        words = shlex.split(overrides) if isinstance(overrides, str) else overrides
        found: Verdict | NoVerdict
        try:
            found = judge(
                words,
                baseline=_place(baseline, config.rootpath),
                axes=axes,
                margin=margin,
                run=run,
                cwd=config.rootpath,
            )
        except NoVerdict as error:
            found = error
        # Not above: pytest would print both, one raised during the handling of the other.
        if isinstance(found, NoVerdict):
            pytest.fail(f"memory gate: no verdict. {found}", pytrace=False)
        if found.status == "undecided" and undecided == "skip":
            pytest.skip(found.told)
        if found.status != "passed":
            pytest.fail(f"{found.told}\nrun: {found.run}", pytrace=False)
        return found

    return gate


def _place(baseline: str, root: Path) -> str:
    """A run's directory by its whole path; anything else is an option of `arch`.

    A word without "/" may name both an option and a folder of the project's own.
    """
    place = root / baseline
    named = "/" in baseline or (place / "journal.jsonl").is_file()
    return str(place) if named and place.is_dir() else baseline


def _name(nodeid: str) -> str:
    """A folder's name for a test, one of its own even where it was cut."""
    digest = hashlib.sha256(nodeid.encode()).hexdigest()[:8]
    return re.sub(r"[^\w-]+", "-", nodeid)[-60:].strip("-") + f"-{digest}"
