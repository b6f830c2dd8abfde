"""Conversations with a simulated user, sentence by sentence of their specification."""

import json
from pathlib import Path
from typing import Any

import pytest

import evalcase
from evalcase import Answer, Message, Question
from evalcase.runner.conversation import BEGIN, SILENCE, describe_task
from evalcase.testing import HANGS, ScriptedTarget, ScriptedUser
from evalcase.types.answer import Usage
from tests.for_each import for_each
from tests.run.project import Project
from tests.spec.found import places, problems_of
from tests.spec.talking import SYSTEM, grades, hold, pairs, said

FLIGHT: dict[str, Any] = {
    "id": "flight",
    "input": SYSTEM,
    "user": {"goal": "Cancel EHGLP3; accept no fee.", "target": "simulator", "max_turns": 10},
    "graders": [{"contains": "done"}],
}


def talk(
    agent: object, user: object, case: dict[str, Any] = FLIGHT, **options: Any
) -> evalcase.Result:
    """The result of one conversation between scripts."""
    given = ScriptedUser(user) if isinstance(user, list) else user
    return hold(case, agent, users={"simulator": given}, **options)


def with_user(**fields: Any) -> dict[str, Any]:
    return {**FLIGHT, "user": {**FLIGHT["user"], **fields}}


pytestmark = pytest.mark.usefixtures("folder")


# The format


def test_a_user_has_goal_target_and_max_turns_and_may_have_persona_facts_and_first() -> None:
    fields = {
        "goal": "Cancel it.", "target": "simulator", "max_turns": 3, "persona": "In a hurry.",
        "facts": {"code": "EHGLP3", "paid": 120}, "first": "Hi",
    }  # fmt: skip
    data = evalcase.Case(id="x", user=dict(reversed(fields.items())), criteria="Good.").to_dict()
    assert list(data) == ["id", "user", "criteria"]
    assert list(data["user"]) == list(fields)
    assert data["user"] == {**fields, "first": [{"role": "user", "content": "Hi"}]}


def test_facts_are_sentences_or_values_by_name() -> None:
    alone, several = (
        evalcase.Case(id="x", user={**FLIGHT["user"], "facts": facts}, criteria="x")
        for facts in ("It is late.", ["It is late."])
    )
    assert alone == several
    assert alone.user is not None
    assert alone.user.facts == ["It is late."]


def test_an_id_is_made_of_what_the_user_wants_and_who_they_are() -> None:
    def id_of(**fields: Any) -> str:
        user = {**FLIGHT["user"], **fields}
        return evalcase.parse_case(json.dumps({"user": user, "criteria": "x"})).id

    assert id_of().startswith("cancel-ehglp3-accept-no-fee-")
    assert id_of(max_turns=3, target="other") == id_of() != id_of(persona="Rude.")
    assert id_of(first="Hello there").startswith("hello-there-")


@for_each(
    ("user", "place"),
    [
        ("Cancel it.", ("wrong-type", 2, 11, 2, 21)),
        ("{target: s, max_turns: 3}", ("missing-option", 2, 11, 2, 36)),
        ("{goal: x, max_turns: 3}", ("missing-option", 2, 11, 2, 34)),
        ("{goal: x, target: s}", ("missing-option", 2, 11, 2, 31)),
        ('{goal: " ", target: s, max_turns: 3}', ("bad-value", 2, 18, 2, 21)),
        ("{goal: x, target: s, max_turns: 0}", ("bad-value", 2, 43, 2, 44)),
        ("{goal: x, target: s, max_turns: many}", ("wrong-type", 2, 43, 2, 47)),
        ("{goal: x, target: s, max_turns: 3, facts: 7}", ("wrong-type", 2, 53, 2, 54)),
        ("{goal: x, target: s, max_turns: 3, facts: [7]}", ("wrong-type", 2, 54, 2, 55)),
        ("{goal: x, target: s, max_turns: 3, facts: []}", ("empty-list", 2, 53, 2, 55)),
        ("{goal: x, target: s, max_turns: 3, first: 7}", ("wrong-type", 2, 53, 2, 54)),
        ("{goal: x, target: s, max_turns: 3, personna: p}", ("unknown-field", 2, 46, 2, 54)),
        ("{goal: x, target: s, max_turns: 3, criteria: p}", ("unknown-field", 2, 46, 2, 54)),
    ],
)
def test_a_mistake_in_a_user_is_found_at_its_place(user: str, place: tuple[Any, ...]) -> None:
    assert places(f"cases:\n  - user: {user}\n    criteria: x\n") == [place]


