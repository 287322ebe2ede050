"""Each error that can be put back is one replacement in the code as it is, and has its test."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.studies.mutations import MUTATIONS, ROOT, Mutation

EVERY = [Mutation(**entry) for entry in yaml.safe_load(MUTATIONS.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.wrong)
def test_what_is_replaced_is_there_once_and_so_is_its_test(one: Mutation) -> None:
    assert (ROOT / one.file).read_text(encoding="utf-8").count(one.old) == 1
    assert one.new != one.old
    path, _, name = one.test.partition("::")
    test = (ROOT / Path(path)).read_text(encoding="utf-8")
    assert f"def {name.partition('[')[0]}(" in test if name else "def test_" in test
