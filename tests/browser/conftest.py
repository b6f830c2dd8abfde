"""A real browser, started once for each file: while it is there, so is the loop of Playwright, and
tests of other files may need one of their own.

Where there is none, its tests are skipped, and say so; with `EVALCASE_BROWSER=needed`, as in
continuous integration, they fail.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# It is alone on its machine, and has nobody to phone.
_QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

_PATIENCE_MS = 30_000


def find_browser() -> str | None:
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        said = "no browser: `apt-get install chromium` brings one"
        if os.environ.get("EVALCASE_BROWSER") == "needed":
            pytest.fail(said)
        pytest.skip(said)
    expect.set_options(timeout=_PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_QUIET)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab of a wide screen, in which nothing may go wrong unseen."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    tab = context.new_page()
    tab.set_default_timeout(_PATIENCE_MS)
    troubles: list[str] = []
    tab.on("pageerror", lambda error: troubles.append(str(error)))
    tab.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    yield tab
    context.close()
    assert troubles == []
