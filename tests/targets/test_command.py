import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from evalcase.errors import ConfigError, TargetError
from evalcase.targets.command import CommandTarget
from evalcase.types.answer import Usage
from tests.for_each import for_each
from tests.targets.questions import answer_all, ask, of_value, question, target_of

Make = Callable[..., CommandTarget]

LONG = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi"},
]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a target of a Python script with some arguments."""

    def make(source: str, *arguments: str, **options: Any) -> CommandTarget:
        (tmp_path / "program.py").write_text(dedent(source))
        argv = [sys.executable, "-S", "-E", "program.py", *arguments]
        return target_of(CommandTarget, command=argv, root=str(tmp_path), **options)

    return make


SHOW = "import sys, json; print(json.dumps(sys.argv[1:]))"
COPY = "import sys; sys.stdout.write(sys.stdin.read())"


# What it is given.


def test_the_question_is_on_stdin(make: Make) -> None:
    given = question(LONG, id="x", repeat=2, attempt=3, metadata={"k": [1]}, conversation_id="c")
    assert json.loads(ask(make(COPY), given).text) == {
        "id": "x", "suite": "suite.yaml", "case": "x", "input": LONG, "metadata": {"k": [1]},
        "conversation_id": "c", "repeat": 2, "attempt": 3, "session": "", "turn": 1, "files": {},
        "workspace": None,
    }  # fmt: skip


@pytest.mark.parametrize(("arguments", "sees_suite"), [((), True), (("{prompt}",), False)])
def test_the_cache_knows_the_suite_where_it_is_shown_and_no_attempt(
    make: Make, arguments: tuple[str, ...], sees_suite: bool
) -> None:
    target = make(COPY, *arguments)
    asyncio.run(target.open())
    asked = [question(), question(attempt=2, session="s"), question(suite="other.yaml")]
    first, again, elsewhere = [target.cache_key(each) for each in asked]
    asyncio.run(target.close())  # else a process that watches over its programs is left behind
    assert again == first
    assert (elsewhere != first) == sees_suite


def test_placeholders_are_filled_in_once_and_never_seen_by_a_shell(make: Make) -> None:
    target = make(SHOW, "{prompt}", "--id={case_id}", "{repeat}/{attempt}", "[{conversation_id}]")
    text = "$(touch x) '\"; {case_id} \\ ünï\n*"
    answer = ask(target, question(text, id="c1", repeat=3))
    assert json.loads(answer.text) == [text, "--id=c1", "3/1", "[]"]


def test_the_input_may_come_in_a_file_and_stdin_is_empty_then(make: Make) -> None:
    source = """
        import sys
        sys.stdout.write(open(sys.argv[1]).read() + open(sys.argv[2]).read() + sys.stdin.read())
    """
    answer = ask(make(source, "{input_file}", "{prompt_file}", output="text"), question(LONG))
    data, prompt = answer.text.split("\n")
    assert (json.loads(data)["input"], prompt) == (LONG, "Hi")


def test_hidden_messages_are_warned_of(make: Make) -> None:
    said: list[str] = []
    target = make(SHOW, "{prompt}", warn=said.append)
    asyncio.run(answer_all(target, [question(), question(LONG)]))
    assert len(said) == 1
    assert "sees the last user message only, and cases have several messages" in said[0]
    ask(make(COPY, warn=said.append), question(LONG))
    assert len(said) == 1


def test_cwd_and_env(make: Make, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    source = "import os; print(os.getcwd(), os.environ['MODE'], 'PATH' in os.environ)"
    (tmp_path / "sub" / "program.py").write_text(source)
    target = make("", cwd="sub", env={"MODE": "test"})
    assert ask(target).text == f"{tmp_path / 'sub'} test True"


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"A": "a\0b"}])
def test_a_variable_that_no_program_can_have_is_named_as_the_reason(
    make: Make, env: dict[str, str]
) -> None:
    with pytest.raises(TargetError, match="can't be started: an argument or a variable holds"):
        ask(make("", env=env))


def test_a_shell_only_where_it_is_asked_for(tmp_path: Path) -> None:
    line = 'printf %s {prompt} | tr a-z A-Z; echo " $HOME_SWEET"'
    env = {"HOME_SWEET": "home"}
    target = target_of(CommandTarget, command=line, shell=True, env=env, root=str(tmp_path))
    answer = ask(target, question("a'b\"$(touch x)`touch y`;"))
    assert answer.text == "A'B\"$(TOUCH X)`TOUCH Y`; home"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("quote", ["{prompt}", '"{prompt}"', "'{prompt}'", "\\{prompt}"])
def test_no_text_of_a_case_becomes_a_part_of_a_shell_line(tmp_path: Path, quote: str) -> None:
    target = target_of(CommandTarget, command=f"echo {quote}", shell=True, root=str(tmp_path))
    texts = ("$(touch x)", "'; touch x; '", '"; touch x; "', "`touch x`")
    asyncio.run(answer_all(target, map(question, texts)))
    assert list(tmp_path.iterdir()) == []


# What it answers.


def test_fault_08_json_with_garbage_around_is_text_or_an_error_never_half_an_answer(
    make: Make,
) -> None:
    source = "print('loading…'); print('{\"text\": \"hi\"}')"
    assert ask(make(source)).text == 'loading…\n{"text": "hi"}'
    with pytest.raises(TargetError, match="not JSON") as caught:
        ask(make(source, output="json"))
    assert caught.value.details == {"output": 'loading…\n{"text": "hi"}\n'}


def test_the_answer_may_be_in_a_file(make: Make) -> None:
    source = "import sys; print('log'); open(sys.argv[1], 'w').write('from the file')"
    assert ask(make(source, "{output_file}")).text == "from the file"


@pytest.mark.parametrize("source", ["", "import os, sys; os.mkfifo(sys.argv[1])"])
def test_an_output_file_that_is_missing_or_odd_is_an_error(make: Make, source: str) -> None:
    with pytest.raises(TargetError, match="left no answer in its output file") as caught:
        ask(make(source, "{output_file}"))
    assert caught.value.kind == "protocol"


# How it fails.


def test_an_exit_code_is_an_error_with_the_tail_of_stderr(make: Make) -> None:
    source = """
        import os, sys
        print("half an answer")
        sys.stderr.write("x" * 100_000 + "\\nno such model\\n")
        sys.exit(3)
    """
    with pytest.raises(TargetError) as caught:
        ask(make(source))
    error = caught.value
    assert str(error) == "the command exited with code 3: no such model"
    assert (error.kind, error.may_succeed_later) == ("exit", False)
    assert error.details["exit_code"] == 3
    assert error.details["stdout"] == "half an answer\n"
    assert len(error.details["stderr"]) == 4096
    assert error.details["stderr"].endswith("x\nno such model\n")


@for_each(
    ("options", "said"),
    [
        ({}, 'needs `command`: for example command = ["./agent", "--fast"]'),
        ({"command": "ls -l"}, "a shell line is one text, with shell = true"),
        ({"command": []}, "`command` is an empty list"),
        ({"command": ["ls"], "shell": True}, "`command` is one text with `shell`"),
        ({"command": ["ls"], "workers": 2}, "`workers` goes with mode"),
        ({"command": ["ls", "{prompt}"], "mode": "worker"}, "a worker is started once"),
        (
            {"command": ["ls"], "mode": "worker", "output": "json"},
            "`output` can't be combined with mode",
        ),
        ({"command": ["ls"], "command_template": "ls"}, "which replaces it"),
        ({"command": ["ls"], "files_format": "x"}, "needs `command_template`"),
        (
            {"command_template": "ls {FILES} {OUTPUT_FILE}", "files_format": "{pth} {path}"},
            "`files_format`: there is no placeholder {pth}: did you mean {path}?",
        ),
        ({"command_template": "ls {OUTPUT_FILE}", "output": "json"}, "can't be combined with"),
        ({"command_template": "ls"}, "`command_template` has no {OUTPUT_FILE}"),
    ],
)
def test_options_are_checked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        target_of(CommandTarget, **options)
    assert said in str(caught.value)


@for_each(
    ("options", "said"),
    [
        ({"command": ["no-such-program-anywhere"]}, "there is no program `no-such-program"),
        ({"command": ["./missing.sh"]}, "there is no program `./missing.sh`"),
        ({"command": ["ls"], "cwd": "nowhere"}, "`cwd` is not a folder"),
    ],
)
def test_a_missing_program_or_folder_is_found_before_the_first_trial(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        ask(target_of(CommandTarget, root=str(tmp_path), **options))
    assert said in str(caught.value)


def test_from_value_splits_words_and_starts_no_shell(tmp_path: Path) -> None:
    target = of_value(CommandTarget, "echo 'two  words' $HOME ';'", root=str(tmp_path))
    assert ask(target).text == "two  words $HOME ;"
    with pytest.raises(ConfigError, match="No closing quotation"):
        of_value(CommandTarget, "echo 'x")


# AgentV's protocol.

AGENTV = """
    import json, sys
    prompt, id, attempt, out, *files = sys.argv[1:]
    with open(out, "w") as file:
        json.dump({
            "output_messages": [
                {"role": "assistant", "tool_calls": [{"tool": "read", "input": {"f": files}}]},
                {"role": "assistant", "content": f"{id}#{attempt}: {prompt}"},
            ],
            "token_usage": {"input": 1, "output": 2}, "cost_usd": 0.5, "duration_ms": 3,
        }, file)
    print("this is no answer")
