from __future__ import annotations

import ast
import json
import re
from collections import Counter
from itertools import product

import pytest

from framework.contracts import answer_by_rule
from framework.engine.compose import compose_plan, compose_raw, composer, grid
from framework.engine.run import execute
from framework.operations.answering import AnswerRequest
from framework.operations.write_patch import WritePatch
from framework.records import Case
from framework.sandbox import available
from framework.store.state import read_summary
from framework.testing.domain_conformance import check_domain
from plugins.domains.codebase.corpus import Corpus, sources, sources_of_tests
from plugins.domains.codebase.domain import HISTORY, Codebase, CodebaseSettings
from tests.plugins.domains.codebase.helpers import domain

pytestmark = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")

CODE = re.compile(r"`([^`]+)`")


@pytest.mark.parametrize(("spec", "forms"), [("stripped", "mixed"), ("full", "development")])
def test_it_keeps_the_laws_of_a_domain(spec: str, forms: str) -> None:
    settings = CodebaseSettings(spec=spec, forms=forms, padding=20)  # type: ignore[arg-type]
    check_domain(Codebase, settings, n=12)


def test_rules_and_depths_are_crossed() -> None:
    corpus = Corpus("development")
    assert len(corpus.decisions) - len(corpus.retired) == 41
    assert len(corpus.retired) == 6
    rules = {task.rule for task in corpus.tasks}
    assert len(rules) == 14
    pairs = Counter((task.rule, task.depth) for task in corpus.tasks)
    assert pairs == Counter(product(rules, (1, 2, 3)))
    for task in corpus.tasks:
        chain = corpus.chain(task)
        assert len(chain) == task.depth + 1
        assert (chain[0], chain[-1]) == (task.entry, task.rule)
        assert not any(corpus.decisions[number].rule for number in chain[:-1])
    assert {d.weight for d in corpus.decisions.values()} == {1, 2, 3}


def test_every_decision_in_force_governs_some_task_or_leads_to_one() -> None:
    corpus = Corpus("development")
    used = {number for task in corpus.tasks for number in corpus.chain(task)}
    assert used == corpus.decisions.keys() - corpus.retired


def test_the_service_is_small_and_whole() -> None:
    lines = sum(text.count("\n") for text in (*sources().values(), *sources_of_tests().values()))
    service = sum(text.count("\n") for text in sources().values())
    assert 1_000 < service < 1_300
    assert 1_400 < lines < 2_500
    imported = {
        alias.name.partition(".")[0]
        for text in sources().values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= {"csv", "hashlib", "hmac", "io", "re", "secrets", "time", "copy"}


@pytest.mark.parametrize("forms", ["development", "held_out"])
def test_no_rule_can_be_read_in_the_stripped_code(forms: str) -> None:
    corpus = Corpus(forms)  # type: ignore[arg-type]
    files = corpus.files("stripped")
    everything = "\n".join(files.values())
    windows = _windows(everything)
    numbers = set(re.findall(r"(?<![\w.])\d+\b", everything))
    for number in corpus.decisions:
        shared = _windows(CODE.sub(" ", corpus.rule(number))) & windows
        assert not shared, f"decision {number}: {shared}"
        if number not in corpus.retired:
            assert not set(re.findall(r"\b\d+\b", corpus.rule(number))) & numbers
    for task in corpus.tasks:
        function = _function(files[task.file], task.function)
        called = [term for term in CODE.findall(corpus.rule(task.rule)) if "." in term]
        for term in called:
            if term != "time.time":  # what is to be replaced is there
                assert term.partition("(")[0] not in function, f"{task.target} has {term}"


def _windows(text: str) -> set[tuple[str, ...]]:
    """Three words of four letters or more in a row: what two texts on one matter would share."""
    words = re.findall(r"[a-z_]{4,}|\d+", text.lower())
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def _function(text: str, name: str) -> str:
    (node,) = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef) and n.name == name]
    return ast.unparse(node)


