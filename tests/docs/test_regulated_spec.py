"""The reference of the spec has every key with its default, and the guide's spec runs."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.domains.regulated import grammar, spec
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.loading import load_spec
from plugins.domains.regulated.settings import RegulatedSettings
from tests.launching import framework, run

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "reference" / "domains" / "regulated-spec.md"
EXAMPLE = ROOT / "docs" / "guide" / "vendor_permit.yaml"
SECTIONS = {
    "The file": spec.Spec,
    "Calendar": spec.Calendar,
    "A fact": spec.Fact,
    "A distribution": spec.Distribution,
    "Held-out": spec.HeldOut,
    "A rule": spec.RuleSpec,
    "A condition": spec.ConditionSpec,
    "The policy": spec.PolicySpec,
    "The held-out wording": spec.Wording,
    "A type of document": spec.DocumentSpec,
    "A point": spec.PointSpec,
    "The standard": spec.StandardSpec,
    "A favorable decision": spec.FavorableSpec,
    "An item of the standard": spec.ItemSpec,
    "A slot": grammar.Range,
}
FROM_THE_FILE = {"file", "digest"}
"""Fields of the whole that no file gives."""
FOLLOWING = {"the range", "the fact's", "the first listed", "none"}
"""What the page says of defaults that follow from the rest, or are empty."""


def listed(section: str) -> dict[str, str]:
    """By key, what a section's table says of its default."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")
    rows = re.findall(r"^\| (`.+?`) \| .* \| (.+) \|$", rest.partition("\n## ")[0], re.MULTILINE)
    return {key: default for keys, default in rows for key in re.findall(r"`(\w+)`", keys)}


def default_of(field: dataclasses.Field[Any]) -> str:
    if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        return "required"
    empty = field.default in (None, "", (), spec.NO_RANGE) or field.default is dataclasses.MISSING
    default = list(field.default) if isinstance(field.default, tuple) else field.default
    return "none" if empty else str(default)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_there_with_its_default(section: str) -> None:
    keys = {
        f.metadata.get("alias", f.name): default_of(f)
        for f in dataclasses.fields(SECTIONS[section])
        if "key" not in f.metadata and f.name not in FROM_THE_FILE
    }
    found = listed(section)
    assert found.keys() == keys.keys()
    for key, default in keys.items():
        assert found[key] == default or found[key] in FOLLOWING - {"none"}, (section, key)


def test_no_section_is_left_out() -> None:
    classes = {
        cls
        for module in (spec, grammar)
        for cls in vars(module).values()
        if dataclasses.is_dataclass(cls) and cls.__module__ == module.__name__
    }
    assert classes - {grammar.Grammar} == set(SECTIONS.values())


def test_the_example_is_about_two_hundred_lines_and_says_what_each_section_is() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert 180 <= len(text.splitlines()) <= 220
    assert sum("#" in line for line in text.splitlines()) >= 25
    used = set(yaml.safe_load(text))
    assert used >= set(listed("The file")) - {"amounts", "tolerance", "reference_groups"}


def test_the_example_makes_cases_of_every_decision_and_stratum() -> None:
    made = Regulated(RegulatedSettings(spec=str(EXAMPLE)))
    cases = list(made.cases(60, 7))
    decisions = Counter(case.gold.decision for case in cases)
    assert set(decisions) == {"GRANT", "DENY", "ABSTAIN"}
    assert min(decisions.values()) >= 10
    assert {case.stratum for case in cases} == {"clean", "noisy", "superseded", "open", "injected"}
    assert load_spec(EXAMPLE).name == "vendor_permit"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold alone is answered rightly, nothing is not: the cases can be decided, by their facts."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLE, tmp_path)
    given = ("domain=regulated", f"domain.spec={EXAMPLE.name}")
    shown = framework(capsys, "show", *given, "case=0")
    assert shown.status == 0
    assert "vendor permit" in shown.out
    swept = ("-m", *given, "arch=none,oracle", "budget=loose", "n_cases=30", "tracking=none")
    done = run(capsys, *swept, "domain.forms=development", "hydra.sweep.dir=s", "report=false")
    assert done.status == 0, done.err
    eda = {
        path.parent.name.partition("-")[2]: yaml.safe_load(path.read_text())["axes"]["eda"]["mean"]
        for path in Path("s").glob("*/summary.json")
    }
    oracle, none = (next(v for k, v in eda.items() if arm in k) for arm in ("oracle", "none"))
    assert oracle > none + 0.3
    wrong = yaml.safe_load(EXAMPLE.read_text())
    wrong["rules"][0]["when"][0]["fact"] = "distanc"
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(wrong))
    told = framework(capsys, "show", "domain=regulated", "domain.spec=wrong.yaml", "case=0").mistake
    rule = wrong["rules"][0]["id"]
    assert (
        told
        == f"wrong.yaml: rules.{rule}.when.0.fact: no fact 'distanc'; did you mean 'distance'?"
        + (f" allowed: {', '.join(sorted(wrong['facts']))}")
    )
