"""Indexes on disk: no row hangs on them, and whatever befalls a file, it is made again."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.records import Event, Item
from framework.rows import measured
from framework.store.answers import answer_records
from framework.store.state import load_state
from plugins.archs import _stored
from plugins.archs._bm25 import BM25Settings, words
from plugins.archs._postings import Postings
from plugins.archs._stored import IndexFile, index_file
from plugins.archs.bm25 import BM25, BM25ArmSettings
from plugins.archs.dense import Dense, DenseSettings
from plugins.archs.typed_graph import TypedGraphMemory, TypedGraphSettings
from plugins.embedders.hashing import Hashing, HashingSettings
from tests.launching import HOTPOT, run
from tests.plugins.archs.helpers import event, opened, recall

ARMS: dict[str, tuple[Any, Any]] = {
    "bm25": (BM25, BM25ArmSettings),
    "dense": (Dense, DenseSettings),
    "typed_graph": (TypedGraphMemory, TypedGraphSettings),
}
EVENTS = [event(f"e{i}", f"Record {i}: income {i % 7} and score {i % 11}, été.") for i in range(40)]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stored, "LEAST", 2)


def asked(arm: str, cache: Path | None, events: Sequence[Event] = EVENTS) -> list[Item]:
    cls, settings = ARMS[arm]
    given = settings(cache=None if cache is None else str(cache))
    return recall(opened(cls, events, given), "income 3 and score 4")


def only(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def fails(*_: Any, **__: Any) -> Any:
    raise AssertionError("made again")


@pytest.mark.slow
@pytest.mark.parametrize("arm", ARMS)
def test_rows_are_the_same_without_with_and_from_an_index_on_disk(
    arm: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = []
    for name, cache in (
        ("none", ()),
        ("first", ("arch.cache=kept",)),
        ("again", ("arch.cache=kept",)),
    ):
        if name == "again":
            assert list(Path("kept").iterdir())
            if arm == "dense":
                monkeypatch.setattr(Hashing, "embed", only_queries(Hashing.embed))
            else:
                monkeypatch.setattr("plugins.archs._bm25.Postings.__init__", restored_only)
        done = run(capsys, *HOTPOT, f"arch={arm}", f"run_name={name}", *cache)
        assert done.status == 0, done.err
        state = load_state(Path("runs") / name)
        views = [record["view"] for record in answer_records(state.path)]
        found.append((state.started["identity"], measured(state.rows), views))
    assert found[0] == found[1] == found[2]


def only_queries(embed: Any) -> Any:
    def embedded(self: Any, texts: Sequence[str]) -> Any:
        assert len(texts) == 1
        return embed(self, texts)

    return embedded


_MADE = Postings.__init__


def restored_only(self: Postings, texts: Sequence[str], tokens: Any) -> None:
    assert not texts
    _MADE(self, texts, tokens)


@given(st.lists(st.text(max_size=20), max_size=8), st.sampled_from([words, str.split]))
def test_postings_are_restored_as_they_were(
    texts: list[str], tokens: Callable[[str], list[str]]
) -> None:
    made = Postings(texts, tokens)
    again = Postings.restored(made.arrays())
    assert list(again.terms.items()) == list(made.terms.items())
    assert again.size == made.size
    for name in ("lengths", "rows", "columns", "counts", "documents", "starts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(made, name))
        assert getattr(again, name).dtype == np.int64


def _cut(content: bytes) -> bytes:
    return content[:-7]


def _head_cut(content: bytes) -> bytes:
    return content[:50]


def _empty(_: bytes) -> bytes:
    return b""


def _longer(content: bytes) -> bytes:
    return content + b"\0"


def _bit(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _head(content: bytes) -> bytes:
    return content.replace(b'"arrays"', b'"arraYs"', 1)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("change", [_cut, _head_cut, _empty, _longer, _bit, _head])
def test_a_file_that_is_not_as_it_was_written_is_said_and_made_again(
    arm: str, change: Callable[[bytes], bytes], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    without = asked(arm, None)
    assert asked(arm, tmp_path) == without
    file = only(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(change(whole))
    assert file.read_bytes() != whole
    with caplog.at_level(logging.WARNING):
        assert asked(arm, tmp_path) == without
    assert [r.getMessage().startswith(f"{file}: ") for r in caplog.records] == [True]
    assert caplog.records[0].getMessage().endswith("the index is made again")
    assert only(tmp_path).read_bytes() == whole
    caplog.clear()
    assert asked(arm, tmp_path) == without
    assert not caplog.records


def test_the_index_of_another_history_under_its_name_is_not_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked("bm25", tmp_path)
    file = only(tmp_path)
    asked("bm25", tmp_path, EVENTS[::-1])
    other = next(path for path in tmp_path.iterdir() if path != file)
    other.replace(file)
    assert asked("bm25", tmp_path) == asked("bm25", None)
    assert "the index of something else" in caplog.text


def test_what_is_read_holds_no_other_types(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = IndexFile(tmp_path, ["a"], {}, [])
    file.keep({"x": np.zeros(3, dtype=np.complex128)})
    assert file.load() is None
    assert "no array of ours" in caplog.text


def _ask(arm: str, cache: str, begin: Any, found: Any) -> None:
    _stored.LEAST = 2  # type: ignore[misc]
    begin.wait(60)
    found.put([(item.id, dict(item.signals)) for item in asked(arm, Path(cache))])


@pytest.mark.parametrize("arm", ARMS)
def test_processes_that_make_the_same_index_at_once_all_have_it(arm: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    begin, found = context.Barrier(4), context.Queue()
    several = [
        context.Process(target=_ask, args=(arm, str(tmp_path), begin, found)) for _ in range(4)
    ]
    for process in several:
        process.start()
    results = [found.get(timeout=60) for _ in several]
    for process in several:
        process.join(60)
        assert process.exitcode == 0
    without = [(item.id, dict(item.signals)) for item in asked(arm, None)]
    assert results == [without] * 4
    assert asked(arm, tmp_path) == asked(arm, None)
    assert only(tmp_path).suffix == ".index"


def test_a_name_covers_all_that_an_index_hangs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code.py"
    code.write_text("one")

    def name(texts: Sequence[str] = ("a", "bc"), by: Any = None) -> str:
        return IndexFile(tmp_path, texts, by or {"tokenizer": "words"}, [str(code)]).path.name

    first = name()
    names = {first, name(("bc", "a")), name(("ab", "c")), name(("a", "bc", "")), name(by={"d": 1})}
    assert len(names) == 5
    assert name() == first
    for place, value in (
        ("platform.python_version", lambda: "3.99.0"),
        ("platform.machine", lambda: "other"),
        ("numpy.__version__", "99"),
        ("numpy.show_config", lambda mode: {"SIMD Extensions": {"found": ["OTHER"]}}),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, value)
            names.add(name())
    code.write_text("two")
    names.add(name())
    assert len(names) == 10


def test_settings_that_matter_and_no_others_make_another_index(tmp_path: Path) -> None:
    for settings in (
        BM25ArmSettings(cache=str(tmp_path)),
        BM25ArmSettings(cache=str(tmp_path), k1=0.9, b=0.1, epsilon=0.5),
    ):
        plain = BM25Settings(k1=settings.k1, b=settings.b, epsilon=settings.epsilon)
        kept, made = opened(BM25, EVENTS, settings), opened(BM25, EVENTS, plain_of(plain))
        assert recall(kept, "income 3 score") == recall(made, "income 3 score")
    assert len(list(tmp_path.iterdir())) == 1
    opened(BM25, EVENTS, BM25ArmSettings(cache=str(tmp_path), tokenizer="split"))
    assert len(list(tmp_path.iterdir())) == 2
    for dimension in (8, 16):
        embedder = Hashing(HashingSettings(dimension=dimension))
        opened(Dense, EVENTS, DenseSettings(cache=str(tmp_path)), embedder=embedder)
    assert len(list(tmp_path.iterdir())) == 4


def plain_of(settings: BM25Settings) -> BM25ArmSettings:
    return BM25ArmSettings(k1=settings.k1, b=settings.b, epsilon=settings.epsilon)


class Unknown(Hashing):
    """An embedder that does not say what its vectors are made by."""

    made_by = None  # type: ignore[assignment]


def test_an_embedder_that_does_not_say_what_it_is_has_no_file(tmp_path: Path) -> None:
    opened(Dense, EVENTS, DenseSettings(cache=str(tmp_path)), embedder=Unknown(HashingSettings()))
    assert list(tmp_path.iterdir()) == []


def test_a_small_history_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stored, "LEAST", 41)
    asked("bm25", tmp_path)
    asked("dense", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert index_file(None, ["x"] * 100, {}, []) is None


@pytest.mark.parametrize("arm", ARMS)
def test_a_folder_that_cannot_be_written_is_said(
    arm: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    assert asked(arm, tmp_path / "file") == asked(arm, None)
    assert "the index is not kept" in caplog.text


def test_a_kill_while_a_file_is_written_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_stored, "_bytes", interrupted_late())
        with pytest.raises(KeyboardInterrupt):
            asked("bm25", tmp_path)
    assert not list(tmp_path.glob("*.index"))
    (tmp_path / f".{'0' * 64}.index.{2**22 + os.getpid()}.draft").touch()  # as a kill leaves it
    assert asked("bm25", tmp_path) == asked("bm25", None)


def interrupted_late() -> Any:
    calls = []

    def part(array: Any) -> Any:
        calls.append(array)
        if len(calls) > 7:  # five digests, then arrays
            raise KeyboardInterrupt
        return array.reshape(-1).view(np.uint8).data

    return part
