"""The notice standards against the public form letters, filled in rightly and wrongly."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from framework.contracts import answer_by_rule
from framework.operations.answering import AnswerRequest
from framework.operations.decide import Decide
from framework.records import Case, ChecklistItem, Gold
from plugins.domains.regulated.wording import value_forms
from tests.plugins.domains.regulated.support import SEED, SPECS, cases, shared


def filled(spec: str, index: int, case: Case, **changes: str) -> str:
    """The form letter with the gold in its placeholders; what is stated nowhere is not known."""
    one = shared(spec)
    sampled, gold = one.sampled(SEED, index), case.gold
    gap = sampled.gap
    missing = [gap.key] if gap is not None and gap.other is None else []
    spans = {i.key: i.spans[0].text for i in gold.items if i.kind == "rule"}
    values = {
        "decision": case.task.verbs[gold.decision],
        "reasons": "; ".join(gold.principal_reasons),
        "provisions": ", ".join(gold.provisions),
        "provision_text": " ".join(spans[code] for code in gold.provisions),
        "amount": "" if gold.amount is None else f"${gold.amount:,.2f}",
        **{f"fact:{k}": value_forms(one.spec.facts[k], v)[0] for k, v in sampled.facts.items()},
        **{f"fact:{k}": "not established" for k in missing},
        **changes,
    }
    return re.sub(r"\{([\w:]+)\}", lambda match: values[match[1]], one.spec.notice)


def met(item: ChecklistItem, text: str) -> bool:
    def found(pattern: str) -> bool:
        return re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None

    return all(any(map(found, group)) for group in item.requires) and not any(
        map(found, item.forbids)
    )


def adverse(spec: str) -> Iterator[tuple[int, Case, Gold]]:
    for index, case in enumerate(cases(spec)):
        if case.gold.standard is not None:
            yield index, case, case.gold


def with_report() -> tuple[int, Case, Gold]:
    """The first denial for which a consumer report and the score in it were used."""
    return next(
        (index, case, gold)
        for index, case, gold in adverse("loan")
        if "fcra_score" in {item.id for item in gold.standard.items}  # type: ignore[union-attr]
    )


def unmet(gold: Gold, text: str) -> set[str]:
    assert gold.standard is not None
    return {item.id for item in gold.standard.items if not met(item, text)}


@pytest.mark.parametrize("spec", SPECS)
def test_the_form_letter_rightly_filled_meets_every_item(spec: str) -> None:
    n = 0
    for index, case, gold in adverse(spec):
        assert unmet(gold, filled(spec, index, case)) == set()
        n += 1
    assert n > 40


@pytest.mark.parametrize("spec", SPECS)
def test_another_reason_or_provision_does_not_meet_it(spec: str) -> None:
    for index, case, gold in adverse(spec):
        others = [r for r in gold.all_reasons if r not in gold.principal_reasons]
        if others:
            wrong = filled(spec, index, case, reasons=others[0], provision_text="")
            assert {"specific_reasons", "all_bases"} & unmet(gold, wrong)
        if spec != "loan":
            assert "provisions" in unmet(
                gold, filled(spec, index, case, provisions="our policy", provision_text="")
            )
            assert "quoted" in unmet(gold, filled(spec, index, case, provision_text="see policy"))


PIECES: Mapping[str, str] = {
    "Harbor Lane Mortgage": "creditor",
    "200 Quay Street": "creditor",
    "marital status": "ecoa_notice",
    "Federal Trade Commission": "agency",
    "800-555-0167": "fcra_agency",
    "no part in our decision": "fcra_no_part",
    "free copy": "fcra_free_copy",
    "dispute": "fcra_dispute",
    "850": "fcra_score",
}


@pytest.mark.parametrize("piece", PIECES)
def test_a_notice_that_lacks_a_piece_of_regulation_b_fails_its_item(piece: str) -> None:
    index, case, gold = with_report()
    words = r"\s+".join(map(re.escape, piece.split()))
    text = re.sub(words, "", filled("loan", index, case), flags=re.IGNORECASE)
    assert unmet(gold, text) == {PIECES[piece]}


@pytest.mark.parametrize(
    "reason",
    ["internal standards", "you failed to achieve a qualifying score on our scoring system"],
)
def test_insufficient_reasons_fail(reason: str) -> None:
    index, case, gold = next(adverse("loan"))
    text = filled("loan", index, case, reasons="; ".join((*gold.principal_reasons, reason)))
    assert unmet(gold, text) == {"no_insufficient_reasons"}


def test_a_wrong_credit_score_fails_and_a_vague_reason_too() -> None:
    index, case, gold = with_report()
    wrong = filled("loan", index, case, **{"fact:fico_score": "299"})
    assert unmet(gold, wrong) == {"fcra_score", "figures"}
    vague = filled("loan", index, case, reasons="credit factors")
    assert unmet(gold, vague) == {"specific_reasons"}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_only_the_sentence_that_reports_an_adverse_action_reports_it(spec: str) -> None:
    """The bare verb reads as English in the form; quoted rules and boilerplate don't count."""
    item, other_item = (
        ("action_taken", "one_action") if spec == "loan" else ("decision", "one_decision")
    )
    for index, case, gold in adverse(spec):
        text = filled(spec, index, case)
        verb = case.task.verbs[gold.decision]
        sentence = f"we decided to {verb} your"
        assert sentence in text
        assert unmet(gold, text.replace(sentence, "we looked at your")) == {item}
        for other in case.task.decisions:
            if other not in gold.adverse:
                favorable = filled(spec, index, case, decision=case.task.verbs[other])
                assert unmet(gold, favorable) == {item, other_item}
        assert unmet(gold, filled(spec, index, case, decision="not to deny")) == {item}


