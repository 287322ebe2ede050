from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.studies.leaks.bank_support import names_policy, names_tool, popularity
from framework.contracts import Scored
from framework.errors import DataError, UserError
from framework.operations.answering import AnswerRequest
from framework.records import Answer, Case, MemoryView
from framework.registry import NoSettings
from framework.testing.domain_conformance import check_domain
from plugins.domains.bank_support.actions import Action, done, expected, met, parsed, written
from plugins.domains.bank_support.axis import Actions
from plugins.domains.bank_support.domain import HISTORY, BankSupport, BankSupportSettings
from plugins.domains.bank_support.operation import PlanActions, PlanActionsRule
from plugins.domains.data_file import BadRecordError
from tests.launching import framework, run
from tests.plugins.domains.malformed import check_malformed
from tests.plugins.domains.ranked import check_ranking

FIXTURES = Path(__file__).parents[3] / "fixtures" / "bank_support"
DOCUMENTS, TASKS = FIXTURES / "documents.json", FIXTURES / "tasks.json"
RECORDS = FIXTURES / "records.json"


def opened(path: Path = DOCUMENTS, tasks: Path = TASKS, **settings: Any) -> BankSupport:
    given = {"path": str(path), "tasks": str(tasks), "unknown_file": True, **settings}
    return BankSupport(BankSupportSettings(**given))


def published(data_dir: Path) -> BankSupport:
    folder = data_dir / "tau2_banking"
    return opened(folder / "documents.json", folder / "tasks.json", unknown_file=False)


def by_id(domain: BankSupport) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, 0)}


@pytest.mark.slow
def test_the_laws_hold_of_the_fixture_and_of_the_published_data(data_dir: Path) -> None:
    check_domain(BankSupport, opened().settings)
    domain = published(data_dir)
    check_domain(BankSupport, domain.settings, n=20)
    cases = list(domain.cases(None, 0))
    assert (len(cases), len(list(domain.history(HISTORY)))) == (97, 698)
    assert (min(len(c.gold.evidence) for c in cases), max(len(c.gold.evidence) for c in cases)) == (
        1,
        30,
    )
    assert len({case.cluster for case in cases}) == 53
    assert domain.provenance == BankSupport.provenance


def test_an_event_is_a_policy_and_the_gold_what_the_task_requires() -> None:
    domain = opened()
    events = {event.id: event.text for event in domain.history(HISTORY)}
    assert list(events) == [record["id"] for record in json.loads(DOCUMENTS.read_text())]
    assert events["tide_card_001"].startswith("Tide Card: What It Costs\n## Fees\n")
    case = by_id(domain)["fx_03"]
    assert case.gold.evidence == ("accounts_001", "accounts_002", "desk_001")
    assert [item.key for item in case.gold.items] == list(case.gold.evidence)
    assert case.task.query.startswith("You are Cy Marsh")
    assert case.stratum == "1-4"
    assert case.tags == {"documents": "3", "actions": "4", "basis": "DB"}
    assert case.task.material["tools"].splitlines()[0] == (
        "apply_for_credit_card(card_type, customer_name)"
    )


def test_a_passage_is_a_line_that_no_other_policy_holds() -> None:
    domain = opened()
    texts = {event.id: event.text for event in domain.history(HISTORY)}
    spans = {item.key: item.spans[0].text for c in domain.cases(None, 0) for item in c.gold.items}
    # Both cards' second and third line on limits are the same.
    assert spans["tide_card_002"] == "1. The account has been open for at least 3 months."
    for name, span in spans.items():
        assert [other for other, text in texts.items() if span in text] == [name]


def test_tasks_that_share_half_of_what_they_require_are_one_cluster() -> None:
    clusters = {case.id: case.cluster for case in opened().cases(None, 0)}
    # fx_01 and fx_02 share one of three documents, which is less than half.
    assert len(set(clusters.values())) == 6


def test_clusters_hang_together_over_others(tmp_path: Path) -> None:
    records = json.loads(TASKS.read_text())
    records[5]["required_documents"] = ["accounts_001", "accounts_002"]
    records[4]["required_documents"] = ["accounts_002"]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(records))
    clusters = {case.id: case.cluster for case in opened(tasks=path).cases(None, 0)}
    assert clusters["fx_03"] == clusters["fx_05"] == clusters["fx_06"] == "fx_03"


