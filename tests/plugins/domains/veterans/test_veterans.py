from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from framework.errors import DataError, UserError
from framework.pipeline.pack import pack
from framework.records import Answer, Case, Item
from framework.retention import retained
from framework.testing.domain_conformance import check_domain
from plugins.domains.veterans.domain import Veterans, VeteransSettings
from plugins.domains.veterans.loading import EVIDENCE, RULE, states_outcome
from plugins.domains.veterans.order import DENY, GRANT, OTHER, decided
from tests.launching import framework, run
from tests.plugins.domains.malformed import check_malformed
from tests.plugins.domains.ranked import check_ranking

FIXTURE = Path(__file__).parents[3] / "fixtures" / "veterans" / "decisions.json"


def opened(path: Path = FIXTURE, **settings: Any) -> Veterans:
    given = {"haystack": 5, "unknown_file": True, **settings}
    return Veterans(VeteransSettings(path=str(path), **given))


def published(data_dir: Path, **settings: Any) -> Veterans:
    path = data_dir / "vetclaims" / "decisions_50.json"
    return Veterans(VeteransSettings(path=str(path), **settings))


def by_id(domain: Veterans) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, 0)}


@pytest.mark.parametrize("claim_file", ["shown", "hidden"])
def test_the_laws_hold_of_the_fixture(claim_file: Any) -> None:
    check_domain(Veterans, opened(claim_file=claim_file).settings)


@pytest.mark.slow
def test_the_laws_hold_of_the_published_decisions(data_dir: Path) -> None:
    domain = published(data_dir)
    check_domain(Veterans, domain.settings, n=2)
    assert domain.provenance == Veterans.provenance


# ------------------------------------------------------------------------------------ what is held


def test_a_claim_is_decided_by_all_that_order_and_remand_say_of_it() -> None:
    assert {name: case.gold.decision for name, case in by_id(opened()).items()} == {
        "9900001-1": GRANT,
        "9900002-1": DENY,  # and a back disability, of which no sentence is
        "9900003-1": DENY,
        "9900003-2": OTHER,  # sent back
        "9900004-1": OTHER,  # a part granted, a part denied
        "9900005-1": DENY,  # reopening alone and a rating are no claims
    }
    assert opened().report([])["claims_remand_or_mixed"] == 2


def order(issue: str, *paragraphs: str, remand: str = "") -> str:
    body = "\n\n".join(paragraphs)
    return (
        f"THE ISSUE\n\n{issue}\n\n\nREPRESENTATION\n\nx\n\nINTRODUCTION\n\n{remand}\n\n\n"
        f"ORDER\n\n{body}\n\n\n____\nA. B.\n"
    )


PTSD = "Entitlement to service connection for PTSD."


@pytest.mark.parametrize(
    ("issue", "paragraphs", "outcome"),
    [
        (PTSD, ["Service connection for PTSD is granted."], GRANT),
        (PTSD, ["Service connection for PTSD is denied."], DENY),
        (PTSD, ["The appeal for service connection for PTSD is dismissed."], OTHER),
        (PTSD, ["The claim for PTSD is reopened; service connection is denied."], DENY),
        (
            "Whether new and material evidence has been received to reopen a claim for PTSD, and "
            "if so, whether service connection is warranted.",
            [
                "Reopening of the claim for PTSD is granted.",
                "Service connection for PTSD is granted.",
            ],
            GRANT,
        ),
        (PTSD, ["The appellant's claims, as discussed above, are denied."], DENY),
        (PTSD, ["Service connection for PTSD is denied.", "For anxiety it is granted."], OTHER),
    ],
    ids=["granted", "denied", "dismissed", "reopened", "both-steps", "all-claims", "parts"],
)
def test_outcomes_by_hand(issue: str, paragraphs: list[str], outcome: str) -> None:
    (claim,) = decided(order(issue, *paragraphs)).claims
    assert claim.outcome == outcome


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no issue on a psychiatric disability"),
        (order("Entitlement to service connection for a knee.", "It is denied."), "no issue on"),
        (order(PTSD, "Nothing."), "no section ORDER"),
        (order(PTSD, "Reopening of PTSD is granted."), "neither ORDER nor a remand decides"),
    ],
    ids=["empty", "knee", "no-verb", "reopening-alone"],
)
def test_a_text_that_decides_no_such_claim_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        decided(text)


