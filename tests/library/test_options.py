"""What `evaluate` is told beside its target: which cases and graders, its limits, when it stops."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, ConfigError, SuiteError
from evalcase.config.options import Keywords, list_run_flags
from tests.library.evaluating import Evaluate, suite
from tests.run.project import case


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"concurrency": 0}, "`concurrency` is a whole number of 1 or more, not 0"),
        ({"repeat": True}, "`repeat` is a whole number from 1 to 1,000,000, not true"),
        ({"max_cost_usd": float("inf")}, "`max_cost_usd`"),
        ({"timeout_s": 0}, "`timeout_s`"),
        ({"max_cost_usd": float("nan")}, "`max_cost_usd`"),
        ({"shard": (3, 2)}, "`shard`"),
    ],
)
def test_options_are_checked(folder: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        evalcase.evaluate(".", "echo", **options)
    assert not (folder / ".evalcase").exists()


def test_editors_know_every_option() -> None:
    told = {*Keywords.__annotations__} - {"on_result", "on_warning"}
    assert told == list_run_flags().keys() - {"targets"}


def test_an_option_that_does_not_exist(folder: Path) -> None:
    with pytest.raises(TypeError, match="'concurency'"):
        evalcase.evaluate(".", "echo", concurency=3)  # type: ignore[call-arg]
    assert not (folder / ".evalcase").exists()


CALLS: list[str] = []


def counted(question: str) -> str:
    CALLS.append(question)
    return os.environ["AGENT_WORD"]


@pytest.mark.usefixtures("folder")
def test_env_file_and_cache(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))
    Path("keys.env").write_text("AGENT_WORD=ok\n")
    CALLS.clear()
    assert evaluate(".", counted, env_file="keys.env", cache=True).ok
    assert evaluate(".", counted, cache=True).ok
    assert sorted(CALLS) == ["one", "two"]


@pytest.mark.usefixtures("folder")
def test_a_program_is_told_of_its_options_and_not_of_those_of_the_command() -> None:
    with pytest.raises(TypeError, match="no option 'max_cost': did you mean `max_cost_usd`"):
        evalcase.evaluate(".", "echo", max_cost=1)  # type: ignore[call-arg]

    def paid(_: str) -> Answer:
        return Answer(Answer.of_text("ok").messages, cost_usd=1.0)

    done = evalcase.evaluate(".", paid, max_cost_usd=0.5, concurrency=1)
    assert done.status == "stopped"
    said = "the spending cap of 0.5 USD is reached; raise it to start more trials"
    assert done.notice == said


def test_a_run_ends_once_it_is_decided(tmp_path: Path) -> None:
    cases = [
        evalcase.Case(id=f"c{number}", input="hi", expected_output="hi") for number in range(9)
    ]
    done = evalcase.evaluate(
        cases, "echo", root=tmp_path, fail_under=0.5, stop="certain", concurrency=1
    )
    assert done.decision is not None
    assert (done.decision.outcome, done.decision.seen, done.not_run) == ("met", 5, 4)
    assert done.ok, "as the exit code has it"
    with pytest.raises(evalcase.ConfigError, match="there is neither"):
        evalcase.evaluate(cases, "echo", root=tmp_path, stop="certain")


def test_a_case_may_be_asked_of_one_of_its_targets_only(folder: Path) -> None:
    suite(folder, *[{**case(id, "one"), "targets": ["echo", "python:o:f"]} for id in "ab"])
    (folder / "o.py").write_text("def f(question):\n    return question\n")
    some = [("s.eval.yaml", "a", "echo"), ("./s.eval.yaml", "b", "python:o:f")]
    done = evalcase.evaluate(".", cases=some)
    assert [(each.case, each.target) for each in done.cases] == [("a", "echo"), ("b", "python:o:f")]
    both = evalcase.evaluate(".", cases=[*some, ("s.eval.yaml", "b")])
    assert [(each.case, each.target) for each in both.cases] == [
        ("a", "echo"), ("b", "echo"), ("b", "python:o:f"),
    ]  # fmt: skip
    with pytest.raises(ConfigError, match="there is no case `a` at `other`"):
        evalcase.evaluate(".", cases=[("s.eval.yaml", "a", "other")])


@pytest.mark.parametrize("several", [list, tuple, iter], ids=["list", "tuple", "iterator"])
@pytest.mark.parametrize("name", ["cases", "tags", "target"])
def test_an_empty_selection_is_an_error_and_never_all(
    folder: Path, evaluate: Evaluate, name: str, several: Callable[[Any], Any]
) -> None:
    given: dict[str, Any] = {"target": "echo", name: several(())}
    with pytest.raises(ConfigError, match=f"`{name}` is (an )?empty"):
        evaluate("s.eval.yaml", **given)
    assert not (folder / ".evalcase").exists()


def test_a_root_is_taken_as_it_is(folder: Path, evaluate: Evaluate) -> None:
    (folder / "evalcase.toml").write_text('target = "nobody"\n')
    (folder / "sub").mkdir()
    done = evaluate("s.eval.yaml", "echo", root=Path("sub"))
    assert Path(done.path).parent == folder / "sub" / ".evalcase" / "runs"
    assert not (folder / ".evalcase").exists()
    (folder / "sub" / "evalcase.toml").write_text('target = "echo"\n')
    assert {result.key.target for result in evaluate("s.eval.yaml", root="sub").results} == {"echo"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("cases", [[("s.eval.yaml",)], [3], [("s.eval.yaml", 3)], None])
def test_what_names_no_case_is_an_error_that_shows_the_forms(cases: Any) -> None:
    with pytest.raises(TypeError, match=r"pairs of suite and id, `\(\"a.eval.yaml\", \"sum\"\)`"):
        evalcase.evaluate(".", "echo", cases=cases)
    with pytest.raises(TypeError, match="`tags` takes texts"):
        evalcase.evaluate(".", "echo", tags=[3])  # type: ignore[list-item]


@pytest.mark.usefixtures("folder")
def test_graders_may_be_said_as_in_a_file() -> None:
    def agent(question: str) -> str:
        return f"ok, {question}"

    cases = [evalcase.Case(id=id, input=id) for id in ("one", "two")]
    done = evalcase.evaluate(
        cases,
        agent,
        graders=["python:evalcase.testing:passes", {"contains": "one"}, {"length": {"max": 99}}],
    )
    assert [each.verdict for each in done.cases] == ["passed", "failed"]
    (failed,) = [result for result in done.results if result.verdict == "failed"]
    assert [grade.grader for grade in failed.grades] == [
        "python:evalcase.testing:passes", "contains", "length",
    ]  # fmt: skip
    with pytest.raises(SuiteError, match="containz"):
        evalcase.evaluate(cases, agent, graders=[{"length": {"containz": 1}}])
    with pytest.raises(ConfigError, match="did you mean `contains`"):
        evalcase.evaluate(cases, agent, graders=["containz"])
    with pytest.raises(ConfigError, match="would run code"):
        evalcase.evaluate(cases, agent, graders=["python:o:f"], no_exec=True)