def test_a_user_excludes_turns_and_a_top_level_expected_output_and_stop_on_failure() -> None:
    user = "user: {goal: x, target: s, max_turns: 3}"
    for other, code, column in (
        ("turns: [Hi]", "conflicting-fields", 1),
        ("expected_output: x", "conflicting-fields", 2),
        ("stop_on_failure: true", "bad-value", 2),
    ):
        found = [p for p in problems_of(f"{user}\n{other}\ncriteria: x\n") if p.severity == "error"]
        assert [(each.code, each.line) for each in found] == [(code, column)], other


def test_it_needs_transcript_graders_or_criteria_and_check_says_so() -> None:
    (warning,) = evalcase.loads("cases: [{user: {goal: x, target: s, max_turns: 3}}]").warnings
    assert warning.code == "nothing-to-grade"
    assert warning.hint == "add `criteria`, `rubrics` or `graders`"


def test_check_knows_the_target_of_a_user(folder: Path) -> None:
    (folder / "evalcase.toml").write_text(
        'target = "agent"\n[targets.agent]\nkind = "echo"\n[targets.sim]\nkind = "echo"\n'
    )
    suite = folder / "s.eval.yaml"

    def found(target: str) -> list[tuple[str, int, int]]:
        suite.write_text(
            f"cases:\n  - user: {{goal: x, max_turns: 3, target: {target}}}\n    graders: [json]\n"
        )
        problems = evalcase.check(suite)
        return [(each.code, each.line or 0, each.column or 0) for each in problems]

    assert found("sim") == []
    assert found("simm") == [("unknown-target", 2, 43)]
    assert found("http://example.org") == [("address-in-suite", 2, 43)]


def test_a_run_refuses_an_unknown_user_before_anybody_is_asked() -> None:
    agent = ScriptedTarget([])
    (Path("evalcase.toml")).write_text('[targets.other]\nkind = "echo"\n')
    with pytest.raises(evalcase.SuiteError, match="simulator"):
        hold(FLIGHT, agent)
    assert agent.asked == []


# What both sides see


def test_the_simulator_sees_roles_flipped_and_its_task_as_system() -> None:
    user = ScriptedUser(["Cancel it.", "No fee."])
    talk(ScriptedTarget(["Which one?", "done"]), user)
    first, second, last = user.asked
    task = ("system", describe_task(evalcase.Case(**FLIGHT).user))  # type: ignore[arg-type]
    assert said(first) == [task, ("user", BEGIN)]
    assert said(second)[1:] == [
        ("user", BEGIN), ("assistant", "Cancel it."), ("user", "Which one?"),
    ]  # fmt: skip
    assert said(last)[1:-2] == said(second)[1:]
    assert [each.turn for each in user.asked] == [1, 2, 3]


def test_the_target_sees_a_user_and_nothing_of_the_simulation() -> None:
    agent = ScriptedTarget(["Which one?", "done"])
    talk(agent, ["Cancel it.", "No fee."])
    assert said(agent.asked[1]) == [
        ("system", "You are a tutor."), ("user", "Cancel it."), ("assistant", "Which one?"),
        ("user", "No fee."),
    ]  # fmt: skip


def test_first_is_what_it_says_first_without_it_the_simulator_begins() -> None:
    agent, user = ScriptedTarget(["Hello!", "done"]), ScriptedUser(["Cancel it."])
    result = talk(agent, user, with_user(first="Good morning."))
    assert pairs(agent.asked[0].messages)[-1] == ("user", "Good morning.")
    assert [each.turn for each in user.asked] == [2, 3]
    assert said(user.asked[0])[2:] == [("assistant", "Good morning."), ("user", "Hello!")]
    assert len(result.turns) == 2


