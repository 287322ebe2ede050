"""The lists of the papers' tables and figures: whole, true, and on the page."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from benchmarks import papers
from framework.registry import find, names, plugins
from framework.reporting.markdown import between_markers
from plugins.recipes._contents import Entry, contents
from plugins.recipes._paper_values import Printed, printed

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "results" / "papers.md"
TEXTS: Final = {
    "longhorizon": "four-axis-decision-alignment.txt",
    "regimes": "regimes.txt",
    "depth": "depth-not-length.txt",
}
COUNTED: Final = {
    ("longhorizon", "tables"): 8,
    ("longhorizon", "figures"): 5,
    ("regimes", "tables"): 4,
    ("regimes", "figures"): 5,
    ("depth", "tables"): 69,
    ("depth", "figures"): 66,
}
"""Numbered tables and figures of each paper, counted in its text."""
_CAPTION: Final = re.compile(r"^(Table|Figure) (\d+[a-z]?)(?:[:.]| \()", re.MULTILINE)
_NUMBER: Final = re.compile(r"\d*\.\d+|\d+")
ENTRIES: Final = [(paper, entry) for paper in papers.PAPERS for entry in contents(paper)]


def of_paper(paper: str, kind: str) -> list[str]:
    return [entry.number for entry in contents(paper) if entry.kind == kind]


@pytest.fixture(scope="module")
def texts(data_dir: Path) -> dict[str, str]:
    """The papers' texts, which stand beside the data."""
    folder = data_dir.parent / "papers"
    if not folder.is_dir():
        pytest.skip(f"no texts of the papers: {folder}")
    return {paper: (folder / name).read_text(encoding="utf-8") for paper, name in TEXTS.items()}


@pytest.mark.parametrize(("paper", "kind"), COUNTED)
def test_every_numbered_table_and_figure_has_one_entry(paper: str, kind: str) -> None:
    found = of_paper(paper, kind)
    assert len(found) == len(set(found)) == COUNTED[paper, kind]


@pytest.mark.parametrize(("paper", "kind"), COUNTED)
def test_they_are_those_of_the_text(paper: str, kind: str, texts: dict[str, str]) -> None:
    captions = {number for what, number in _CAPTION.findall(texts[paper])
                if f"{what.lower()}s" == kind}  # fmt: skip
    assert captions == set(of_paper(paper, kind))


@pytest.mark.parametrize(("paper", "entry"), ENTRIES, ids=lambda value: str(
    value if isinstance(value, str) else value.number))  # fmt: skip
def test_what_an_entry_names_is_there(paper: str, entry: Entry) -> None:
    assert set(entry.by) <= set(names("recipe"))
    assert set(entry.values) <= printed(paper).keys()
    for sweep in papers.sweeps(entry):
        for name in re.findall(r"\+experiment=([\w/]+)", sweep):
            assert (ROOT / "conf" / "experiment" / f"{name}.yaml").is_file()
    if entry.page:
        assert (ROOT / entry.page).is_file()
    if entry.report:
        sections = (ROOT / "framework" / "reporting", ROOT / "plugins" / "sections")
        files = (path for folder in sections for path in folder.rglob("*.py"))
        assert any(f'"{entry.report}"' in path.read_text() for path in files)


@pytest.mark.parametrize(("paper", "entry"), ENTRIES, ids=lambda value: str(
    value if isinstance(value, str) else value.number))  # fmt: skip
def test_an_entry_has_what_its_status_says_and_a_reason_where_nothing_makes_it(
    paper: str, entry: Entry
) -> None:
    match entry.status:
        case "recorded":
            assert entry.by
        case "measured":
            assert entry.by or (entry.report and entry.of)
        case "reported":
            assert not entry.by
            assert entry.values
            assert entry.why
        case "none":
            assert not entry.values
            assert entry.why
    for kind, number in re.findall(r"\b(?:as|see) (table|figure) (\d+)\b", entry.why):
        assert number in of_paper(paper, f"{kind}s")


def test_every_recipe_of_the_papers_has_an_entry() -> None:
    of_papers = {one.name for one in plugins("recipe") if "ours" not in one.cls.source}
    assert of_papers == {name for _, entry in ENTRIES for name in entry.by}


def prints(recipe: str, name: str) -> bool:
    """Whether a recipe's module, or one of its paper that it imports, names a printed table."""
    own = find("recipe", recipe).cls.__module__
    source = inspect.getsource(importlib.import_module(own))
    beside = re.findall(rf"^from ({own.rpartition('.')[0]}\.\w+) import", source, re.MULTILINE)
    sources = (inspect.getsource(importlib.import_module(module)) for module in beside)
    return any(f'"{name}"' in text for text in (source, *sources))


