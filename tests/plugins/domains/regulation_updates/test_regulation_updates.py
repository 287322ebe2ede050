"""Which text is in force, what changed and who cites it: gold by look-up, numbers masked."""

from __future__ import annotations

import io
import re
import tarfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.studies.leaks.regulation_updates import of_words
from framework.errors import DataError, UserError
from framework.records import Answer, Case
from framework.testing.domain_conformance import check_domain
from framework.text.tokens import count_tokens
from plugins.domains.regulation_updates.domain import (
    HISTORY,
    RegulationUpdates,
    RegulationUpdatesSettings,
)
from plugins.domains.regulation_updates.ledger import mask
from plugins.domains.regulation_updates.versions import citation
from tests.launching import check_runs, run
from tests.plugins.domains.ranked import check_ranking

FIXTURE = Path(__file__).parents[4] / "tests" / "fixtures" / "regulation_updates"
SPACE = "{eregs}"


def opened(path: Path = FIXTURE, **settings: Any) -> RegulationUpdates:
    return RegulationUpdates(
        RegulationUpdatesSettings(path=str(path), unknown_file=True, **settings)
    )


def published(data_dir: Path, **settings: Any) -> RegulationUpdates:
    path = str(data_dir / "regulation_b" / "regulation_b_1002.tar.xz")
    return RegulationUpdates(RegulationUpdatesSettings(path=path, **settings))


def by_id(domain: RegulationUpdates) -> dict[str, Case]:
    return {case.id: case for case in domain.cases(None, seed=0)}


def texts(domain: RegulationUpdates) -> dict[str, str]:
    return {event.id: event.text for event in domain.history(HISTORY)}


def needed(domain: RegulationUpdates, case_id: str) -> list[str]:
    """The first lines of the events that a case needs."""
    case, found = by_id(domain)[case_id], texts(domain)
    return [found[name].splitlines()[0] for name in case.gold.evidence]


def test_the_text_in_force_is_the_one_of_the_day() -> None:
    domain = opened()
    before = by_id(domain)["text-2099-9-a-2016-04-30"]
    after = by_id(domain)["text-2099-9-a-2016-05-01"]
    assert before.task.query == "What is the text of § 2099.9(a) that is in force on 2016-04-30?"
    # What came and went before the last two changes is in the history and governs no more.
    assert "hangs on the quay for 14 days" in before.gold.answer
    assert "at the latest 24 hours before" in after.gold.answer
    assert needed(domain, before.id) == ["§ 2099.9(a), as amended, in force from 2010-02-01:"]
    assert needed(domain, after.id) == ["§ 2099.9(a), as amended, in force from 2016-05-01:"]
    assert set(before.gold.distractors) >= set(after.gold.evidence)
    assert len(before.gold.distractors) == 3


def test_what_is_removed_or_not_yet_there_is_not_in_force() -> None:
    domain = opened()
    cases = by_id(domain)
    for case_id, tells in (
        ("text-2099-4-c-2019-01-01", "§ 2099.4(c), removed, no longer in force from 2019-01-01."),
        ("text-2099-9-c-2016-04-30", "§ 2099.9(c), added, in force from 2016-05-01:"),
    ):
        assert cases[case_id].gold.answer == "not in force"
        assert needed(domain, case_id) == [tells]


def test_what_became_of_a_unit() -> None:
    cases = by_id(opened())
    found = {
        name.removeprefix("change-2099-"): case.gold.answer
        for name, case in cases.items()
        if name.startswith("change-")
    }
    assert found == {
        "4-2016-05-01": "unchanged",
        "4-a-Interp-1-2016-05-01": "unchanged",
        "4-b-2016-05-01": "amended",
        "4-a-Interp-1-2019-01-01": "amended",
        "4-a-Interp-2-2019-01-01": "added",
        "4-b-2019-01-01": "unchanged",
        "4-b-Interp-2-2019-01-01": "unchanged",
        "4-Interp-2019-01-01": "unchanged",
        "4-b-Interp-1-2016-05-01": "removed",
        "4-c-2019-01-01": "removed",
        "9-2016-05-01": "unchanged",
        "9-a-2016-05-01": "amended",
        "9-b-2016-05-01": "unchanged",
        "9-c-2016-05-01": "added",
        "A-1-p1-2019-01-01": "amended",
        "A-2019-01-01": "unchanged",
    }