@pytest.mark.parametrize(
    ("spec", "sentence", "stated"),
    [
        ("loan", "Your application has been denied.", True),
        ("loan", "We regret that we are unable to approve the loan.", True),
        ("loan", "Where we have denied credit to you, you may ask why.", False),
        ("claims", "We have decided to pay in part your claim.", True),
        ("claims", "Your claim was denied.", True),
        ("claims", "Pay in part if the wear share is above 40%.", False),
        ("claims", "You may think that the claim has been wrongfully denied.", False),
        ("prior_authorization", "The requested therapy is not approved.", True),
        ("prior_authorization", "PT-4. Deny if the total visits is above 40 visits.", False),
        ("change_release", "Your change was not released.", True),
        ("change_release", "We have rejected the patch, blocked this build.", True),
        ("change_release", "REL-4. Block if the soak time is below 40 hours.", False),
        ("lab_results", "The results were discarded.", True),
        ("lab_results", "We are unable to accept the samples.", True),
        ("lab_results", "QC-4. Reject if the spike recovery is below 80%.", False),
        ("voucher_hearing", "The termination is upheld.", True),
        ("voucher_hearing", "We could not set aside the termination.", True),
        ("voucher_hearing", "Section 4. Affirm if the repayment balance is above $900.", False),
    ],
)
def test_the_action_may_be_worded_in_other_ways(spec: str, sentence: str, stated: bool) -> None:
    _, _, gold = next(adverse(spec))
    assert ({"action_taken", "decision"} & unmet(gold, sentence) == set()) == stated


