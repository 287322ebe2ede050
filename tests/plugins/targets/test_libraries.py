"""The libraries of `author=rules`: every prompt is one that the domain's reader follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.contracts import Domain, Patch
from framework.registry import Plugin, find, plugins, settings_of
from plugins.models.rule_based.clauses import clauses_in
from plugins.protocols.improve.seams import check_payload
from plugins.targets import retrieval
from plugins.targets.retrieval import library_of

FILE = Path(retrieval.__file__).with_name("library.yaml")
PROMPTS = {
    operation: [patch for patch in library_of(operation) if patch.seam == "reader_prompt"]
    for operation in yaml.safe_load(FILE.read_text())
    if operation != "any"
}
"""By the operation that follows them."""
TARGETS = [p for p in plugins("target") if p.cls.__module__.startswith("plugins.")]
DOMAINS = {
    "loan": ("regulated", {"spec": "loan"}),
    "prior_authorization": ("regulated", {"spec": "prior_authorization"}),
    "claims": ("regulated", {"spec": "claims"}),
    **{n: (n, {}) for n in ("governance", "codebase", "longmemeval_synthetic", "text_to_sql")},
}
WORKING = [
    (target, name)
    for target in TARGETS
    for name, (plugin, _) in DOMAINS.items()
    if not target.cls.domains or plugin in target.cls.domains
]


def opened(name: str) -> Domain[Any]:
    plugin_name, settings = DOMAINS[name]
    plugin = find("domain", plugin_name)
    domain: Domain[Any] = plugin.cls(settings_of(plugin, settings))
    return domain


def text_of(patch: Patch) -> str:
    return str(patch.payload["fragments"]["guidance"])


def is_bad(patch: Patch) -> bool:
    return patch.note.startswith(("null", "harm"))


@pytest.mark.parametrize(("target", "name"), WORKING, ids=lambda x: getattr(x, "name", x))
def test_every_prompt_is_read_by_the_operation_of_the_domain(target: Plugin, name: str) -> None:
    domain = opened(name)
    operation = next(iter(domain.cases(1, 0))).task.operation
    library = target.cls(target.settings()).on(domain).library
    prompts = [patch for patch in library if patch.seam == "reader_prompt"]
    assert bool(prompts) == (operation in PROMPTS)
    for patch in prompts:
        if not patch.note.startswith("null: prose"):
            assert clauses_in(text_of(patch), operation).stated, patch.id
    assert 2 * sum(map(is_bad, library)) >= len(library)


@pytest.mark.parametrize("operation", PROMPTS)
def test_every_entry_says_what_the_reader_follows_and_half_are_null_or_harm(operation: str) -> None:
    library = PROMPTS[operation]
    assert len({patch.id for patch in library}) == len(library)
    assert len({text_of(patch) for patch in library}) == len(library)
    assert all(is_bad(patch) or patch.note.startswith("help") for patch in library)
    assert 2 * sum(map(is_bad, library)) >= len(library)
    for patch in library:
        check_payload(patch.seam, patch.payload, ["guidance"])
        text = text_of(patch)
        found = clauses_in(text, operation).stated
        lines = text.count("\n") + 1 if text.startswith("- ") else None
        if patch.note.startswith("null: prose"):
            assert not found
        else:
            assert found
            assert lines is None or len(found) == lines


@pytest.mark.parametrize("name", ["loan", "prior_authorization", "claims"])
def test_notes_on_decisions_say_for_which_questions_a_clause_is_in_force(name: str) -> None:
    """Single, conditional and bundled prompts; what is null of a kind is never in force."""
    question = next(iter(opened(name).cases(1, 0))).task.query
    forms = set()
    for patch in PROMPTS["decide"]:
        text = text_of(patch)
        force = clauses_in(text, "decide").in_force(question)
        forms.add(("- " in text, "If the question" in text))
        null = patch.note.startswith("null") or (name == "claims" and "null: claims" in patch.note)
        assert not (null and force), patch.id
        if "later holds" in patch.note:
            assert force == {"never_refer"}
    assert forms == {(False, False), (False, True), (True, False), (True, True)}
