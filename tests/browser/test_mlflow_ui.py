"""A person opens the MLflow UI on a sweep and finds there what stands in the run directories."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from framework.reporting.page import write_report
from framework.store.directory import SWEEP
from framework.store.state import read_summary
from plugins.commands.sync import sync
from tests.plugins.tracking.runs import finished_sweep
from tests.plugins.tracking.serving import Serving

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # within MLflow
]

PARTS = {"axes/right": "mean", "interval/right_low": "ci_low", "interval/right_high": "ci_high"}
"""Metrics of an axis, by what they are in a summary."""
T = TypeVar("T")
NAME = (
    "trivial† undecided +.50 (.14–.75) or more vs hostile in right; trivial, 2 arms, tight, loose"
)
SECONDS = 40.0
"""The longest that a page may take on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A UI on the store of one sweep: its runs by name, with summary and MLflow run id."""

    url: str
    experiment: str
    parent: str
    summaries: dict[str, dict[str, Any]]
    ids: dict[str, str]
    files: set[str]
    sweep: dict[str, Any]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A sweep of two arms under two budgets, uploaded, and what `make ui` opens on it."""
    place = tmp_path_factory.mktemp("ui")
    database = place / "mlruns" / "mlflow.db"
    runs = finished_sweep(place / "a-sweep", f"sqlite:///{database}")
    write_report(place / "a-sweep")
    sync(place / "a-sweep")
    summaries, ids = {}, {}
    for run in runs:
        summary = read_summary(run)
        name = f"trivial {summary['run']['arch']} {summary['run']['budget']}"
        summaries[name] = summary
        ids[name] = json.loads((run / "tracking.json").read_text())["run_id"]
    parent = json.loads((place / "a-sweep" / "tracking.json").read_text())
    with Serving(database, place / "ui.log") as url:
        yield Site(
            url=url,
            experiment=parent["experiment_id"],
            parent=parent["run_id"],
            summaries=summaries,
            ids=ids,
            sweep=json.loads((place / "a-sweep" / SWEEP).read_text()),
            files={path.name for path in runs[0].iterdir()} - {"tracking.json"},
        )


def _wait(browser: Chrome, find: Callable[[], T]) -> T:
    """What `find` returns, once it is true and the page does not change under it."""
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException

    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            found = find()
        except (NoSuchElementException, StaleElementReferenceException):
            found = None
        if found:
            return found
        time.sleep(0.2)
    shown = browser.find_element("tag name", "body").text
    pytest.fail(f"not on the page within {SECONDS:.0f} s; it shows:\n{shown[:3000]}")


def _open(browser: Chrome, url: str) -> None:
    browser.set_window_size(2400, 1600)  # tables make cells only where they can be seen
    browser.get("about:blank")  # a change after the # alone would not load the page again
    browser.get(url)


def _all(browser: Chrome, selector: str) -> list[WebElement]:
    return browser.find_elements("css selector", selector)


def _table(browser: Chrome, heading: str) -> dict[str, list[str]]:
    """The cells after the first of every table row on a page, by the first; under a heading."""
    script = """
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        let after;
        while ((after = texts.nextNode()) && !after.data.trim().startsWith(arguments[0]));
        if (!after) return null;
        const follows = e => after.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING;
        return [...document.querySelectorAll('[role=row], tr')].filter(follows).map(
            r => [...r.querySelectorAll('[role=cell], th, td')].map(c => c.innerText.trim()));
    """
    rows = browser.execute_script(script, heading) or []  # type: ignore[no-untyped-call]
    table: dict[str, list[str]] = {}
    for row in rows:
        if row:
            table.setdefault(row[0], row[1:])
    return table