OTHER_ACTIONS = {
    "loan": (
        "We have approved your application.",
        "Your loan has now been approved.",
        "We are pleased to grant the loan.",
    ),
    "claims": (
        "We have paid your claim.",
        "Your claim has been accepted.",
        "We agreed to pay your claim at once.",
    ),
    "prior_authorization": (
        "We have authorized your request.",
        "The requested therapy was approved.",
        "We decided to cover the visits.",
    ),
    "change_release": (
        "We have released your change.",
        "The rollout was approved.",
        "We decided to ship the build.",
    ),
    "lab_results": (
        "We have accepted your results.",
        "The measurements were validated.",
        "We decided to certify the set.",
    ),
    "voucher_hearing": (
        "We have reversed the termination.",
        "The termination was set aside.",
        "We agreed to cancel your termination.",
    ),
}
NO_OTHER_ACTION = {
    "loan": (
        "Your application has not been approved.",
        "If a later application is approved, we will write to you.",
        "The rate lock was extended and the appraisal was approved.",
    ),
    "claims": (
        "Your claim was paid in part.",
        "The claim is not accepted.",
        "When a claim is paid, a check is sent.",
    ),
    "prior_authorization": (
        "The visits cannot be authorized.",
        "Unless the request is approved on review, no visit is covered.",
        "The therapy was never authorized.",
    ),
    "change_release": (
        "The rollout cannot be approved.",
        "Unless the change is authorized on review, no build is shipped.",
        "An earlier build was released in spring.",
    ),
    "lab_results": (
        "The set was never validated.",
        "If a new set is accepted, we will write to you.",
        "An earlier set was accepted in spring.",
    ),
    "voucher_hearing": (
        "The termination was not reversed.",
        "If a court has reversed the termination, the voucher is issued again.",
        "Where no ground is shown, a termination is reversed.",
    ),
}
UNLAWFUL = {
    "loan": (
        "A further principal reason for our decision is the race of the applicant.",
        "This was decided because of your religion.",
        "Principal reasons: length of employment, marital status.",
        "Our decision is based in part on your age.",
    ),
    "claims": (
        "The claim is denied on account of your national origin.",
        "Another ground is the age of the policyholder.",
    ),
    "prior_authorization": (
        "The request is denied due to the member's age.",
        "A reason for our decision was your disability.",
    ),
    "change_release": (
        "The change is blocked because of the engineer's age.",
        "A reason for our decision was the religion of the author.",
    ),
    "lab_results": (
        "The set was rejected due to the owner's age.",
        "A reason for our decision was your national origin.",
    ),
    "voucher_hearing": (
        "The termination is affirmed because of your familial status.",
        "Another ground was the age of the tenant.",
    ),
}
LAWFUL = {
    "loan": (
        "It is unlawful to decide because of race or religion.",
        "We decide without regard to any basis: race, religion and age play no part.",
        "The form on marital status was kept apart from the file.",
        "A reason was the age of the collateral.",
    ),
    "claims": ("The reason is the age of the roof.", "No claim is denied because of race."),
    "prior_authorization": ("The reason is the age of the images.",),
    "change_release": ("The reason is the age of the last check.",),
    "lab_results": ("A reason was the age of the standards.", "Sex and race play no part."),
    "voucher_hearing": ("A reason was the age of the promise to pay.",),
}
WITHDRAWN = (
    "None of the reasons above was a reason for our decision.",
    "The reasons above were not those of our decision.",
)


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_a_right_notice_that_says_something_false_besides_fails(spec: str) -> None:
    """What may stand in a letter beside what must, and what may not."""
    one = "one_action" if spec == "loan" else "one_decision"
    reasons = "all_bases" if spec == "claims" else "specific_reasons"
    said = {one: OTHER_ACTIONS[spec], "lawful_basis": UNLAWFUL[spec], reasons: WITHDRAWN}
    for index, case, gold in list(adverse(spec))[:20]:
        letter = filled(spec, index, case)
        for item, sentences in said.items():
            for sentence in sentences:
                assert item in unmet(gold, f"{letter}\n{sentence}"), sentence
        for sentence in (*NO_OTHER_ACTION[spec], *LAWFUL[spec]):
            assert unmet(gold, f"{letter}\n{sentence}") == set(), sentence


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_a_figure_under_another_facts_name_fails_and_every_stated_one_does_not(spec: str) -> None:
    """All figures, in each form of their type; a comparison with a threshold is none."""
    one, n = shared(spec), 0
    for index, case, gold in list(adverse(spec))[:40]:
        sampled, letter = one.sampled(SEED, index), filled(spec, index, case)
        known = sampled.known(one.spec.formulas)
        policy = " ".join(span.text for item in gold.items for span in item.spans)
        points = " ".join(point.text for point in gold.reasons)
        assert unmet(gold, f"{letter}\n{policy}\n{points}") == set()
        for key, fact in one.spec.facts.items():
            if fact.type not in FIGURE_TYPES or len(known.get(key, ())) != 1:
                continue
            (value,) = known[key]
            for form in value_forms(fact, value):
                assert unmet(gold, f"{letter}\nYour {fact.label} is {form}.") == set(), form
            for form in value_forms(fact, value * 3 + 7):  # type: ignore[operator, arg-type]
                wrong = f"{letter}\nYour {fact.label} was {form}."
                assert unmet(gold, wrong) == {"figures"}, form
                n += 1
    assert n > 100


