"""What `evaluate` takes for a target: functions, objects, classes and names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, ConfigError, TargetError
from evalcase.testing import ScriptedTarget
from tests.library.evaluating import Evaluate, suite
from tests.run.project import case


def test_a_forbidden_call_never_passes_in_whichever_form_it_is_returned(folder: Path) -> None:
    call = {"name": "delete", "args": {}}
    said = {
        "a": {"text": "Done.", "tool_calls": [call]},
        "b": {"role": "assistant", "content": [{"type": "tool_use", "name": "delete"}]},
        "c": {"choices": [{"message": {"role": "assistant", "function_call": call}}]},
        "d": {"answer": "Done.", "tool_calls": [call]},
    }
    suite(folder, *[{"id": name, "input": name} for name in said])
    forbid = {"tool_calls": {"forbidden": ["delete"]}}

    done = evalcase.evaluate(".", said.__getitem__, graders=[forbid])
    verdicts = {result.key.case: result.verdict for result in done.results}
    assert verdicts == {"a": "failed", "b": "failed", "c": "failed", "d": "errored"}


def test_a_function_is_a_target(folder: Path, evaluate: Evaluate) -> None:
    def agent(question: str) -> str:
        return "ok" if question == "one" else "no"

    done = evaluate(".", agent)
    assert (done.status, done.complete, done.ok, done.pass_rate) == ("completed", True, False, 0.5)
    assert (done.totals.cases.passed, done.totals.cases.failed) == (1, 1)
    assert {result.key.case: result.verdict for result in done.results} == {
        "a": "passed",
        "b": "failed",
    }
    assert Path(done.path).parent == folder / ".evalcase" / "runs"


@pytest.mark.usefixtures("folder")
def test_async_functions_and_objects_and_names_together(evaluate: Evaluate) -> None:
    async def agent(messages: list[Any]) -> str:
        return str(len(messages))

    scripted = ScriptedTarget({"a": "ok", "b": ValueError("no")})
    done = evaluate(["s.eval.yaml"], [agent, scripted, "echo"])
    targets = {result.key.target for result in done.results}
    assert len(targets) == 3
    assert {"echo", "ScriptedTarget"} < targets
    assert (scripted.opened, scripted.closed, len(scripted.asked)) == (1, 1, 2)
    assert done.totals.cases.errored == 1


class Derived(evalcase.Target):
    """Answers as the engine asks, by a question."""

    async def answer(self, question: evalcase.Question) -> Answer:
        assert isinstance(question, evalcase.Question)
        return Answer.of_text("ok" if question.case == "a" else "no")


class Asking:
    """Is an object of a user's, with a method that takes what it asks for."""

    def answer(self, prompt: str, *, session: str, metadata: dict[str, Any]) -> str:
        assert session
        assert metadata == {}
        return "ok" if prompt == "one" else "no"


class Async:
    """Looks like a target of evalcase's, and is none: it is given the last user content."""

    async def open(self) -> None: ...

    async def answer(self, question: Any) -> str:
        assert question in ("one", "two")
        return "ok" if question == "one" else "no"

    async def close(self) -> None: ...


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("target", "name"),
    [
        (Derived(), "Derived"),
        (Asking(), "python:tests.library.test_targets:Asking"),
        (Async(), "python:tests.library.test_targets:Async"),
        (Asking, "python:tests.library.test_targets:Asking"),
    ],
)  # fmt: skip
def test_objects_and_classes_are_targets(evaluate: Evaluate, target: Any, name: str) -> None:
    done = evaluate(".", target)
    verdicts = {(each.key.target, each.key.case): each.verdict for each in done.results}
    assert {case: verdict for (_, case), verdict in verdicts.items()} == {
        "a": "passed", "b": "failed",
    }  # fmt: skip
    assert {target.rpartition(".")[2] for target, _ in verdicts} == {name.rpartition(".")[2]}


@pytest.mark.usefixtures("folder")
def test_what_is_expected_is_refused_to_what_is_tested(evaluate: Evaluate) -> None:
    class Curious:
        def answer(self, case: Any) -> str:
            return str(case.expected_output)

    for target in (Curious(), lambda case: case):
        with pytest.raises(ConfigError, match="must not be seen by what is tested"):
            evaluate(".", target)


def test_what_is_no_target(folder: Path) -> None:
    with pytest.raises(ConfigError, match="not 42"):
        evalcase.evaluate(".", 42)  # type: ignore[arg-type]
    assert not (folder / ".evalcase").exists()


def test_a_target_that_cannot_be_set_up_is_raised(folder: Path, evaluate: Evaluate) -> None:
    class Broken(ScriptedTarget):
        async def open(self) -> None:
            raise TargetError("no database")

    with pytest.raises(TargetError, match="no database"):
        evaluate(".", Broken([]))
    assert not (folder / ".evalcase").exists()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Answer((), cost_usd="abc"), "cost_usd"),  # type: ignore[arg-type]
        (lambda: Answer((), cost_usd=1e20), "cost_usd"),
        (lambda: Answer((), usage=evalcase.Usage("x")), "usage"),  # type: ignore[arg-type]
        (lambda: Answer((), usage=evalcase.Usage(10**20)), "usage"),
    ],
)
def test_usage_and_cost_that_make_no_sense_are_an_error_of_who_made_the_answer(
    folder: Path, make: Callable[[], Answer], words: str
) -> None:
    suite(folder, {"id": "a", "input": "x"})
    (result,) = evalcase.evaluate(".", lambda _: make()).results
    assert result.verdict == "errored"
    assert result.failure is not None
    assert f"`{words}" in result.failure.message


def test_a_target_that_breaks_when_it_is_closed_is_a_warning(
    folder: Path, evaluate: Evaluate
) -> None:
    class Broken(ScriptedTarget):
        async def close(self) -> None:
            raise OSError("gone")

    suite(folder, case("a"))
    said: list[str] = []
    assert evaluate(".", Broken(["ok"]), on_warning=said.append).ok
    assert [text.partition(" (")[0] for text in said] == [
        "`Broken`: tear-down failed: OSError('gone')"
    ]


class PlainToAsk(ScriptedTarget):
    def answer(self, question: evalcase.Question) -> Any:
        return Answer.of_text(question.case)


class PlainToOpen(ScriptedTarget):
    def open(self) -> Any:
        self.opened += 1


def test_methods_of_a_target_are_async_and_one_that_is_not_is_told(
    folder: Path, evaluate: Evaluate
) -> None:
    suite(folder, case("a"))
    (result,) = evaluate(".", PlainToAsk([])).results
    assert result.failure is not None
    assert result.failure.kind == "protocol"
    assert "`answer` of a Target must be async (`async def answer`)" in result.failure.message
    with pytest.raises(TargetError, match="`open` of a Target must be async"):
        evaluate(".", PlainToOpen(["ok"]))