def test_a_quotation_is_in_force_from_its_day_to_the_next_change() -> None:
    domain = opened()
    cases = by_id(domain)
    old, new = "in_force-2099-4-b-2005-03-01-", "in_force-2099-4-b-2016-05-01-"
    days = ("2016-04-30", "2016-05-01")
    assert [cases[f"{old}{day}"].gold.answer for day in days] == ["yes", "no"]
    assert [cases[f"{new}{day}"].gold.answer for day in days] == ["no", "yes"]
    quotes = {re.findall("“(.*)”", cases[f"{x}{days[0]}"].task.query)[0] for x in (old, new)}
    assert len(quotes) == 2
    for quote in quotes:
        assert sum(quote in text for text in texts(domain).values()) == 1
    assert len(cases[f"{old}{days[1]}"].gold.evidence) == 2


def test_who_still_cites_what_changed() -> None:
    case = by_id(opened())["cites-2099-9-a-2016-05-01"]
    # § 2099.4(b) cites it too, in words of the same day.
    assert case.gold.answer == "§ 2099.9(b)"
    assert needed(opened(), case.id) == ["§ 2099.9(b), in force from 2005-03-01:"]


def test_what_a_file_lost_its_notice_puts_right() -> None:
    """The last file lacks a comment and an added one, and bears another under a wrong label."""
    domain = opened()
    cases = by_id(domain)
    kept = cases["text-2099-4-b-Interp-2-2019-01-01"]
    assert needed(domain, kept.id) == ["comment 4(b)-2 of part 2099, in force from 2005-03-01:"]
    assert "10 weeks or more" in cases["text-2099-4-a-Interp-1-2019-01-01"].gold.answer
    assert cases["text-2099-4-a-Interp-2-2019-01-01"].gold.answer.startswith("Two seasons. ")
    assert not any("Interp-i" in name for name in cases)
    assert domain.report([])["repaired"] == 4  # the wrong label counts too


def test_only_the_last_two_changes_are_asked_about() -> None:
    cases = list(opened().cases(None, seed=0))
    assert {case.tags["step"] for case in cases} == {"2016-05-01", "2019-01-01"}
    assert {case.cluster for case in cases} == {"2099-4", "2099-9", "2099-A"}
    gold = {name for case in cases for name in case.gold.evidence}
    flipped = [e.id for e in opened().history(HISTORY) if e.time == "2008-06-15"]
    assert len(flipped) == 1
    assert not gold & set(flipped)


def test_events_stand_in_order_with_their_edges() -> None:
    events = list(opened().history(HISTORY))
    assert [event.time for event in events] == sorted(event.time for event in events)
    assert Counter(event.kind for event in events) == {"rule": 15, "comment": 7, "removal": 2}
    named = {event.text.split(", ")[0] + event.time: event for event in events}
    changed = named["§ 2099.4(b)2016-05-01"]
    led = {(relation, texts(opened())[to].split(", ")[0]) for relation, to in changed.edges}
    assert led == {("supersedes", "§ 2099.4(b)"), ("part_of", "§ 2099.4"), ("cites", "§ 2099.9(a)")}
    first = named["§ 2099.4(b)2005-03-01"]
    assert ("cites", named["§ 2099.9(a)2005-03-01"].id) in first.edges
    assert opened().nominal_tokens == sum(count_tokens(event.text) for event in events)
    with pytest.raises(KeyError):
        opened().history("another")


@pytest.mark.parametrize("numbers", ["published", "masked"])
def test_conformance(numbers: str) -> None:
    settings = RegulationUpdatesSettings(
        path=str(FIXTURE),
        unknown_file=True,
        numbers=numbers,  # type: ignore[arg-type]
    )
    check_domain(RegulationUpdates, settings, n=60)


