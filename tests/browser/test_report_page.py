"""A person opens report.html from disk, on a desk and on a phone, and reads what the files say."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import run as command
from tests.launching import read_json

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = pytest.mark.browser

WIDTHS = (1280, 400)


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished sweep with its report."""
    place = tmp_path_factory.mktemp("read")
    given = ("domain=loan", "arch=none,bm25,oracle", "budget=tight,moderate", "n_cases=12")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(place)
        options = ("tracking=none", "baseline=bm25", "hydra.sweep.dir=swept")
        assert command.main(["-m", *given, *options]) == 0
        yield place / "swept"


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Chrome, sweep: Path) -> Iterator[Chrome]:
    """The browser with the page open, so wide; afterwards as it was."""
    width = request.param
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.get((sweep / "report.html").as_uri())
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def run_script(browser: Chrome, script: str, *args: object) -> Any:
    return browser.execute_script(script, *args)  # type: ignore[no-untyped-call]


def shown(browser: Chrome, anchor: str) -> list[dict[str, str]]:
    """The text of a table's cells, row by row, by the heading of their column."""
    script = """
        const table = document.getElementById(arguments[0]);
        const names = [...table.tHead.rows[0].cells].map(c => c.innerText.replace(/\\s/g, ' '));
        return [...table.tBodies[0].rows].map(row => [...row.cells].map(
            (cell, i) => [names[i], cell.innerText.trim()]));
    """
    rows = run_script(browser, script, anchor)
    return [dict(row) for row in rows]


def test_results_read_as_in_each_summary(page: Chrome, sweep: Path) -> None:
    read = 0
    for number, budget in enumerate(("tight", "moderate")):
        for row in shown(page, f"results-0-{number}"):
            (path,) = sweep.glob(f"loan-{row['arm']}-{budget}-*/summary.json")
            summary = read_json(path)
            for axis in summary["headline"]:
                entry = summary["axes"][axis]
                mean, *interval = row[axis].split("\n")
                if entry["mean"] is None:
                    assert mean == "–"
                    continue
                mark = "†" if entry["kind"] == "rule-based" else ""
                assert mean == f"{entry['mean']:.3f}{mark}"
                assert interval == [f"[{entry['ci_low']:.3f}, {entry['ci_high']:.3f}]"]
                read += 1
    assert read > 40


def test_the_scorecard_reads_as_the_sweep_says(page: Chrome, sweep: Path) -> None:
    composed = read_json(sweep / "sweep.json")["comparisons"]
    rows = {row["arm"]: row for row in shown(page, "scorecard-0")}
    assert rows["bm25"]["all"] == str(len(composed))
    undecided = sum(row["conclusion"] == "undecided" for row in composed)
    assert rows["bm25"]["undecided"] == str(undecided)


def test_only_boxes_scroll_sideways(page: Chrome) -> None:
    """At any width the page fits; what is wider scrolls in a box of its own, by keyboard too."""
    wide, seen = run_script(
        page, "const r = document.documentElement; return [r.scrollWidth, r.clientWidth];"
    )
    assert wide == seen
    escaped = run_script(
        page,
        """
        const width = document.documentElement.clientWidth;
        return [...document.querySelectorAll('main *')].filter(e =>
            e.getBoundingClientRect().right > width + 1 && !e.closest('.box')
        ).map(e => e.outerHTML.slice(0, 100));
        """,
    )
    assert escaped == []
    stuck = run_script(
        page,
        """
        return [...document.querySelectorAll('.box')].filter(
            box => box.scrollWidth > box.clientWidth + 1 &&
            (getComputedStyle(box).overflowX !== 'auto' || box.tabIndex !== 0)
        ).length;
        """,
    )
    assert stuck == 0


def test_every_picture_is_drawn_large_enough_to_read(page: Chrome) -> None:
    pictures = run_script(
        page,
        """
        return [...document.querySelectorAll('figure img')].map(
            i => [i.complete, i.naturalWidth, i.getBoundingClientRect().width, i.alt.length]);
        """,
    )
    assert len(pictures) == 7
    for complete, natural, width, alt in pictures:
        assert complete
        assert natural > 0, "the picture could not be drawn"
        assert width == pytest.approx(natural, rel=0.02), "shrunk text can't be read"
        assert alt > 0


def test_text_stands_out_by_day_and_by_night(page: Chrome) -> None:
    """Contrast of at least 4.5 (WCAG 2.1, 1.4.3) for every text on the page's ground."""
    script = """
        const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => {
            v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
            return .2126 * r + .7152 * g + .0722 * b; };
        const ground = light(getComputedStyle(document.body).backgroundColor);
        const colours = [...document.querySelectorAll('main *')].map(
            e => getComputedStyle(e).color);
        return [...new Set(colours)].map(c => { const l = light(c);
            return (Math.max(l, ground) + .05) / (Math.min(l, ground) + .05); });
    """
    grounds = []
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        contrasts = run_script(page, script)
        assert min(contrasts) >= 4.5, (scheme, contrasts)
        grounds.append(run_script(page, "return getComputedStyle(document.body).backgroundColor;"))
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert grounds[0] != grounds[1]


def test_nothing_is_fetched_and_nothing_goes_wrong(page: Chrome) -> None:
    page.get_log("browser")  # type: ignore[no-untyped-call]  # what pages before this one left
    page.refresh()
    assert run_script(page, "return performance.getEntriesByType('resource').length;") in (0, 7)
    fetched = run_script(
        page, "return performance.getEntriesByType('resource').map(e => e.name.slice(0, 5));"
    )
    assert set(fetched) <= {"data:"}
    assert [e for e in page.get_log("browser") if e["level"] == "SEVERE"] == []  # type: ignore[no-untyped-call]