def test_folders_of_one_file_a_record_are_read_as_the_lists_are(tmp_path: Path) -> None:
    for name, file in (("documents", DOCUMENTS), ("tasks", TASKS)):
        (tmp_path / name).mkdir()
        for number, record in enumerate(json.loads(file.read_text())):
            (tmp_path / name / f"{number}.json").write_text(json.dumps(record))
    domain = opened(tmp_path / "documents", tmp_path / "tasks")
    assert list(domain.cases(None, 0)) == list(opened().cases(None, 0))
    assert domain.digest() != opened().digest()
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"a folder without \.json files; get data/tau2"):
        opened(tmp_path / "empty")


@pytest.mark.slow
def test_the_published_records_are_known_in_a_file_each(data_dir: Path, tmp_path: Path) -> None:
    for name in ("documents", "tasks"):
        (tmp_path / name).mkdir()
        for record in json.loads((data_dir / "tau2_banking" / f"{name}.json").read_text()):
            record.pop("file", None)
            (tmp_path / name / f"{record['id']}.json").write_text(json.dumps(record, indent=2))
    domain = opened(tmp_path / "documents", tmp_path / "tasks", unknown_file=False)
    assert domain.provenance == BankSupport.provenance
    (tmp_path / "tasks" / f"{record['id']}.json").unlink()
    with pytest.raises(DataError, match=r"tasks: is sha256:.*unknown_file=true"):
        opened(tmp_path / "documents", tmp_path / "tasks", unknown_file=False)


def test_a_path_that_is_not_given_says_where_to_get_the_files() -> None:
    with pytest.raises(UserError, match=r"domain\.path: .*tau2-bench.*domain\.path=documents"):
        BankSupport(BankSupportSettings())
    with pytest.raises(UserError, match=r"domain\.tasks: no file given"):
        BankSupport(BankSupportSettings(path=str(DOCUMENTS)))
    with pytest.raises(DataError, match=r"documents\.json: is sha256:.* asks for 0000"):
        opened(sha256="0" * 64)


def test_files_that_are_not_the_published_ones_are_read_when_told(
    data_dir: Path, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=r"none of the published .*domain\.unknown_file=true"):
        opened(unknown_file=False)
    stated = {"source": "made up", "revision": "1", "licence": "CC0", "citation": "none"}
    made = {}
    for file in (DOCUMENTS, TASKS):
        made[file] = tmp_path / file.name
        whole = {"provenance": stated, "questions": json.loads(file.read_text())}
        made[file].write_text(json.dumps(whole))
    domain = opened(made[DOCUMENTS], made[TASKS], unknown_file=False)
    assert domain.provenance.licence == "CC0"
    path = made[TASKS]
    # The published policies with tasks of one's own are not the published data.
    policies = data_dir / "tau2_banking" / "documents.json"
    path.write_text(
        json.dumps(
            [
                {
                    **json.loads(TASKS.read_text())[0],
                    "required_documents": [json.loads(policies.read_text())[0]["id"]],
                }
            ]
        )
    )
    with pytest.raises(DataError, match=r"tasks\.json: is sha256:.*unknown_file=true"):
        opened(policies, path, unknown_file=False)


@pytest.mark.slow
def test_malformed_documents_and_tasks_end_in_one_line(tmp_path: Path) -> None:
    told = check_malformed(DOCUMENTS, tmp_path, lambda path: opened(path=path))
    assert told["0.title-gone"].endswith(
        "document 1 (id 'harbour_card_001'): title: text expected, nothing found"
    )
    told = check_malformed(TASKS, tmp_path, lambda path: opened(tasks=path))
    assert told["0.required_documents.0=text"].endswith(
        "task 1 (id 'fx_01'): required document 'none such' is not among the documents"
    )
    assert told["0.evaluation_criteria.actions.0.name=null"].endswith(
        "action 1: name: text expected, nothing found"
    )


# ------------------------------------------------------------------------------------ customers


def on_file(domain: BankSupport, case_id: str) -> Any:
    told = by_id(domain)[case_id].task.material.get("customer", "")
    return json.loads(told) if told else None


def test_what_the_bank_has_on_file_of_the_customer_is_handed_over() -> None:
    domain = opened(database=str(RECORDS))
    assert on_file(domain, "fx_03") == {
        "users": [{"user_id": "u3", "name": "Cy Marsh", "phone_number": "555-0103"}],
        "accounts": [
            {"account_id": "s3", "user_id": "u3", "balance": "20"},
            {"account_id": "c3", "user_id": "u3", "balance": "0"},
        ],
        # By the number of an account of theirs.
        "transactions": [{"transaction_id": "t1", "account_id": "s3", "amount": 20}],
    }
    assert on_file(domain, "fx_04") is None
    assert on_file(opened(), "fx_03") is None
    assert domain.digest() != opened().digest()
    assert [case.gold for case in domain.cases(None, 0)] == [
        case.gold for case in opened().cases(None, 0)
    ]


