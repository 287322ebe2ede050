from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.store import Journal, JournalEvent, fold, read

Scores = Mapping[str, float]
REDUCERS: Mapping[str, Callable[[Scores, JournalEvent], Scores]] = {
    "case.done": lambda state, event: {**state, event.payload["case"]: event.payload["score"]},
    "case.dropped": lambda state, event: {
        case: score for case, score in state.items() if case != event.payload["case"]
    },
}
happenings = st.lists(
    st.tuples(
        st.sampled_from(["case.done", "case.dropped", "note"]),
        st.fixed_dictionaries(
            {
                "case": st.sampled_from("abc"),
                "score": st.floats(allow_nan=False, allow_infinity=False),
            }
        ),
    ),
    max_size=12,
)


@given(log=happenings)
def test_the_fold_of_what_is_read_is_the_live_state(
    log: list[tuple[str, dict[str, object]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("run") / "journal.jsonl"
    live: Scores = {}
    with Journal.create(path) as journal:
        for type_, payload in log:
            live = fold([journal.append(type_, payload)], REDUCERS, live)
    initial: Scores = {}
    assert fold(read(path), REDUCERS, initial) == live
    assert initial == {}

    by_hand: dict[object, object] = {}
    for type_, payload in log:
        if type_ == "case.done":
            by_hand[payload["case"]] = payload["score"]
        elif type_ == "case.dropped":
            by_hand.pop(payload["case"], None)
    assert live == by_hand
