from __future__ import annotations

import subprocess
import sys

import pytest

from framework.statistics.seeding import generator


def test_same_names_give_the_same_draws_in_every_process() -> None:
    code = (
        "from framework.statistics.seeding import generator; print(generator(7,'a','b').random())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert runs == {f"{generator(7, 'a', 'b').random()}\n"}


def test_seed_names_and_their_borders_all_matter() -> None:
    names = [(7, ()), (8, ()), (7, ("ab", "c")), (7, ("a", "bc")), (7, ("c", "ab")), (7, ("abc",))]
    draws = {generator(seed, *parts).random() for seed, parts in names}
    assert len(draws) == len(names)


def test_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        generator(-1)


def test_import_is_light() -> None:
    code = (
        "import sys, framework.statistics;"
        "print([m for m in sys.modules if m.split('.')[0] in ('scipy', 'pandas', 'statsmodels')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={}
    )
    assert done.stdout.strip() == "[]"
