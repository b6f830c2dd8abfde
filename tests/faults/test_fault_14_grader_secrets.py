"""Keys of targets that only graders ask, or that are known only once a target is open."""

from __future__ import annotations

from tests.run.project import Project, case

ASKS = """
async def asks(context):
    import os
    return f"the key is {os.environ['OPENAI_API_KEY']}"
"""

DECLARES = """
import os
from evalcase import Answer, Target, Traits

class Careful(Target):
    traits = Traits(key_names=("MY_KEY",), concurrency=1)

    async def answer(self, question):
        return Answer.of_text("it is " + os.environ["MY_KEY"])
"""


def test_fault_14_the_key_of_a_target_that_only_graders_ask_is_secret(project: Project) -> None:
    (project.path / "own.py").write_text(ASKS)
    project.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "agent:answer"\n'
        '[targets.judge]\nkind = "openai"\nmodel = "m"\n'
    )
    project.suite(case("a", graders=["python:own:asks"]))
    done = project.run("run", env={"OPENAI_API_KEY": "sk-0123456789abcdef"})
    assert done.code == 1
    journal = (project.runs()[0] / "journal.jsonl").read_text()
    for text in (done.out, done.err, journal):
        assert "sk-0123456789abcdef" not in text
    assert "***OPENAI_API_KEY***" in journal


def test_fault_14_what_a_target_class_says_of_itself_holds_when_it_is_named(
    project: Project,
) -> None:
    (project.path / "own.py").write_text(DECLARES)
    project.suite(case("a"))
    done = project.run("run", "--target", "python:own:Careful", env={"MY_KEY": "0123456789abcdef"})
    assert done.code == 1
    journal = (project.runs()[0] / "journal.jsonl").read_text()
    for text in (done.out, done.err, journal):
        assert "0123456789abcdef" not in text
