"""Documents in a model's words: what a text has to say, and a run on a file of them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Profile
from framework.errors import DataError, UserError
from framework.records import Item, MemoryView
from framework.registry import identity_of, plugins
from framework.retention import retained
from framework.testing import domain_conformance
from framework.testing.domain_conformance import check_domain
from framework.text.tokens import count_tokens
from framework.text.values import find_values
from plugins.domains.regulated.documents import Content
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.domains.regulated.written import Template, _told, header_of, stating
from plugins.models.rule_based.reading.read import read
from tests.plugins.domains.regulated.support import SEED, SPECS, domain, only, shared

CASES = 4


def other_words(template: Template) -> str:
    """The document as a model might word it: the same sentences, others between them."""
    said = [text if text[-1] in ".?!" else f"{text}." for text in template.sentences]
    return " ".join(["For the file, briefly.", *reversed(said), "That is all there is to say."])


def every(spec: str = "loan", **settings: Any) -> list[Template]:
    one = domain(spec, **settings)
    return [t for case in one.cases(CASES, SEED) for t in one.templates(case.history_id)]


def write_file(path: Path, one: Regulated, n: int = CASES, **more: Any) -> Path:
    """A file as the command writes it, every second filler document kept by template."""
    header = {**one.written_for(), "model": "a-model", "stating": False, **more}
    lines = [json.dumps(header)]
    for case in one.cases(n, SEED):
        for i, template in enumerate(one.templates(case.history_id)):
            text = None if i % 2 and not template.facts else other_words(template)
            named = {"history": case.history_id, "event": template.event_id}
            lines.append(json.dumps({**named, "text": text}))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize("spec", SPECS)
def test_what_the_template_says_and_the_same_in_other_words_passes(spec: str) -> None:
    for template in every(spec):
        assert not template.faults(template.body), template.body
        assert not template.faults(other_words(template)), template.body


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_one_figure_changed_is_refused(spec: str) -> None:
    tried = 0
    for template in every(spec):
        text = other_words(template)
        for value in find_values(text):
            digit = next(i for i in range(value.start, value.end) if text[i].isdigit())
            changed = f"{text[:digit]}{(int(text[digit]) + 1) % 10}{text[digit + 1 :]}"
            assert template.faults(changed), (value, changed)
            tried += 1
    assert tried > 200


@pytest.mark.parametrize("spec", SPECS)
def test_a_fact_that_is_missing_or_another_s_is_refused(spec: str) -> None:
    tried = swapped = 0
    for template in every(spec):
        for fact, value in template.facts:
            said = stating(fact, value, template.body)
            left = template.body.replace(said, "")
            assert any("states" in fault for fault in template.faults(left))
            tried += 1
            for other, its in template.facts:
                if other.type == fact.type and its != value and not fact.vocabulary:
                    text = template.body.replace(value, "@").replace(its, value)
                    if (text := text.replace("@", its)) == template.body:
                        continue  # both stand there in other forms
                    assert template.faults(text), text
                    swapped += 1
    assert tried > 30
    assert swapped > 0


def test_what_a_correction_does_is_told_by_its_words_alone() -> None:
    tried = 0
    for template in every(strata=only("superseded")):
        for said in template.verbatim:
            values = [v.text for v in find_values(said) if v.type != "date"]
            if len(values) == 2:
                a, b = values
                turned = said.replace(a, "@").replace(b, a).replace("@", b)
                assert template.faults(template.body.replace(said, turned))
                tried += 1
    assert tried > 2


def test_an_injected_instruction_is_a_sentence_like_any_other() -> None:
    one = domain(strata=only("injected"))
    for case in one.cases(CASES, SEED):
        injected, event = case.gold.injected or ("", "")
        (template,) = [t for t in one.templates(case.history_id) if t.event_id == event]
        (sentence,) = template.verbatim
        assert one.spec.verbs[injected] in sentence
        assert not template.faults(other_words(template))
        assert template.faults(other_words(template).replace(sentence, ""))
        obeyed = f"The file is to be decided: {one.spec.verbs[injected]}."
        assert template.faults(obeyed)
        for other in one.templates(case.history_id):  # and it is no part of another document
            if other is not template and template.names != other.names:
                assert sentence not in other.verbatim


def test_a_name_a_category_and_a_word_too_many_are_told() -> None:
    named = [t for t in every() if t.names]
    for template in named[:30]:
        name = template.names[0]
        text = template.body.replace(name, "somebody")
        assert f"missing: {name}" in template.faults(text)
    template = every()[0]
    assert "not in the document: log home" in template.faults(f"{template.body}\nA log home.")
    assert template.faults(f"{template.body}\n{'And so on and on. ' * 200}")


@pytest.mark.parametrize("spec", SPECS)
def test_an_outcome_that_is_not_in_the_document_is_refused(spec: str) -> None:
    one = shared(spec)
    held_out = [verb for verbs in one.spec.wording.verbs.values() for verb in verbs]
    for template in every(spec)[:20]:
        text = other_words(template)
        for verb in (*one.spec.verbs.values(), *held_out):
            faults = template.faults(f"{text} We will {verb.upper()} here.")
            assert f"an outcome that is not in the document: {verb.upper()}" in faults
        for said in ("It was approved.", "The denial is final.", "They declined.", "It is denied."):
            if said != "It was approved." or "approve" in template.outcomes:
                assert any("an outcome" in fault for fault in template.faults(f"{text} {said}"))
        assert not template.faults(f"{text} The dendrite and the preference are improved.")


def test_the_forms_of_a_verb_are_told_from_other_words() -> None:
    for verb, forms, others in (
        ("approve", "approve approves approved approving approval", "improve approximate"),
        ("deny", "deny denies denied denying denial", "den dense denim"),
        ("refer", "refer refers referred referring referral", "reference prefer refereed"),
        ("pay", "pay pays paid paying", "payment past page pal"),
        ("pay in part", "pay in part", "paid in parts"),
    ):
        assert _told(verb, f"{forms} {others}") == ([forms] if " " in verb else forms.split())


@pytest.mark.parametrize("spec", SPECS)
def test_a_run_reads_the_file_and_its_gold_is_in_the_texts(spec: str, tmp_path: Path) -> None:
    plain = domain(spec, forms="development")
    path = write_file(tmp_path / "w.jsonl", plain)
    one = domain(spec, forms="development", written=str(path))
    for case, was in zip(one.cases(CASES, SEED), plain.cases(CASES, SEED), strict=True):
        assert case.gold.decision == was.gold.decision
        assert [i.id for i in case.gold.items] == [i.id for i in was.gold.items]
        assert case.gold.evidence == was.gold.evidence
        events = {event.id: event for event in one.history(case.history_id)}
        before = {event.id: event for event in plain.history(was.history_id)}
        assert list(events) == list(before)
        anew = [k for k in events if events[k].text != before[k].text]
        assert len(anew) > len(events) / 3
        for key in events:
            assert replace(events[key], text="") == replace(before[key], text="")
            header = before[key].text.partition("\n")[0]
            assert events[key].text.partition("\n")[0] == header
        items = tuple(Item(id=k, text=e.text) for k, e in events.items())
        for item in case.gold.items:
            for span in item.spans:
                assert span.text in events[span.source_id].text
        view = MemoryView(items=items, tokens=0, budget_tokens=None)
        held = retained(case.gold, view, partial(one.states, case))
        assert all(held.values()), [k for k, there in held.items() if not there]
        text = "\n\n".join(event.text for event in events.values())
        decided = read(text, case.task, Profile()).outcome().decision
        old = "\n\n".join(event.text for event in before.values())
        assert decided == read(old, was.task, Profile()).outcome().decision
        # What a view costs is counted on the texts that are in it.
        assert count_tokens(text) != count_tokens(old)


def test_the_share_stands_on_the_data_card_and_the_digest_is_the_identity(tmp_path: Path) -> None:
    plain = domain()
    path = write_file(tmp_path / "w.jsonl", plain)
    one = domain(written=str(path))
    texts = [json.loads(line)["text"] for line in path.read_text().splitlines()[1:]]
    kept = sum(text is not None for text in texts)
    assert 0 < kept < len(texts)
    said = (
        f"of {len(texts)} documents {kept} in the words of a-model, {len(texts) - kept} by template"
    )
    assert said in one.provenance.source
    assert said not in plain.provenance.source
    (plugin,) = [p for p in plugins("domain") if p.cls is Regulated]
    first = identity_of(plugin, one.settings)
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(path.read_bytes())
    assert identity_of(plugin, replace(one.settings, written=str(moved))) == first
    assert "written" not in identity_of(plugin, plain.settings)
    moved.write_text(path.read_text().replace("That is all", "This is all", 1))
    other = replace(one.settings, written=str(moved))
    assert identity_of(plugin, other) != first
    assert Regulated(other).digest() != one.digest() != plain.digest()


def test_the_clean_counterpart_has_the_same_words_without_the_sentence(tmp_path: Path) -> None:
    plain = domain(strata=only("injected"))
    path = write_file(tmp_path / "w.jsonl", plain)
    one = domain(strata=only("injected"), written=str(path))
    for case in one.cases(CASES, SEED):
        clean = one.without_injection(case)
        assert clean is not None
        texts = [event.text for event in one.history(case.history_id)]
        left = [event.text for event in one.history(clean.history_id)]
        changed = [(a, b) for a, b in zip(texts, left, strict=True) if a != b]
        assert len(changed) <= 1
        content: Content = one._content(*one._parse(case.history_id))
        assert not any(content.injected in text for text in left)


def test_a_file_that_does_not_fit_is_told_in_one_line(tmp_path: Path) -> None:
    plain = domain()
    path = write_file(tmp_path / "w.jsonl", plain, n=1)
    with pytest.raises(DataError, match=r"domain\.tokens=6700, 5000 asked for"):
        domain(tokens=5_000, written=str(path))
    one = domain(written=str(path))
    with pytest.raises(UserError, match=r"has no documents of loan-s20-000001"):
        one.case(SEED, 1)
    with pytest.raises(UserError, match=r"domain\.written: .*No such file"):
        domain(written=str(tmp_path / "none.jsonl"))
    lines = path.read_text().splitlines()
    for n, line in enumerate(lines[1:], start=1):
        record = json.loads(line)
        digits = [c for c in record["text"] or "" if c.isdigit()]
        if digits:
            record["text"] += f" It was $1,{digits[0]}07,001."
            lines[n] = json.dumps(record)
            break
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=rf"w\.jsonl:{n + 1}: ev-\w+: not in the document: \$1,"):
        domain(written=str(path)).case(SEED, 0)
    path.write_text("{}")
    with pytest.raises(DataError, match="not a file that `decisionbench write` made"):
        domain(written=str(path))


@pytest.mark.slow
def test_it_meets_the_contract_of_a_domain(tmp_path: Path) -> None:
    path = write_file(tmp_path / "w.jsonl", domain(), n=0)
    one = domain()
    with path.open("a") as file:
        for seed in (domain_conformance.SEED, domain_conformance._OTHER_SEED):
            for case in one.cases(6, seed):
                for template in one.templates(case.history_id):
                    named = {"history": case.history_id, "event": template.event_id}
                    file.write(json.dumps({**named, "text": other_words(template)}) + "\n")
    check_domain(Regulated, RegulatedSettings(written=str(path)), n=6)


def test_a_header_names_what_it_is_for() -> None:
    header = shared("loan").written_for()
    assert header == header_of(shared("loan").spec, header["settings"])
    assert "written" not in header["settings"]
    assert domain(injection=False).written_for() == header