def test_masked_numbers_are_others_and_the_same_everywhere() -> None:
    plain, masked = opened(), opened(numbers="masked")
    cases, other = by_id(plain), by_id(masked)
    assert list(cases) == list(other)
    shown = list(masked.history(HISTORY))
    part = mask("2099")
    assert part != "2099"
    assert all("2099" not in event.text for event in shown)
    for before, after in zip(plain.history(HISTORY), shown, strict=True):
        assert (before.id, before.time, before.edges) == (after.id, after.time, after.edges)
        assert re.sub(r"\d", "0", before.text) == re.sub(r"\d", "0", after.text)
        assert f"from {after.time}" in after.text
    case = other["text-2099-9-a-2016-05-01"]
    assert f"§ {part}.{mask('9')}(a)" in case.task.query
    assert "2016-05-01" in case.task.query
    assert case.gold.evidence == cases[case.id].gold.evidence
    assert mask("24") in case.gold.answer


@pytest.mark.parametrize("digits", [1, 2, 3, 4])
def test_no_two_numbers_are_masked_as_one(digits: int) -> None:
    numbers = [f"{number:0{digits}d}" for number in range(10**digits)]
    masked = [mask(number) for number in numbers]
    assert len(set(masked)) == len(numbers)
    assert {len(number) for number in masked} == {digits}
    assert len(mask("1234567890123")) == 13


@pytest.mark.parametrize(
    ("label", "cited"),
    [
        ("1002-13-a-1-i-A", "§ 1002.13(a)(1)(i)(A)"),
        ("1002-13-b-Interp-3-ii", "comment 13(b)-3.ii of part 1002"),
        ("1002-13-b-Interp", "heading of the comments on 13(b) of part 1002"),
        ("1002-B-p9-p1", "appendix B to part 1002, p9, p1"),
        ("1002", "part 1002"),
    ],
)
def test_how_a_unit_is_cited(label: str, cited: str) -> None:
    assert citation(label) == cited


def test_success_is_the_same_words_and_of_a_list_the_same_parts() -> None:
    domain = opened()
    gold = by_id(domain)["text-2099-4-c-2019-01-01"].gold
    assert domain.success(Answer(text="Not in force."), gold)
    assert not domain.success(Answer(text="in force"), gold)
    assert not domain.success(Answer(), gold)
    several = domain.success(Answer(text="not in force; in force"), gold)
    assert not several


def test_an_archive_reads_as_the_folder_does(tmp_path: Path) -> None:
    for mode, name in (("w:xz", "r.tar.xz"), ("w", "r.tar")):
        with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
            archive.add(FIXTURE / "regulation", "regulation")
            archive.add(FIXTURE / "notice", "notice")
            readme = tarfile.TarInfo("README")
            archive.addfile(readme, io.BytesIO())
        assert by_id(opened(tmp_path / name)) == by_id(opened())


def test_unknown_files_are_read_only_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match=r"none of the published .* domain\.unknown_file=true"):
        RegulationUpdates(RegulationUpdatesSettings(path=str(FIXTURE)))
    with pytest.raises(UserError, match=r"domain\.path: no file given .*regulations-xml"):
        RegulationUpdates(RegulationUpdatesSettings())
    with pytest.raises(DataError, match=r"domain\.sha256 asks for"):
        opened(sha256="0" * 64)
    assert opened().provenance.licence == "not stated"
    words = ("domain=regulation_updates", f"domain.path={FIXTURE}", "tracking=none")
    assert "domain.unknown_file=true" in run(capsys, *words).mistake


@pytest.mark.slow
def test_a_run_retrieves_and_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("domain.unknown_file=true", "n_cases=4")
    check_runs(capsys, "regulation_updates", FIXTURE, *words, retrieved_by="typed_graph")


# Of the published file.


