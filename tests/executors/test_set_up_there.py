"""Workers set up all that a run knows before their first question, and have the keys for it."""

from typing import Any

import pytest

from tests.cli.test_judging import KEY, OPENAI, configure, judged
from tests.run.project import Project, case

__all__ = ["judged"]

# Nobody listens there: what counts is that somebody is called.
KEY_AND_NO_WAY = {"OPENAI_API_KEY": "k-4711-0815", "HTTPS_PROXY": "http://127.0.0.1:9"}


def test_a_judge_without_its_key_is_noticed_before_anybody_is_asked(project: Project) -> None:
    configure(project, OPENAI)
    project.suite(case("a", criteria="Is kind."), case("b"))
    done = project.run("run", "--processes", "2", env={"OPENAI_API_KEY": ""})
    assert (done.code, project.calls(), project.runs()) == (2, [], [])
    assert "OPENAI_API_KEY" in done.err


@pytest.mark.parametrize(
    "fields",
    [
        {"graders": [{"judge": {"value": "Is kind.", "target": "j"}}]},
        {"graders": [{"judge": {"value": "Is kind.", "target": "openai:m"}}]},
        {"graders": ["python:asking:ask_j"]},
    ],
)
def test_the_usual_key_of_whom_a_grader_asks_reaches_workers(
    project: Project, fields: dict[str, Any]
) -> None:
    configure(project, OPENAI)
    (project.path / "asking.py").write_text(
        "async def ask_j(context):\n"
        "    await context.ask('j', [{'role': 'user', 'content': 'Is it?'}])\n"
    )
    project.suite(case("a", **fields))
    done = project.run("run", "--processes", "1", "--retries", "0", env=KEY_AND_NO_WAY)
    assert (done.code, project.calls()) == (3, ["a"])
    assert "127.0.0.1" in str(project.rows())
    assert "is not set" not in str(project.rows())


def test_every_worker_has_set_up_who_judges_before_it_is_asked(judged: Project) -> None:
    config = (judged.path / "evalcase.toml").read_text()
    judged.configure(f'{config}\n[engine]\nkind = "processes"\nworkers = 3\nenv = ["JUDGE_KEY"]\n')
    judged.suite(*[case(f"c{number}", criteria="Is kind.") for number in range(9)])
    judged.add_to_agent(
        "import judging\n"
        "def looks(question: Question):\n"
        "    note('calls', 'asked after set-up' if judging.opened else 'asked before')\n"
        "    return 'ok'\n"
    )
    code = (judged.path / "judging.py").read_text()
    counted = code.replace('note("calls", "opened")', "global opened\n        opened = True")
    (judged.path / "judging.py").write_text(f"opened = False\n{counted}")
    done = judged.run("run", "--concurrency", "9", "--target", "python:agent:looks", env=KEY)
    assert done.code == 0, done
    assert "before" not in judged.calls()
    assert judged.calls().count("set-up") == 9