def test_the_full_code_states_each_rule_above_its_functions() -> None:
    corpus = Corpus("development")
    stripped, full = corpus.files("stripped"), corpus.files("full")
    for task in corpus.tasks:
        above = full[task.file].split(f"\ndef {task.function}(")[0].splitlines()
        comment = []
        while above[-1].startswith("# "):
            comment.append(above.pop().removeprefix("# "))
        assert " ".join(reversed(comment)).endswith(corpus.rule(task.rule))
    for path, text in full.items():
        bare = [line for line in text.splitlines() if not line.startswith("# ")]
        assert bare == [line for line in stripped[path].splitlines() if not line.startswith("# ")]


def test_tickets_name_their_function_and_no_term_of_their_rule() -> None:
    corpus = Corpus("development")
    for task in corpus.tasks:
        assert f"`{task.function}`" in task.ticket
        for form in (corpus.decisions[task.rule].rule, corpus.decisions[task.rule].said):
            for term in (*CODE.findall(form), *re.findall(r"\b\d+\b", form)):
                words = [w for w in re.findall(r"\w+", term) if w not in ("store", "key")]
                assert not set(words) & set(re.findall(r"\w+", task.ticket)), task.id


def test_what_is_handed_over_does_not_tell_the_rule() -> None:
    handed: dict[str, set[str]] = {}
    for case in domain().cases(None, 7):
        target = json.loads(case.gold.invariant)["target"]
        own = f"lending/{target.partition('.')[0]}.py"
        handed.setdefault(",".join(sorted(set(case.task.material) - {own})), set()).add(target)
    assert all("test_" not in path and "samples" not in path for path in handed)
    assert len(handed) <= 2  # auth is in the toolbox: its own tasks have one file less beside it


def test_the_seed_changes_the_order_alone() -> None:
    one, other = ([c.id for c in domain().cases(None, seed)] for seed in (1, 2))
    assert one != other
    assert sorted(one) == sorted(other)
    assert [c.tags["depth"] for c in domain().cases(6, 1)] == ["1", "2", "3", "1", "2", "3"]


def test_forms_are_mixed_by_rule() -> None:
    forms = Counter(case.tags["form"] for case in domain().cases(None, 7))
    assert forms == {"development": 21, "held_out": 21}


def test_history_holds_decisions_on_other_programs_too() -> None:
    events = list(domain().history(HISTORY))
    assert Counter(event.kind for event in events) == {"decision": 207}
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert [event.id for event in events] == [f"decision-{n:03d}" for n in range(1, 208)]
    assert all(f" | Decision {n}: " in event.text for n, event in enumerate(events, start=1))
    relations = Counter(relation for event in events for relation, _ in event.edges)
    assert relations["supersedes"] == 62
    assert all(relations[r] >= 60 for r in ("implements", "derived_from", "constrains"))
    assert not any(event.metadata for event in events)  # the weight would tell rules from others


def test_other_programs_have_names_and_figures_of_their_own() -> None:
    """And what stands above a task names what it concerns, so that none is its rule."""
    corpus = Corpus("development", 160)
    known = set(re.findall(r"\w+", "\n".join(sources().values())))
    rules = {task.rule for task in corpus.tasks} | corpus.retired
    for number, decision in corpus.decisions.items():
        if number not in rules:
            code = re.findall(r"\w+", " ".join(CODE.findall(decision.beside)))
            strangers = {"Invalid", "NAME", "NUMBER", "who", "now", "read", "page", "token", "head"}
            assert not {word for word in code if word not in strangers and word in known} - {
                *("book", "note", "plain", "words", "allow", "known", "warden")
            }, decision
    above = {a for task in corpus.tasks for n in corpus.chain(task)[:-1] for a in [n]}
    assert all(
        CODE.search(corpus.decisions[n].beside) and "(" not in corpus.decisions[n].beside
        for n in above
    )


