import base64
import json
import os
import urllib.parse
from pathlib import Path

import pytest

from evalcase import Answer, Case, Question, Result, Target, TargetError, evaluate
from tests.for_each import for_each
from tests.run.project import CONFIG, Done, Project, case

SECRET = 'sk-"sesame"/öffne+dich=42'
SETTINGS = f'secrets = ["TOKEN"]\n{CONFIG}\n[targets.keyed]\nkind = "echo"\n'

AGENT = """
TOKEN = os.environ.get("TOKEN", "")


class Setup:
    def __init__(self):
        raise ValueError("can't log in with " + TOKEN)


class Teardown:
    def answer(self, question):
        return "ok"

    def close(self):
        raise ValueError("can't log out with " + TOKEN)
"""


def forms() -> list[bytes]:
    """What must be seen nowhere: the value, and what others make of it."""
    in_base64 = base64.b64encode(f"user:{SECRET}".encode()).decode()
    return [
        form.encode()
        for form in (
            SECRET, json.dumps(SECRET)[1:-1], urllib.parse.quote(SECRET, safe=""), in_base64[8:40]
        )
    ]  # fmt: skip


def check(project: Project, done: Done) -> None:
    """No form of the secret is in the record, on the terminal or anywhere else that was written."""
    written = [path for path in (project.path / ".evalcase").rglob("*") if path.is_file()]
    seen = {str(path): path.read_bytes() for path in written}
    seen |= {"stdout": done.out.encode(), "stderr": done.err.encode()}
    for form in forms():
        assert [name for name, data in seen.items() if form in data] == [], form


@pytest.fixture
def leaky(project: Project) -> Project:
    project.configure(SETTINGS)
    project.add_to_agent(AGENT)
    project.suite(case("plain"))
    return project


def run(project: Project, *arguments: str) -> Done:
    return project.run(*arguments, env={"TOKEN": SECRET})


@pytest.mark.parametrize("target", ["Setup", "Teardown"])
def test_fault_14_secrets_in_errors_of_set_up_and_tear_down(leaky: Project, target: str) -> None:
    done = run(leaky, "run", "--target", f"python:agent:{target}")
    check(leaky, done)
    assert "***TOKEN***" in done.err


def test_fault_14_secrets_in_names_on_the_command_line(leaky: Project) -> None:
    named = f"command:echo '{SECRET}'"
    check(leaky, run(leaky, "run", "--dry-run", "--target", named))
    done = run(leaky, "run", "--target", named, "--case", "plain")
    check(leaky, done)
    assert (done.code, leaky.runs()) == (2, [])
    assert "target `command:echo '***TOKEN***'` has a secret in its name" in done.err


def test_fault_14_a_key_that_the_agent_loads_itself_is_found(project: Project) -> None:
    project.configure(SETTINGS)
    project.add_to_agent(
        "os.environ['TOKEN'] = 'sk-live-0123456789abcdef'\n"
        "def own(question: Question):\n"
        "    raise RuntimeError('401 ' + os.environ['TOKEN'])\n"
    )
    project.suite(case("one"))
    done = project.run("run", "--target", "python:agent:own")
    journal = (project.runs()[0] / "journal.jsonl").read_text()
    for said in (done.out, done.err, journal):
        assert "sk-live-0123456789abcdef" not in said
    assert "401 ***TOKEN***" in journal
    assert "401 ***TOKEN***" in done.out


PRINTING = """
import asyncio, logging, os, sys, warnings
from evalcase import Question

print("importing with", os.environ["TOKEN"])

def leave():
    raise SystemExit("left with " + os.environ["TOKEN"])

async def answer(question: Question):
    token = os.environ["TOKEN"]
    print("asked with", token)
    sys.stderr.writelines([f"again {token}\\n"])
    logging.getLogger("agent").warning("logged %s", token)
    asyncio.get_running_loop().call_soon(leave)
    await asyncio.sleep(0)
    return "ok"
"""


def test_fault_14_what_code_prints_logs_or_raises_elsewhere(project: Project) -> None:
    project.configure(SETTINGS)
    (project.path / "agent.py").write_text(PRINTING)
    project.suite(case("a"))
    done = run(project, "run")
    assert done.code == 0
    for said in ("importing with", "asked with", "again", "logged", "left with"):
        assert f"{said} ***TOKEN***" in done.err
    check(project, done)


def test_fault_14_a_common_value_is_no_secret_and_keeps_no_run_from_being_resumed(
    project: Project,
) -> None:
    project.configure(SETTINGS)
    (project.path / "tests").mkdir()
    project.suite(case("test-1", "say no"), case("test-2"), name="tests/a")
    env = {"TOKEN": "test"}
    done = project.run("run", "tests", "--fail-fast", "--concurrency", "1", env=env)
    assert done.err.count("the value of TOKEN is too short or too common") == 1
    again = project.run("resume", env=env)
    assert (done.code, again.code) == (1, 1)
    assert project.verdicts() == {"test-1": "failed", "test-2": "passed"}