def _scrolled(browser: Chrome, wanted: set[str]) -> dict[str, list[str]]:
    """The cells of a grid that only makes the rows in sight, scrolled until all wanted were."""
    script = """
        const rows = {};
        for (const grid of document.querySelectorAll('.ReactVirtualized__Grid')) {
            for (const cell of grid.firstElementChild.children) {
                const {x, y} = cell.getBoundingClientRect();
                (rows[Math.round(y)] ||= []).push([x, cell.innerText.trim()]);
            }
        }
        if (arguments[0]) {
            for (const grid of document.querySelectorAll('.ReactVirtualized__Grid')) {
                if (getComputedStyle(grid).overflowY != 'hidden') {
                    grid.scrollTop += grid.clientHeight / 2;
                }
            }
        }
        return Object.values(rows).map(r => r.sort((a, b) => a[0] - b[0]).map(c => c[1]));
    """
    table: dict[str, list[str]] = {}

    def complete() -> bool:
        still = browser.execute_script(script, False)  # type: ignore[no-untyped-call]
        rows = browser.execute_script(script, True)  # type: ignore[no-untyped-call]
        if rows == still:  # not while names and values are moving
            table.update({row[0]: row[1:] for row in rows if all(row)})
        return wanted <= table.keys()

    _wait(browser, complete)
    return table


def _shown(value: float, text: str) -> bool:
    """Whether a page's text is the number, to the digits that it shows."""
    digits = len(text.partition(".")[2])
    return float(text) == pytest.approx(value, abs=0.5 * 10**-digits + 1e-12)


def test_the_run_list_shows_names_and_values(browser: Chrome, site: Site) -> None:
    _open(browser, f"{site.url}/#/experiments/{site.experiment}/runs?workflowType=machine_learning")

    def column(name: str) -> dict[str, str]:
        cells = _all(browser, f'.ag-row [col-id="{name}"]')
        rows = [c.find_element("xpath", "ancestor::*[@role='row']") for c in cells]
        texts = [c.text.rpartition("\n")[2] for c in cells]  # a name comes after its colour
        return {str(r.get_attribute("row-id")): t for r, t in zip(rows, texts, strict=True)}

    names = _wait(browser, lambda: column("attributes.`Run Name`"))
    assert names == {site.parent: NAME}, "the runs fold under their sweep"
    _all(browser, '.ag-row [col-id="attributes.`Run Name`"] button')[0].click()
    _wait(browser, lambda: len(column("attributes.`Run Name`")) == 5)
    names = column("attributes.`Run Name`")
    assert names == {site.parent: NAME, **{v: k for k, v in site.ids.items()}}

    (chooser,) = (e for e in _all(browser, "button") if e.text == "Columns")
    chooser.click()
    _wait(browser, lambda: _all(browser, "input[placeholder='Search columns']")).pop().send_keys(
        "right"
    )

    def leaves() -> list[WebElement]:
        """The entries of the tree that are called so and no more: others hold the word too."""
        words = [e for e in _all(browser, "[title], strong") if e.text == "axes/right"]
        nodes = [
            e.find_element("xpath", "ancestor::*[contains(@class, 'treenode')]") for e in words
        ]
        return [node for node in nodes if node.text.strip() == "axes/right"]

    node = _wait(browser, leaves)[0]
    node.find_element("css selector", "[class*=tree-checkbox]").click()
    chooser.click()
    values = _wait(browser, lambda: column("metrics.`axes/right`"))
    for name, summary in site.summaries.items():
        mean = summary["axes"]["right"]["mean"]
        assert _shown(mean, values[site.ids[name]]), (name, mean, values)


def test_the_charts_begin_with_the_answer_while_the_sweep_is_folded(
    browser: Chrome, site: Site
) -> None:
    where = f"{site.url}/#/experiments/{site.experiment}/runs?workflowType=machine_learning"
    _open(browser, f"{where}&compareRunsMode=CHART")
    sections = re.compile(r"^([a-z_]+)\s*\((\d+)\)$", re.MULTILINE)

    def shown() -> list[tuple[str, str]]:
        return sections.findall(browser.find_element("tag name", "body").text)

    found = _wait(browser, shown)
    assert found[0] == ("at_a_glance", "5"), found


def test_a_run_page_shows_parameters_intervals_and_artifacts(browser: Chrome, site: Site) -> None:
    name = "trivial hostile loose"
    page = f"{site.url}/#/experiments/{site.experiment}/runs/{site.ids[name]}"
    _open(browser, page)
    _wait(browser, lambda: "budget.limit" in _table(browser, "Parameters ("))
    params = _table(browser, "Parameters (")
    assert params["arch"] == ["hostile"]
    assert params["budget"] == ["loose"]
    assert params["budget.limit"] == ["200"]
    assert params["n_cases"] == ["12"]
    metrics = _table(browser, "Metrics (")
    entry = site.summaries[name]["axes"]["right"]
    for key, part in PARTS.items():
        assert _shown(entry[part], metrics[key][0])
    text = browser.find_element("tag name", "body").text
    assert "Verdict" in text
    assert "No language model took part" in text
    assert "model_kind" in text

    _open(browser, f"{page}/artifacts")
    _wait(
        browser,
        lambda: site.files <= set(browser.find_element("tag name", "body").text.split()),
    )


