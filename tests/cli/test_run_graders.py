"""What graders cost and how long they may take, seen from the command."""

from __future__ import annotations

from tests.run.project import CONFIG, Project, case, cases

ASKING = """
import asyncio
from evalcase import Message

async def judge(context):
    answer = await context.ask("priced", [Message({"role": "user", "content": "cost 0.25"})])
    return answer.text == "ok"

async def never(context):
    await asyncio.Event().wait()
"""
PRICED = '\n[targets.priced]\nkind = "python"\nfunction = "agent:answer"\n'


def judged(project: Project, *items: dict[str, object], settings: str = "") -> None:
    (project.path / "asking.py").write_text(ASKING)
    project.configure(settings + CONFIG + PRICED)
    project.suite(*items, graders=["python:asking:judge"])


def test_what_graders_ask_is_counted_apart_and_once(project: Project) -> None:
    judged(project, case("a", "cost 1"), case("b", "cost 2"), case("c", "raise x"))
    told = project.run("run", "--json").json
    assert (told["cost_usd"], told["grading_usd"]) == (3.0, 0.5)
    assert project.run("resume", "latest", "--json").json["grading_usd"] == 0.5
    shown = project.run("report").out
    assert "$3.0000" in shown
    assert "grading $0.5000" in shown
    rows = project.rows()
    assert [grade["cost_usd"] for row in rows for grade in row.get("grades", ())[:1]] == [
        0.25,
        0.25,
    ]


def test_the_cap_is_over_targets_and_graders(project: Project) -> None:
    judged(project, *cases(6, "cost 1"))
    done = project.run("run", "--max-cost", "2.4", "--concurrency", "1", "--json")
    # Two cases come to 2.50; without what graders asked there would have been a third.
    assert (done.code, done.json["passed"], done.json["not_run"]) == (3, 2, 4)
    assert (done.json["cost_usd"], done.json["grading_usd"]) == (2.0, 0.5)
    done = project.run("resume", "--max-cost", "3.7", "--json")
    assert done.json["passed"] == 3


def test_the_configuration_says_how_long_graders_may_take(project: Project) -> None:
    judged(project, settings="grader_timeout_s = 0.05\n")
    project.suite(case("a"), graders=["python:asking:never"])
    done = project.run("run")
    assert done.code == 3
    assert "returned no grade within 0.05 s" in done.out