def test_a_history_holds_evidence_and_rules_in_order_and_nothing_that_was_held_out() -> None:
    domain = opened(haystack=0)
    case = by_id(domain)["9900002-1"]
    events = list(domain.history(case.history_id))
    assert [event.kind for event in events] == ["rule", *["evidence"] * 3, "rule"]
    file = case.history_id
    assert events[1].text == (
        f"Claim file {file}: Service treatment records show no complaint of low mood."
    )
    assert events[0].text.startswith("Service connection requires")
    assert {event.time for event in events} == {"2014-07-09"}
    assert file in case.task.query
    assert "9900002" not in "".join(event.text + event.id for event in events) + file
    records = json.loads(FIXTURE.read_text())
    held_out = [
        sentence["text"]
        for record in records
        for sentence in record["sentences"]
        if not {EVIDENCE, RULE} & set(sentence["rhetRole"])
    ]
    whole = opened()
    for case in whole.cases(None, 0):
        text = "\n".join(event.text for event in whole.history(case.history_id))
        assert not any(sentence.strip() in text for sentence in held_out)
        assert "was denied" not in text
        assert "not for application" not in text
    assert whole.report([])["held_out"] == 2


def test_gold_is_the_evidence_the_rules_and_the_findings() -> None:
    domain = opened()
    case = by_id(domain)["9900004-1"]
    texts = {event.id: event.text for event in domain.history(case.history_id)}
    assert [texts[name].partition(": ")[2][:14] for name in case.gold.evidence] == [
        "A sick call sl",
        "The diagnosis ",
        "An October 201",
    ]
    assert Counter(item.kind for item in case.gold.items) == {"passage": 3, "rule": 1}
    assert all(item.critical == (item.kind == "passage") for item in case.gold.items)
    assert [point.text for point in case.gold.reasons] == [
        "The Veteran's anxiety disorder began in service.",
        "No stressor for PTSD is shown.",
    ]
    both = by_id(domain)
    one, other = both["9900003-1"], both["9900003-2"]
    assert (one.cluster, one.history_id) == (other.cluster, other.history_id)
    assert one.gold.items == other.gold.items


def test_the_haystack_repeats_nothing_grows_and_has_an_end() -> None:
    least = int(opened(haystack=0).report([])["haystack_most"])
    assert least > 5
    smaller, larger = opened(haystack=3), opened(haystack=least)
    for case in smaller.cases(None, 0):
        few = {event.id for event in smaller.history(case.history_id)}
        events = list(larger.history(case.history_id))
        assert few <= {event.id for event in events}
        assert len(events) == len(few) - 3 + least
        texts = [event.text.partition(": ")[2] or event.text for event in events]
        assert len(set(texts)) == len(texts)
        assert [e.time for e in events] == sorted(e.time for e in events)
    with pytest.raises(UserError, match=f"domain.haystack: {least + 1} given, .* give {least} "):
        opened(haystack=least + 1)
    assert smaller.nominal_tokens < larger.nominal_tokens


def test_evidence_of_others_in_the_same_words_does_not_count_as_one_s_own() -> None:
    """`The diagnosis was panic disorder.` stands in two decisions."""
    domain = opened(haystack=int(opened(haystack=0).report([])["haystack_most"]))
    case = by_id(domain)["9900004-1"]
    others = [e for e in domain.history(case.history_id) if e.id not in case.gold.evidence]
    kept = retained(case.gold, pack([Item(id=e.id, text=e.text) for e in others], None, "whole"))
    assert not any(kept[item.id] for item in case.gold.items if item.critical)


@pytest.mark.parametrize(
    ("text", "role", "states"),
    [
        ("The claim for service connection must be denied.", EVIDENCE, True),
        ("Service connection for PTSD is warranted.", EVIDENCE, True),
        ("The preponderance of the evidence is against the claim.", EVIDENCE, True),
        ("The Veteran contends that service connection is warranted.", EVIDENCE, False),
        ("The Veteran denied any nervous trouble.", EVIDENCE, False),
        ("Service connection will be granted for a disease incurred in service.", RULE, False),
        ("In this case, the benefit of the doubt doctrine is not for application.", RULE, True),
    ],
    ids=["denied", "warranted", "preponderance", "contends", "symptoms", "abstract", "at-hand"],
)
def test_what_states_the_outcome(text: str, role: str, states: bool) -> None:
    assert states_outcome(text, role) is states


def test_success_is_the_decision() -> None:
    case = by_id(opened())["9900001-1"]
    assert opened().success(Answer(decision=GRANT), case.gold)
    assert not opened().success(Answer(decision=DENY), case.gold)


