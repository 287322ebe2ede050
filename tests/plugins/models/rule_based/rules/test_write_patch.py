"""Patches by rule: rules in plain words, one general edit each; how a response is read."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import plugins.models.rule_based.patching as patching
from framework.contracts import Profile, answer_by_rule
from framework.operations.answering import AnswerRequest, answering
from framework.operations.write_patch import WritePatch
from framework.records import TaskCard
from framework.text.hunks import apply, hunks_of
from plugins.models.rule_based.patching.choosing import commented, in_record
from plugins.models.rule_based.patching.edits import edited
from plugins.models.rule_based.patching.rules import rule_in
from plugins.models.rule_based.patching.source import Source

FILES = {"a.py": "x = 1\ny = 2\nx = 1\n", "b.py": "z = 3\n"}

# --- rules --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "kind", "terms"),
    [
        ("It leaves out `a` and `b`.", "drop", ("a", "b")),
        ("Exports leave out `a`, `b` and `c`.", "drop", ("a", "b", "c")),
        ("`x` goes through `m.f` at once.", "through", ("x", "m.f")),
        ("The value of `x` goes through `m.f`.", "value_through", ("x", "m.f")),
        ("A larger `size` is cut to 30.", "cut", ("size", "30")),
        ("A smaller `size` is raised to 3.", "raise_to", ("size", "3")),
        ("A `t` longer than 9 characters is refused with `E`.", "refuse_longer", ("t", "9", "E")),
        ("`n` below 5 is refused with `E`.", "refuse_below", ("n", "5", "E")),
        ("`n` above 5 is refused with `E`.", "refuse_above", ("n", "5", "E")),
        ("An empty `t` is refused with `E`.", "refuse_empty", ("t", "E")),
        ("Rows are in the order of `k`, the newest first.", "order", ("k", "newest")),
        ("It calls `m.f(x)` before anything else.", "call_first", ("m.f(x)",)),
        ("It calls `m.f(x)` once it is done.", "call_last", ("m.f(x)",)),
        ("`m.f` takes the place of `n.g`.", "replace", ("m.f", "n.g")),
        ("Where `s.has(k)` holds, the answer is None.", "nothing_where", ("s.has(k)",)),
        ("The whole body runs within `s.lock()`.", "within", ("s.lock()",)),
        ("Stated under the key `a`, never `b`.", "rename", ("a", "b")),
        ("A ticket holds for 2 days.", "lasts", ("2", "days")),
    ],
)
def test_the_grammar(sentence: str, kind: str, terms: tuple[str, ...]) -> None:
    rule = rule_in(sentence)
    assert rule is not None
    assert (rule.kind, rule.terms, rule.sentence) == (kind, terms, sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The `size` matters.",
        "We met for 2 hours.",
        "It implements decision 4.",
        "Calls are logged.",
    ],
)
def test_other_sentences_are_no_rules(sentence: str) -> None:
    assert rule_in(sentence) is None


# --- edits --------------------------------------------------------------------------------------

MODULE = '''"""Boats."""

from __future__ import annotations

import time

from .errors import Gone

TTL_MINUTES = 30
PAGE = 7


def rent(store, actor: str, boat: int, note: str = "", limit: int = 5):
    """Rent a boat. Ends with é."""
    row = {"boat": boat, "captain": actor, "note": note, "at": time.time()}
    if not row["boat"]:
        raise Gone
    ends = TTL_MINUTES * 60
    return store.add(row)


def other(store):
    return {"captain": "nobody"}
'''
BOATS = {
    "pier/boats.py": MODULE,
    "pier/errors.py": "class Gone(Exception):\n    pass\n\n\nclass Refused(Exception):\n    pass\n",
    "pier/watch.py": "def now():\n    return 0\n\n\ndef log(store, who, name, row):\n    pass\n",
}


class Store:
    """Records what is done to it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def add(self, row: Any) -> Any:
        self.done.append(row)
        return row

    def known(self, name: str) -> bool:
        return name == "old"

    def __enter__(self) -> Store:
        self.done.append("in")
        return self

    def __exit__(self, *_: object) -> None:
        self.done.append("out")

    def lock(self) -> Store:
        return self