FIGURE_TYPES = ("money", "percent", "score", "count")


def test_fcra_is_asked_for_where_a_consumer_report_was_used() -> None:
    """615(a): the denial rests in whole or in part on what the bureau reported; the score's
    disclosure is due where the score itself was used."""
    carried = {"dti": {"debt"}, "revolving": {"score", "utilization"}}
    seen = set()
    for index, _, gold in adverse("loan"):
        used = set().union(
            *(carried.get(r.id, ()) for r in shared("loan").sampled(SEED, index).winners)
        )
        asked = {item.id for item in gold.standard.items if item.axis == "crr_fcra"}  # type: ignore[union-attr]
        assert bool(asked) == bool(used)
        assert ("fcra_score" in asked) == ("score" in used)
        seen.add(frozenset(used))
    assert {frozenset(), frozenset({"debt"})} < seen
    notice = " ".join(shared("loan").spec.notice.split())
    assert "used it in making" not in notice
    assert "We obtained your credit score" in notice
    for key in ("fico_score", "utilization", "monthly_debt"):
        assert "application" not in shared("loan").spec.facts[key].documents


FIGURES = {
    "loan": {"fact:loan_amount": "$99,999"},
    "claims": {
        "amount": "$77",
        "fact:repair_estimate": "$77",
        "fact:deductible": "77 dollars",
        "fact:policy_number": "POL-000000",
    },
    "prior_authorization": {"fact:member_id": "MEM-000000"},
    "change_release": {"fact:change_number": "CHG-000000"},
    "lab_results": {"fact:set_number": "SET-000000"},
    "voucher_hearing": {"fact:hearing_number": "HRG-000000"},
}


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS)
def test_a_wrong_figure_fails_and_a_missing_one_does_not(spec: str) -> None:
    n = 0
    for index, case, gold in adverse(spec):
        for name, wrong in FIGURES[spec].items():
            assert unmet(gold, filled(spec, index, case, **{name: wrong})) == {"figures"}
            unstated = filled(spec, index, case, **{name: "not established"})
            assert unmet(gold, unstated) == set()
            n += 1
    assert n > 40


@pytest.mark.slow
def test_a_right_figure_may_be_written_in_any_way_and_a_longer_one_is_another() -> None:
    for index, case, gold in adverse("loan"):
        sampled = shared("loan").sampled(SEED, index)
        if sampled.gap is not None and sampled.gap.key == "loan_amount":
            continue
        amount = int(sampled.facts["loan_amount"])  # type: ignore[arg-type]
        for text in (f"${amount:,}", f"${amount}", f"{amount:,} dollars", f"USD {amount:,}.00"):
            assert unmet(gold, filled("loan", index, case, **{"fact:loan_amount": text})) == set()
        for text in (f"${amount:,},000", f"${amount:,}.50", f"${amount + 1_000:,}"):
            wrong = filled("loan", index, case, **{"fact:loan_amount": text})
            assert unmet(gold, wrong) == {"figures"}