@pytest.mark.parametrize("width", [1280, 400])
def test_a_run_page_tells_the_numbers_at_any_width(browser: Chrome, site: Site, width: int) -> None:
    """At the width of a laptop and of a telephone, as the report is read too."""
    name = "trivial hostile loose"
    screen = {"width": width, "height": 6000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.get("about:blank")
        browser.get(f"{site.url}/#/experiments/{site.experiment}/runs/{site.ids[name]}")
        _wait(browser, lambda: "axes/right" in _table(browser, "Metrics ("))
        shown = browser.execute_script("return window.innerWidth")  # type: ignore[no-untyped-call]
        assert shown == width
        metrics = _table(browser, "Metrics (")
        entry = site.summaries[name]["axes"]["right"]
        for key, part in PARTS.items():
            assert _shown(entry[part], metrics[key][0])
        assert _table(browser, "Parameters (")["arch"] == ["hostile"]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_compare_page_sets_runs_side_by_side(browser: Chrome, site: Site) -> None:
    names = list(site.ids)
    chosen = json.dumps([site.ids[name] for name in names], separators=(",", ":"))
    _open(browser, f'{site.url}/#/compare-runs?runs={chosen}&experiments=["{site.experiment}"]')
    _wait(browser, lambda: "budget" in _table(browser, "Run details"))
    table = _table(browser, "Run details")
    assert table["Run Name:"] == names
    assert table["arch"] == [name.split()[1] for name in names]
    assert table["budget"] == [name.split()[2] for name in names]
    metrics = _scrolled(browser, set(PARTS))
    for key, part in PARTS.items():
        expected = [site.summaries[name]["axes"]["right"][part] for name in names]
        pairs = list(zip(expected, metrics[key], strict=True))
        assert all(_shown(*pair) for pair in pairs), pairs
    assert len(set(metrics["axes/right"])) > 1, "the arms differ, or the page could show anything"


def test_the_sweep_page_links_its_runs(browser: Chrome, site: Site) -> None:
    _open(browser, f"{site.url}/#/experiments/{site.experiment}/runs/{site.parent}")
    _wait(browser, lambda: set(site.ids) <= {e.text.rstrip(",") for e in _all(browser, "a")})
    metrics = _wait(browser, lambda: _table(browser, "Metrics ("))
    composed = site.sweep["comparisons"]
    undecided = sum(row["conclusion"] == "undecided" for row in composed)
    assert _shown(len(composed), metrics["comparisons/n"][0])
    assert _shown(undecided, metrics["comparisons/undecided"][0])
    assert "Verdict" in browser.find_element("tag name", "body").text


def test_the_sweep_page_holds_its_report_and_figures(browser: Chrome, site: Site) -> None:
    page = f"{site.url}/#/experiments/{site.experiment}/runs/{site.parent}/artifacts"
    _open(browser, page)
    wanted = {"report.html", "report.md", "figures", "sweep.json", "comparison.csv"}
    _wait(browser, lambda: wanted <= set(browser.find_element("tag name", "body").text.split()))
    _open(browser, f"{page}/report.html")
    frames = _wait(browser, lambda: _all(browser, "iframe"))
    browser.switch_to.frame(frames[0])
    try:
        title = _wait(browser, lambda: browser.find_element("tag name", "h1").text)
        assert title == "Sweep a-sweep"
        rows = _all(browser, "#results-0-0 tbody tr")
        for row in rows:
            arm, mean = (cell.text for cell in row.find_elements("css selector", "th, td")[:2])
            entry = site.summaries[f"trivial {arm} tight"]["axes"]["right"]
            assert mean.split("\n")[0] == f"{entry['mean']:.3f}†"
        assert len(rows) == 2
    finally:
        browser.switch_to.default_content()
    drawn = "forest-0.png"
    _open(browser, f"{page}/figures/{drawn}")
    _wait(browser, lambda: [i for i in _all(browser, "img") if i.size["width"] > 300])
