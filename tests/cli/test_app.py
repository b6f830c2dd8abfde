import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import evalcase as package
from evalcase.cli.app import COMMANDS as ALL_COMMANDS
from tests.cli.command import (
    EVALCASE,
    LIMIT_S,
    environment,
    evalcase,
    evalcase_process,
    shell,
    start_process,
)
from tests.for_each import for_each

GOOD = "- input: hi\n  expected_output: x\n"
BAD = "- input: 5\n"
COMMANDS = ["check", "show", "schema", "migrate"]


def on_terminal(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, stderr: bool = False
) -> tuple[int, bytes]:
    """Run the command with a terminal for its output; with `stderr`, for its errors instead."""
    leader, follower = pty.openpty()
    process = start_process(
        *arguments,
        cwd=cwd,
        env=env or {"TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if stderr else follower,
        stderr=follower if stderr else subprocess.DEVNULL,
    )
    os.close(follower)
    output = read_terminal(leader)
    return process.wait(timeout=LIMIT_S), output


def read_terminal(leader: int, until: bytes | None = None) -> bytes:
    """What is written to a terminal, until its other end is closed or some text has come."""
    output = b""
    while until is None or until not in output:
        ready, _, _ = select.select([leader], [], [], LIMIT_S)
        assert ready, f"nothing came after {output!r}"
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux says so when the other end is closed.
            piece = b""
        if not piece:
            break
        output += piece
    if until is None:
        os.close(leader)
    return output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.eval.yaml").write_text(GOOD)
    (tmp_path / "bad.eval.yaml").write_text(BAD)
    (tmp_path / "old.eval.yaml").write_text("- input_messages: hi\n  expected_output: x\n")
    return tmp_path


# Help


def test_version() -> None:
    result = evalcase_process("--version")
    assert result == (0, f"evalcase {package.__version__}\n".encode(), b"")
    assert evalcase("--version", "--help").code == 0


@for_each("command", ALL_COMMANDS)
def test_help_of_every_command_fits_in_80_columns(command: str) -> None:
    told = evalcase(command, "--help").out
    assert [line for line in told.splitlines() if len(line) > 80] == []


def test_the_examples_of_the_help_work(folder: Path) -> None:
    (folder / "evals").mkdir()
    (folder / "evals" / "math.eval.yaml").write_text("- {id: sum, input: a, expected_output: b}\n")
    (folder / "math.eval.yaml").write_text("- {id: sum, input: a, expected_output: b}\n")
    (folder / "x.jsonl").write_text('{"input": "a", "expected_output": "b"}\n')
    (folder / "bad.eval.yaml").unlink()
    for command in COMMANDS:
        for line in evalcase(command, "--help").out.splitlines():
            example = line.strip().split("   ")[0]
            goes_on = "--watch" in example  # until somebody ends it
            if example.startswith(("evalcase ", "cat ")) and "[" not in example and not goes_on:
                assert _run_line(example, folder) == 0, example


def _run_line(line: str, folder: Path) -> int:
    """The exit code of a line of shell; a shell is started only for what it alone can do."""
    words = shlex.split(line)
    if words[0] == "evalcase" and not {"|", "<", ">"} & set(words):
        return evalcase(*words[1:], cwd=folder).code
    return shell(line.replace("evalcase ", "$EVALCASE ", 1), cwd=folder).code


# Wrong usage


@for_each(
    ("typed", "hint"),
    [
        (["chekc"], "there is no command 'chekc'. Did you mean 'check'?"),
        (["explode"], "there is no command 'explode'. See 'evalcase --help'."),
        (["bot.eval.yaml"], "Did you mean 'evalcase run bot.eval.yaml'?"),
        (["."], "Did you mean 'evalcase run .'?"),
        (["run", "--tiemout", "3"], "No such option '--tiemout'. (Did you mean one of:"),
    ],
)
def test_what_was_meant_is_named(typed: list[str], hint: str) -> None:
    result = evalcase(*typed)
    assert (result.code, result.out) == (2, "")
    assert hint in result.err


@for_each(
    ("arguments", "said"),
    [
        (["check", "--frmat", "json"], "--format"),
        (["check", "-", "--stdin-format", "toml"], "jsonl"),
        (["show"], "PATHS"),
        (["--nope"], "--nope"),
        (["show", "x.yaml", "--case"], "--case"),
    ],
)
def test_wrong_options_are_explained_on_standard_error(arguments: list[str], said: str) -> None:
    result = evalcase(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


# Colours


def test_colours_on_a_terminal(folder: Path) -> None:
    code, output = on_terminal("check", "bad.eval.yaml", cwd=folder)
    assert code == 2
    assert b"\x1b[1;31merror[wrong-type]\x1b[0m" in output


@pytest.mark.parametrize(
    "env", [{"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"]
)
def test_no_colours_where_they_are_not_wanted(folder: Path, env: dict[str, str]) -> None:
    code, output = on_terminal("check", "bad.eval.yaml", cwd=folder, env=env)
    assert code == 2
    assert b"error[wrong-type]" in output
    assert b"\x1b" not in output


# Locales


LOCALES = [
    {"LC_ALL": "C"},
    {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"},
]


def test_the_locale_changes_nothing(tmp_path: Path) -> None:
    good = "- id: größe\n  input: 日本語 😀\n  expected_output: é\n"
    text = good + "- input: 5\n  expcted_öutput: x\n"
    (tmp_path / "bad.yaml").write_bytes(text.encode())
    (tmp_path / "ok.yaml").write_bytes(good.encode())
    # Each locale with a command, and each command with a locale: they all write in one way.
    for arguments, locales in (
        (["check", "bad.yaml"], LOCALES),
        (["check", "--format", "json", "bad.yaml"], LOCALES[2:]),
        (["show", "ok.yaml"], LOCALES[2:]),
    ):
        usual = evalcase_process(*arguments, cwd=tmp_path)
        for env in locales:
            assert evalcase_process(*arguments, cwd=tmp_path, env=env) == usual, (arguments, env)
    for env in LOCALES[1:]:
        assert evalcase_process("check", "-", stdin=text.encode(), env=env).code == 2


def test_a_file_name_that_is_no_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.eval.yaml")
    (tmp_path / name).write_text(BAD)
    for format in ("text", "json", "github", "sarif"):
        result = evalcase("check", "--format", format, cwd=tmp_path)
        assert (result.code, result.err) == (2, "")
        assert "caf" in result.out
    (tmp_path / name).write_text("- input_messages: hi\n  expected_output: x\n")
    assert evalcase("migrate", tmp_path).code == 0
    assert (tmp_path / name).read_text() == "- input: hi\n  expected_output: x\n"


# Streams that fail


CLOSED = [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


@pytest.mark.parametrize(
    "command",
    [
        "check many.eval.yaml",
        "check --format json many.eval.yaml",
        "show --format jsonl large.eval.yaml",
        "schema",
        "migrate --diff aged.eval.yaml",
        "--help",
    ],
)
def test_a_reader_that_has_seen_enough(tmp_path: Path, command: str) -> None:
    # None like the other: those would be folded.
    odd = "".join(f"- {{input: a, field{number}: 1}}\n" for number in range(800))
    (tmp_path / "many.eval.yaml").write_text(odd)
    (tmp_path / "large.eval.yaml").write_text(GOOD * 800)
    (tmp_path / "aged.eval.yaml").write_text(GOOD.replace("input:", "input_messages:") * 800)
    result = shell(f"set -o pipefail; $EVALCASE {command} 2> err | head -1", cwd=tmp_path)
    assert result.out.count("\n") == 1
    said = (tmp_path / "err").read_text()
    assert "Traceback" not in said
    assert "pipe" not in said.lower()
    # As for any program that a closed pipe ends; never a verdict on the files.
    assert result.code in (0, 141)


@pytest.mark.parametrize(
    "command",
    ["check bad.eval.yaml", "show good.eval.yaml", "schema", "migrate --diff old.eval.yaml"],
)
def test_a_full_disk_is_said_and_is_no_success(folder: Path, command: str) -> None:
    result = shell(f"$EVALCASE {command} > /dev/full", cwd=folder)
    assert result.code in (2, 3)
    assert "No space left" in result.err
    assert result.err.count("\n") >= 1


@pytest.mark.parametrize(
    ("command", "redirection", "code"),
    [
        *[("check good.eval.yaml", closed, 0) for closed in CLOSED],
        *[("show bad.eval.yaml", closed, 2) for closed in CLOSED],
        ("migrate --check old.eval.yaml", ">&-", 1),
        ("zzz", "2>&-", 2),
        ("zzz", ">&- 2>&-", 2),
    ],
)
def test_closed_streams(folder: Path, command: str, redirection: str, code: int) -> None:
    result = shell(f"$EVALCASE {command} {redirection}", cwd=folder)
    assert result.code == code


def interrupt_until_over(process: subprocess.Popen[bytes]) -> int:
    """Press Ctrl-C, and again as a person would: Python loses one that comes in a finaliser."""
    for _ in range(int(LIMIT_S)):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1)
    return process.wait(timeout=0)


def test_an_interrupt(folder: Path) -> None:
    # The first file's problem is on the terminal, so the command is waiting for its input.
    leader, follower = pty.openpty()
    process = start_process(
        *("check", "bad.eval.yaml", "-"),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=follower,
        stderr=subprocess.PIPE,
    )
    os.close(follower)
    try:
        read_terminal(leader, until=b"wrong-type")
        assert interrupt_until_over(process) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stderr):
            assert stream is not None
            stream.close()
        os.close(leader)


# What never happens


def test_reading_commands_run_nothing_and_write_nothing(folder: Path) -> None:
    (folder / "click.py").write_text("raise SystemExit('imported')")
    (folder / "grader.py").write_text("open('ran', 'w')\nmain = other = None\n")
    (folder / "evil.eval.yaml").write_text(
        "- input: hi\n  targets: [python:grader:main, 'command:touch ran']\n"
        "  graders: [{python: grader:main}, python:grader:other]\n"
    )
    (folder / "bad.eval.yaml").unlink()
    before = sorted(folder.rglob("*"))
    script = Path(EVALCASE[0]).with_name("evalcase")
    for arguments in (["check"], ["show", "."], ["schema"], ["migrate", "--diff", "."]):
        done = subprocess.run(
            [script, *arguments],
            cwd=folder,
            env=environment(),
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert sorted(folder.rglob("*")) == before


def test_help_lists_each_command_once() -> None:
    whole = evalcase("--help").out.partition("\nStart:\n")[2]
    for name in ALL_COMMANDS:
        assert len(re.findall(rf"^  {name} ", whole, re.MULTILINE)) == 1, name
    assert "RANGE" not in evalcase("run", "--help").out


# How it starts


PRESSED = """
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "evalcase.cli.run":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
sys.argv[1:] = ["run"]
from evalcase.cli.main import main
main()
"""


def test_ctrl_c_while_it_starts_is_no_crash(tmp_path: Path) -> None:
    """Before the command is there, nobody else sees to it: an import may be under way."""
    done = subprocess.run(
        [sys.executable, "-c", PRESSED], cwd=tmp_path, env=environment(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "evalcase: interrupted\n")