def texts_by_day(path: Path) -> dict[str, dict[str, str]]:
    """By day and label the own words of each element: read again, by other code."""
    found: dict[str, dict[str, str]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None or "regulation/" not in member.name:
                continue
            root = ElementTree.parse(file).getroot()
            day = root.findtext(f"{SPACE}preamble/{SPACE}effectiveDate") or ""
            found[day] = own_texts(root)
    return found


def own_texts(root: ElementTree.Element) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for element in root.iter():
        words: list[str] = []
        for child in element:
            if not child.get("label") and child.tag.removeprefix(SPACE) != "tableOfContents":
                words += "".join(child.itertext()).split()
        if element.get("label") and not element.tag.endswith(("}part", "}subpart")):
            found[element.get("label", "")] = " ".join(words)
    return found


def test_gold_of_the_published_file_is_what_a_second_reading_finds(data_dir: Path) -> None:
    """Every answer but those on comments that the files lost and their notice restates."""
    domain = published(data_dir)
    assert domain.provenance == RegulationUpdates.provenance
    days = texts_by_day(data_dir / "regulation_b" / "regulation_b_1002.tar.xz")
    agree: Counter[str] = Counter()
    repaired: set[str] = set()
    for case in domain.cases(None, seed=0):
        label, day = case.id.partition("-")[2][:-11], case.id[-10:]
        held = days[max(d for d in days if d <= day)]
        before = days[max(d for d in days if d < day)]
        answer = case.gold.answer
        if case.stratum == "text":
            same = answer == (held.get(label) or "not in force")
        elif case.stratum == "change":
            old, new = before.get(label), held.get(label)
            said = "unchanged" if old == new else "amended" if old and new else ""
            same = answer == (said or ("added" if new else "removed"))
        elif case.stratum == "in_force":
            label = label[:-11]
            quote = re.findall("“(.*)”", case.task.query)[0]
            same = answer == ("yes" if quote in held.get(label, "") else "no")
        else:
            continue
        agree[case.stratum] += same
        if not same:
            repaired.add(label)
    assert agree == {"text": 85, "change": 37, "in_force": 48}
    under = ("1002-5-a-2-Interp", "1002-12-b-", "1002-13-a-Interp", "1002-13-b-Interp", "1002-13-c")
    assert all(label.startswith(under) and "Interp" in label for label in repaired)


def test_what_the_notice_of_2018_restates_is_in_force(data_dir: Path) -> None:
    """Read from the notice by other code: the comments that the file of that day lacks."""
    with tarfile.open(data_dir / "regulation_b" / "regulation_b_1002.tar.xz") as archive:
        file = archive.extractfile("notice/2017-20417_20180101.xml")
        assert file is not None
        restated = own_texts(ElementTree.parse(file).getroot())
    after = {
        case.id[5:-11]: case.gold.answer
        for case in published(data_dir).cases(None, seed=0)
        if case.id.startswith("text-") and case.id.endswith("2018-01-01")
    }
    shared = [label for label in after if restated.get(label)]
    assert len(shared) >= 15
    assert [after[label] for label in shared] == [restated[label] for label in shared]


def test_the_published_file(data_dir: Path) -> None:
    domain = published(data_dir)
    cases = list(domain.cases(None, seed=0))
    assert len(cases) == 204
    clusters = Counter(case.cluster for case in cases)
    assert clusters == {"1002-13": 73, "1002-12": 21, "1002-5": 75, "1002-B": 35}
    assert {case.tags["step"] for case in cases} == {"2018-01-01", "2022-01-01"}
    report = domain.report(cases)
    assert report["constant_in_force"] == pytest.approx(0.5, abs=1e-9)
    assert report["constant_change"] == pytest.approx(24 / 48, abs=1e-9)
    assert report["constant_text"] == pytest.approx(15 / 96, abs=1e-9)
    masked = published(data_dir, numbers="masked")
    assert [c.gold.evidence for c in masked.cases(None, 0)] == [c.gold.evidence for c in cases]
    assert "1002" not in "".join(e.text for e in masked.history(HISTORY))


def test_words_of_the_question_alone(data_dir: Path) -> None:
    """How far words and days go, whole units held out: what is left is told on the card."""
    cases = list(published(data_dir).cases(None, seed=0))
    for kind, most in (("text", 0.52), ("change", 0.27), ("in_force", 0.68)):
        assert of_words([case for case in cases if case.stratum == kind]) <= most, kind


@pytest.mark.slow
def test_ranking_agrees_with_ir_measures_on_the_published_data(data_dir: Path) -> None:
    domain = published(data_dir)
    means = check_ranking(domain, domain.cases(None, 0))
    # Those of the table in docs/results/real_decisions.md.
    assert round(means["recall_at_5"], 2) == 0.58
    assert round(means["ndcg_at_10"], 2) == 0.50
    assert round(means["mrr"], 2) == 0.47
