"""What people who can't see the page, or see it differently, are given: axe-core finds nothing."""

from importlib.resources import files
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.pages import open_report, run_mixed
from tests.run.project import Project

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def find_faults(page: Page) -> list[str]:
    """Each rule that is broken, and where."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("() => axe.run()")
    return [
        f"{each['id']}: {node['html'][:120]} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_contrast_names_and_roles(page: Page, project: Project, width: int, scheme: Any) -> None:
    run_mixed(project)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    open_report(page, project)
    assert find_faults(page) == []
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.locator(".panel .body").wait_for()
    assert find_faults(page) == []