def test_instructions_and_tools_of_the_target_are_not_shown_to_the_user() -> None:
    steps = [
        {"role": "assistant", "tool_calls": [{"tool": "find", "input": {"id": 1}, "id": "c"}]},
        {"role": "tool", "tool_call_id": "c", "content": "secret"},
    ]
    user = ScriptedUser(["Cancel it."])
    talk(ScriptedTarget([steps]), user)
    assert said(user.asked[-1])[1:] == [
        ("user", BEGIN), ("assistant", "Cancel it."), ("user", SILENCE),
    ]  # fmt: skip
    assert "tutor" not in json.dumps([*user.asked[-1].messages])


def test_the_prompt_is_versioned_and_byte_stable() -> None:
    case = with_user(persona="Mei, {goal} in a hurry.", facts={"code": "EHGLP3", "seats": [1, 2]})
    user = evalcase.Case(**case).user
    assert user is not None
    golden = Path(__file__).parent / "user_1.txt"
    assert describe_task(user) == golden.read_text()
    result = talk(ScriptedTarget(["done"]), ["Hi"], case)
    assert result.user is not None
    assert result.user.protocol == "user/1"


def test_the_prompt_tells_the_goal_and_no_expectation() -> None:
    user = ScriptedUser(["Cancel it."])
    case = {
        **FLIGHT, "description": "DESCRIPTION", "graders": [{"contains": "EXPECTED"}],
        "tags": ["TAG"],
    }  # fmt: skip
    talk(ScriptedTarget(["Sure."]), user, case)
    shown = json.dumps([[*each.messages] for each in user.asked])
    assert "accept no fee" in shown
    for hidden in ("EXPECTED", "DESCRIPTION", "TAG", "graders"):
        assert hidden not in shown


# How it ends


def test_it_ends_with_done_alone_and_that_is_recorded() -> None:
    result = talk(ScriptedTarget(["a", "b", "done"]), ["1", "I am DONE.", "3", " DONE\n"])
    assert (result.verdict, result.ending, len(result.turns)) == ("passed", "done", 3)


def test_max_turns_is_recorded_as_the_ending_and_is_no_error() -> None:
    user = ScriptedUser(["1", "2", "3"])
    result = talk(ScriptedTarget(["a", "done"]), user, with_user(max_turns=2))
    assert (result.verdict, result.ending, len(user.asked)) == ("passed", "max_turns", 2)


def test_a_target_can_stop_and_that_is_recorded() -> None:
    over = {"messages": [{"role": "assistant", "content": "done"}], "ends_conversation": True}
    user = ScriptedUser(["1", "2"])
    result = talk(ScriptedTarget([over]), user)
    assert (result.verdict, result.ending, len(user.asked)) == ("passed", "stopped", 1)


def test_what_is_written_down_is_asked_whatever_a_target_says_of_the_end() -> None:
    over = {"messages": [{"role": "assistant", "content": "ok"}], "ends_conversation": True}
    case = {"turns": ["a", {"input": "b", "expected_output": "ok"}]}
    assert hold(case, ScriptedTarget([over, over])).verdict == "passed"


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (ValueError("no"), "ValueError: no"),
        ("", "it said nothing"),
        ("DONE", "it ended the conversation before it said anything"),
    ],
)
def test_a_simulators_failure_is_errored_never_failed(step: object, why: str) -> None:
    agent = ScriptedTarget([])
    result = talk(agent, [step])
    assert (result.verdict, result.grades, agent.asked) == ("errored", (), [])
    assert result.failure is not None
    assert result.failure.message == f"turn 1: the user, `simulator`: {why}"


def test_a_simulator_that_hangs_costs_its_conversation_only_and_shows_what_was_said() -> None:
    result = talk(ScriptedTarget(["Which?"]), ["Cancel it.", HANGS], timeout_s=0.5)
    assert (result.verdict, result.answer) == ("errored", None)
    assert result.failure is not None
    assert result.failure.kind == "timeout"
    said, _, hint = result.failure.message.partition(" (")
    assert said == "turn 2: the user, `simulator`: no answer within 0.5 s"
    assert hint == "`timeout_s` of the case, or --timeout, allows more)"
    assert result.failure.details["conversation"] == ["user: Cancel it.", "assistant: Which?"]