def test_fault_14_an_answer_without_its_secret_is_not_graded_again_but_asked_for(
    project: Project,
) -> None:
    project.configure(SETTINGS)
    project.suite(case("one", f"say {SECRET}"), case("two", "say no"))
    run(project, "run")
    project.forget_calls()
    project.suite(
        case("one", f"say {SECRET}", expected_output="***TOKEN***"),
        case("two", "say no", expected_output="no"),
    )
    done = run(project, "resume", "latest")
    assert project.calls() == ["one"]
    assert "the answer to case one was recorded without a secret" in done.err
    assert project.verdicts() == {"one": "failed", "two": "passed"}
    check(project, done)


def test_fault_14_an_answer_without_its_secret_gets_no_other_verdict(project: Project) -> None:
    project.configure(SETTINGS)
    leaks = {"type": "contains", "value": SECRET, "not": True}
    project.suite(case("one", f"say {SECRET}", graders=[leaks]), case("two", "say ok"))
    assert run(project, "run").code == 1
    for arguments in (("--recorded",), ("--grader", "contains: TOKEN"), ()):
        done = run(project, "grade", "latest", *arguments)
        check(project, done)
        assert (done.code, project.verdicts()["one"]) == (3, "errored")
        assert "the answer was recorded without a secret that was in it" in done.out


def test_fault_14_an_answer_without_its_secret_is_not_replayed(project: Project) -> None:
    project.configure(SETTINGS)
    project.suite(case("one", f"say {SECRET}", expected_output="***TOKEN***"))
    run(project, "run")
    done = run(project, "run", "--target", f"replay:{project.runs()[0]}")
    assert done.code == 3
    assert "was recorded without a secret that was in it" in done.err


def test_fault_14_a_key_that_only_a_program_is_given_is_a_secret(project: Project) -> None:
    options = (
        'kind = "command"\ncommand = ["sh", "-c", "echo $TOKEN"]\nenv = {TOKEN = "hunter2-hunter2"}'
    )
    project.configure(f"{SETTINGS}\n[targets.shell]\n{options}\n")
    project.suite(case("one"))
    done = project.run("run", "--target", "shell")
    journal = (project.runs()[0] / "journal.jsonl").read_text()
    assert "hunter2" not in done.out + done.err + journal
    assert "***TOKEN***" in journal


def test_fault_14_the_options_of_targets_are_not_part_of_the_record(project: Project) -> None:
    command = 'command = ["true", "--key=hunter3-hunter3"]'
    literal = 'env = {PASSWORD = "hunter2-hunter2"}'
    project.configure(f'{CONFIG}\n[targets.shell]\nkind = "command"\n{command}\n{literal}\n')
    project.suite(case("one"))
    project.run("run", "--target", "shell")
    for path in project.runs()[0].iterdir():
        assert b"hunter" not in path.read_bytes()


ASKS_LATE = """
import os
from evalcase import Answer, Message, Target, Traits

class Judge(Target):
    traits = Traits(key_names=("JUDGE_KEY",), concurrency=1)

    async def open(self):
        os.environ["JUDGE_KEY"] = "sk-0123456789abcdef"

    async def answer(self, question):
        return Answer.of_text("it is " + os.environ["JUDGE_KEY"])


async def asks(context):
    message = Message({"role": "user", "content": "well?"})
    return (await context.ask("judge", [message])).text
"""


def test_fault_14_a_target_that_a_grader_opens_late_may_say_what_is_secret(
    project: Project,
) -> None:
    (project.path / "own.py").write_text(ASKS_LATE)
    project.configure(f'{CONFIG}\n[targets.judge]\nkind = "python"\nfunction = "own:Judge"\n')
    project.suite(case("a", graders=["python:own:asks"]))
    done = project.run("run")
    journal = (project.runs()[0] / "journal.jsonl").read_text()
    assert "sk-0123456789abcdef" not in done.out + done.err + journal
    assert "it is ***JUDGE_KEY***" in journal


def test_fault_14_what_a_program_is_told_has_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evalcase.toml").write_text('secrets = ["TOKEN"]\n')
    monkeypatch.delenv("TOKEN", raising=False)
    told: list[str] = []
    seen: list[Result] = []

    def load() -> str:
        monkeypatch.setenv("TOKEN", "sk-0123456789abcdef")
        return os.environ["TOKEN"]

    def agent(text: str) -> object:
        message = {"role": "assistant", "content": f"{text} {load()}"}
        return {"messages": [message], "cost_usd": load()}

    class Broken(Target):
        async def open(self) -> None:
            raise ValueError(f"no entry with {load()}")

        async def answer(self, question: Question) -> Answer:
            raise NotImplementedError

    suite = [Case(id="a", input="key:", expected_output="ok")]
    root = {"root": tmp_path, "runs_dir": tmp_path / "runs"}
    done = evaluate(suite, agent, on_warning=told.append, on_result=seen.append, **root)  # type: ignore[arg-type]
    [result] = done.results
    assert [each.answer and each.answer.text for each in (result, *seen)] == [
        "key: ***TOKEN***"
    ] * 2
    assert ["***TOKEN***" in text for text in told] == [True]
    with pytest.raises(TargetError, match=r"no entry with \*\*\*TOKEN\*\*\*"):
        evaluate(suite, Broken(), **root)  # type: ignore[arg-type]


