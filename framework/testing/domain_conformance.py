"""The laws of a domain, as one check that any author can run.

    from framework.testing.domain_conformance import check_domain

    def test_my_domain() -> None:
        check_domain(MyDomain, MySettings())

It draws cases and reads their histories, and raises AssertionError with the law that failed. What
it holds to:

- Cases depend on settings, seed and index alone: the first n are the start of the first n + 1, a
  history follows from its id alone (the order of asking, other seeds and other processes leave it
  as it is), and both are made as they are asked for.
- Gold is true and hidden: its spans stand verbatim in their events, the whole history retains all
  of it, the gold answer is a success, and neither the task card nor an event's metadata gives it
  away.
- Other words change nothing: where a case is rendered again, its gold is what it was and stands
  where it stood.
- What is declared exists: what `provides` names is in the cases and some axis needs it; headline
  columns, protocols, provenance, one fixed length.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import islice
from typing import Any, Final

from framework.contracts import PROVIDED, Domain
from framework.engine.declared import check_domain as check_domain_declared
from framework.errors import UserError
from framework.pipeline.pack import pack
from framework.records import ABSTAIN, Answer, Case, Event, Gold, Item
from framework.retention import facts, retained
from framework.testing.arch_conformance import as_laws
from framework.text.canonical import digest

SEED: Final = 7
_OTHER_SEED: Final = 905_321_467  # no digest has this by chance

_HELD: Final[Mapping[str, Callable[[Domain[Any], Case], bool]]] = {
    "items": lambda _, case: bool(case.gold.items),
    "facts": lambda _, case: bool(facts(case.gold)),
    "reasons": lambda _, case: bool(case.gold.reasons),
    "decision": lambda _, case: bool(case.gold.decision),
    "notice": lambda _, case: bool(case.gold.adverse and case.gold.standard),
    "policy": lambda domain, case: (
        domain.decision_from(case, frozenset(item.id for item in case.gold.items)) is not None
    ),
    "evidence": lambda _, case: bool(case.gold.evidence),
    "chain": lambda _, case: bool(case.gold.governing and case.gold.items),
    "answer": lambda _, case: bool(case.gold.answer),
    "geometry": lambda domain, case: bool(domain.geometry(case)),
}
"""By word of `PROVIDED`, whether a case has it. What only executing an answer shows, or what few
cases have, is not looked for."""


def check_domain(domain: type[Domain[Any]], settings: Any, n: int = 20) -> None:
    """Hold a domain with these settings to every law, on its first `n` cases.

    Raises AssertionError naming the first broken.
    """
    check_declarations(domain, settings)
    check_deterministic(domain, settings, n)
    instance = domain(settings)
    cases = list(instance.cases(n, SEED))
    histories = {case.history_id: tuple(instance.history(case.history_id)) for case in cases}
    for case in cases:
        check_events(histories[case.history_id], case.history_id)
        check_case(instance, case, histories[case.history_id])
        check_without_injection(instance, case, histories[case.history_id])
        check_rerendered(instance, case, histories[case.history_id])
    check_metadata(cases, histories)
    check_provided(instance, cases)
    if "<locals>" not in domain.__qualname__:
        check_processes(domain, settings, min(n, 3))


def check_declarations(domain: type[Domain[Any]], settings: Any) -> None:
    """Axes, headline columns and protocols exist; provenance, length and digest are as promised."""
    assert isinstance(settings, domain.Settings), f"settings are not {domain.Settings.__name__}"
    assert (domain.__doc__ or "").strip(), "a docstring says what is asked, and where it is from"
    for name in ("source", "revision", "licence", "citation"):
        assert str(getattr(domain.provenance, name)).strip(), f"provenance: {name} is empty"
    assert domain.version.strip(), "version: empty; the first is '1'"
    one, other = domain(settings), domain(settings)
    with as_laws():
        domain.check_declared()
        check_domain_declared(one)
    says = domain.success_axis
    assert not says or says in domain.headline, f"headline: {says}, the success_axis, is not in it"
    tokens, data = one.nominal_tokens, one.digest()
    for case in one.cases(2, SEED):
        list(one.history(case.history_id))
    assert one.nominal_tokens == other.nominal_tokens == tokens, "nominal_tokens is not fixed"
    assert one.digest() == other.digest() == data, "digest is not fixed"


def check_provided(domain: Domain[Any], cases: Sequence[Case]) -> None:
    """Some of the cases hold what the domain says that it provides."""
    for word in domain.provides:
        held = _HELD.get(word)
        assert held is None or any(held(domain, case) for case in cases), (
            f"provides: {word}: {PROVIDED[word]}; none of {len(cases)} cases has any"
        )


def check_deterministic(domain: type[Domain[Any]], settings: Any, n: int) -> None:
    """Cases are a lazy, growing list for a seed; a history follows from its id alone."""
    instance = domain(settings)
    assert isinstance(instance.cases(1, SEED), Iterator), "cases is not an iterator"
    assert not list(instance.cases(0, SEED)), "cases(0) gives some"
    cases = list(instance.cases(n, SEED))
    assert cases, "no cases"
    assert len(cases) <= n, f"{len(cases)} cases for n={n}"
    for fewer in {1, len(cases) - 1}:
        start = list(instance.cases(fewer, SEED))
        assert start == cases[:fewer], f"cases({fewer}) is not the start of cases({n})"
    assert _all_cases(instance, len(cases)) in (None, cases), (
        "cases(None) does not begin as cases(n) does"
    )
    ids = Counter(case.id for case in cases)
    assert len(ids) == len(cases), f"two cases of one id: {ids.most_common(1)[0][0]}"
    ids_of_histories = list(dict.fromkeys(case.history_id for case in cases))
    assert isinstance(instance.history(ids_of_histories[0]), Iterator), "history is not an iterator"
    in_order = {name: list(instance.history(name)) for name in ids_of_histories}

    other = domain(settings)
    backwards = {name: list(other.history(name)) for name in reversed(ids_of_histories)}
    assert backwards == in_order, "a history depends on what was asked for before it"
    for case in list(other.cases(min(n, 3), _OTHER_SEED)):
        _check_opaque(other, case, list(other.history(case.history_id)))
    again = {name: list(other.history(name)) for name in ids_of_histories}
    assert again == in_order, "a history depends on the seed last used; put the seed in its id"
    assert list(other.cases(n, SEED)) == cases, "cases depend on what was asked for before them"


def check_events(events: Sequence[Event], history_id: str) -> None:
    """Events are distinct, dated, not blank, and their edges lead to events of the history."""
    assert events, f"history {history_id} is empty"
    ids = Counter(event.id for event in events)
    assert len(ids) == len(events), f"two events of one id: {ids.most_common(1)[0][0]}"
    for event in events:
        assert event.text.strip(), f"event {event.id} has no text"
        try:
            date.fromisoformat(event.time[:10])
        except ValueError:
            raise AssertionError(f"event {event.id}: {event.time!r} is no ISO 8601 date") from None
        for relation, target in event.edges:
            assert target in ids, f"event {event.id} {relation} {target}, which is not there"


def check_case(domain: Domain[Any], case: Case, events: Sequence[Event]) -> None:
    """The task card is whole and gives nothing away; the gold is true of the history."""
    _check_card(domain, case)
    _check_opaque(domain, case, events)
    _check_gold_refers(case, events)
    _check_gold_holds(domain, case, events)


def check_without_injection(domain: Domain[Any], case: Case, events: Sequence[Event]) -> None:
    """An injected case without its injection is the same case with the same decision."""
    clean = domain.without_injection(case)
    if clean is None:
        return
    where = f"the clean case of case {case.id}"
    assert case.gold.injected, f"{where}: there is nothing injected to leave out"
    assert not clean.gold.injected, f"{where} is injected too"
    assert clean.task == case.task, f"{where} has another task card"
    assert (clean.gold.decision, clean.gold.amount) == (
        case.gold.decision,
        case.gold.amount,
    ), f"{where} is decided otherwise"
    history = tuple(domain.history(clean.history_id))
    check_events(history, clean.history_id)
    check_case(domain, clean, history)
    assert [event.text for event in history] != [event.text for event in events], (
        f"{where} has the same history"
    )


def check_rerendered(domain: Domain[Any], case: Case, events: Sequence[Event]) -> None:
    """A case in other words is the same case: gold and where it stands, but for what spans say."""
    other = domain.rerendered(case, 1)
    if other is None:
        return
    where = f"the rendering of case {case.id}"
    assert domain.rerendered(case, 1) == other, f"{where} is not fixed"
    assert replace(other.task, query=case.task.query) == case.task, f"{where} has another card"
    same = replace(other, task=case.task, history_id=case.history_id, gold=case.gold)
    assert same == case, f"{where} has another id, stratum, cluster or tag"
    assert _unworded(other.gold) == _unworded(case.gold), f"{where} has other gold"
    again = tuple(domain.history(other.history_id))
    check_events(again, other.history_id)
    check_case(domain, other, again)
    sources = {span.source_id for item in case.gold.items for span in item.spans}
    order, its = ([e.id for e in texts if e.id in sources] for texts in (events, again))
    assert its == order, f"{where}: its evidence arrives in another order"
    words, others = [event.text for event in events], [event.text for event in again]
    assert (other.task.query, others) != (case.task.query, words), f"{where} says the same"


def _unworded(gold: Gold) -> Gold:
    """Gold without what depends on how it is said: texts of spans, and of a standard's demands."""
    items = tuple(
        replace(item, spans=tuple(replace(span, text="") for span in item.spans))
        for item in gold.items
    )
    return replace(gold, items=items, standard=None)


