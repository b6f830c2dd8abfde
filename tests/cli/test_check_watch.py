"""`check --watch`: changes are waited for by what it writes, never by the clock."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from tests.cli.command import EVALCASE, LIMIT_S, environment, evalcase
from tests.cli.pseudo_terminal import CTRL_C, PseudoTerminal
from tests.for_each import for_each

GOOD = "- {id: a, input: hi, expected_output: x}\n"
BAD = "- {id: a, input: 5, expected_output: x}\n"
WAITING = "waiting for changes; press Ctrl-C to stop\n"


def put(path: Path, text: str) -> None:
    """Write a file at once, as editors do: nobody sees a half of it."""
    whole = path.parent.parent / "whole"
    whole.write_text(text)
    whole.replace(path)


class Watching:
    """The command with its output in a pipe."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*EVALCASE, "check", "--watch", *arguments], cwd=folder, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def next_check(self) -> str:
        """All that it writes until it waits."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == WAITING:
                return "".join(lines)
        raise AssertionError("".join(lines))

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=LIMIT_S)
        assert rest == "\n"
        return self.process.returncode


def test_it_checks_again_after_a_change_and_ends_with_the_code_of_the_last(tmp_path: Path) -> None:
    suite = tmp_path / "a.eval.yaml"
    suite.write_text(GOOD)
    watching = Watching(tmp_path)
    assert watching.next_check() == f"no problems found: 1 case in 1 file\n\n{WAITING}"
    put(suite, BAD)
    second = watching.next_check()
    assert second.startswith("\nchanged: a.eval.yaml\n\na.eval.yaml:1:18: error[wrong-type]")
    assert second.endswith(f"1 error in 1 file\n\n{WAITING}")
    assert watching.interrupt() == 2


def test_what_a_suite_rests_on_is_watched_too(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    content = "[{role: user, content: [{type: file, path: a.md}]}]"
    suite = tmp_path / "evals" / "a.eval.yaml"
    suite.write_text(f"- {{id: a, target: bot, input: {content}, expected_output: x}}\n")
    (tmp_path / "evalcase.toml").write_text("")
    watching = Watching(tmp_path, "evals/a.eval.yaml")
    assert "2 errors in 1 file" in watching.next_check()
    (tmp_path / "evals" / "a.md").write_text("")
    assert "1 error in 1 file" in watching.next_check()
    put(tmp_path / "evalcase.toml", '[targets.bot]\nkind = "echo"\n')
    assert "changed: evalcase.toml\n\nno problems found" in watching.next_check()
    assert watching.interrupt() == 0


def test_on_a_terminal_the_screen_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(BAD)
    terminal = PseudoTerminal(tmp_path, "check", "--watch")
    terminal.await_text("waiting for changes")
    put(tmp_path / "a.eval.yaml", GOOD)
    terminal.await_text(
        r"\x1b\[2J.*changed: a.eval.yaml(.|\r|\n)*no problems found(.|\r|\n)*waiting"
    )
    terminal.type(CTRL_C)
    assert terminal.finish() == 0


@for_each(
    ("arguments", "words"),
    [
        (["--fix"], "--watch can't be combined with --fix"),
        (["--format", "json"], "only writes text"),
        (["-"], "needs files, not standard input"),
    ],
)
def test_what_makes_no_sense_beside_it_is_refused(arguments: list[str], words: str) -> None:
    result = evalcase("check", "--watch", *arguments)
    assert result.code == 2
    assert words in result.err
