"""Patches as search and replace: strict reading, minimal hunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.text.hunks import Hunk, apply, as_edit, hunks_of, named_blocks
from plugins.models.rule_based.patching.between import hunks_between

FILES = {"a.py": "x = 1\ny = 2\nx = 1\n", "b.py": "z = 3\n"}


def test_hunks_are_made_in_order() -> None:
    hunks = [
        Hunk(file="a.py", search="y = 2\n", replace="y = 4\n"),
        Hunk(file="a.py", search="y = 4\nx = 1\n", replace=""),
    ]
    assert apply(hunks, FILES) == {"a.py": "x = 1\n", "b.py": "z = 3\n"}
    assert FILES["a.py"].count("x") == 2


@pytest.mark.parametrize(
    ("file", "search", "problem"),
    [
        ("c.py", "x", "no file 'c.py'; there are a.py, b.py"),
        ("a.py", "", "search is empty"),
        ("a.py", "q", "search is 0 times in a.py, expected once"),
        ("a.py", "x = 1", "search is 2 times in a.py, expected once"),
    ],
)
def test_a_hunk_that_does_not_fit_is_refused(file: str, search: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"edit 1: {problem}"):
        apply([Hunk(file=file, search=search, replace="")], FILES)


def test_an_edit_is_read_back() -> None:
    hunks = (Hunk(file="a.py", search="é\n", replace=""),)
    assert hunks_of(as_edit(hunks)) == hunks
    assert hunks_of("") == ()
    assert as_edit(()) == '{"edits":[]}'


@pytest.mark.parametrize(
    "edit",
    [
        "[]",
        "{",
        '{"edits": {}}',
        '{"edits": [], "more": 1}',
        '{"edits": [{"file": "a", "search": "b"}]}',
        '{"edits": [{"file": "a", "search": "b", "replace": null}]}',
        '{"edits": ["a"]}',
        '{"edits": [], "edits": []}',
        "[" * 100_000,
    ],
)
def test_an_edit_of_another_form_is_refused(edit: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        hunks_of(edit)


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12)


@given(LINES, LINES)
def test_hunks_between_two_texts_make_the_one_of_the_other(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (["#", *old], new))
    hunks = hunks_between("a.py", before, after)
    assert apply(hunks, {"a.py": before}) == {"a.py": after}
    assert bool(hunks) == (before != after)


def test_a_block_is_named_by_its_first_line_of_its_own() -> None:
    f = "# why\ndef f():\n    y = 1\n\n    return y"
    text = f"import x\n\n\n{f}\n\n\n# why\ndef g(): ...\n\n# why\n"
    assert named_blocks(text) == {
        "import x": "import x",
        "def f():": f,
        "def g(): ...": "# why\ndef g(): ...",
    }
    assert named_blocks("\n\n") == {}


@given(text=st.text("ab \n", max_size=40))
def test_a_named_block_can_be_replaced(text: str) -> None:
    for name, block in named_blocks(text).items():
        assert name in block.split("\n")
        assert apply([Hunk(file="f", search=block, replace="")], {"f": text})