def test_no_other_decision_is_on_a_task_s_way_to_its_rule() -> None:
    corpus = Corpus("development", 160)
    for task in corpus.tasks:
        assert len(corpus.chain(task)) == task.depth + 1
        assert max(corpus.chain(task)) < 1_000


# --- the rule-based patcher on these tasks -------------------------------------------------------


def solved(forms: str, view_of: object) -> list[bool]:
    from collections.abc import Callable
    from typing import cast

    make = cast("Callable[[Case], str]", view_of)
    tried, operation = domain(forms=forms), WritePatch()
    found = []
    for case in tried.cases(None, 7):
        request = AnswerRequest(task=case.task, view=make(case))
        answer = operation.answer_of(answer_by_rule(operation, request), case.task)
        found.append(bool(tried.checks(answer, case)["compliance"]))
    return found


def spans(case: Case, *, critical: bool = True) -> str:
    return "\n".join(
        span.text
        for item in case.gold.items
        if item.critical or not critical
        for span in item.spans
    )


@pytest.mark.slow
def test_without_a_decision_in_view_nothing_is_solved() -> None:
    assert not any(solved("development", lambda case: ""))


@pytest.mark.slow
def test_a_rule_in_view_is_made_true_in_most_tasks_in_known_words_alone() -> None:
    assert sum(solved("development", spans)) > 30
    assert sum(solved("held_out", spans)) < 10


@pytest.mark.slow
def test_decisions_on_other_programs_do_not_mislead_the_patcher() -> None:
    every = "\n\n".join(event.text for event in domain(forms="development").history(HISTORY))
    own = "\n\n".join(Corpus("development").event(n).text for n in Corpus("development").decisions)
    assert sum(solved("development", lambda case: every)) >= sum(
        solved("development", lambda case: own)
    )


@pytest.mark.slow
def test_a_retired_rule_does_not_help() -> None:
    corpus = Corpus("development")

    def old(case: Case) -> str:
        replaced = corpus.decisions[int(case.tags["rule"])].replaces
        return corpus.rule(replaced) if replaced else ""

    assert not any(solved("development", old))


@pytest.mark.slow
def test_the_rule_of_another_task_does_not_help() -> None:
    corpus = Corpus("development")
    rules = sorted({task.rule for task in corpus.tasks})

    def other(case: Case) -> str:
        return corpus.rule(rules[rules.index(int(case.tags["rule"])) - 1])

    assert not any(solved("development", other))


# --- on the one path ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["none", "oracle", "bm25", "full_context", "random_context"])
def test_it_runs_end_to_end(arch: str, tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    with composer():
        plan = compose_plan(["domain=codebase", f"arch={arch}", "tracking=none", "n_cases=6"])
    summary = read_summary(execute(plan, tmp_path / "run").directory)
    assert summary["errors"] in ({}, [], 0) or not summary["errors"].get("n", 0)
    axes = summary["axes"]
    assert axes["merge_ready"]["mean"] <= axes["compliance"]["mean"]
    assert axes["compliance"]["kind"] == "rule-based"
    if arch == "none":
        assert axes["compliance"]["mean"] == 0
    if arch == "oracle":
        assert axes["p_ret"]["mean"] == 1


@pytest.mark.slow
def test_the_four_cells_compose() -> None:
    with composer():
        overrides = ["+experiment=depth/four_cell"]
        jobs = grid(overrides, compose_raw(overrides))
        plans = [compose_plan(job) for job in jobs]
    cells = {(p.parts["domain"].settings.spec, p.option("arch")) for p in plans}
    assert {("full", "none"), ("stripped", "none"), ("stripped", "random_context")} <= cells
    assert ("stripped", "typed_graph") in cells


def test_padding_is_not_negative() -> None:
    with pytest.raises(ValueError, match="padding"):
        CodebaseSettings(padding=-1)
