"""All runs of a project in the browser: the list, a run, two of them, and one that goes on."""

from playwright.sync_api import Page, expect

from tests.browser.pages import names, panel, rows
from tests.browser.test_accessible import find_faults
from tests.cli.viewing import view
from tests.run.project import Gate, Project, case, finish


def test_runs_are_listed_opened_and_compared(page: Page, project: Project) -> None:
    project.suite(case("a"), case("b", "say no"))
    project.run_process("run")
    project.suite(case("a"), case("b"))
    project.run_process("run")
    with view(project) as seen:
        page.goto(seen.address)
        table = page.get_by_role("table")
        expect(table.locator("tbody tr")).to_have_count(2)
        expect(page.get_by_role("img", name="s.eval.yaml at agent")).to_be_visible()
        assert find_faults(page) == []
        table.get_by_role("link").first.click()
        page.locator("body.ready").wait_for()
        assert sorted(names(page)) == ["a", "b"]
        page.get_by_role("link", name="evalcase").click()
        expect(table.get_by_role("checkbox")).to_have_count(2)
        for box in table.get_by_role("checkbox").all():
            box.focus()
            page.keyboard.press("Space")
            expect(box).to_be_focused()
            expect(box).to_be_checked()
        page.get_by_role("link", name="Compare these two").click()
        page.locator("body.ready").wait_for()
        assert names(page) == ["b"]
        rows(page).first.click()
        expect(panel(page).locator(".diff").first).to_contain_text("Base")
        page.goto("about:blank")


def test_a_run_by_other_graders_is_no_step_of_the_trend(page: Page, project: Project) -> None:
    project.suite(case("a"), case("b", "say no"), name="a-suite-with-a-long-name-of-its-own")
    project.run_process("run")
    project.run_process("run")
    project.run_process("grade", "latest", "--grader", "length: {max: 1, unit: characters}")
    page.set_viewport_size({"width": 1200, "height": 800})
    with view(project) as seen:
        page.goto(seen.address)
        expect(page.get_by_role("cell", name="by --grader length")).to_be_visible()
        trend = page.get_by_role("img", name="50.0%, 0.0%, but grading 2 of 2, by --grader")
        expect(trend.locator(".point")).to_have_count(1)
        expect(trend.locator(".apart")).to_have_count(1)
        region = page.get_by_role("region", name="Runs")
        assert region.evaluate("element => element.scrollWidth <= element.clientWidth")
        assert find_faults(page) == []
        page.goto("about:blank")


def test_a_run_that_goes_on_can_be_watched(page: Page, project: Project) -> None:
    gate = Gate(project.path)
    project.suite(case("a", "gate"), case("b", "gate", expected_output="other"), case("c", "gate"))
    process = project.start("run", "--concurrency", "1")
    gate.await_calls(1)
    with view(project, "latest") as seen:
        page.goto(seen.address)
        page.locator("body.ready").wait_for()
        expect(page.get_by_text("The run goes on: 0 of 3 cases so far")).to_be_visible()
        gate.let_go(1)
        expect(rows(page)).to_have_count(1)
        assert names(page) == ["a"]
        overview = page.get_by_role("region", name="Overview")
        expect(overview).to_contain_text("1 of 3 cases so far")
        expect(overview).to_contain_text("100.0% of 1 case passed")
        expect(overview).to_contain_text("2 not run")
        rows(page).first.click()
        expect(panel(page)).to_contain_text("gate")
        gate.let_go(1)
        expect(overview).to_contain_text("2 of 3 cases so far")
        expect(overview).to_contain_text("50.0% of 2 cases passed")
        expect(overview).to_contain_text("1 not run")
        expect(overview.get_by_role("button", name="1 failed")).to_be_visible()
        expect(overview).not_to_contain_text("still running")
        search = page.get_by_role("search")
        expect(search.get_by_role("button", name="failed 1")).to_be_visible()
        assert page.title().startswith("50.0%")
        gate.let_go(1)
        assert finish(process).code == 1
        expect(page.get_by_text("of 3 cases passed")).to_be_visible()
        expect(page.get_by_text("The run goes on")).to_be_hidden()
        page.goto("about:blank")
    gate.close()