"""


def test_agentv_templates_work(tmp_path: Path) -> None:
    (tmp_path / "cli.py").write_text(dedent(AGENTV))
    (tmp_path / "a b.txt").write_text("x")
    content = [{"type": "text", "value": "It's $HOME"}, {"type": "file", "value": "a b.txt"}]
    given = question(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}],
        id="the case", suite=str(tmp_path / "s.yaml"),
    )  # fmt: skip
    target = target_of(
        CommandTarget,
        command_template=f"{sys.executable} cli.py {{PROMPT}} {{EVAL_ID}} {{ATTEMPT}} "
        "{OUTPUT_FILE} {FILES}",
        files_format="--file {path} --name={basename} '{{path}}' ${HOME+set}",
        root=str(tmp_path),
    )
    answer = ask(target, given)
    path = str(tmp_path / "a b.txt")
    assert answer.tool_calls[0].arguments == {
        "f": ["--file", path, "--name=a b.txt", "{path}", "set"]
    }
    prompt = f"@[System]:\nBe brief.\n\n@[User]:\nIt's $HOME\n\n<file: {path}>"
    assert answer.text == f"the case#0: {prompt}"
    assert (answer.usage, answer.cost_usd) == (Usage(1, 2), 0.5)


def test_agentv_prompt_files_and_unknown_placeholders(tmp_path: Path) -> None:
    template = "cat {PROMPT_FILE} > {OUTPUT_FILE}; echo {GUIDELINES} {OTHER} >> {OUTPUT_FILE}"
    target = target_of(CommandTarget, command_template=template, root=str(tmp_path))
    assert ask(target, question("Hi\n")).text == "Hi\n {OTHER}"


SPLIT = CommandTarget.kind.split_value


@for_each("line", ["echo {prompt} | tr a-z A-Z", "a && b", "a > b", "a 2>&1", "a ;"])
def test_what_only_a_shell_understands_is_refused(line: str) -> None:
    assert SPLIT is not None
    with pytest.raises(ConfigError, match="is for a shell: write command:sh -c '…'"):
        SPLIT(line)


# Transcripts of coding agents.

RECORDED = Path(__file__).parents[1] / "answers"


def test_the_transcript_of_an_agent_is_an_answer_with_its_calls(make: Make) -> None:
    file = str(RECORDED / "claude_code/one_call.jsonl")
    source = "import sys; print('a log line'); print(open(sys.argv[1]).read())"
    answer = ask(make(source, file, output="claude-stream-json"))
    assert (answer.text, [call.name for call in answer.tool_calls]) == (
        "There are two beds.", ["Bash"],
    )  # fmt: skip
    assert answer.usage is not None


@for_each(
    ("source", "said"),
    [
        (
            """print('{"type": "result", "subtype": "success", "is_error": true, '
                  '"api_error_status": 529, "result": "Overloaded"}'); sys.exit(1)""",
            "Claude Code failed: Overloaded",
        ),
        ('print(\'{"type": "system"}\')', "the transcript of Claude Code has no end"),
        ("print('Not logged in')", "the agent printed no JSON"),
        ("sys.stderr.write('boom'); sys.exit(3)", "the command exited with code 3"),
        ("print('{}' * 999)", "the transcript is larger than `max_output_bytes`"),
    ],
)
def test_an_agent_that_failed_is_an_error(make: Make, source: str, said: str) -> None:
    target = make(f"import sys\n{source}", output="claude-stream-json", max_output_bytes=500)
    with pytest.raises(TargetError) as caught:
        ask(target)
    assert said in str(caught.value)


def test_an_agent_may_write_its_transcript_to_a_file(make: Make) -> None:
    source = "import shutil, sys; shutil.copy(sys.argv[1], sys.argv[2])"
    file = str(RECORDED / "mini_swe_agent/trajectory.json")
    answer = ask(make(source, file, "{output_file}", output="traj"))
    assert (answer.text, answer.tool_calls[0].name) == ("There are two beds.", "bash")
