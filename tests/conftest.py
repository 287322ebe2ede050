"""What every test stands on: no network, no secrets, settled randomness, shared data, a browser."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import starting

if TYPE_CHECKING:
    from pytest_httpserver import HTTPServer
    from selenium.webdriver import Chrome

ROOT = Path(__file__).resolve().parent.parent
OFFLINE = ROOT / "tests" / "offline"
FROM_THE_SHELL = {
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
    *("OPENAI_API_KEY", "OPENAI_BASE_URL", "MLFLOW_TRACKING_URI", "MLFLOW_RUN_ID"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
}


def _block_network() -> None:
    """Let this process, and every Python process it starts, reach loopback addresses only."""
    spec = importlib.util.spec_from_file_location("sitecustomize", OFFLINE / "sitecustomize.py")
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(OFFLINE), inherited]))


def _settle_environment() -> None:
    """Take away what a developer's shell could add to a run: keys, servers, proxies, telemetry.

    Tables are wide, so that a test finds what it seeks in one line; those of the terminal's width
    set their own.
    """
    for name in list(os.environ):
        if name.upper() in FROM_THE_SHELL:
            del os.environ[name]
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    os.environ["COLUMNS"] = "300"
    # As a run sets it: the threads of two workers would only wait for each other.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"


# Imports and cases make many objects and few cycles: looking for those is a tenth of the time.
gc.set_threshold(200_000, *gc.get_threshold()[1:])
_block_network()
_settle_environment()
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests may take longest come first, then those of most tests: none ends alone.

    Where tests are dealt by group, those of a file are one, as they share what is measured once.
    """
    longest: dict[Path, float] = {}
    tests = Counter(item.path for item in items if item.get_closest_marker("slow"))
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(str(item.path)))
        if mark := item.get_closest_marker("timeout"):
            longest[item.path] = max(longest.get(item.path, 0.0), mark.args[0])
    items.sort(key=lambda item: (-longest.get(item.path, 0.0), -tests[item.path]))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Ten thousand tests are there to the end: a collection of cycles need not look at them."""
    if any(item.get_closest_marker("slow") for item in session.items):
        starting.start_quickly()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of published data sets: DECISIONBENCH_DATA, else ../shared/data; or a skip."""
    named = os.environ.get("DECISIONBENCH_DATA")
    if named:
        if not Path(named).is_dir():
            pytest.fail(f"DECISIONBENCH_DATA names no folder: {named}")
        return Path(named)
    default = ROOT.parent / "shared" / "data"
    if not default.is_dir():
        pytest.skip("no data: DECISIONBENCH_DATA is not set and ../shared/data does not exist")
    return default


@pytest.fixture
def runs_dir(tmp_path: Path) -> Path:
    """An empty folder for this test's run directories, absolute, so that no cwd matters."""
    path = tmp_path / "runs"
    path.mkdir()
    return path


@pytest.fixture(scope="session")
def make_httpserver() -> Iterator[HTTPServer]:
    """The server behind `httpserver`, one thread a connection.

    The plugin's own has a single thread: a connection that a browser opens ahead and leaves idle
    holds it, and neither the next request nor the shutdown gets through for two minutes.
    """
    from pytest_httpserver import HTTPServer

    with HTTPServer(host="127.0.0.1", threaded=True) as server:
        yield server


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A headless Chromium that can open loopback pages only.

    Without Chromium and chromedriver the test skips, or fails where DECISIONBENCH_REQUIRE_EXTRAS
    is set, as it is in `make ci-extras`.
    """
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        reason = "chromium or chromedriver is not installed (make ci-extras installs them)"
        if os.environ.get("DECISIONBENCH_REQUIRE_EXTRAS"):
            pytest.fail(reason)
        pytest.skip(reason)

    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",  # CI containers run as root
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        "--window-size=1600,1200",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(argument)
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
