import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from evalcase.config.registry import Plural, find_class, list_names
from evalcase.errors import ConfigError
from tests.cli.command import environment


@pytest.mark.parametrize("plural", ["targets", "graders"])
def test_every_built_in_name_is_a_class(plural: Plural) -> None:
    for name in list_names(plural):
        assert isinstance(find_class(plural, name), type)


def test_the_nearest_name_is_suggested() -> None:
    with pytest.raises(ConfigError, match="no target kind `pyhton`: did you mean `python`"):
        find_class("targets", "pyhton")
    with pytest.raises(ConfigError, match=r"no grader kind `zzzzzz`; there are .*expected"):
        find_class("graders", "zzzzzz")


def install(folder: Path, module: str, *, group: str = "targets", **entries: str) -> None:
    """A real package, as pip leaves it: a module, and metadata with entry points."""
    (folder / "plug_in.py").write_text(dedent(module))
    metadata = folder / "plug_in-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 1.0\n")
    lines = [f"{name} = plug_in:{attribute}" for name, attribute in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[evalcase.{group}]", *lines, ""]))


def run_with(folder: Path, script: str) -> None:
    env = environment()
    env["PYTHONPATH"] += f":{folder}"
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)],
        env=env, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()


def test_a_target_of_another_package(tmp_path: Path) -> None:
    install(tmp_path, "class Loud: pass", loud="Loud", python="Loud")
    script = """
        import sys
        from evalcase.errors import ConfigError
        from evalcase.config.registry import find_class, find_target_kind, list_names
        assert "loud" in list_names("targets"), list_names("targets")
        assert "plug_in" not in sys.modules
        assert find_class("targets", "loud").__name__ == "Loud"
        assert find_class("targets", "python").__name__ == "PythonTarget"
        try:
            find_target_kind("loud")
        except ConfigError as error:
            assert "says nothing of itself by a `kind`" in str(error), error
        else:
            raise AssertionError
    """
    run_with(tmp_path, script)


def test_an_executor_of_another_package(tmp_path: Path) -> None:
    make = """
        from evalcase import ConfigError

        def make(settings, plan):
            raise ConfigError(f"{settings.kind} has {settings.workers} and {dict(plan.trials)}")
    """
    install(tmp_path, make, group="executors", mine="make")
    script = """
        import evalcase
        try:
            evalcase.evaluate([evalcase.Case(id="a", input="x")], "echo", engine="mine")
        except evalcase.ConfigError as error:
            assert str(error) == "mine has None and {'echo': 1}", error
        else:
            raise AssertionError
    """
    run_with(tmp_path, script)


LOUD = """
from typing import Annotated
from evalcase import Answer, Target, TargetKind, TargetOptions, options

class LoudOptions(TargetOptions):
    marks: Annotated[options.Count, options.about("How loud it is.")] = 1

class Loud(Target):
    kind = TargetKind("loud", "Shouts.", LoudOptions, value_needed=False)

    def __init__(self, options, surroundings):
        self.options = options

    async def answer(self, question):
        return Answer.of_text(question.text.upper() + "!" * self.options.marks)
"""


def test_it_is_made_and_checked_like_our_own(tmp_path: Path) -> None:
    install(tmp_path, LOUD, loud="Loud")
    script = """
        import asyncio
        from evalcase.errors import ConfigError
        from evalcase.types.message import Message
        from evalcase.types.target import Question
        from evalcase.types.target import Surroundings
        from evalcase.config.targets import make_target
        from evalcase.config.config import Config
        around = Surroundings(".", {}, print, lambda: 0.0)
        targets = {"l": {"kind": "loud", "marks": 2}, "odd": {"kind": "loud", "mraks": 2}}
        asked = Question((Message({"role": "user", "content": "Hi"}),))
        for name, text in (("l", "HI!!"), ("loud", "HI!")):
            target = make_target(name, Config(".", targets=targets), around)
            assert asyncio.run(target.answer(asked)).text == text
        try:
            make_target("odd", Config(".", targets=targets), around)
        except ConfigError as error:
            assert str(error).endswith("no option `mraks`: did you mean `marks`?"), error
        else:
            raise AssertionError
    """
    run_with(tmp_path, script)


RULED = """
    from typing import Annotated
    from evalcase import Grader, Score, options

    class Ruled(Grader):
        name = "ruled"
        description = "As a function and a program say."
        runs_code = True

        rule: Annotated[options.FunctionName, options.about("A function.")]
        helper: Annotated[options.Argv, options.about("A program.")]

        def grade(self, context):
            return Score(1)
"""


def test_code_and_programs_that_a_grader_of_another_package_names_are_looked_for(
    tmp_path: Path,
) -> None:
    installed, project = tmp_path / "installed", tmp_path / "project"
    installed.mkdir()
    project.mkdir()
    install(installed, RULED, group="graders", ruled="Ruled")
    (project / "evalcase.toml").write_text('target = "echo"\n')
    (project / "rules.py").write_text("def kind(text): ...\n")
    grader = '{type: ruled, rule: "rules:kin", helper: [./absent, x]}'
    (project / "a.eval.yaml").write_text(f"cases:\n  - {{input: hi, graders: [{grader}]}}\n")
    script = f"""
        import os
        import evalcase
        os.chdir({str(project)!r})
        expected = [("unknown-grader", 2, 47), ("missing-file", 2, 69)]
        found = [(each.code, each.line, each.column) for each in evalcase.check(".")]
        assert found == expected, found
        try:
            evalcase.evaluate(".")
        except evalcase.SuiteError as error:
            found = [(each.code, each.line, each.column) for each in error.problems]
            assert found == expected, found
        else:
            raise AssertionError
    """
    run_with(installed, script)


def test_a_grader_of_another_package_that_is_broken_is_known_and_can_not_be_used(
    tmp_path: Path,
) -> None:
    install(tmp_path, "1 / 0", group="graders", ruled="Ruled")
    script = """
        import evalcase
        (found,) = evalcase.check_text("cases: [{input: hi, graders: [ruled]}]", "a.eval.yaml")
        assert found.code == "bad-grader", found
        assert "division by zero" in found.message, found
    """
    run_with(tmp_path, script)
