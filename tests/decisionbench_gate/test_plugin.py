"""`memory_gate` in a project of someone else's: pass, fail, undecided, no baseline."""

from __future__ import annotations

from pathlib import Path

import pytest

from decisionbench_gate.plugin import _place
from tests.launching import QUESTIONS

pytest_plugins = ["pytester"]

WORDS = (
    f"domain=hotpotqa domain.path={QUESTIONS} domain.unknown_file=true "
    "protocol=retrieve budget=loose"
)
TEST = """
def test_memory(memory_gate):
    memory_gate({words!r}, baseline={baseline!r}, axes=["p_ret"], margin={margin})
"""


def outcome(
    pytester: pytest.Pytester, arch: str, baseline: str, margin: float, ini: str = ""
) -> pytest.RunResult:
    pytester.makeini(f"[pytest]\n{ini}")
    words = f"{WORDS} arch={arch}"
    pytester.makepyfile(TEST.format(words=words, baseline=baseline, margin=margin))
    return pytester.runpytest_subprocess("-rs")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_pass_fail_and_undecided(pytester: pytest.Pytester) -> None:
    """Six cases: no loss in any shows a margin of .5; a loss in all shows one of .05."""
    (pytester.path / "plugins").mkdir()  # a project's own folder of that name does no harm
    (pytester.path / "plugins" / "__init__.py").write_text("raise ImportError('not ours')\n")
    first = outcome(pytester, "none", "oracle", 0.05)
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(["*memory gate: worse. p_ret: failed,*"])
    (oracle,) = (pytester.path / ".pytest_cache/d/decisionbench").glob("*oracle*")
    # A run's directory may be the baseline, as one that is kept under version control.
    kept = oracle.rename(pytester.path / "kept")
    outcome(pytester, "full_context", kept.name, 0.5).assert_outcomes(passed=1)
    undecided = outcome(pytester, "full_context", kept.name, 0.05)
    undecided.assert_outcomes(failed=1)
    undecided.stdout.fnmatch_lines(["*memory gate: undecided. p_ret: cannot conclude*"])
    lenient = outcome(pytester, "full_context", kept.name, 0.05, "decisionbench_undecided = skip\n")
    lenient.assert_outcomes(skipped=1)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_missing_baseline_and_other_mistakes_fail(pytester: pytest.Pytester) -> None:
    missing = outcome(pytester, "bm25", "runs/of-last-week", 0.05)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(
        ["*memory gate: no verdict. error: gate.baseline: 'runs/of-last-week' is neither a run*"]
    )
    said = [line for line in missing.outlines if "memory gate: no verdict." in line]
    assert len(said) == 1
    missing.stdout.no_fnmatch_line("*During handling of the above exception*")
    wrong = outcome(pytester, "bm25", "oracle", 0.05, "decisionbench_undecided = maybe\n")
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(["*decisionbench_undecided: 'maybe' given; allowed: fail, skip*"])


def test_a_folder_that_is_no_run_hides_no_option(tmp_path: Path) -> None:
    for name in ("bm25", "runs/kept", "kept"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "kept" / "journal.jsonl").touch()
    assert _place("bm25", tmp_path) == "bm25"
    assert _place("kept", tmp_path) == str(tmp_path / "kept")
    for folder in ("runs/kept", "./bm25", str(tmp_path / "bm25")):
        assert _place(folder, tmp_path) == str(tmp_path / folder)
    assert _place("runs/of-last-week", tmp_path) == "runs/of-last-week"