def test_a_task_changes_what_is_on_file(tmp_path: Path) -> None:
    records = json.loads(TASKS.read_text())
    added = {"accounts": {"data": {"s3": {"account_id": "s3", "user_id": "u3", "balance": "70"}}}}
    records[2]["initial_state"] = {"initialization_data": {"agent_data": added}}
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(records))
    found = on_file(opened(tasks=path, database=str(RECORDS)), "fx_03")
    assert [row["balance"] for row in found["accounts"]] == ["70", "0"]
    records[2]["initial_state"] = {"initialization_data": {"agent_data": {"accounts": 3}}}
    path.write_text(json.dumps(records))
    with pytest.raises(DataError, match=r"task 3 \(id 'fx_03'\): accounts\.data: a JSON object of"):
        opened(tasks=path)


@pytest.mark.slow
def test_malformed_records_end_in_one_line(tmp_path: Path) -> None:
    told = check_malformed(RECORDS, tmp_path, lambda path: opened(database=str(path)))
    assert told["users.data=list"].endswith("users.data: a JSON object of records expected")


# ------------------------------------------------------------------------------------- actions


def test_expected_actions_are_the_tools_that_are_called() -> None:
    actions = {c.id: parsed(c.gold.answer) or () for c in opened().cases(None, 0)}
    assert [action.name for action in actions["fx_03"]] == [
        "log_verification",
        "get_account_7001",
        "move_money_7003",
        "close_account_7002",
    ]
    assert actions["fx_03"][2].arguments == {"from": "s3", "to": "c3", "amount": 20.0}
    assert actions["fx_04"][0].compared == ("reason",)
    # A tool that is unlocked and never called stays.
    assert [action.name for action in actions["fx_06"]] == [
        "get_account_7001",
        "unlock_discoverable_agent_tool",
    ]
    assert actions["fx_06"][0].compared == ()


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"name": "call_discoverable_agent_tool", "arguments": {}}, "agent_tool_name: text"),
        (
            {
                "name": "call_discoverable_agent_tool",
                "arguments": {"agent_tool_name": "t_1234", "arguments": "{"},
            },
            r"action 1: arguments\.arguments: not JSON",
        ),
        ({"name": "t", "arguments": []}, "arguments: a JSON object expected, an empty list found"),
        ({"name": "t", "arguments": {}, "compare_args": [1]}, "compare_args: a list of texts"),
    ],
    ids=["no-name", "not-json", "a-list", "compared"],
)
def test_an_action_that_can_not_be_read_is_told(record: dict[str, Any], told: str) -> None:
    with pytest.raises(BadRecordError, match=told):
        expected([record])


def action(name: str, *compared: str, free: bool = False, **arguments: Any) -> Action:
    return Action(name=name, arguments=arguments, compared=compared if compared or free else None)


def test_an_action_is_met_by_its_name_and_what_is_compared() -> None:
    whole = action("pay", to="a", amount=20.0)
    assert whole.is_met_by(action("pay", amount=20, to="a"))
    assert not whole.is_met_by(action("pay", to="a"))
    assert not whole.is_met_by(action("pay", to="a", amount=20, note="x"))
    assert action("pay", "to", to="a", amount=1).is_met_by(action("pay", to="a", amount=2))
    assert not action("pay", "to", to="a").is_met_by(action("pay"))
    assert action("pay", free=True, to="a").is_met_by(action("pay"))


def test_each_given_action_counts_once() -> None:
    pay = action("pay", to="a")
    assert met([pay, pay], [pay]) == [pay]
    assert met([pay], [pay, pay]) == [pay]


def test_done_is_all_that_changes_anything_and_nothing_else() -> None:
    read, pay, close = action("get_it", id="1"), action("pay", to="a"), action("close", id="1")
    assert done([read, pay], [pay])
    assert done([read, pay], [pay, read, action("get_other")])
    assert not done([read, pay], [pay, close])
    assert not done([pay, close], [pay])
    assert not done([pay], [pay, pay])
    assert done([read], [read])
    assert not done([read], [])