# ------------------------------------------------------------------------------------------- files


def test_a_folder_of_one_file_a_decision_is_read_as_the_list_is(tmp_path: Path) -> None:
    for record in json.loads(FIXTURE.read_text()):
        (tmp_path / record["file"]).write_text(json.dumps(record))
    domain = opened(tmp_path)
    assert list(domain.cases(None, 0)) == list(opened().cases(None, 0))


@pytest.mark.slow
def test_the_published_decisions_are_known_in_a_file_each(data_dir: Path, tmp_path: Path) -> None:
    for record in json.loads((data_dir / "vetclaims" / "decisions_50.json").read_text()):
        name = record.pop("file")
        (tmp_path / name).write_text(json.dumps(record, indent=4))
    domain = Veterans(VeteransSettings(path=str(tmp_path)))
    assert domain.provenance == Veterans.provenance
    path = tmp_path / name
    path.write_text(path.read_text().replace("EvidenceSentence", "ReasoningSentence", 1))
    with pytest.raises(DataError, match=r"none of the published .*domain\.unknown_file=true"):
        Veterans(VeteransSettings(path=str(tmp_path)))


def test_a_folder_that_holds_the_list_says_which_file_to_name(tmp_path: Path) -> None:
    (tmp_path / "decisions.json").write_text(FIXTURE.read_text())
    with pytest.raises(DataError, match=r"holds a list: domain\.path=.*decisions\.json reads it"):
        opened(tmp_path)


@pytest.mark.slow
def test_malformed_decisions_end_in_one_line(tmp_path: Path) -> None:
    told = check_malformed(FIXTURE, tmp_path, lambda path: opened(path, haystack=0))
    first = "decision 1 (docID '9900001'): "
    assert told["0.text=empty"].endswith(f"{first}text: text expected, empty")
    assert told["0.text=text"].endswith(
        f"{first}text: no issue on a psychiatric disability under THE ISSUE"
    )
    assert told["0.metadm.decisionDate=number"].endswith(
        f"{first}metadm.decisionDate: a date expected, 3 found"
    )
    assert "sentence 1: rhetRole" in told["0.sentences.0.rhetRole=list"]


def test_where_the_file_comes_from_is_told() -> None:
    with pytest.raises(UserError, match=r"domain\.path: .*VetClaims-JSON.*domain\.path=FOLDER"):
        Veterans(VeteransSettings())
    with pytest.raises(DataError, match=r"none of the published .*domain\.unknown_file=true"):
        opened(unknown_file=False)


@pytest.mark.slow
def test_a_run_decides_and_retrieves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = ("domain=veterans", f"domain.path={FIXTURE}", "domain.haystack=5")
    rest = ("domain.unknown_file=true", "arch=bm25,none", "budget=loose", "tracking=none")
    done = run(capsys, "-m", *data, *rest, "report=false", "protocol=evaluate")
    assert done.status == 0, done.err
    table = framework(capsys, "table", str(done.directory)).out
    assert "retained_critical" in table
    assert "eda" in table


# --------------------------------------------------------------------------------- published data


GRANTED = frozenset(
    {
        *("1455333-1", "1455570-1", "1456128-1", "1456911-1", "1514004-1", "1525217-1"),
        *("1534347-1", "1549197-1", "1554165-1", "1607479-2", "1630016-1", "1630402-1"),
        *("1632746-1", "1633713-1", "1633713-2", "1701504-1", "1709261-1", "1713743-1"),
        "1720286-1",
    }
)
OTHERS = frozenset({"1315144-1", "1455333-2", "1710389-1", "1716934-1", "1741477-1"})
"""Every ORDER of the 50 decisions was read; all other claims are denied."""


@pytest.mark.slow
def test_the_published_claims_are_those_read_by_hand(data_dir: Path) -> None:
    found = by_id(published(data_dir))
    by_hand = {n: GRANT if n in GRANTED else OTHER if n in OTHERS else DENY for n in found}
    assert {name: case.gold.decision for name, case in found.items()} == by_hand
    assert Counter(by_hand.values()) == {DENY: 30, GRANT: 19, OTHER: 5}
    assert len({case.cluster for case in found.values()}) == 50


@pytest.mark.slow
def test_ranking_agrees_with_ir_measures_on_the_published_data(data_dir: Path) -> None:
    domain = published(data_dir, haystack=200)
    means = check_ranking(domain, domain.cases(None, 0))
    assert 0 < means["map"] <= 1
