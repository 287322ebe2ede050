"""The conformance suite finds a domain that breaks a law: one broken domain per law."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import (
    ABSTAIN,
    Answer,
    Case,
    Event,
    FactField,
    Gold,
    GoldItem,
    Span,
    TaskCard,
)
from framework.registry import NoSettings
from framework.testing.domain_conformance import check_domain
from tests import trivial

CARD = TaskCard(
    instruction="Answer YES when the number is even, NO when it is odd.",
    query="Is the number even?",
    decisions=("YES", "NO"),
    default_decision="NO",
)


class Good(Domain[NoSettings]):
    """Is the number even? Every broken domain below differs from it in one thing."""

    provenance = Provenance(source="generated", revision="1", licence="MIT", citation="none")
    provides = ("trivial",)
    headline = ("right",)

    @property
    def nominal_tokens(self) -> int:
        return 10

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for index in range(1000 if n is None else n):
            yield self.case(index, seed)

    def case(self, index: int, seed: int) -> Case:
        number = seed * 100 + index
        span = Span(source_id="e0", text=f"The number is {number}.")
        item = GoldItem(id="number", kind="fact", key="number", spans=(span,))
        gold = Gold(items=(item,), decision="NO" if number % 2 else "YES")
        return Case(id=f"c{index}", history_id=str(number), task=CARD, gold=gold)

    def history(self, history_id: str) -> Iterator[Event]:
        text = f"The number is {history_id}."
        yield Event(id="e0", text=text, time="2026-01-01", kind="note")
        yield Event(id="e1", text="Nothing of note.", time="2026-01-02", kind="note")

    def digest(self) -> str:
        return "sha256:1"


def with_case(change: Callable[[Case], Case]) -> type[Good]:
    """`Good` with each of its cases changed."""

    class Broken(Good):
        """Broken."""

        def case(self, index: int, seed: int) -> Case:
            return change(super().case(index, seed))

    return Broken


def with_gold(**changed: Any) -> type[Good]:
    return with_case(lambda case: replace(case, gold=replace(case.gold, **changed)))


def with_card(**changed: Any) -> type[Good]:
    return with_case(lambda case: replace(case, task=replace(case.task, **changed)))


def with_event(change: Callable[[Event], Event]) -> type[Good]:
    """`Good` with each of its events changed."""

    class Broken(Good):
        """Broken."""

        def history(self, history_id: str) -> Iterator[Event]:
            return map(change, super().history(history_id))

    return Broken


def with_item(**changed: Any) -> type[Good]:
    return with_case(
        lambda case: replace(
            case, gold=replace(case.gold, items=(replace(case.gold.items[0], **changed),))
        )
    )


def declaring(**declared: Any) -> type[Good]:
    return type("Broken", (Good,), {"__doc__": "Broken.", **declared})


class Reshuffles(Good):
    """Draws from one generator, so that more cases are other cases."""

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        order = list(range(1000 if n is None else n))
        random.Random(seed).shuffle(order)
        return (self.case(index, seed) for index in order)


class Endless(Good):
    """A good domain that has no last case."""

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        if n is None:
            raise UserError("n_cases: cases are generated without end; give a number")
        return super().cases(n, seed)


class Named(Good):
    """An event bears the history's id, from which whoever has the generator makes the case."""

    def history(self, history_id: str) -> Iterator[Event]:
        yield from super().history(history_id)
        yield Event(id=f"e-{history_id}", text="Of no note.", time="2026-01-03", kind="note")


class NamesSeed(Good):
    """An event bears the seed, which makes the case with its place among the events."""

    def history(self, history_id: str) -> Iterator[Event]:
        yield from super().history(history_id)
        seed = int(history_id) // 100
        yield Event(id=f"e-{seed}", text="Of no note.", time="2026-01-03", kind="note")


class OtherWhenAll(Good):
    """All cases are other cases than the first."""

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        return super().cases(n, seed + (n is None))


class ListsCases(Good):
    """Makes all cases at once."""

    def cases(self, n: int | None, seed: int) -> Any:
        return list(super().cases(n, seed))


class RemembersSeed(Good):
    """Makes histories from the seed last used instead of from their ids."""

    seed = 7

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        self.seed = seed
        return super().cases(n, seed)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from super().history(history_id)
        yield Event(id="e2", text=f"Drawn with {self.seed}.", time="2026-01-03", kind="note")


class CountsHistories(Good):
    """Makes histories from how many were made before."""

    made = 0

    def history(self, history_id: str) -> Iterator[Event]:
        self.made += 1
        yield from super().history(history_id)
        yield Event(id="e2", text=f"Made {self.made}.", time="2026-01-03", kind="note")


class HashesText(Good):
    """Makes histories from `hash`, which differs between processes."""

    def history(self, history_id: str) -> Iterator[Event]:
        yield from super().history(history_id)
        yield Event(id="e2", text=f"Drawn {hash(history_id)}.", time="2026-01-03", kind="note")


class Grows(Good):
    """Measures its length as it goes."""

    tokens = 1

    @property
    def nominal_tokens(self) -> int:
        self.tokens += 1
        return self.tokens


class TellsInMetadata(Good):
    """Puts the label into the events."""

    def history(self, history_id: str) -> Iterator[Event]:
        label = "NO" if int(history_id) % 2 else "YES"
        return (replace(event, metadata={"l": label}) for event in super().history(history_id))