def scored(domain: BankSupport, case: Case, text: str) -> dict[str, float | None]:
    view = MemoryView(items=(), tokens=0, budget_tokens=0)
    given = Scored(
        case=case,
        domain=domain,
        view=view,
        answer=Answer(text=text),
        retained={},
        judge=None,
        client=cast(Any, None),
    )
    return dict(Actions(NoSettings()).score(given).values)


def test_the_axis_by_hand() -> None:
    domain = opened()
    case = by_id(domain)["fx_03"]
    wanted = list(parsed(case.gold.answer) or ())
    assert set(scored(domain, case, written(wanted)).values()) == {1.0}
    # Three of four, one of them with another amount, and one tool more.
    wrong = action("move_money_7003", **{"from": "s3", "to": "c3", "amount": 2})
    given = [wanted[0], wanted[1], wrong, action("raise_limit_4410")]
    assert scored(domain, case, written(given)) == {
        "actions_correct": 0.0,
        "actions_f1": 2 * 2 / 8,
        "actions_precision": 2 / 4,
        "action_names_f1": 2 * 3 / 8,
        "action_names_precision": 3 / 4,
    }
    for nothing in ("", "[]", "none", '{"name": "x"}', "[3]", "[" * 100_000):
        found = scored(domain, case, nothing)
        assert (found["actions_correct"], found["actions_f1"]) == (0.0, 0.0)
        assert found["actions_precision"] is None


def test_a_plan_is_read_and_a_text_that_is_none_is_told() -> None:
    operation, case = PlanActions(), next(opened().cases(1, 0))
    request = AnswerRequest(task=case.task, view="Use raise_limit_4410 with the account.")
    prompt = operation.prompt(request)
    for part in (request.view, case.task.query, "log_verification(name, user_id)"):
        assert part in prompt.user
    text = '{"actions": [{"name": "pay", "arguments": "{\\"to\\": \\"a\\"}"}]}'
    response = operation.parse(text, request)
    assert response.actions == (action("pay", to="a"),)
    assert operation.parse(operation.render(response), request) == response
    assert parsed(operation.answer_of(response, case.task).text) == response.actions
    for bad in ("{}", '{"actions": 3}', '{"actions": [3]}', '{"actions": [{"name": "a"}]}'):
        with pytest.raises(ValueError, match="expected"):
            operation.parse(bad, request)
    with pytest.raises(ValueError, match="NaN is no number of JSON"):
        operation.parse('{"actions": [{"name": "a", "arguments": {"b": NaN}}]}', request)
    by_rule = PlanActionsRule().answer(request, cast(Any, None))
    assert by_rule.actions == (action("raise_limit_4410"),)


@pytest.mark.slow
def test_a_run_answers_and_retrieves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = (
        "domain=bank_support",
        f"domain.path={DOCUMENTS}",
        f"domain.tasks={TASKS}",
        "domain.unknown_file=true",
    )
    rest = ("arch=bm25,none", "budget=loose", "tracking=none", "report=false")
    done = run(capsys, "-m", *data, *rest, "protocol=evaluate")
    assert done.status == 0, done.err
    table = framework(capsys, "table", str(done.directory)).out
    assert "actions_correct" in table
    assert "ndcg_at_10" in table


# ------------------------------------------------------------------------------- published data


def test_ranking_agrees_with_ir_measures_on_the_published_data(data_dir: Path) -> None:
    domain = published(data_dir)
    means = check_ranking(domain, domain.cases(None, 0))
    assert 0 < means["recall_at_2"] <= means["recall_at_5"] < 1


def test_no_scenario_names_what_it_requires(data_dir: Path) -> None:
    """What a scenario gives away: no title of a policy, and only two names of tools."""
    domain = published(data_dir)
    policies = {event.id: event.text for event in domain.history(HISTORY)}
    cases = list(domain.cases(None, 0))
    assert not any(names_policy(case, policies) for case in cases)
    assert sum(map(names_tool, cases)) == 1


@pytest.mark.parametrize(
    ("own_cluster", "recall", "ndcg"), [(True, 0.0922, 0.2439), (False, 0.0922, 0.2130)]
)
def test_what_popularity_alone_earns(
    own_cluster: bool, recall: float, ndcg: float, data_dir: Path
) -> None:
    """What other tasks require most often first, ties in the file's order: recall@5 and nDCG@10."""
    domain = published(data_dir)
    cases = list(domain.cases(None, 0))
    documents = [event.id for event in domain.history(HISTORY)]
    found = popularity(cases, documents, own_cluster=own_cluster)
    assert found == pytest.approx((recall, ndcg), abs=5e-5)
