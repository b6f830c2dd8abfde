"""What graders cost and how long they may take, seen from the command."""

from __future__ import annotations

from evalcase.graders.python import GIVEN
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


def test_a_grader_s_own_limit_counts_more(project: Project) -> None:
    judged(project, settings="grader_timeout_s = 60\n")
    graders = [{"type": "python", "value": "asking:never", "timeout_s": 0.02}]
    project.suite(case("a"), graders=graders)
    assert "returned no grade within 0.02 s" in project.run("run").out


DATA = """\
  json_equals: $.a differs, $.x: missing
  expected   │ got
  {          │ {
    "a": 1,  │   "a": 2
         ^   │        ^
    "x": 0   │
  }          │ }
"""


def test_what_is_allowed_is_not_shown_as_a_difference(project: Project) -> None:
    grader = {"type": "json_equals", "value": {"a": 1, "x": 0}, "extra": "allow"}
    project.suite({"id": "a", "input": 'say {"a": 2, "k": 3}', "graders": [grader]})
    assert DATA in project.run("run").out


def test_a_key_that_is_not_expected_is_said_to_be_so(project: Project) -> None:
    project.suite({"id": "a", "input": 'say {"a": 1, "k": 3}', "expected_output": {"a": 1}})
    assert "\n  $.k: not expected\n" in project.run("run").out


def test_the_names_of_what_a_grader_can_be_given_are_all_told(project: Project) -> None:
    (project.path / "checks.py").write_text("def polite(output_text):\n    return True\n")
    project.suite(case("a"), graders=["python:checks:polite"])
    done = project.run("run")
    assert done.code == 2
    assert f"can be given {', '.join(GIVEN)}, and what `arguments` names" in done.err


def test_a_cost_that_nobody_reports_is_not_asked_for_again(project: Project) -> None:
    project.suite(case("a"), graders=[{"cost": 1}])
    done = project.run("run", "--target", "echo")
    assert done.code == 3
    assert "`price = {input = …, output = …}`" in " ".join(done.out.split())
    assert "--retry-errored" not in done.out
    assert "next     fix it, then: evalcase run" in done.out