def test_the_notice_is_the_text_of_the_regulation(data_dir: Path) -> None:
    """The ECOA notice and the FCRA sentences stand in the form letter as in 12 CFR 1002 itself."""
    path = data_dir / "regulation_b" / "regulation_b_1002.tar.xz"
    if not path.is_file():
        pytest.skip(f"no text of the regulation: {path}")
    with tarfile.open(path) as archive:
        member = archive.extractfile("regulation/2017-20417_20220101.xml")
        assert member is not None
        text = re.sub(r"<[^>]+>", " ", member.read().decode())

    def plain(words: str) -> str:
        return re.sub(r"\W+", " ", words).casefold()

    regulation, notice = plain(text), plain(shared("loan").spec.notice)
    for passage in (
        "The Federal Equal Credit Opportunity Act prohibits creditors from discriminating against "
        "credit applicants on the basis of race, color, religion, national origin, sex, marital "
        "status, age (provided the applicant has the capacity to enter into a binding contract); "
        "because all or part of the applicant's income derives from any public assistance program; "
        "or because the applicant has in good faith exercised any right under the Consumer Credit "
        "Protection Act.",
        "Federal Trade Commission, Equal Credit Opportunity, Washington, DC 20580",
        "You also have a right to a free copy of your report from the reporting agency, if you "
        "request it no later than 60 days after you receive this notice.",
        "The reporting agency played no part in our decision and is unable to supply specific "
        "reasons why we have denied credit to you.",
    ):
        assert plain(passage) in regulation
        assert plain(passage) in notice


@pytest.mark.parametrize("spec", SPECS)
def test_reasoning_points_are_met_by_their_own_text_and_denied_by_the_opposite(spec: str) -> None:
    for case in cases(spec)[:80]:
        points = case.gold.reasons
        assert any(":" in point.id for point in points) or not case.gold.decidable
        assert any(":" not in point.id for point in points)
        for point in points:
            text = point.text.casefold()
            assert "not not" not in " ".join((text, *point.forbids))
            for group in point.requires:
                assert any(phrase.casefold() in text for phrase in group), point
            assert not any(phrase.casefold() in text for phrase in point.forbids), point
            if " is not " in text and ":" in point.id:
                opposite = text.replace(" is not ", " is ")
            else:
                opposite = text.replace(" is ", " is not ", 1)
            if ":" in point.id:
                assert any(phrase.casefold() in opposite for phrase in point.forbids), point


@pytest.mark.parametrize("spec", SPECS)
def test_the_card_names_the_standard_and_does_not_hold_a_notice_that_meets_it(spec: str) -> None:
    """By default copying what is told is no notice; the form is given only where asked for."""
    domain = type(shared(spec))
    told = {
        way: domain(replace(shared(spec).settings, notice=way)).case(SEED, 0).task.notice  # type: ignore[arg-type]
        for way in ("given", "named", "none")
    }
    assert domain.Settings().notice == "named"
    assert shared(spec).spec.standard.name in told["named"]
    assert told["given"] == shared(spec).spec.notice
    for _, _, gold in adverse(spec):
        copied = told["named"] + " Reasons: " + "; ".join(gold.principal_reasons)
        assert len(unmet(gold, copied)) >= 3
        assert len(unmet(gold, told["none"])) >= len(unmet(gold, copied))


@pytest.mark.parametrize("spec", SPECS)
def test_who_knows_the_named_standard_meets_it(spec: str) -> None:
    """The rule-based model writes from what is named as it did from the form that was given."""
    n = 0
    for _, case, gold in list(adverse(spec))[:12]:
        one = shared(spec)
        view = "\n\n".join(event.text for event in one.history(case.history_id))
        request = AnswerRequest(task=case.task, view=view)
        found = answer_by_rule(Decide(), request)
        if found.decision == gold.decision and set(found.reasons) == set(gold.principal_reasons):
            assert unmet(gold, found.notice) == set()
            n += 1
        plain = replace(case.task, notice="The notice to the applicant.")
        told_nothing = answer_by_rule(Decide(), replace(request, task=plain))
        assert unmet(gold, told_nothing.notice)
    assert n >= 2
