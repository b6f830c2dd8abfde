"""Two runs in one page, as a person looks at them."""

import re

from playwright.sync_api import Page, expect

from tests.browser.pages import names, open_file, panel, rows
from tests.browser.test_accessible import find_faults
from tests.run.project import Project, case


def compare(page: Page, project: Project) -> None:
    project.suite(
        case("steady"), case("worse", "say ok"), case("better", "say no"), case("gone"),
        case("other", "say no one"),
    )  # fmt: skip
    project.run_process("run")
    project.suite(
        case("steady"), case("worse", "say no thanks"), case("better"), case("new"),
        case("other", "say no two"),
    )  # fmt: skip
    project.run_process("run")
    done = project.run_process("compare", "--format", "html", "-o", "page.html")
    assert done.code == 0, done
    open_file(page, project)


def test_what_changed_comes_first_with_both_answers(page: Page, project: Project) -> None:
    compare(page, project)
    said = page.get_by_role("region", name="Comparison")
    expect(said).to_contain_text("Too few cases to tell")
    expect(said).to_contain_text("1 fixed, 1 broken")
    assert re.search(r"pass rate(\s+50\.0%){2}", said.inner_text())
    assert names(page) == ["worse", "better", "other", "new", "gone"]
    for cell in page.locator(".rows .cell.verdict").all():
        assert cell.evaluate("element => element.scrollWidth <= element.clientWidth")
    rows(page).first.click()
    sides = panel(page).locator(".trial > div > .diff")
    expect(sides.locator(".del-side")).to_contain_text("ok")
    expect(sides.locator(".ins-side")).to_contain_text("no thanks")
    panel(page).get_by_role("button", name="Expected").click()
    expect(sides.locator(".del-side")).to_contain_text("Expected")
    assert find_faults(page) == []
    page.get_by_role("button", name="Close the case").click()
    page.get_by_role("search").get_by_role("button", name="same").click()
    assert names(page) == ["steady"]
    page.get_by_role("button", name="Clear").click()
    expect(rows(page)).to_have_count(6)
    page.reload()
    expect(rows(page)).to_have_count(6)


def test_cases_that_were_not_selected_are_no_changes(page: Page, project: Project) -> None:
    project.suite(case("a"), case("b"), case("c"))
    project.run_process("run")
    project.suite(case("a", "say no"), case("b"), case("c"))
    project.run_process("run", "--case", "a")
    project.run_process("compare", "-o", "page.html")
    open_file(page, project)
    assert names(page) == ["a"]
    chip = page.get_by_role("search").get_by_role("button", name="not selected")
    expect(chip).to_contain_text("2")
    said = page.get_by_role("region", name="Comparison")
    expect(said).to_contain_text("not compared: 2 not selected in head")
    project.run_process("run", "--case", "a")
    project.run_process("compare", "-o", "page.html")
    open_file(page, project)
    expect(page.locator(".rows")).to_contain_text("No case changed")