def check_metadata(cases: Iterable[Case], histories: Mapping[str, Sequence[Event]]) -> None:
    """No metadata of events, which arms see, spells the decision or the stratum in every case."""
    listed = list(cases)
    for what in ("decision", "stratum"):
        told = {c.id: c.gold.decision if what == "decision" else c.stratum for c in listed}
        if len(set(told.values())) < 2:
            continue
        for key in sorted({k for events in histories.values() for e in events for k in e.metadata}):
            spelt = {
                name: {event.metadata[key] for event in events if key in event.metadata}
                for name, events in histories.items()
            }
            assert any(spelt[case.history_id] != {told[case.id]} for case in listed), (
                f"metadata {key!r} of the events gives the {what} away"
            )


def check_processes(domain: type[Domain[Any]], settings: Any, n: int) -> None:
    """Another process, where text hashes otherwise, makes the same cases and histories."""
    here = picture(domain, settings, n)
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    code = (
        "import pickle, sys\n"
        "domain, settings, n = pickle.loads(sys.stdin.buffer.read())\n"
        "from framework.testing.domain_conformance import picture\n"
        "print(picture(domain, settings, n))"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    there = subprocess.run(
        [sys.executable, "-c", code],
        input=pickle.dumps((domain, settings, n)),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert there.returncode == 0, f"another process failed: {there.stderr.decode()[-500:]}"
    assert there.stdout.decode().split()[-1] == here, (
        "another process makes other cases: do not seed from hash() or iterate over a set of text"
    )


def _all_cases(domain: Domain[Any], n: int) -> list[Case] | None:
    """The first `n` of all cases; None from a domain that has no end and says so."""
    try:
        return list(islice(domain.cases(None, SEED), n))
    except UserError:
        return None


def picture(domain: type[Domain[Any]], settings: Any, n: int) -> str:
    """Digest of the first `n` cases and their histories."""
    instance = domain(settings)
    cases = list(instance.cases(n, SEED))
    return digest([cases, [list(instance.history(case.history_id)) for case in cases]])


def _check_opaque(domain: Domain[Any], case: Case, events: Sequence[Event]) -> None:
    """No event's id or metadata names a generated case or its seed, which would make it again."""
    if domain.provenance.source != "generated":
        return
    for event in events:
        shown = (event.id, *event.metadata.values())
        names = (case.id, case.history_id, str(_OTHER_SEED))
        told = next((name for name in names for text in shown if name in text), None)
        assert told is None, f"event {event.id} names the case {told}"


def _check_card(domain: Domain[Any], case: Case) -> None:
    card, gold, where = case.task, case.gold, f"case {case.id}"
    assert card.instruction.strip(), f"{where}: the task card has no instruction"
    assert card.query.strip(), f"{where}: the task card has no query"
    assert ABSTAIN not in card.decisions, f"{where}: {ABSTAIN} is open to all and never listed"
    allowed = {*card.decisions, ABSTAIN}
    if card.decisions:
        assert card.default_decision in card.decisions, f"{where}: the default is no decision"
        assert gold.decision in allowed, f"{where}: gold {gold.decision!r} is no decision"
    for name in ("verbs", "amounts"):
        strangers = set(getattr(card, name)) - allowed
        assert not strangers, f"{where}: {name} of {sorted(strangers)}, which are no decisions"
    assert set(gold.adverse) <= allowed, f"{where}: adverse {gold.adverse} are no decisions"
    keys = Counter(field.key for field in card.fields)
    assert len(keys) == len(card.fields), f"{where}: two fields of one key"
    public = {field.key for field in domain.fields}
    assert set(keys) <= public, f"{where}: fields that Domain.fields lacks: {set(keys) - public}"
    for item in gold.items:
        if item.kind == "fact" and item.anchors and card.fields:
            assert item.key in keys, f"{where}: no field asks for the gold fact {item.key}"
    shown = "\0".join((card.instruction, card.query, card.notice))
    for item in gold.items:
        for span in item.spans:
            assert span.text not in shown, f"{where}: the task card holds the gold of {item.id}"


def _check_gold_refers(case: Case, events: Sequence[Event]) -> None:
    gold, where = case.gold, f"case {case.id}"
    texts = {event.id: event.text for event in events}
    ids = Counter(item.id for item in gold.items)
    assert len(ids) == len(gold.items), f"{where}: two gold items of one id"
    for item in gold.items:
        strangers = set(item.derived_from) - set(ids)
        assert not strangers, f"{where}: {item.id} is derived from unknown {sorted(strangers)}"
        for span in item.spans:
            assert span.text.strip(), f"{where}: {item.id} has an empty span"
            assert span.source_id in texts, f"{where}: {item.id}: no event {span.source_id}"
            assert span.text in texts[span.source_id], (
                f"{where}: a span of {item.id} is not verbatim in event {span.source_id}"
            )
    named = {
        "evidence": gold.evidence,
        "entry": (gold.entry,) if gold.entry else (),
        "distractors": gold.distractors,
        "governing": gold.governing,
        "chain": gold.chain,
        "retired": tuple(name for retired in gold.retired for name in retired.source_ids),
        "injected": gold.injected[1:] if gold.injected else (),
    }
    for name, sources in named.items():
        strangers = set(sources) - set(texts)
        assert not strangers, f"{where}: {name} names {sorted(strangers)}, which are no events"


def _check_gold_holds(domain: Domain[Any], case: Case, events: Sequence[Event]) -> None:
    gold, where = case.gold, f"case {case.id}"
    view = pack([Item(id=event.id, text=event.text) for event in events], None, "whole")
    kept = retained(gold, view, partial(domain.states, case))
    lost = [item.id for item in gold.items if (item.spans or item.anchors) and not kept[item.id]]
    assert not lost, f"{where}: the whole history does not hold {', '.join(lost)}"
    right = Answer(decision=gold.decision, amount=gold.amount, text=gold.answer, edit=gold.answer)
    # Where an edit is executed the gold may be without a reference edit to try.
    if gold.answer or not gold.invariant:
        assert domain.success(right, gold), f"{where}: the gold answer is no success"
    for other in {*case.task.decisions, ABSTAIN} - {gold.decision}:
        wrong = Answer(decision=other, amount=gold.amount)
        assert not (case.task.decisions and domain.success(wrong, gold)), (
            f"{where}: {other} is a success where gold is {gold.decision}"
        )
    everything = frozenset(name for name, there in kept.items() if there)
    decided = domain.decision_from(case, everything)
    assert decided in (None, gold.decision), (
        f"{where}: from all of its gold {decided} is decided, not {gold.decision}"
    )
    if gold.items:
        assert domain.sufficient(case, kept), f"{where}: the whole history does not suffice"
        empty = retained(gold, pack([], 0, "whole"), partial(domain.states, case))
        assert not domain.sufficient(case, empty), f"{where}: an empty view suffices"