# What it takes


def priced(text: str, usd: float) -> Answer:
    return Answer((Message({"role": "assistant", "content": text}),), Usage(10, 2), usd)


def test_cost_tokens_and_time_of_the_simulator_are_apart() -> None:
    user = ScriptedUser([priced("Hi", 0.5), priced("DONE", 0.25)])
    agent = ScriptedTarget([priced("done", 1.0)])
    done = evalcase.evaluate([evalcase.Case(**FLIGHT)], agent, users={"simulator": user})
    (result,) = done.results
    assert result.answer is not None
    assert result.user is not None
    assert (result.answer.cost_usd, result.answer.usage) == (1.0, Usage(10, 2))
    assert (result.user.cost_usd, result.user.usage, result.user.asked) == (0.75, Usage(20, 4), 2)
    totals = done.totals
    assert (totals.cost_usd, totals.users_usd, totals.spent_usd) == (1.0, 0.75, 1.75)


def test_the_simulator_counts_against_the_cap_also_after_resume() -> None:
    user = ScriptedUser([priced("Hi", 0.5)] * 3)
    agent = ScriptedTarget([priced("done", 0.1)] * 9)
    cases = [evalcase.Case(**{**FLIGHT, "id": id}) for id in "ab"]
    done = evalcase.evaluate(
        cases, agent, users={"simulator": user}, max_cost_usd=0.9, concurrency=1
    )
    assert (done.status, [*done.results]) == ("stopped", [])
    assert done.totals.spent_usd == pytest.approx(1.1)
    assert len(agent.asked) == 1  # once the user has spent what there is, nobody is asked


def test_turns_is_a_usage_grader() -> None:
    case = {
        **FLIGHT,
        "graders": [{"turns": {"max": 2}}, {"type": "turns", "min": 2, "name": "enough"}],
    }
    assert talk(ScriptedTarget(["a", "b"]), ["1", "2"], case).verdict == "passed"
    result = talk(ScriptedTarget(["a", "b", "c"]), ["1", "2", "3"], case)
    assert grades(result) == {"turns": False, "enough": True}
    assert result.grades[0].reason == "3 turns, but at most 2 are allowed"
    plain = hold({"input": "x", "graders": [{"turns": {"max": 1}}]}, ScriptedTarget(["x"]))
    assert (plain.verdict, plain.grades[0].reason) == ("passed", "1 turn")


JUDGE = """
from pathlib import Path

def judge(messages):
    (Path(__file__).parent / "prompt").write_text(messages[-1].text)
    keys = [key for key in ("c1", "c2", "c3") if f'"{key}":' in messages[-1].text]
    return {key: {"reason": "yes", "verdict": "met"} for key in keys}
"""


@pytest.mark.parametrize("rubric", ["task_completed", "conversation_goal"])
def test_ready_rubrics_judge_the_goal_by_the_whole_conversation(folder: Path, rubric: str) -> None:
    (folder / "judging.py").write_text(JUDGE)
    (folder / "evalcase.toml").write_text(
        '[judge]\ntarget = "j"\n[targets.j]\nkind = "python"\nfunction = "./judging.py:judge"\n'
    )
    case = {**FLIGHT, "graders": [{"judge": {"rubric": rubric}}]}
    result = talk(ScriptedTarget(["Which?", "It is off."]), ["Cancel it.", "This."], case)
    assert result.verdict == "passed"
    prompt = (folder / "prompt").read_text()
    assert "Cancel EHGLP3; accept no fee." in prompt
    assert prompt.index("Cancel it.") < prompt.index("Which?") < prompt.index("It is off.")


# Determinism


def test_scripts_make_the_same_conversations_again() -> None:
    def agent(question: Question) -> str:
        return f"{question.turn}: {question.text}"

    cases = [evalcase.Case(**{**FLIGHT, "id": id, "repeat": 3}) for id in "abcdef"]

    def transcripts(user: object) -> list[Any]:
        done = evalcase.evaluate(cases, agent, users={"simulator": user})  # type: ignore[dict-item]
        results = sorted(done.results, key=lambda each: each.key)
        return [(each.key[1:], each.answer and pairs(each.answer.messages)) for each in results]

    assert transcripts(ScriptedUser(["a", "b"])) == transcripts(ScriptedUser(["a", "b"]))


