"""Two runs of the same cases: what the agent says to each is told by the environment."""

from collections.abc import Mapping
from typing import Any

from tests.run.project import Done, Project


def case(name: str, **fields: Any) -> dict[str, Any]:
    """The agent says to it what the variable of its name holds."""
    return {"id": name, "input": f"env {name.upper()}", "expected_output": "yes", **fields}


def run_with(project: Project, *arguments: str, **answers: str) -> Done:
    env = {name.upper(): answer for name, answer in answers.items()}
    done = project.run("run", "--quiet", *arguments, env=env)
    assert done.code != 2, done.err
    return done


def two_runs(project: Project, base: Mapping[str, str], head: Mapping[str, str]) -> None:
    project.suite(*map(case, dict.fromkeys([*base, *head])))
    run_with(project, **base)
    run_with(project, **head)
