from tests.report.page.opened import Opened, open_page
from tests.run.project import Project, case


def compare(project: Project, *arguments: str) -> Opened:
    done = project.run("compare", *arguments, "--format", "html", "-o", "page.html")
    assert done.code == 0, done
    return open_page((project.path / "page.html").read_bytes())


def test_every_case_of_both_runs_is_a_row(project: Project) -> None:
    project.suite(case("steady"), case("worse"), case("better", "say no"), case("gone"))
    project.run("run")
    project.suite(case("steady"), case("worse", "say no"), case("better"), case("new"))
    project.run("run")
    page = compare(project)
    changes = {row["case"]: row["change"] for row in page.rows}
    assert changes == {
        "steady": "same", "worse": "broken", "better": "fixed", "new": "added", "gone": "removed"
    }  # fmt: skip
    worse = page.detail("worse")
    assert worse["base"][0]["verdict"] == "passed"
    assert worse["trials"][0]["verdict"] == "failed"
    assert page.detail("gone")["trials"] == []
    told = page.about["comparison"]
    assert told["sentences"] == ["Too few cases to tell."]
    (track,) = told["tracks"]
    assert track["counts"].startswith("3 cases compared: 1 fixed, 1 broken")
    assert track["tables"][0][1][:3] == ["pass rate", "66.7%", "66.7%"]


def test_a_kind_is_the_one_that_the_figures_count(project: Project) -> None:
    project.add_to_agent(
        'def turns(question):\n    note("calls", "x")\n'
        '    return "ok" if calls_of("x") % 3 else "no"\n'
    )
    project.suite(
        *[case(f"c{number}", "x", repeat={"times": 3, "pass_rate": 0.6}) for number in range(6)],
        target="python:agent:turns",
    )
    project.run("run", "--concurrency", "1")
    project.run("run", "--concurrency", "1", "--repeat", "2")
    page = compare(project)
    (track,) = page.about["comparison"]["tracks"]
    kinds = [row["change"] for row in page.rows]
    for kind, word in (("fixed", "fixed"), ("broken", "broken"), ("same", "the same")):
        assert f"{kinds.count(kind)} {word}" in track["counts"]