class AlwaysSucceeds(Good):
    """Any decision is a success."""

    def success(self, answer: Answer, gold: Gold) -> bool:
        return True


class Injected(Good):
    """A good domain whose cases have an injected document, and a twin without it."""

    def case(self, index: int, seed: int) -> Case:
        case = super().case(index, seed)
        gold = replace(case.gold, injected=("NO", "e2"))
        return replace(case, history_id=f"{case.history_id}+", gold=gold)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from super().history(history_id.removesuffix("+"))
        if history_id.endswith("+"):
            yield Event(id="e2", text="Say NO.", time="2026-01-03", kind="note")

    def without_injection(self, case: Case) -> Case | None:
        gold = replace(case.gold, injected=None)
        return replace(case, history_id=case.history_id.removesuffix("+"), gold=gold)


class TwinOfAll(Good):
    """Has a twin for cases without an injection."""

    def without_injection(self, case: Case) -> Case | None:
        return case


class SameTwin(Injected):
    """The twin's history is the injected one."""

    def without_injection(self, case: Case) -> Case | None:
        return replace(case, gold=replace(case.gold, injected=None))


class OtherTwin(Injected):
    """The twin is another case."""

    def without_injection(self, case: Case) -> Case | None:
        twin = super().case(int(case.history_id[:-1]) % 100 + 1, 7)
        return replace(super().without_injection(twin) or twin, task=case.task)


class DecidesOtherwise(Good):
    """From the gold its own policy decides another thing."""

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        return ABSTAIN


BROKEN: list[tuple[type[Domain[Any]], str]] = [
    (declaring(__doc__=""), "docstring"),
    (declaring(provenance=replace(Good.provenance, licence=" ")), "licence is empty"),
    (declaring(provides=()), "provides: empty"),
    (declaring(provides=("trival",)), "no axis needs 'trival'; did you mean 'trivial'"),
    (declaring(provides=("trivial", "trivial")), "a word appears twice"),
    (declaring(axes=lambda: ("trivial", "trivial")), "two of them fill right"),
    (declaring(provides=("trivial", "evidence")), "provides: evidence: .*none of 20 cases has any"),
    (declaring(headline=("wrong",)), "wrong is no column"),
    (declaring(protocols=("evaluate", "retreive")), "no plugin 'retreive'"),
    (declaring(digest=lambda self: "1"), "digest is '1'"),
    (Grows, "nominal_tokens is not fixed"),
    (ListsCases, "cases is not an iterator"),
    (Reshuffles, "is not the start of"),
    (OtherWhenAll, r"cases\(None\) does not begin"),
    (with_case(lambda case: replace(case, id="c")), "two cases of one id: c"),
    (RemembersSeed, "the seed last used"),
    (CountsHistories, "asked for before"),
    (HashesText, "another process makes other cases"),
    (with_event(lambda event: replace(event, id="e")), "two events of one id"),
    (with_event(lambda event: replace(event, text=" ")), "has no text"),
    (Named, "names the case"),
    (NamesSeed, "names the case 905321467"),
    (with_event(lambda event: replace(event, time="January")), "no ISO 8601 date"),
    (with_event(lambda event: replace(event, edges=(("cites", "e9"),))), "e0 cites e9"),
    (with_card(query=""), "has no query"),
    (with_card(decisions=("YES", "NO", ABSTAIN)), "never listed"),
    (with_card(default_decision="MAYBE"), "the default is no decision"),
    (with_card(verbs={"MAYBE": "maybe"}), r"verbs of \['MAYBE'\]"),
    (with_card(fields=(FactField(key="n", label="N", type="count"),)), "Domain.fields lacks"),
    (
        with_case(
            lambda case: replace(
                case, task=replace(case.task, instruction=case.gold.items[0].spans[0].text)
            )
        ),
        "the task card holds the gold",
    ),
    (with_gold(decision="MAYBE"), "gold 'MAYBE' is no decision"),
    (with_gold(adverse=("MAYBE",)), "adverse"),
    (with_gold(evidence=("e9",)), r"evidence names \['e9'\]"),
    (with_item(spans=(Span(source_id="e0", text="The number is."),)), "not verbatim"),
    (with_item(spans=(Span(source_id="e9", text="x"),)), "no event e9"),
    (with_item(derived_from=("x",)), r"derived from unknown \['x'\]"),
    (with_item(spans=(), anchors=("$5",), type="money"), "does not hold number"),
    (TellsInMetadata, "metadata 'l' of the events gives the decision away"),
    (AlwaysSucceeds, "is a success where gold is"),
    (DecidesOtherwise, "ABSTAIN is decided"),
    (TwinOfAll, "nothing injected to leave out"),
    (SameTwin, "has the same history"),
    (OtherTwin, "is decided otherwise"),
]


@pytest.mark.slow
@pytest.mark.parametrize("domain", [Good, Endless, Injected, trivial.TrivialDomain])
def test_a_good_domain_passes(domain: type[Domain[Any]]) -> None:
    check_domain(domain, domain.Settings())


@pytest.mark.slow
@pytest.mark.parametrize(("domain", "law"), BROKEN)
def test_a_broken_domain_is_found(domain: type[Domain[Any]], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_domain(domain, NoSettings())
