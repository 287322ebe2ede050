"""A bad spec file or setting is one line that names file and key."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.errors import UserError
from framework.registry import find, settings_of
from plugins.domains.regulated import generate
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.loading import SPECS, find_spec, load_spec
from plugins.domains.regulated.settings import RegulatedSettings
from tests.plugins.domains.regulated.support import SPECS as NAMES

Edit = Callable[[dict[str, Any]], object]


@cache
def loan() -> dict[str, Any]:
    data = yaml.safe_load((SPECS / "loan.yaml").read_text())
    assert isinstance(data, dict)
    return data


def written(path: Path, edit: Edit) -> Path:
    data = copy.deepcopy(loan())
    edit(data)
    file = path / "mine.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    return file


def put(value: Any, *keys: str | int) -> Edit:
    def edit(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return edit


def drop(*keys: str | int) -> Edit:
    def edit(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        del data[keys[-1]]

    return edit


WHEN = ("rules", 0, "when", 0)


def few_rules(data: dict[str, Any]) -> None:
    kept = ("dti", "ltv", "rate", "property")
    data["rules"] = [rule for rule in data["rules"] if rule["id"] in kept]
    data["policy"]["in_force"] = [4, 4]


NORMAL = {"kind": "normal", "mean": 700, "sd": 70, "source": "assumed"}
LOGNORMAL = {"kind": "lognormal", "median": 700, "sigma": 0.1, "source": "assumed"}
MISTAKES = {
    "unknown top key": (put(1, "lable"), "lable: no such key"),
    "unknown key of a fact": (put("x", "facts", "income", "lable"), "facts.income.lable: no such"),
    "near match": (put("x", "facts", "income", "lable"), "did you mean 'label'?"),
    "missing key": (drop("facts", "income", "label"), "facts.income.label: a value is required"),
    "wrong type": (put("x", "facts", "income", "step"), "facts.income.step: 'x' given, a number"),
    "unknown fact type": (put("cash", "facts", "income", "type"), "facts.income.type: 'cash'"),
    "not a range": (put([9, 1], "facts", "income", "range"), "facts.income.range"),
    "no source": (
        drop("facts", "income", "distribution", "source"),
        "facts.income.distribution.source",
    ),
    "unknown distribution": (
        put("gauss", "facts", "income", "distribution", "kind"),
        "facts.income.distribution.kind: 'gauss'",
    ),
    "rule over an unknown fact": (
        put("incom", *WHEN, "fact"),
        "rules.dti.when.0.fact: no fact 'incom'; did you mean 'income'?",
    ),
    "comparator of another type": (
        put(["one of"], *WHEN, "comparators"),
        "rules.dti.when.0.comparators: 'one of' does not fit dti, a percent",
    ),
    "unknown comparator": (put(["over"], *WHEN, "comparators"), "comparators: 'over' given"),
    "up and down": (put(["above", "below"], *WHEN, "comparators"), "all upward or all downward"),
    "threshold out of range": (
        put([4, 900], *WHEN, "far"),
        "rules.dti.when.0.far: threshold out of range",
    ),
    "near beyond far": (put([5, 9], *WHEN, "near"), "rules.dti.when.0.far: 0 < near < far"),
    "two rules of one id": (put("ltv", "rules", 0, "id"), "rules: two rules of one id"),
    "unknown decision": (put("REFUSE", "rules", 0, "decision"), "rules.dti.decision: 'REFUSE'"),
    "code without a number": (put("UP", "rules", 0, "code"), "rules.dti.code: {n}"),
    "reason with a period": (put("too. much", "rules", 0, "reason"), "rules.dti.reason"),
    "a denial without a reason": (drop("rules", 0, "reason"), "rules.dti.reason"),
    "formula over an unknown fact": (
        put("debts / income", "facts", "dti", "formula"),
        "facts.dti.formula: no fact 'debts'",
    ),
    "formula that is none": (put("income ** 2", "facts", "dti", "formula"), "facts.dti.formula"),
    "labels that do not sum to 1": (
        put({"APPROVE": 0.5, "DENY": 0.5, "ABSTAIN": 0.5}, "labels"),
        "labels: shares",
    ),
    "verbs incomplete": (drop("verbs", "ABSTAIN"), "verbs: "),
    "a held-out form with a label": (
        put(
            "The credit score is {value} at the bureau.",
            "facts",
            "fico_score",
            "held_out",
            "forms",
            0,
        ),
        "holds 'credit score', a public label of fico_score",
    ),
    "a held-out form without its value": (
        put("At the bureau.", "facts", "fico_score", "held_out", "forms", 0),
        "facts.fico_score.held_out.forms.0: {value} exactly once",
    ),
    "too few held-out forms": (
        put(["bureau {value}"], "facts", "fico_score", "held_out", "forms"),
        "facts.fico_score.held_out.forms: 1 given, at least 4",
    ),
    "unknown slot": (
        put("See {nowhere}.", "documents", "application", "sentences", 0),
        "documents.application.sentences.0: no slot 'nowhere'",
    ),
    "unknown slot in a slot": (put(["{nowhere}"], "slots", "phone"), "slots.phone: no slot"),
    "unknown document": (
        put(["aplication"], "facts", "income", "documents"),
        "facts.income.documents: no record 'aplication'; did you mean 'application'?",
    ),
    "unknown use": (put("recrod", "documents", "application", "use"), "documents.application.use"),
    "no correction": (drop("documents", "correction_letter"), "documents: no document with use"),
    "precedence with a stranger": (
        put([["DENY", "HOLD", "APPROVE"]], "policy", "precedence"),
        "policy.precedence: 'HOLD'",
    ),
    "precedence incomplete": (
        put([["DENY", "APPROVE"]], "policy", "precedence"),
        "policy.precedence: each decision",
    ),
    "more rules in force than there are": (put([4, 99], "policy", "in_force"), "policy.in_force"),
    "held-out rule without its code": (
        put("{Verb} when {conditions}: {reason}.", "wording", "rules", 0),
        "wording.rules.0: the placeholders",
    ),
    "a calendar that ends before it begins": (
        put({"first": "x", "last": "y"}, "calendar"),
        "calendar.first: 'x' given, a date",
    ),
    "an amount for no decision": (put({"PAY": "1"}, "amounts"), "amounts.PAY: no such decision"),
    "a checklist item over an unknown fact": (
        put(["score"], "standard", "items", "fcra_score", "rests_on"),
        "standard.items.fcra_score: no fact 'score'",
    ),
    "a forbidden figure that is not set apart": (
        put(["of {fact:loan_amount}"], "standard", "items", "figures", "forbids"),
        "standard.items.figures.forbids: a placeholder stands as (?!{fact:KEY})",
    ),
    "a checklist key": (
        put("x", "standard", "items", "creditor", "require"),
        "standard.items.creditor.require: no such key",
    ),
    "prohibited bases that are not told": (
        put([], "standard", "prohibited"),
        "standard.prohibited: {prohibited_basis} of items.lawful_basis is made of it",
    ),
    "a favorable decision that is not told": (
        put(None, "standard", "favorable"),
        "standard.favorable: {other_action} of items.one_action is made of it",
    ),
    "two facts of one label": (
        put("Credit Score", "facts", "monthly_debt", "label"),
        "facts.fico_score.label: 'credit score' is a label of monthly_debt too",
    ),
    "a notice with an unknown fact": (
        put("It is {fact:incom}.", "notice"),
        "notice: no fact 'incom'; did you mean 'income'?",
    ),
    "a notice with an unknown placeholder": (
        put("For {reason}.", "notice"),
        "notice: no placeholder {reason}; did you mean 'reasons'?",
    ),
    "a required pattern that is none": (
        put([["we\\s+(decided"]], "standard", "items", "creditor", "requires"),
        r"standard.items.creditor.requires.0: 'we\\s+(decided' is no regular expression",
    ),
    "a forbidden pattern that is none": (
        put(["[a-"], "standard", "items", "creditor", "forbids"),
        "standard.items.creditor.forbids: '[a-' is no regular expression",
    ),
    "fewer rules in force than every case has": (
        put([1, 1], "policy", "in_force"),
        "policy.in_force: [1, 1] given, every case has at least 4 rules: 2 of DENY, 2 of ABSTAIN",
    ),
    "more rules in force than read different facts": (
        put([4, 9], "policy", "in_force"),
        "at most 8 rules can be in force together, as no two may read one fact: revolving and",
    ),
    "too few rules of the first decision": (
        few_rules,
        "rules: 3 of DENY that read different facts expected",
    ),
    "a rule that reads a fact twice": (
        lambda data: data["rules"][0]["when"].append(data["rules"][0]["when"][0]),
        "rules.dti.when: two conditions read dti, a rule reads a fact once",
    ),
    "a mean out of range": (
        put(
            {"kind": "normal", "mean": 5200, "sd": 70, "source": "assumed"},
            "facts",
            "fico_score",
            "distribution",
        ),
        "facts.fico_score.distribution.mean: 5200 given, outside the range",
    ),
    **{
        f"{key} of {value}": (
            put({**given, key: value}, "facts", "fico_score", "distribution"),
            f"facts.fico_score.distribution.{key}: {value} given, above 0 expected",
        )
        for given, key in ((NORMAL, "sd"), (LOGNORMAL, "sigma"), (LOGNORMAL, "median"))
        for value in (0, -40)
    },
    "quantiles out of range": (
        put(
            {"kind": "quantiles", "values": [1, 2], "source": "assumed"},
            "facts",
            "fico_score",
            "distribution",
        ),
        "facts.fico_score.distribution.values: none within the range",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_built_in_specs_load(name: str) -> None:
    spec = load_spec(find_spec(name))
    assert spec.name == name
    assert all(f.formula or f.distribution for f in spec.facts.values())
    for fact in spec.facts.values():
        if fact.distribution is not None:
            assert fact.distribution.source


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_file_and_key(tmp_path: Path, mistake: str) -> None:
    edit, message = MISTAKES[mistake]
    file = written(tmp_path, edit)
    with pytest.raises(UserError) as caught:
        load_spec(file)
    told = str(caught.value)
    assert told.startswith(f"{file}: ")
    assert message in told
    assert "\n" not in told


SEVERAL = {
    "keys and types": ({
        "lable": ("lable",), "x": ("facts", "income", "lable"), "slow": ("facts", "income", "step"),
        "cash": ("facts", "fico_score", "type"), "UP": ("rules", 0, "code"),
        "over": ("rules", 1, "when", 0, "comparators"),
    }, 6),
    "across sections": ({
        "{nowhere}": ("documents", "application", "sentences", 0), "incom": (*WHEN, "fact"),
        "REFUSE": ("rules", 1, "decision"), "HOLD": ("default",),
        "{elsewhere}": ("documents", "application", "sentences", 1),
    }, 5),
}  # fmt: skip


@pytest.mark.parametrize("kind", SEVERAL)
def test_the_faults_of_a_spec_are_told_at_once(tmp_path: Path, kind: str) -> None:
    faults, least = SEVERAL[kind]

    def edit(data: Any) -> None:
        for value, keys in faults.items():
            put(value, *keys)(data)

    with pytest.raises(UserError) as caught:
        load_spec(written(tmp_path, edit))
    told = str(caught.value)
    assert "\n" not in told
    assert len(told.split("; ")) >= least
    for keys in faults.values():
        parts = ["dti" if key == 0 and keys[0] == "rules" else key for key in keys[:2]]
        assert ".".join(str(part) for part in parts if part != 1) in told, (keys, told)


def test_of_many_faults_ten_are_told_and_the_rest_counted(tmp_path: Path) -> None:
    def edit(data: Any) -> None:
        data["documents"]["application"]["sentences"] += [f"{{no_{i}}}" for i in range(14)]

    with pytest.raises(UserError) as caught:
        load_spec(written(tmp_path, edit))
    assert str(caught.value).count("no slot 'no_") == 10
    assert str(caught.value).endswith("; and 4 more")


def test_a_spec_of_ones_own_works_from_its_path(tmp_path: Path) -> None:
    file = written(tmp_path, put("mine", "name"))
    one = Regulated(RegulatedSettings(spec=str(file)))
    (case,) = one.cases(1, 0)
    assert case.id == "mine-s0-000000"
    assert list(one.history(case.history_id))
    assert one.digest() != Regulated(RegulatedSettings()).digest()


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no spec 'lona'; did you mean 'loan'"):
        find_spec("lona")
    with pytest.raises(UserError, match="no such file"):
        find_spec(str(tmp_path / "absent.yaml"))
    bad = tmp_path / "bad.yaml"
    bad.write_text("facts: [")
    with pytest.raises(UserError, match="not readable as YAML"):
        load_spec(bad)
    bad.write_text("- 1\n")
    with pytest.raises(UserError, match="a mapping of keys is expected"):
        load_spec(bad)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            b"name: x\ncalendar: {first: 2025-02-30}\n",
            ":2: not readable as YAML: day is out of range",
        ),
        (b"name: x\nb: {a: b: c}\n", ":2: not readable as YAML: while parsing a flow mapping"),
        (b"name: x\nname: y\n", ":2: not readable as YAML: the key 'name' stands twice"),
        (b"name: x\n# caf\xe9\n", ":2: not UTF-8 text"),
        (b'name: "\x07"\n', ": not readable as YAML: unacceptable character"),
    ],
)
def test_what_is_no_yaml_is_told_with_file_and_line(tmp_path: Path, data: bytes, told: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(data)
    with pytest.raises(UserError) as caught:
        load_spec(file)
    assert str(caught.value).startswith(f"{file}{told}")
    assert "unicode string" not in str(caught.value)


def test_rules_without_room_are_a_mistake_of_the_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(data: dict[str, Any]) -> None:
        for fact in data["facts"].values():
            if "revision" in fact:  # larger than any value that there could be
                fact |= {"revision": [10**7, 10**8], "revision_by": "units"}

    monkeypatch.setattr(generate, "_ATTEMPTS", 3)
    file = written(tmp_path, edit)
    one = Regulated(RegulatedSettings(spec=str(file), pairs="fact"))
    with pytest.raises(UserError) as caught:
        one.sampled(0, 0)
    told = str(caught.value)
    assert told.startswith(f"{file}: rules: they leave too little room for ")
    assert re.search(r" in stratum \w+: \d of 3 attempts lacked another value of \w+$", told)


def test_a_formula_that_never_meets_its_range_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, put([55, 56], "facts", "dti", "range"))
    with pytest.raises(
        UserError, match=r"facts\.dti\.range: drawn values are hardly ever within it"
    ):
        Regulated(RegulatedSettings(spec=str(file))).sampled(0, 0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tokens": 1_999}, "tokens: 1999 given, 2000 to 200000 expected"),
        ({"tokens": 200_001}, "tokens: 200001 given"),
        ({"tokens": "many"}, "domain.tokens"),
        ({"filler_share": 1.0}, "filler_share: 1.0 given"),
        ({"near_share": -0.1}, "near_share: -0.1 given"),
        ({"strata": {"clean": 0.5}}, "strata: the shares sum to 0.5, not to 1"),
        ({"strata": {"clean": 1.0, "dirty": 0.0}}, "strata.dirty: no such stratum"),
        ({"strata": {"clean": 1.5, "open": -0.5}}, "strata.clean: 1.5 given"),
        ({"forms": "both"}, "domain.forms"),
        ({"pairs": "triplet"}, "domain.pairs"),
        ({"seed": 1}, "domain.seed"),
    ],
)
def test_a_bad_setting_is_one_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        settings_of(find("domain", "regulated"), values)
    assert message in str(caught.value)


def test_cases_without_end_and_foreign_histories_are_refused() -> None:
    one = Regulated(RegulatedSettings())
    with pytest.raises(UserError, match="n_cases"):
        next(one.cases(None, 0))
    with pytest.raises(UserError, match="no history 'claims-s0-000000' in loan"):
        next(one.history("claims-s0-000000"))
