"""Every invariant fails on the files as they are and holds on a patch by hand: 84 checks."""

from __future__ import annotations

import pytest

from framework.records import Answer
from framework.sandbox import available
from plugins.domains.codebase.data.project.invariants import CHECKS
from tests.plugins.domains.codebase.helpers import (
    TARGETS,
    case_of,
    domain,
    patch,
    reference,
)

pytestmark = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")


def test_there_is_a_reference_for_every_check() -> None:
    assert set(CHECKS) == set(TARGETS)
    assert len(TARGETS) == 42


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_invariant_fails_on_the_untouched_files(target: str) -> None:
    found = domain().checks(Answer(), case_of(target))
    assert found == {"compliance": False, "merge_ready": False, "asserted_only": False}


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_reference_patch_complies_and_is_merge_ready(target: str) -> None:
    found = domain().checks(reference(target), case_of(target))
    assert found == {"compliance": True, "merge_ready": True, "asserted_only": False}
    assert domain().success(reference(target), case_of(target).gold)


@pytest.mark.parametrize("spec", ["stripped", "full"])
def test_the_services_own_tests_pass_on_the_untouched_files(spec: str) -> None:
    checker = domain(spec=spec)._checker
    verdict = checker.tests(checker.files)
    assert verdict.passed, verdict.problem


def test_a_patch_that_breaks_the_service_complies_and_is_not_merge_ready() -> None:
    target = "members.search"
    broken = patch(
        target,
        ("    return found[:limit]", "    return found[: min(limit, 40)]"),
        (
            '    return [row["note"] for row in store.find("feedback", member=member)]',
            "    return []",
        ),
    )
    complies = domain().checks(broken, case_of(target))
    assert complies == {"compliance": True, "merge_ready": False, "asserted_only": False}


@pytest.mark.parametrize(
    "edit",
    [
        "not json",
        "[]",
        '{"edits": [{"file": "lending/fees.py", "search": "no such text", "replace": ""}]}',
        '{"edits": [{"file": "lending/none.py", "search": "a", "replace": ""}]}',
        '{"edits": [{"file": "lending/test_base.py", "search": "import", "replace": ""}]}',
        '{"edits": [{"file": "lending/fees.py", "search": "store", "replace": ""}]}',
    ],
)
def test_an_edit_that_can_not_be_made_fails_all_checks(edit: str) -> None:
    found = domain().checks(Answer(edit=edit), case_of("fees.pay"))
    assert found == {"compliance": False, "merge_ready": False, "asserted_only": False}


FIRST = "from __future__ import annotations\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import os; os._exit(0)",
        "raise SystemExit(0)",
        "def (",
        "while True: pass",
        "print('passed'); import sys; sys.exit()",
        "import sys; print('{\"passed\": true}', file=sys.__stdout__); import os; os._exit(0)",
        "x = [0] * 10**10",
        "import sys; sys.settrace = None",
    ],
)
def test_code_that_ends_hangs_or_talks_has_no_verdict_in_its_favour(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from framework.sandbox import Limits
    from plugins.domains.codebase import checking

    monkeypatch.setattr(checking, "LIMITS", Limits(wall_seconds=3, cpu_seconds=2))
    fresh = type(domain())(domain().settings)
    hostile = patch("fees.pay", (FIRST, f"{FIRST}{code}\n"))
    assert not fresh.success(hostile, case_of("fees.pay").gold)


def test_patched_code_sees_neither_the_environment_nor_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DECISIONBENCH_PLANTED", "planted")
    code = (
        "import os\nassert 'planted' not in repr(os.environ)\nassert not os.path.exists('/home')\n"
    )
    honest = patch("loans.hold_ends", (FIRST, FIRST + code), ("HOLD_HOURS = 24", "HOLD_HOURS = 72"))
    found = domain().checks(honest, case_of("loans.hold_ends"))
    assert found["merge_ready"] is True


def test_a_verdict_is_kept_for_the_same_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of("fees.waive")
    before = domain().checks(reference("fees.waive"), case)

    def no_more(*_: object, **__: object) -> None:
        raise AssertionError("it was run again")

    monkeypatch.setattr("framework.sandbox.Sandbox.run", no_more)
    assert domain().checks(reference("fees.waive"), case) == before
