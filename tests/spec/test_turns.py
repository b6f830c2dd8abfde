"""Conversations in turns, sentence by sentence of their specification."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, Message
from evalcase.testing import ScriptedTarget
from evalcase.types.answer import Usage
from tests.for_each import for_each
from tests.run.project import Project
from tests.spec.found import only_problem, places, problems_of
from tests.spec.talking import TUTOR, Stateful, busy, grades, hold, pairs, run, said

pytestmark = pytest.mark.usefixtures("folder")


# The format


def test_input_stays_history_and_live_turns_follow_it() -> None:
    target = ScriptedTarget(["30", "60"])
    assert hold(TUTOR, target).verdict == "passed"
    assert said(target.asked[0]) == [
        ("system", "You are a tutor."), ("user", "What is 15% of 200?"),
    ]  # fmt: skip


def test_a_conversation_needs_no_input_of_its_own() -> None:
    case = evalcase.parse_case("turns: [{input: Hi, expected_output: Hello}]")
    assert case.input == ()
    assert "input" not in case.to_dict()


def test_each_turn_takes_input_expected_output_graders_criteria_and_rubrics() -> None:
    turn = {
        "input": "Hi", "expected_output": "Hello", "criteria": "Greets.", "rubrics": ["Is short"],
        "graders": [{"length": {"max": 10}}],
    }  # fmt: skip
    (read,) = evalcase.Case(turns=[turn]).to_dict()["turns"]
    assert read == {
        "input": [{"role": "user", "content": "Hi"}],
        "expected_output": [{"role": "assistant", "content": "Hello"}],
        "criteria": "Greets.",
        "rubrics": [{"text": "Is short"}],
        "graders": [{"type": "length", "max": 10}],
    }
    assert list(read) == ["input", "expected_output", "criteria", "rubrics", "graders"]


def test_a_text_alone_is_what_is_said_in_a_turn() -> None:
    short, long = (evalcase.parse_case(f"id: x\nturns: [{turn}]") for turn in ("Hi", "{input: Hi}"))
    assert short == long


def test_the_short_forms_and_old_names_of_a_case_are_those_of_a_turn() -> None:
    text = "cases: [{turns: [{input_messages: Hi, expected_messages: {role: admin, n: 1}}]}]"
    (case,) = evalcase.loads(text)
    assert case.turns[0].expected_output[0].content == {"role": "admin", "n": 1}
    assert [each.code for each in problems_of(text)] == ["deprecated-name"] * 2


def test_turns_exclude_a_top_level_expected_output() -> None:
    problem = only_problem("cases:\n  - turns: [Hi]\n    expected_output: x\n")
    assert (problem.code, problem.line, problem.column) == ("conflicting-fields", 3, 5)
    assert problem.hint == "give it to the turn whose answer it is"


@for_each(
    ("turns", "place"),
    [
        ("Hi", ("wrong-type", 2, 12, 2, 14)),
        ("[]", ("empty-list", 2, 12, 2, 14)),
        ("[7]", ("wrong-type", 2, 13, 2, 14)),
        ("[{role: user, content: Hi}]", ("wrong-type", 2, 13, 2, 38)),
        ("[{expected_output: x}]", ("missing-input", 2, 13, 2, 33)),
        ("[{input: 7}]", ("wrong-type", 2, 21, 2, 22)),
        ("[{input: Hi, expcted_output: x}]", ("unknown-field", 2, 25, 2, 39)),
        ("[{input: Hi, timeout_s: 3}]", ("unknown-field", 2, 25, 2, 34)),
        ("[{input: Hi, execution: {}}]", ("unknown-field", 2, 25, 2, 34)),
        ("[{input: Hi, graders: [{contains: }]}]", ("missing-option", 2, 46, 2, 46)),
    ],
)
def test_a_mistake_in_a_turn_is_found_at_its_place(turns: str, place: tuple[Any, ...]) -> None:
    assert places(f"cases:\n  - turns: {turns}\n")[0] == place


def test_stop_on_failure_is_for_turns_only() -> None:
    problem = only_problem("cases: [{input: Hi, stop_on_failure: true}]")
    assert (problem.code, problem.hint) == ("bad-value", "remove it")


def test_a_conversation_that_nothing_grades_is_warned_of() -> None:
    (warning,) = evalcase.loads("cases: [{turns: [Hi, You?]}]").warnings
    assert warning.code == "nothing-to-grade"
    for graded in ("graders: [json]", "criteria: Greets."):
        suite = evalcase.loads(f"cases: [{{turns: [Hi], {graded}}}]")
        assert "nothing-to-grade" not in [each.code for each in suite.warnings]


def test_a_suites_input_comes_before_all_turns_and_its_graders_judge_the_whole() -> None:
    suite = evalcase.loads("input: Be brief.\ngraders: [json]\ncases: [{turns: [Hi]}]")
    (case,) = suite
    assert [message.content for message in case.input] == ["Be brief."]
    assert ([each["type"] for each in case.graders], case.turns[0].graders) == (["json"], ())
    assert list(case.to_dict()) == ["id", "input", "turns", "graders"]


def test_an_id_is_made_of_all_that_is_said() -> None:
    first, again, other = (
        evalcase.parse_case(f"turns: [Hi, {{input: {last}, expected_output: {wanted}}}]").id
        for last, wanted in (("You?", "x"), ("You?", "y"), ("Me?", "x"))
    )
    assert first == again != other
    assert first.startswith("hi-")


def test_the_canonical_form_is_an_eval_file_again() -> None:
    case = evalcase.Case(**TUTOR, stop_on_failure=True)
    (again,) = evalcase.loads(json.dumps({"cases": [case.to_dict()]}), "json")
    assert again == case


def test_files_of_turns_are_looked_for_and_given(folder: Path) -> None:
    (folder / "note.txt").write_text("n")
    part = {"type": "file", "path": "note.txt"}
    turn = {"input": [{"role": "user", "content": [part]}], "expected_output": "ok"}
    target = ScriptedTarget(["x", "ok"])
    assert hold({"turns": ["Hi", turn]}, target).verdict == "passed"
    assert target.asked[1].files == {"note.txt": str(folder / "note.txt")}
    with pytest.raises(evalcase.SuiteError, match=r"gone\.txt"):
        run({"turns": ["Hi", {**turn, "input": {**part, "path": "gone.txt"}}]}, target)


# What a target is given


def test_the_target_gets_all_messages_so_far_with_session_and_turn() -> None:
    target = ScriptedTarget(["30", "60"])
    hold(TUTOR, target)
    first, second = target.asked
    assert said(second) == [
        ("system", "You are a tutor."), ("user", "What is 15% of 200?"), ("assistant", "30"),
        ("user", "Double it."),
    ]  # fmt: skip
    assert (first.turn, second.turn) == (1, 2)
    assert first.session == second.session != ""


def test_tool_calls_and_their_outputs_are_part_of_what_was_said() -> None:
    calls = [
        {"role": "assistant", "tool_calls": [{"tool": "add", "input": {"a": 1}, "id": "c1"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "assistant", "content": "It is 2."},
    ]
    target = ScriptedTarget([calls, "60"])
    hold(TUTOR, target)
    assert [dict(each) for each in target.asked[1].messages[2:5]] == calls


def test_a_session_is_one_per_trial() -> None:
    target = ScriptedTarget(["30", "60"] * 6)
    evalcase.evaluate(
        [evalcase.Case(**{**TUTOR, "id": id, "repeat": 3}) for id in "ab"], target, concurrency=1
    )
    sessions: dict[str, set[tuple[str, int]]] = {}
    for each in target.asked:
        sessions.setdefault(each.session, set()).add((each.case, each.repeat))
    assert len(sessions) == 6
    assert all(len(trials) == 1 for trials in sessions.values())


def test_a_function_is_given_session_and_turn_by_its_parameters() -> None:
    given: list[tuple[str, str, int]] = []

    def agent(text: str, session: str, turn: int) -> str:
        given.append((text, session, turn))
        return "30" if turn == 1 else "60"

    assert hold(TUTOR, agent).verdict == "passed"
    assert [(text, turn) for text, _, turn in given] == [
        ("What is 15% of 200?", 1), ("Double it.", 2)
    ]  # fmt: skip
    assert len({session for _, session, _ in given}) == 1


# Retries


def test_a_retry_repeats_the_turn_only_if_the_target_is_stateless() -> None:
    target = ScriptedTarget(["30", busy(), "60"])
    result = hold(TUTOR, target)
    assert (result.verdict, result.attempts) == ("passed", 2)
    assert [each.turn for each in target.asked] == [1, 2, 2]
    assert len({each.session for each in target.asked}) == 1
    assert [each.message for each in result.retried] == ["turn 2: busy"]


def test_else_a_retry_repeats_the_conversation_in_a_new_session() -> None:
    target = Stateful(["30", busy(), "30", "60"])
    result = hold(TUTOR, target)
    assert (result.verdict, result.attempts) == ("passed", 2)
    assert [each.turn for each in target.asked] == [1, 2, 1, 2]
    assert [each.attempt for each in target.asked] == [1, 1, 2, 2]
    assert len({each.session for each in target.asked[:2]}) == 1
    assert len({each.session for each in target.asked}) == 2
    assert len(result.turns) == 2


def test_a_turn_without_an_answer_makes_the_trial_errored_and_shows_what_was_said() -> None:
    result = hold(TUTOR, ScriptedTarget(["30", ValueError("no")]))
    assert (result.verdict, result.answer, result.turns, result.grades) == ("errored", None, (), ())
    assert result.failure is not None
    assert result.failure.message == "turn 2: ValueError: no"
    assert result.failure.details["conversation"] == [
        "user: What is 15% of 200?", "assistant: 30", "user: Double it.",
    ]  # fmt: skip


# Grading


def test_grades_are_named_by_their_turn() -> None:
    result = hold(TUTOR, ScriptedTarget(["30", "61"]))
    assert grades(result) == {"turn 1: expected": True, "turn 2: contains": False}
    assert [grade.turn for grade in result.grades] == [1, 2]


def test_by_default_all_turns_must_pass() -> None:
    verdicts = [hold(TUTOR, ScriptedTarget(answers)).verdict for answers in
                (["30", "60"], ["31", "60"], ["30", "61"])]  # fmt: skip
    assert verdicts == ["passed", "failed", "failed"]


def test_a_failed_turn_does_not_stop() -> None:
    target = ScriptedTarget(["31", "60"])
    result = hold(TUTOR, target)
    assert (len(target.asked), result.verdict, result.ending) == (2, "failed", None)


def test_stop_on_failure_leaves_the_rest_unasked_and_says_so() -> None:
    target = ScriptedTarget(["31"])
    result = hold({**TUTOR, "stop_on_failure": True}, target)
    assert (len(target.asked), result.verdict, result.ending) == (1, "failed", "turn_failed")
    assert len(result.turns) == 1


def test_what_was_left_out_can_not_be_made_up_for() -> None:
    case = {**TUTOR, "stop_on_failure": True, "threshold": 0}
    assert hold(case, ScriptedTarget(["31"])).verdict == "failed"


def test_top_level_graders_judge_the_transcript() -> None:
    seen: list[Any] = []

    def look(context: Any) -> bool:
        seen.append(context)
        return True

    result = hold(TUTOR, ScriptedTarget(["30", "60"]), graders=[look])
    (context,) = seen
    assert result.verdict == "passed"
    assert (context.answer.text, pairs(context.question.messages)) == (
        "60", [("system", "You are a tutor.")],
    )  # fmt: skip
    assert pairs(context.messages) == [
        ("system", "You are a tutor."), ("user", "What is 15% of 200?"), ("assistant", "30"),
        ("user", "Double it."), ("assistant", "60"),
    ]  # fmt: skip


def test_a_grader_of_text_sees_the_last_answer_of_the_transcript_and_no_other() -> None:
    call = {"role": "assistant", "tool_calls": [{"tool": "stop"}]}
    case = {"turns": ["Hi", "Bye"], "graders": [{"contains": "hello"}]}
    assert hold(case, ScriptedTarget(["hello", call])).verdict == "failed"
    assert hold(case, ScriptedTarget([call, "hello"])).verdict == "passed"


def test_calls_are_those_of_the_whole_conversation() -> None:
    case = {
        "turns": ["Look it up.", "Book it."],
        "graders": [{"trajectory": [{"tool": "search"}, {"tool": "book"}]},
                    {"tool_calls": {"max": 2}}],
    }  # fmt: skip
    steps = [
        [{"role": "assistant", "content": "ok", "tool_calls": [{"tool": tool}]}]
        for tool in ("search", "book")
    ]
    assert hold(case, ScriptedTarget(steps)).verdict == "passed"
    assert hold(case, ScriptedTarget([*reversed(steps)])).verdict == "failed"


def test_time_tokens_and_cost_are_kept_per_turn_and_summed() -> None:
    answers = [
        Answer((Message({"role": "assistant", "content": text}),), Usage(10, 5), 0.25)
        for text in ("30", "60")
    ]
    case = {
        **TUTOR,
        "turns": [{"input": "a", "graders": [{"cost": 0.25}, {"tokens": 15}]}, "b"],
        "graders": [{"cost": 0.5}, {"tokens": 30}, {"latency": 60}],
    }
    result = hold(case, ScriptedTarget(answers))
    assert (result.verdict, result.answer and result.answer.cost_usd) == ("passed", 0.5)
    assert [turn.cost_usd for turn in result.turns] == [0.25, 0.25]
    assert result.answer is not None
    assert result.answer.usage == Usage(20, 10)
    assert result.duration_s == pytest.approx(sum(turn.duration_s for turn in result.turns))
    assert not hold({**case, "graders": [{"cost": 0.49}]}, ScriptedTarget(answers)).grades[2].passed


def test_a_threshold_decides_by_the_mean_of_all_turns() -> None:
    assert hold({**TUTOR, "threshold": 0.5}, ScriptedTarget(["30", "61"])).verdict == "passed"
    assert hold({**TUTOR, "threshold": 0.6}, ScriptedTarget(["30", "61"])).verdict == "failed"


def test_the_time_limit_is_of_each_turn() -> None:
    from evalcase.testing import HANGS

    result = hold({**TUTOR, "timeout_s": 0.5}, ScriptedTarget(["30", HANGS]))
    assert result.failure is not None
    assert (result.verdict, result.failure.kind) == ("errored", "timeout")
    assert (
        result.failure.message
        == "turn 2: no answer within 0.5 s (`timeout_s` of the case, or --timeout, allows more)"
    )


JUDGE = """
from pathlib import Path

