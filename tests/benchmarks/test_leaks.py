"""What is planted is found, what is drawn gives chance, and the cards have what the study finds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.studies.leaks.__main__ import main
from benchmarks.studies.leaks.airline_fees import fares
from benchmarks.studies.leaks.bank_support import (
    at_random,
    names_policy,
    names_tool,
    popularity,
    standing,
)
from benchmarks.studies.leaks.measures import agreeing, answered, by_words, commonest, stands_in
from benchmarks.studies.leaks.precedents import ORDERS, as_planned, holding
from benchmarks.studies.leaks.questions import adversarial, hops
from benchmarks.studies.leaks.subjects import SUBJECTS, opened, table
from benchmarks.studies.leaks.veterans import SEEN, outcome
from benchmarks.studies.order_of_arms import ROOT
from framework.records import Case, Event, Gold, TaskCard
from framework.reporting.markdown import between_markers
from plugins.domains.bank_support.actions import Action, written
from plugins.domains.bank_support.operation import CUSTOMER
from plugins.domains.veterans.loading import EVIDENCE, RULE, Decision, Sentence

N = 200
WORDS = [f"{first}{last}" for first in ("ba", "de", "fi", "go", "ku") for last in "lmnprstx"]


def case(
    number: int, query: str = "", *, stratum: str = "", material: dict[str, str] | None = None,
    governing: tuple[str, ...] = (), evidence: tuple[str, ...] = (), answer: str = "",
    decision: str = "",
) -> Case:  # fmt: skip
    task = TaskCard(
        instruction="It is now noon.", query=query, operation="x", material=material or {}
    )
    gold = Gold(evidence=evidence, governing=governing, answer=answer, decision=decision)
    return Case(
        id=f"c{number}",
        history_id=f"h{number}",
        task=task,
        gold=gold,
        stratum=stratum,
        cluster=f"cluster {number % 20}",
        tags={"year": "2015"},
    )


def drawn_texts(rng: np.random.Generator) -> list[str]:
    return [" ".join(rng.choice(WORDS, 6)) for _ in range(N)]


@pytest.mark.parametrize("card", sorted(SUBJECTS))
@pytest.mark.slow
def test_the_card_has_what_is_found(card: str, data_dir: Path) -> None:
    page = ROOT / "docs" / "reference" / "domains" / f"{card.replace('_', '-')}.md"
    assert between_markers(f"{page}#leaks") == table(card, data_dir)
    assert f"`python -m benchmarks.studies.leaks --only {card}`" in page.read_text()


def test_answers_of_like_questions_agree_where_that_is_planted_and_else_by_chance() -> None:
    rng = np.random.default_rng(3)
    # Two questions each that are alike but for their numbers, which are masked.
    texts = [f"{text} {number}" for text in drawn_texts(rng)[: N // 2] for number in (1, 20)]
    answers = [number // 2 for number in range(N)]
    assert agreeing(texts, answers) == N
    assert agreeing(texts, rng.permutation(answers).tolist()) <= 0.05 * N
    assert commonest(["a", "b", "a"]) == 2


def test_words_tell_a_planted_label_and_of_a_shuffled_one_nothing() -> None:
    rng = np.random.default_rng(3)
    texts = drawn_texts(rng)
    labels = [bool(number % 2) for number in range(N)]
    planted = [f"{text} never" if said else text for text, said in zip(texts, labels, strict=True)]
    groups = [number // 4 for number in range(N)]
    assert by_words(planted, labels, groups) == 1
    shuffled = rng.permutation(labels).tolist()
    assert by_words(planted, shuffled, groups) == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_a_planted_word_tells_what_is_adversarial_and_a_shuffled_one_does_not() -> None:
    rng = np.random.default_rng(3)
    texts = drawn_texts(rng)
    strata = ["adversarial" if number % 2 else "temporal" for number in range(N)]

    def asked(kinds: Sequence[str]) -> list[Case]:
        return [
            case(number, f"{text} never" if stratum == "adversarial" else text, stratum=kind)
            for number, (text, stratum, kind) in enumerate(zip(texts, strata, kinds, strict=True))
        ]

    found = adversarial(asked(strata), str)
    assert found is not None
    assert found.auc > 0.99
    nothing = adversarial(asked(rng.permutation(strata).tolist()), str)
    assert nothing is not None
    assert nothing.at_chance
    assert adversarial(asked(["temporal"] * N), str) is None


def test_an_answer_stands_in_a_question_as_whole_words() -> None:
    assert stands_in("The cello.", "Who plays a cello?")
    assert not stands_in("cell", "Who plays a cello?")
    asked = [case(0, "Ann or Bo?", answer="Bo"), case(1, "Who is Bo?", answer="Ann")]
    assert answered(asked) == 1


def test_by_kind_of_question_how_many_name_what_they_need() -> None:
    events = [
        Event(id=i, text=i, time="2020-01-01", kind="passage", metadata={"title": title})
        for i, title in (("a", "The Red Fox"), ("b", "Oslo"))
    ]
    domain: Any = SimpleNamespace(history=lambda name: iter(events))
    both = ("a", "b")
    cases = [
        case(0, "Is the red fox from Oslo?", stratum="compared", evidence=both, answer="no"),
        case(1, "Which is red, Oslo or not?", stratum="compared", evidence=both, answer="Oslo"),
        case(2, "Where was it filmed?", stratum="bridge", evidence=both, answer="Oslo"),
    ]
    assert hops(domain, cases) == [
        ("look", "bridge", "compared"),
        ("the answer stands in the question", "0 of 1", "1 of 2"),
        ("the answer is yes or no", "0 of 1", "1 of 2"),
        ("it names a supporting passage by its title", "0 of 1", "2 of 2"),
        ("it names all of them", "0 of 1", "1 of 2"),
    ]


@pytest.mark.slow
def test_a_word_that_only_granted_claims_have_tells_the_outcome_and_nothing_else_does() -> None:
    texts = drawn_texts(np.random.default_rng(3))[:90]
    outcomes = [("GRANT", "DENY", "REMAND_OR_MIXED")[number % 3] for number in range(len(texts))]

    def decided(number: int) -> Decision:
        planted = " never" if outcomes[number] == "GRANT" else ""
        rules = [texts[number - 1]] * 2
        own = [Sentence(id="s", text=f"{texts[number]}{planted}", role=EVIDENCE)]
        own += [Sentence(id="s", text=text, role=RULE) for text in rules]
        return Decision(
            id="x", file="x", date="2015-01-01", claims=(), others=0, sentences=tuple(own),
            findings=(texts[number - 2],), held_out=0,
        )  # fmt: skip

    decisions = {f"h{number}": decided(number) for number in range(len(texts))}
    events = [Event(id="a", text="same", time="2015-01-01", kind="rule")]
    domain: Any = SimpleNamespace(history=lambda name: iter(events), decision=decisions.get)
    cases = [case(number, texts[number - 3], decision=said) for number, said in enumerate(outcomes)]
    telling = {"own evidence", "own evidence and rules"}
    for name in (*sorted(telling), "own rules", "the claim's words"):
        found = outcome(SEEN[name], domain, cases)
        assert found is not None
        assert found.cases == len(cases) - outcomes.count("REMAND_OR_MIXED")
        assert found.auc > 0.99 if name in telling else found.at_chance, name
    assert SEEN["the findings, held out (the test's own control)"](domain, cases[5]) == texts[3]
    assert SEEN["the whole history, with 1,000 sentences of others"](domain, cases[5]) == "same"
    assert SEEN["year of the decision"](domain, cases[5]) == {"year": 2015}
    amounts = SEEN["number of its own sentences of either kind, and their length"]
    assert amounts(domain, cases[5])["e"] == 1
    assert amounts(domain, cases[5])["r"] == 2


def test_popularity_earns_all_where_all_require_the_same_and_else_as_much_as_chance() -> None:
    rng = np.random.default_rng(3)
    documents = [f"d{i}" for i in range(100)]
    same = [case(i, evidence=("d7", "d40")) for i in range(N)]
    for own_cluster in (True, False):
        assert popularity(same, documents, own_cluster=own_cluster) == pytest.approx((1, 1))
    drawn = [case(i, evidence=tuple(rng.choice(documents, 2, replace=False))) for i in range(N)]
    expected = at_random(drawn, len(documents))
    assert expected[0] == pytest.approx(0.05)
    assert popularity(drawn, documents, own_cluster=True) == pytest.approx(expected, abs=0.04)


def test_where_the_values_of_arguments_stand() -> None:
    def task(number: int, query: str, *values: object) -> Case:
        action = Action(name="pay_bill_9182", arguments={"all": list(values), "when": "noon"})
        return case(
            number,
            query,
            evidence=("p",),
            answer=written([action]),
            material={CUSTOMER: '{"id": "u3"}'},
        )

    policies = {"p": "Bills\nAt most 20 a day."}
    tasks = [
        task(0, "I am Cy MARSH, number 7.", "Cy Marsh", 20, "u3", "", "Cy Mar"),
        task(1, "Hello.", 7, "bills"),
    ]
    found = standing(tasks, policies)
    # In scenarios Cy Marsh; in policies 20 and bills; u3 on file, and noon in both instructions.
    assert (found.total, found.counts) == (9, (1, 3, 6))
    # Of each the other's: 7 and bills and noon; 20 and noon, and u3, on file of both.
    others = standing(tasks, policies, of_others=True)
    assert (others.total, others.counts) == (9, (1, 3, 6))


def test_what_a_scenario_names() -> None:
    policies = {"pol_1": "Late Fees\nNone.", "pol_2": "Cards\nBlue."}
    answer = written([Action(name="pay_bill_9182", arguments={})])
    plain = case(0, "I paid late.", evidence=("pol_1",), answer=answer)
    assert not names_policy(plain, policies)
    assert not names_tool(plain)
    assert names_policy(case(0, "About late fees.", evidence=("pol_1",)), policies)
    assert names_policy(case(0, "See POL_1.", evidence=("pol_1",)), policies)
    assert not names_policy(case(0, "About cards.", evidence=("pol_1",)), policies)
    assert names_tool(case(0, "Call pay_bill_9182.", answer=answer))


def records_of(number: int) -> list[Event]:
    """Fifty records in order of arrival; from the third one the tenth and the last are derived."""
    ids = np.random.default_rng(number).permutation(50)
    events = [
        Event(id=f"r{name:02}", text="x" * (10 + place % 7), time="2020-01-01", kind="record")
        for place, name in enumerate(ids.tolist())
    ]
    third = events[2].id
    for place in (9, 49):
        old = events[place]
        edges = (("derived_from", third),)
        events[place] = Event(
            id=old.id, text=old.text, time=old.time, kind=old.kind, edges=edges
        )  # fmt: skip
    return events


def test_an_order_holds_what_is_planted_at_its_beginning_and_of_what_is_drawn_a_fair_share() -> (
    None
):
    histories = {f"h{number}": records_of(number) for number in range(N)}
    domain: Any = SimpleNamespace(history=lambda name: iter(histories[name]))
    rng = np.random.default_rng(3)

    def governed(place: int | None) -> list[Case]:
        at = rng.integers(0, 50, N) if place is None else [place] * N
        return [
            case(number, governing=(histories[f"h{number}"][int(i)].id,))
            for number, i in enumerate(at)
        ]

    assert holding(ORDERS["newest first"], domain, governed(40), 10) == 1
    assert holding(ORDERS["newest first"], domain, governed(39), 10) == 0
    assert holding(ORDERS["oldest first"], domain, governed(0), 1) == 1
    for name, order in ORDERS.items():
        if "derived" in name:
            assert holding(order, domain, governed(2), 1) == 1
        assert holding(order, domain, governed(None), 10) == pytest.approx(0.2, abs=0.08), name
    ties = [ORDERS[f"most records derived from it, ties {of} first"] for of in ("oldest", "newest")]
    assert [holding(order, domain, governed(49), 2) for order in ties] == [0, 1]


def test_a_plan_as_it_stands_is_the_edit() -> None:
    domain, cases = opened("precedents", Path())
    assert len(cases) == 400
    assert not any(domain.success(as_planned(case), case.gold) for case in cases[:20])


def test_fees_are_totals_without_the_ticket() -> None:
    prices = [100, 200, 350]
    cases = [
        case(i, f"Ana's flight ticket is ${p}.", evidence=("a", "b"), answer=str(p + 40))
        for i, p in enumerate(prices)
    ]
    events = [Event(id=i, text=i, time="2020-01-01", kind="rule") for i in "abcd"]
    domain: Any = SimpleNamespace(history=lambda name: iter(events))
    rules = [*cases[:2], case(2, cases[2].task.query, evidence=("a",), answer="390")]
    header, totals, fees, always, beside, _ = fares(domain, rules)
    assert header[1] == "found"
    assert totals[1:] == ("0 of 3", "the commonest one: 1 of 3")
    assert fees[1:] == ("3 of 3", "the commonest one: 3 of 3")
    assert (always[1], beside[1]) == ("1 of 4", "2 of 3")


def test_files_that_are_not_there_are_named_and_so_is_a_domain_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data", str(tmp_path), "--only", "airline_fees,locomo"]) == 0
    assert capsys.readouterr().out == "Not here, and left out: airline_fees, locomo.\n"
    with pytest.raises(SystemExit):
        main(["--only", "no_such"])
    assert "no_such: there are airline_fees, " in capsys.readouterr().err


def test_a_table_is_put_where_it_is_asked_for(tmp_path: Path, data_dir: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- result table a: begin -->\n<!-- result table a: end -->\n")
    assert main(["--data", str(data_dir), "--only", "precedents", "--into", f"{page}#a"]) == 0
    assert between_markers(f"{page}#a").startswith("| order | standing |")
