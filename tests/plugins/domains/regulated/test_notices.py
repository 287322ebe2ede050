"""What no letter can say of a standard is told before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.loading import find_spec, load_spec
from plugins.domains.regulated.notices import BY_HEART, PLAIN, lacking
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.models.rule_based.rules import decide
from tests.plugins.domains.regulated.support import SPECS

PERMIT = Path(__file__).parents[4] / "docs" / "guide" / "vendor_permit.yaml"


APPEAL = "You may appeal within 30 days"


def permit(path: Path, appeal: str = APPEAL) -> str:
    """The permit's spec in a file of its own, of which nothing was told yet."""
    file = path / "permit.yaml"
    file.write_text(PERMIT.read_text().replace(APPEAL, appeal))
    return str(file)


def test_the_letter_is_the_rule_based_model_s() -> None:
    assert decide._PLAIN == PLAIN
    assert set(decide._known_forms()) == BY_HEART


@pytest.mark.parametrize("spec", [*SPECS, str(PERMIT)])
def test_a_form_of_its_own_meets_every_standard_and_a_plain_letter_none(spec: str) -> None:
    found = load_spec(find_spec(spec))
    assert lacking(found, found.notice) == []
    assert lacking(found, PLAIN)


def test_items_that_no_letter_meets_are_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = permit(tmp_path)
    for _ in range(2):
        Regulated(RegulatedSettings(spec=spec))
    assert caplog.messages == [
        f"{spec}: standard.items: appeal: no letter of the rule-based model meets them, as it "
        "knows no Alder Falls Code 7-12 (invented); domain.notice=given puts the spec's form of "
        "the notice in the task"
    ]
    caplog.clear()
    Regulated(RegulatedSettings(spec=spec, notice="given"))
    Regulated(RegulatedSettings(spec="loan"))
    assert not caplog.records


def test_a_form_without_what_the_standard_asks_for_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = permit(tmp_path, appeal="You may appeal")
    Regulated(RegulatedSettings(spec=spec, notice="given"))
    assert caplog.messages == [
        f"{spec}: standard.items: appeal: the form `notice` does not hold what they ask for"
    ]