def judge(messages):
    with open(Path(__file__).parent / "prompts", "a") as file:
        file.write(repr(messages[-1].text) + "\\n")
    return {"c1": {"reason": "yes", "verdict": "met"}}
"""


def test_a_judge_is_shown_what_was_said_before(folder: Path) -> None:
    (folder / "judging.py").write_text(JUDGE)
    (folder / "evalcase.toml").write_text(
        '[judge]\ntarget = "j"\n[targets.j]\nkind = "python"\nfunction = "./judging.py:judge"\n'
    )
    case = {"turns": [{"input": "Hi", "criteria": "Greets."}, "Bye"], "criteria": "Is polite."}
    result = hold(case, ScriptedTarget(["Hello", "Ciao"]))
    assert grades(result) == {"turn 1: judge": True, "judge": True}
    of_turn, of_all = (folder / "prompts").read_text().splitlines()
    assert "Hi" in of_turn
    assert "Bye" not in of_turn
    assert of_all.index("Hi") < of_all.index("Hello") < of_all.index("Bye") < of_all.index("Ciao")


# The record


@pytest.fixture
def project(folder: Path) -> Project:
    project = Project(folder)
    project.configure(
        'target = "agent"\n[targets.agent]\nkind = "python"\nfunction = "talk:answer"\n'
    )
    (folder / "talk.py").write_text(
        "from pathlib import Path\n"
        "def answer(messages):\n"
        "    with open(Path(__file__).parent / 'calls', 'a') as file: file.write('x\\n')\n"
        "    said = [m for m in messages if m.role == 'user']\n"
        "    return '30' if len(said) == 1 else '60'\n"
    )
    return project


def test_a_conversation_is_one_result_with_its_turns_inside(project: Project) -> None:
    project.suite(TUTOR)
    assert project.run("run", "--quiet").code == 0
    (row,) = project.rows()
    assert [message["content"] for message in row["answer"]["messages"]] == [
        "What is 15% of 200?", "30", "Double it.", "60",
    ]  # fmt: skip
    assert [(turn["said"], turn["answered"]) for turn in row["turns"]] == [(1, 1), (1, 1)]
    assert [(grade["grader"], grade["turn"]) for grade in row["grades"]] == [
        ("turn 1: expected", 1), ("turn 2: contains", 2),
    ]  # fmt: skip


def test_an_edit_of_an_expectation_grades_again_without_asking(project: Project) -> None:
    wrong = {**TUTOR, "turns": [{**TUTOR["turns"][0], "expected_output": "31"}, TUTOR["turns"][1]]}
    project.suite(wrong)
    assert project.run("run", "--quiet").code == 1
    project.suite(TUTOR)
    project.forget_calls()
    assert project.run("resume", "latest").code == 0
    assert project.calls() == []


@pytest.mark.parametrize("edited", ["input", "history", "stop_on_failure"])
def test_an_edit_of_what_is_asked_asks_again(project: Project, edited: str) -> None:
    project.suite(TUTOR)
    project.run("run", "--quiet")
    turns = [TUTOR["turns"][0], {**TUTOR["turns"][1], "input": "Twice that."}]
    changed = {
        "input": {**TUTOR, "turns": turns},
        "history": {**TUTOR, "input": "You teach."},
        "stop_on_failure": {**TUTOR, "stop_on_failure": True},
    }
    project.suite(changed[edited])
    project.forget_calls()
    project.run("resume", "latest")
    assert len(project.calls()) == 2


def test_turns_that_were_never_asked_are_asked_once_the_failed_one_passes(project: Project) -> None:
    wrong = {**TUTOR["turns"][0], "expected_output": "31"}
    project.suite({**TUTOR, "turns": [wrong, TUTOR["turns"][1]], "stop_on_failure": True})
    assert project.run("run", "--quiet").code == 1
    project.suite({**TUTOR, "stop_on_failure": True})
    graded = project.run("grade", "latest")
    assert (graded.code, "those after it were never asked" in " ".join(graded.out.split())) == (
        3,
        True,
    )
    project.forget_calls()
    assert project.run("resume", "latest", "--retry-errored").code == 0
    assert len(project.calls()) == 2


# Properties