def changed(sentence: str, tmp_path: Path) -> Any:
    """The module with the rule made true of `rent`, imported; None where it does not apply."""
    import importlib
    import sys

    rule = rule_in(sentence)
    assert rule is not None
    text = edited(rule, "pier/boats.py", "rent", BOATS)
    if text is None:
        return None
    assert _parts(text, "other") == _parts(MODULE, "other"), "another function was changed"
    name = f"pier{abs(hash((sentence, str(tmp_path))))}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    for path, source in {**BOATS, "pier/boats.py": text}.items():
        (folder / Path(path).name).write_text(source, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    try:
        return importlib.import_module(f"{name}.boats")
    finally:
        sys.path.remove(str(tmp_path))


def _parts(text: str, name: str) -> str:
    function = Source("m.py", text).function(name)
    assert function is not None
    return ast.unparse(function)


def test_keys_are_dropped_renamed_and_passed_through(tmp_path: Path) -> None:
    drop = changed("It leaves out `captain` and `note`.", tmp_path)
    assert set(drop.rent(Store(), "kim", 3)) == {"boat", "at"}
    rename = changed("Under the key `skipper`, never `captain`.", tmp_path)
    assert rename.rent(Store(), "kim", 3)["skipper"] == "kim"
    shown = changed("The value of `captain` goes through `str.upper`.", tmp_path)
    assert shown.rent(Store(), "kim", 3)["captain"] == "KIM"


def test_parameters_are_bounded_and_passed_through(tmp_path: Path) -> None:
    source = changed("A larger `boat` is cut to 9.", tmp_path)
    assert source.rent(Store(), "kim", 30)["boat"] == 9
    source = changed("A smaller `boat` is raised to 9.", tmp_path)
    assert source.rent(Store(), "kim", 3)["boat"] == 9
    source = changed("`actor` goes through `str.upper` first.", tmp_path)
    assert source.rent(Store(), "kim", 3)["captain"] == "KIM"


@pytest.mark.parametrize(
    ("sentence", "bad", "good"),
    [
        ("A `note` longer than 3 characters is refused with `Refused`.", "abcd", "abc"),
        ("An empty `note` is refused with `Refused`.", "", "a"),
    ],
)
def test_texts_are_refused(sentence: str, bad: str, good: str, tmp_path: Path) -> None:
    source = changed(sentence, tmp_path)
    with pytest.raises(source.Refused):
        source.rent(Store(), "kim", 3, bad)
    assert source.rent(Store(), "kim", 3, good)["note"] == good
    assert "from .errors import Gone, Refused" in Path(source.__file__).read_text()


def test_numbers_are_refused_with_what_is_imported_already(tmp_path: Path) -> None:
    source = changed("`boat` above 5 is refused with `Gone`.", tmp_path)
    with pytest.raises(source.Gone):
        source.rent(Store(), "kim", 6)
    assert source.rent(Store(), "kim", 5)
    source = changed("`boat` below 5 is refused with `Gone`.", tmp_path)
    with pytest.raises(source.Gone):
        source.rent(Store(), "kim", 4)


def test_calls_are_added_replaced_and_imported(tmp_path: Path) -> None:
    code = "It calls `watch.log(store, actor, NAME, NUMBER)` {}."
    for when, expected in (("before anything else", 0), ("once it is done", 1)):
        source = changed(code.format(when), tmp_path)
        told: list[Any] = []
        store = Store()

        def log(*given: Any, told: list[Any] = told, store: Store = store) -> None:
            told.append((given[1:], len(store.done)))

        source.watch.log = log
        assert source.rent(store, "kim", 3)["boat"] == 3
        assert told == [(("kim", "rent", 3), expected)]
    source = changed("`watch.now` takes the place of `time.time`.", tmp_path)
    assert source.rent(Store(), "kim", 3)["at"] == 0


def test_bodies_are_left_early_and_wrapped(tmp_path: Path) -> None:
    source = changed("Where `store.known(actor)` holds, the answer is None.", tmp_path)
    store = Store()
    assert source.rent(store, "old", 3) is None
    assert store.done == []
    assert source.rent(store, "new", 3)
    source = changed("The whole body runs within `store.lock()`.", tmp_path)
    store = Store()
    source.rent(store, "kim", 3)
    assert (store.done[0], store.done[-1]) == ("in", "out")


def test_results_are_put_in_order(tmp_path: Path) -> None:
    files = {"m.py": 'def f(rows):\n    return [r for r in rows]\n'}  # fmt: skip
    rows = [{"k": 2}, {"k": 1}, {"k": 3}]
    for first, expected in (("oldest", [1, 2, 3]), ("newest", [3, 2, 1])):
        rule = rule_in(f"In the order of `k`, the {first} first.")
        assert rule is not None
        text = edited(rule, "m.py", "f", files)
        assert text is not None
        scope: dict[str, Any] = {}
        exec(text, scope)
        assert [row["k"] for row in scope["f"](rows)] == expected


def test_a_constant_with_a_unit_is_set(tmp_path: Path) -> None:
    assert changed("It holds for 2 hours.", tmp_path).TTL_MINUTES == 120
    assert changed("It holds for 90 seconds.", tmp_path).TTL_MINUTES == 1.5


@pytest.mark.parametrize(
    "sentence",
    [
        "It leaves out `nothing`.",
        "Under the key `a`, never `b`.",
        "A larger `weight` is cut to 9.",
        "`weight` goes through `watch.now`.",
        "It calls `watch.log(harbour)` first.",
        "It calls `watch.log` first.",
        "Where `unknown(x)` holds, the answer is None.",
        "The whole body runs within `harbour.lock()`.",
        "`watch.now` takes the place of `random.random`.",
    ],
)
def test_a_rule_that_has_no_place_does_not_apply(sentence: str) -> None:
    rule = rule_in(sentence)
    assert rule is None or edited(rule, "pier/boats.py", "rent", BOATS) is None


def test_a_function_that_is_not_there_is_not_changed() -> None:
    rule = rule_in("A larger `boat` is cut to 9.")
    assert rule is not None
    assert edited(rule, "pier/boats.py", "sell", BOATS) is None


# --- choosing -----------------------------------------------------------------------------------

ENTRY = "2025-01-02 | Decision 1: Renting boats | Kim\nBoats are rented by the hour at the pier. {}"
UPPER = (
    "2025-01-03 | Decision 2: Sizes | Lee\nNobody steers that much. A larger `boat` is cut to {}."
)
ELSE = "2024-01-03 | Decision 3: Kites | Lee\nKites fly. A larger `boat` is cut to 99."
TICKET = "Boats are rented too freely at the pier. See to `rent`."


def cut_to(
    *record: str, files: dict[str, str] | None = None, profile: Profile | None = None
) -> str:
    """The bound that the rule-based patch sets; empty when it changes nothing."""
    task = TaskCard(
        instruction="Change it.", query=TICKET, operation="write_patch", material=files or BOATS
    )
    operation = WritePatch()
    request = AnswerRequest(task=task, view="\n".join(record))
    answer = operation.answer_of(answer_by_rule(operation, request, profile or Profile()), task)
    patched = apply(hunks_of(answer.edit), task.material)["pier/boats.py"]
    return patched.partition("min(boat, ")[2].partition(")")[0]


@pytest.mark.parametrize("link", ["implements", "is derived from"])
def test_links_lead_to_the_rule(link: str) -> None:
    entry = ENTRY.format(f"It {link} decision 2.")
    assert cut_to(ELSE, UPPER.format(40), entry) == "40"
    assert cut_to(entry, UPPER.format(40), ELSE) == "40"


def test_a_link_that_the_upper_decision_states_counts_too() -> None:
    upper = UPPER.format(40) + " It constrains decision 1."
    assert cut_to(ELSE, ENTRY.format(""), upper) == "40"


def test_a_replaced_decision_is_passed_over() -> None:
    newer = (
        "2025-02-03 | Decision 4: Sizes | Lee\nA larger `boat` is cut to 8. It replaces decision 2."
    )
    assert cut_to(ENTRY.format("It implements decision 2."), UPPER.format(40), newer) == "8"


def test_rules_alone_are_followed() -> None:
    assert cut_to("A larger `boat` is cut to 12.") == "12"
    assert cut_to("") == ""
    assert cut_to("A larger `kite` is cut to 12.") == ""


def test_a_comment_above_the_function_comes_first() -> None:
    text = MODULE.replace(
        "\ndef rent(", "\n# Decision 2: a larger `boat` is\n# cut to 5.\ndef rent("
    )
    assert [rule.terms for rule in commented(text, "rent")] == [("boat", "5")]
    assert not list(commented(text, "other"))
    assert cut_to("A larger `boat` is cut to 12.", files={**BOATS, "pier/boats.py": text}) == "5"


def test_a_noisy_reader_misses_sentences() -> None:
    noisy = Profile(style="noisy", miss_rate=1.0)
    assert cut_to("A larger `boat` is cut to 12.", profile=noisy) == ""


def test_talk_among_the_decisions_is_no_rule_of_its_own() -> None:
    chat = "2025-05-05 | Chat: Boats | Kim\nThe pier was full. See the garden."
    found = in_record("\n".join([chat, ENTRY.format(""), UPPER.format(3)]), TICKET)
    assert [one.rule.terms for one in found] == [("boat", "3")]


# --- the operation ------------------------------------------------------------------------------


def request() -> AnswerRequest:
    return AnswerRequest(
        task=TaskCard(instruction="Do it.", query="See `f`.", material=FILES), view="Nothing."
    )


def test_a_card_is_answered_by_it() -> None:
    task = TaskCard(instruction="Do it.", query="See.", operation="write_patch")
    assert isinstance(answering(task), WritePatch)


def test_the_prompt_holds_all_that_is_given() -> None:
    text = WritePatch().prompt(request()).text
    for part in ("Do it.", "See `f`.", "Nothing.", '<file path="a.py">\nx = 1', "z = 3"):
        assert part in text


def test_a_response_is_read_strictly() -> None:
    operation = WritePatch()
    edits = [{"file": "b.py", "search": "z = 3", "replace": "z = 4"}]
    response = operation.parse(json.dumps({"edits": edits, "note": "so"}), request())
    assert response.note == "so"
    answer = operation.answer_of(response, TaskCard(instruction="i", query="q"))
    assert apply(hunks_of(answer.edit), FILES)["b.py"] == "z = 4\n"
    assert answer.rationale == "so"
    for bad in (
        {"edits": edits},
        {"edits": edits, "note": 1},
        {"edits": edits, "note": "", "more": ""},
        {"edits": "none", "note": ""},
        {"edits": [{**edits[0], "search": "q"}], "note": ""},
        {"edits": [{**edits[0], "file": "/etc/passwd"}], "note": ""},
    ):
        with pytest.raises(ValueError, match=r"."):
            operation.parse(json.dumps(bad), request())


def test_the_patcher_knows_no_service() -> None:
    """Its code holds no word of the service that it is tried on: no table of patches."""
    from plugins.domains.codebase.corpus import Corpus

    folder = Path(patching.__file__).parent
    words = set(re.findall(r"\w+", "\n".join(path.read_text() for path in folder.glob("*.py"))))
    targets = {task.target for task in Corpus("development").tasks}
    assert not {target.partition(".")[2] for target in targets} & words - {"search"}
    assert not {target.partition(".")[0] for target in targets} & words
    assert not {"lending", "birthday", "cashier", "audit", "240", "72", "40"} & words