def test_what_a_paper_prints_stands_beside_its_counterpart_or_the_row_says_why_not() -> None:
    made = [(paper, entry) for paper, entry in ENTRIES if entry.status in ("measured", "recorded")]
    lacking = [
        (paper, entry.kind, entry.number, name)
        for paper, entry in made
        for name in entry.values
        if name not in entry.apart and not any(prints(recipe, name) for recipe in entry.by)
    ]
    assert not lacking
    for _, entry in ENTRIES:
        assert set(entry.apart) <= set(entry.values)
        assert all(entry.apart.values())
        assert not any(prints(recipe, name) for name in entry.apart for recipe in entry.by)


def test_every_table_of_printed_numbers_is_of_an_entry() -> None:
    for paper in papers.PAPERS:
        claimed = {name for entry in contents(paper) for name in entry.values}
        for name in printed(paper).keys() - claimed:
            kind, _, number = name.partition("_")
            assert number in of_paper(paper, f"{kind}s"), name


def test_the_page_has_the_lists_as_they_are() -> None:
    for name, text in papers.lists().items():
        assert between_markers(f"{PAGE}#{name}") == text


def test_a_list_that_is_none_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        papers.main([f"--into={PAGE}#depth"])
    assert ended.value.code == 2
    assert "no list 'depth'; there are counts, longhorizon-tables" in capsys.readouterr().err


GRIDS: Final = [
    table
    for table in printed("depth").values()
    if (match := re.fullmatch(r"table_(\d+)", table.name))
    and int(match[1]) not in (10, *range(14, 20))
]
"""Depth's tables whose numbers are kept as they are printed: of 10 the counts alone, and the tables
of sessions are in units of our own (shares for percentages, tokens for thousands)."""


@pytest.mark.parametrize("table", GRIDS, ids=lambda table: table.name)
def test_the_numbers_of_a_table_are_those_of_the_text(
    table: Printed, texts: dict[str, str]
) -> None:
    number = table.name.removeprefix("table_")
    after = re.split(rf"^Table {number}: ", texts["depth"], flags=re.MULTILINE)[1]
    found = Counter(_value(text) for text in _NUMBER.findall(after.partition("\nTable ")[0]))
    wanted = Counter(
        _value(text)
        for row in table.values.values()
        for cell in row
        for text in _NUMBER.findall(cell)
    )
    assert not wanted - found


@pytest.mark.parametrize("table", printed("regimes").values(), ids=lambda table: table.name)
def test_the_numbers_of_regimes_are_in_its_text(table: Printed, texts: dict[str, str]) -> None:
    said = texts["regimes"].replace("minus ", "-").replace("\\%", "%")
    found = {_value(text) for text in _NUMBER.findall(said)}
    rows = table.values.values() if isinstance(table.values, dict) else table.values
    kept = {_value(text) for row in rows for cell in row for text in _NUMBER.findall(cell)}
    assert {value for value in kept if not 0 < value < 1e-4} <= found  # those as powers of ten


_FIGURES: Final = re.compile(r"[-+$\d.,%/\[\]–\s]+|(?:\w+=\d[\d.]*(?:, )?)+")
"""A cell of figures alone, or of parameters and their values."""


@pytest.mark.parametrize("table", GRIDS, ids=lambda table: table.name)
def test_no_figure_of_a_table_is_left_out(table: Printed, texts: dict[str, str]) -> None:
    number = table.name.removeprefix("table_")
    after = re.split(rf"^Table {number}: ", texts["depth"], flags=re.MULTILINE)[1]
    rows = re.search(r"^.*\t.*\n((?:.*\t.*\n)+)", after, flags=re.MULTILINE)
    assert rows is not None
    cells = [cell for row in rows[1].splitlines() for cell in row.split("\t")[1:]]
    found = Counter(figure for cell in cells if _FIGURES.fullmatch(cell) and cell != "1–3"
                    for figure in _figures(cell))  # fmt: skip
    tables = [one for one in printed("depth").values()
              if re.match(rf"Table {number}\b", one.source)]  # fmt: skip
    kept = Counter(
        figure
        for one in tables
        for row in (one.values.values() if isinstance(one.values, dict) else one.values)
        for cell in row
        for figure in _figures(cell)
    )
    assert not found - kept


def _figures(cell: str) -> list[float]:
    return [_value(text) for text in _NUMBER.findall(re.sub(r"\w+=", "", cell))]


def _value(text: str) -> float:
    return float(text)