INVALID = {
    "as a value": "- {id: a, input: x, expected_output: ok, target: KEY, repeat: KEY}",
    "as a name": "- {id: a, input: x, KEY: 1}",
    "beside a mistake": "- {id: a, input: 'Authorization: KEY', expectd: ok}",
    "as a role": "- {id: a, input: [{role: KEY, content: x}]}",
    "in what is no YAML": "- {id: a, input: [KEY}",
}


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_fault_14_lines_of_invalid_suites_are_quoted_without_secrets(
    project: Project, text: str
) -> None:
    key = "sk-live-0123456789abcdef"
    project.configure(SETTINGS)
    suite = project.path / "s.eval.yaml"
    suite.write_text("cases:\n" + text.replace("KEY", key) + "\n")
    commands = [["check", "--format", form] for form in ("text", "json", "github", "sarif")]
    for command in (*commands, ["run"], ["run", "--dry-run"]):
        done = project.run(*command, env={"TOKEN": key})
        assert (done.code, "s.eval.yaml" in done.out + done.err) == (2, True), command
        assert key[3:] not in done.out + done.err, command


@for_each(
    "line",
    [
        'api_key = "KEY"', 'openai_key = "KEY"', 'key_env = "KEY"', 'header_env = { X = "KEY" }',
        'key_env = "sk_live_0123456789abcdef"', 'modle = "m"\nheader_env = { X = "KEY", Y = 1 }',
    ],
)  # fmt: skip
def test_fault_14_a_key_in_the_place_of_its_name_is_refused_and_not_shown(
    project: Project, line: str
) -> None:
    key = "sk-live-0123456789abcdef"
    target = '[targets.bot]\nkind = "openai"\nmodel = "m"\n'
    project.configure(target + line.replace("KEY", key) + "\n")
    project.suite(case("one"))
    commands = [["check", "--format", form] for form in ("text", "json", "github", "sarif")]
    for command in (*commands, ["run", "--target", "bot"]):
        done = project.run(*command)
        assert done.code == 2, command
        assert "0123456789" not in done.out + done.err, command
        assert "environment variable" in done.out + done.err or "openai_key" in line


def test_fault_14_keys_of_an_environment_file_are_secrets_by_their_names(project: Project) -> None:
    (project.path / "keys.env").write_text(
        "MY_API_KEY=sk-1234-abcdefgh\nDB_PASSWORD=hunter2-hunter2\nREGION=eu-central-17\n"
    )
    said = "sk-1234-abcdefgh hunter2-hunter2 eu-central-17"
    project.suite(case("one", f"say {said}"))
    project.run("run", "--quiet", "--env-file", "keys.env")
    written = (project.runs()[0] / "journal.jsonl").read_text()
    assert "***MY_API_KEY*** ***DB_PASSWORD*** eu-central-17" in written
    assert "abcdefgh" not in written


@pytest.mark.parametrize(
    "typed",
    [
        "http://me:hunter2-hunter2@127.0.0.1:9/x",
        "http://127.0.0.1:9/x?accessToken=hunter2-hunter2",
        "openai:m@http://me:hunter2-hunter2@127.0.0.1:9",
    ],
)
def test_fault_14_a_password_that_was_typed_is_not_shown(project: Project, typed: str) -> None:
    project.suite(case("a"))
    done = run(project, "run", "--target", typed)
    assert (done.code, "hunter2" in done.out + done.err) == (2, False)
    project.suite({"id": "a", "input": "x", "expected_output": "x", "target": typed})
    project.configure(f'target = "{typed}"\n')
    done = run(project, "check")
    assert (done.code, "hunter2" in done.out + done.err) == (2, False)


@pytest.mark.parametrize("header", ["Authorization", "X-AccessToken"])
def test_fault_14_a_key_in_a_header_is_refused_and_not_shown(project: Project, header: str) -> None:
    project.suite(case("a"))
    table = f'kind = "http"\nurl = "http://127.0.0.1:9"\nheaders = {{"{header}" = "%s"}}\n'
    project.configure("[targets.a]\n" + table % "Bearer hunter2-hunter2")
    done = run(project, "check")
    assert (done.code, "hunter2" in done.out + done.err) == (2, False)
    assert "let `header_env` name the variable" in done.out
    project.configure("[targets.a]\n" + table % "Bearer not-needed")
    assert run(project, "check").code == 0
