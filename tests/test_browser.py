"""The browser fixture opens a local page and nothing beyond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pytest_httpserver import HTTPServer

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.mark.browser
def test_browser_opens_a_local_page(browser: Chrome, httpserver: HTTPServer) -> None:
    page = "<title>t</title><script>document.title = 'from the page'</script>"
    httpserver.expect_request("/").respond_with_data(page, content_type="text/html")
    browser.get(httpserver.url_for("/"))
    assert browser.title == "from the page"


@pytest.mark.browser
def test_browser_reaches_nothing_else(browser: Chrome) -> None:
    from selenium.common.exceptions import WebDriverException

    with pytest.raises(WebDriverException, match="ERR_NAME_NOT_RESOLVED"):
        browser.get("http://example.org/")
