"""A right decision fits the short form that small models are asked in, notice and rationale too."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import Any

import jsonschema
import pytest

from framework.operations.answering import AnswerRequest
from framework.operations.prompted import PromptSet
from framework.records import Answer, Case, ReasoningPoint
from framework.registry import find
from framework.retention import facts
from tests.plugins.axes.helpers import EVERYTHING, score, scored
from tests.plugins.domains.regulated.support import shared

SMALL = PromptSet("small").bind(find("operation", "decide").cls())
NOTICES: Mapping[str, str] = {
    "loan": (
        "Harbor Lane Mortgage, 200 Quay Street. We deny your application: {reasons}. Equal Credit "
        "Opportunity Act prohibits creditors from bias by race, color, religion, national origin, "
        "sex, marital status, age, public assistance, Consumer Credit Protection Act rights: "
        "Federal Trade Commission, Washington, DC 20580. Meridian Credit Bureau, P.O. Box 4410, "
        "800-555-0167, had no part in the decision. Free copy in 60 days; dispute errors. Score "
        "{fico_score} ({report_date}; 300 to 850): {score_factor}."
    ),
    "claims": (
        "Your claim is {done} because of {reasons} under {provisions}. You may ask for review by "
        "the California Department of Insurance, 300 South Spring Street, 800-927-4357."
    ),
    "prior_authorization": (
        "Your request is denied. Reasons: {reasons}. Provisions: {provisions}. Additional "
        "information that would show the contrary helps. You may appeal within 180 days, and then "
        "sue under ERISA section 502(a). Criteria are free of charge."
    ),
    "change_release": (
        "Your change is blocked. Reasons: {reasons}. Rules: {provisions}. Submit it again with "
        "evidence, or ask the change advisory board within 5 working days. In the change log."
    ),
    "lab_results": (
        "Your measurements are rejected. Reasons: {reasons}. Criteria: {provisions}. Results sent "
        "are recalled. Corrective action: a new round. Our complaint process is yours on request; "
        "we answer in 15 working days."
    ),
    "voucher_hearing": (
        "Your termination is affirmed. Reasons: {reasons}. Sections: {provisions}. Facts by a "
        "preponderance of the evidence at the hearing. This copy is yours. A court may review it "
        "if asked within 30 days."
    ),
}
"""The shortest wording that is still a notice: what the checklist asks for and nothing else."""


def shortest(point: ReasoningPoint) -> str:
    """`DTI 26.8% is at or above UP-7`; for what is no comparison, its words alone."""
    subject, value, basis = (min(words, key=len) for words in point.requires)
    if not point.relation:
        return f"{subject} {value} {basis}"
    relation = re.search(
        r" is (?:not )?(?:one of|(?:at or )?(?:above|below)|after|before)\b", point.text
    )
    assert relation is not None, point
    return f"{subject} {value}{relation[0]} {basis}"


def short(spec: str, case: Case) -> dict[str, Any]:
    gold = case.gold
    known = {item.key: item.anchors[0] for item in facts(gold)}
    said = {
        **dict.fromkeys(("fico_score", "report_date", "score_factor"), "not known"),
        **known,
        "reasons": "; ".join(gold.principal_reasons),
        "provisions": ", ".join(gold.provisions),
        "done": "paid in part" if gold.amount else "denied",
    }
    return {
        "decision": gold.decision,
        "confidence": 0.9,
        "amount": gold.amount,
        "facts": dict.fromkeys(field.key for field in case.task.fields) | known,
        "reasons": list(gold.principal_reasons),
        "provisions": list(gold.provisions),
        "rationale": ". ".join(map(shortest, gold.reasons)),
        "notice": NOTICES[spec].format(**said) if gold.decision in gold.adverse else "",
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "too_long"),
    [
        *(("loan", 1), ("claims", 22), ("prior_authorization", 16)),
        *(("change_release", 16), ("lab_results", 17), ("voucher_hearing", 23)),
    ],
)
def test_a_right_decision_fits_the_short_form_and_has_every_point(spec: str, too_long: int) -> None:
    """In so many cases the shortest rationale with every point is longer than the form's."""
    domain = shared(spec)
    reached: Counter[str] = Counter()
    longer = []
    for case in islice(domain.cases(80, 7), 80):
        request = AnswerRequest(task=case.task, view="")
        said = short(spec, case)
        form: Any = SMALL.schema(request)
        if len(said["rationale"]) > form["properties"]["rationale"]["maxLength"]:
            longer.append(case.id)
            said["rationale"] = ""
        jsonschema.validate(said, form)
        answer = Answer(**asdict(SMALL.parse(json.dumps(said), request)))
        given = replace(scored(answer, case.gold, EVERYTHING), case=case, domain=domain)
        for axis, column in (
            ("frp", "frp"),
            ("rcs", "rcs"),
            ("eda", "eda"),
            ("crr", "crr"),
            ("crr", "crr_fcra"),
        ):
            value = score(axis, given).values[column]
            assert value in (None, 1.0) or (column == "rcs" and not said["rationale"]), case.id
            reached[column] += value == 1.0
    assert min(reached[column] for column in ("frp", "rcs", "eda")) >= 50
    assert reached["crr"] > 10
    assert bool(reached["crr_fcra"]) is (spec == "loan")
    assert len(longer) == too_long
    if spec == "loan":
        assert not {case.id for case in domain.cases(20, 7)} & set(longer), "those of `make lm`"
