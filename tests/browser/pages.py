"""Runs made for the browser, and the page of one opened in it. They are made by processes: here the
loop of Playwright is under way, and a run needs its own."""

from playwright.sync_api import Locator, Page

from tests.run.project import Project, case


def open_report(tab: Page, project: Project, hash: str = "", *arguments: str) -> None:
    done = project.run_process("report", "--format", "html", "-o", "page.html", *arguments)
    assert done.code == 0, done
    open_file(tab, project, hash)


def open_file(tab: Page, project: Project, hash: str = "") -> None:
    tab.goto(f"file://{project.path / 'page.html'}{hash}")
    tab.locator("body.ready").wait_for()


def run_mixed(project: Project) -> None:
    """A few cases of every verdict, with tags and two targets."""
    project.suite(
        case("alpha", "say ok", tags=["easy"]),
        case("beta", "say a needle in the hay", tags=["hard"]),
        case("gamma", "say ok", tags=["easy", "hard"]),
        case("delta", "raise it broke", tags=["hard"]),
        case("omega", skip="not now"),
    )
    project.run_process("run")


def rows(tab: Page) -> Locator:
    return tab.get_by_role("grid").locator(".rows [role=row]")


def names(tab: Page) -> list[str]:
    return rows(tab).locator(".name").all_inner_texts()


def panel(tab: Page) -> Locator:
    return tab.get_by_role("region", name="Case", exact=True)