# The record


@pytest.fixture
def project(folder: Path) -> Project:
    project = Project(folder)
    project.configure(
        'target = "agent"\n'
        '[targets.agent]\nkind = "python"\nfunction = "talk:answer"\n'
        '[targets.simulator]\nkind = "python"\nfunction = "talk:user"\n'
    )
    (folder / "talk.py").write_text(
        "from pathlib import Path\n"
        "def note(what):\n"
        "    with open(Path(__file__).parent / 'calls', 'a') as file: file.write(what + '\\n')\n"
        "def answer(messages):\n"
        "    note('agent')\n"
        "    said = [m for m in messages if m.role == 'user']\n"
        "    return 'Which?' if len(said) == 1 else 'done'\n"
        "def user(messages):\n"
        "    note('user')\n"
        "    said = [m for m in messages if m.role == 'assistant']\n"
        "    return ['Cancel it.', 'EHGLP3', 'DONE'][len(said)]\n"
    )
    return project


def test_a_conversation_is_one_result_with_its_ending_and_its_user(project: Project) -> None:
    project.suite(FLIGHT)
    assert project.run("run", "--quiet").code == 0
    (row,) = project.rows()
    assert row["ending"] == "done"
    assert {name: row["user"][name] for name in ("target", "protocol", "asked")} == {
        "target": "simulator", "protocol": "user/1", "asked": 3,
    }  # fmt: skip
    assert project.calls() == ["user", "agent", "user", "agent", "user"]


def test_an_edit_of_the_user_asks_again_and_one_of_graders_does_not(project: Project) -> None:
    project.suite(FLIGHT)
    project.run("run", "--quiet")
    project.forget_calls()
    project.suite({**FLIGHT, "graders": [{"contains": "one"}]})
    assert project.run("resume", "latest").code == 0
    assert project.calls() == []
    project.suite(with_user(persona="Rude."))
    assert project.run("resume", "latest").code == 0
    assert project.calls().count("agent") == 2


def test_grading_again_asks_neither_side(project: Project) -> None:
    project.suite(FLIGHT)
    project.run("run", "--quiet")
    project.forget_calls()
    assert project.run("grade", "latest", "--recorded").code == 0
    assert project.run("grade", "latest", "--grader", "turns: {max: 1}").code == 1
    assert project.calls() == []


def test_a_replayed_conversation_gives_the_same_verdicts(project: Project) -> None:
    turns = [{"input": "Cancel it.", "expected_output": "Which?"}, "EHGLP3"]
    project.suite(
        FLIGHT, {"id": "turns", "turns": turns, "graders": [{"contains": "nothing"}]},
        {"id": "plain", "input": "x", "expected_output": "Which?"},
    )  # fmt: skip
    assert project.run("run", "--quiet").code == 1
    before = project.verdicts()
    assert before == {"flight": "passed", "turns": "failed", "plain": "passed"}
    recorded = project.runs()[-1].relative_to(project.path)
    project.forget_calls()
    assert project.run("run", "--quiet", "--target", f"replay:{recorded}").code == 1
    assert project.verdicts() == before
    assert project.calls() == ["user"] * 3
    project.suite(with_user(first="Good morning."))
    assert project.run("run", "--quiet", "--target", f"replay:{recorded}").code == 3
    (row,) = project.rows()
    assert "went another way: in turn 1" in row["failure"]["message"]


def test_a_user_that_was_changed_is_told_of_and_marks_the_run_as_mixed(project: Project) -> None:
    project.suite(FLIGHT)
    project.run("run", "--quiet")
    project.suite(FLIGHT, {**FLIGHT, "id": "second"})
    code = (project.path / "talk.py").read_text()
    (project.path / "talk.py").write_text(code.replace("Cancel it.", "Cancel it now."))
    done = project.run("resume", "latest", "--json")
    assert "target `simulator` changed since this run started" in " ".join(done.err.split())
    assert done.json["mixed"] == ["agent", "simulator"]
