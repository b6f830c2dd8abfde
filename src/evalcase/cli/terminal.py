"""Standard output and error of a command: width and colours, streams that user code shares with
evalcase, and errors that stop a command, as words without secrets and an exit code.

During a run, the output of the command itself is kept apart, where user code can't reach it.
Whatever else is printed, by Python code, by a library or by a child, goes to standard error, and is
lost where that can't be written: a full disk for the log ends no run.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import FileIO, TextIOWrapper
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TextIO, cast

from evalcase.config.config import Config, read_config
from evalcase.errors import ConfigError, EvalcaseError, RecordError, SuiteError
from evalcase.report.terminal import Screen, defuse_lines, hang_text
from evalcase.types.problem import Problem
from evalcase.types.value import replace
from evalcase.util.errors import failure_of
from evalcase.util.secrets import Scrubber, mask_credentials
from evalcase.util.text import make_visible

if TYPE_CHECKING:
    from rich.file_proxy import FileProxy


def screen_for(stream: TextIO) -> Screen:
    """What draws for a stream: as wide as the terminal is just now, elsewhere COLUMNS, or 80; with
    colours on a terminal that can show them, unless NO_COLOR is set."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        given = os.environ.get("COLUMNS", "")
        columns = int(given) if given.isdecimal() else 0
    colour = is_live(stream) and not os.environ.get("NO_COLOR")
    return Screen(max(20, columns or 80), colour=colour)


def prose_screen(stream: TextIO) -> Screen:
    """The same, but as wide as a line is where a program may read: one line for each thing."""
    return screen_for(stream) if stream.isatty() else Screen(sys.maxsize)


def is_live(stream: TextIO) -> bool:
    """Whether lines can be drawn anew: a terminal that understands more than text."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def print_lines(lines: Iterable[str], stream: TextIO | None = None) -> None:
    """Write lines to standard output, or to another stream."""
    write = (stream or sys.stdout).write
    for line in lines:
        write(line + "\n")


def print_pieces(pieces: Iterable[str | bytes]) -> None:
    for piece in pieces:
        if isinstance(piece, bytes):
            sys.stdout.buffer.write(piece)
        else:
            sys.stdout.write(piece)


def write_prose(text: str, stream: TextIO | None = None) -> None:
    """Write a sentence that may hold anybody's text, to standard error if nothing else is said. On
    a terminal it is broken between words; the reader of a file takes a line for one problem."""
    stream = stream or sys.stderr
    width = screen_for(stream).width if stream.isatty() else None
    print_lines(defuse_lines(hang_text(make_visible(text), width, indent=2)), stream)


def tell_written(path: str) -> None:
    write_prose(f"wrote {make_visible(path)}")


class LentStream(TextIOWrapper):
    """A stream that can't be closed, and never says that it could not write."""

    scrub: Callable[[str], str] | None = None
    """What is done to a text before it is written."""
    above: FileProxy | None = None
    """What writes above the status line of a live view."""

    def write(self, text: str) -> int:
        shown = text if self.scrub is None else self.scrub(text)
        with suppress(OSError):
            if self.above is not None:
                self.above.write(shown)
            else:
                super().write(shown)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()

    def close(self) -> None:
        self.flush()


class Streams(NamedTuple):
    """What evalcase itself writes to, and what it has lent to everybody else."""

    out: TextIO
    err: TextIO
    lent: tuple[LentStream, ...] = ()


def take_streams() -> Streams:
    """Keep standard output and error for evalcase, and lend others to everybody else, for as long
    as this process goes on: a thread that was left behind may still print at its end."""
    out, err = sys.stdout, sys.stderr
    if (_descriptor_of_stream(out), _descriptor_of_stream(err)) != (1, 2):
        # Replaced by a caller in Python: there are no descriptors to redirect.
        lent = LentStream(err.buffer, "utf-8", "backslashreplace", line_buffering=True)
        sys.stdout = sys.stderr = lent
        return Streams(out, err, (lent,))
    out.flush()
    both = _lend_stream(1), _lend_stream(2)
    own = open(  # noqa: SIM115 - for as long as this process goes on
        os.dup(1), "w", encoding="utf-8", errors="backslashreplace",
        buffering=1 if out.isatty() else -1,
    )  # fmt: skip
    kept = Streams(own, _lend_stream(os.dup(2)), both)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = both
    # Python flushes what is there at its end, which may fail: so it finds these again. What is
    # registered first is called last.
    atexit.register(setattr, sys, "stdout", sys.stdout)
    atexit.register(setattr, sys, "stderr", sys.stderr)
    return kept


@contextmanager
def same_streams() -> Iterator[None]:
    before = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def discard_stream(stream: TextIO) -> None:
    """Give a stream another end, so that nothing fails when it is flushed at exit."""
    number = _descriptor_of_stream(stream)
    if number >= 0:
        with suppress(OSError):  # there may be no descriptor left
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _lend_stream(number: int) -> LentStream:
    # Not buffered: what could not be written is not tried again.
    writer = cast("BinaryIO", FileIO(number, "w", closefd=False))
    return LentStream(writer, "utf-8", "backslashreplace", line_buffering=True)


def _descriptor_of_stream(stream: TextIO) -> int:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return -1


CRASH_CODE = 3
"""What was asked for was not completed; 1 would be a verdict."""
_WHY = "this is a bug in evalcase, unless code of a target or a grader has modified evalcase itself"


def tell_crash(
    error: BaseException, stream: TextIO, scrub: Callable[[str], str] = lambda text: text
) -> str:
    failure = failure_of(error)
    said = scrub(failure.message)
    trace: list[str] = failure.details.get("traceback", [])
    print_lines((make_visible(scrub(line)) for line in trace), stream)
    write_prose(f"evalcase: can't continue: {said}; {_WHY}", stream)
    return said


def find_project(runs_dir: str | None) -> tuple[Config, str]:
    """The configuration of this project, whatever is wrong with it, and the folder of its runs."""
    config = read_config(os.getcwd(), os.getcwd())
    if config.problems():
        sys.stderr.write("the configuration has errors, which `evalcase check` shows\n")
    return config, config.find_runs(runs_dir)


def scrub_problems(problems: Sequence[Problem]) -> list[Problem]:
    """The same without what is secret here, as the configuration of this folder says, and without
    what lets others in wherever it is from."""
    from evalcase.runner.plan import make_scrubber  # commands that only read need no runner

    try:
        config = read_config(os.getcwd())
    except ConfigError:
        config = Config(os.getcwd())
    scrubber = make_scrubber(config, os.environ, lambda _: None)
    return [_scrub_problem(problem, scrubber) for problem in problems]


def _scrub_problem(problem: Problem, scrubber: Scrubber) -> Problem:
    hint, excerpt = problem.hint, problem.excerpt
    if excerpt is not None:
        excerpt = excerpt._replace(text=mask_credentials(excerpt.text))
        if scrubber.text(excerpt.text) != excerpt.text:
            excerpt = None  # a line that was changed has nothing to underline
    return replace(
        problem, message=scrubber.text(mask_credentials(problem.message)),
        hint=hint and scrubber.text(mask_credentials(hint)), excerpt=excerpt,
    )  # fmt: skip


def explain_error(error: EvalcaseError) -> int:
    """Say what keeps a run from starting, from being stored or from being read; the exit code."""
    if isinstance(error, SuiteError | ConfigError) and error.problems:
        print_problems(each for each in error.problems if each.severity == "error")
        sys.stderr.write("nothing was run\n")
        return 2
    for text in str(error).split("\n"):
        write_prose(f"evalcase: {mask_credentials(text)}")
    return 3 if isinstance(error, RecordError) else 2


def print_problems(problems: Iterable[Problem]) -> None:
    """Print problems to standard error, without secrets."""
    from evalcase.report.problems import fold_problems  # most commands have none to print

    for lines in fold_problems(scrub_problems(list(problems)), prose_screen(sys.stderr)):
        print_lines((*lines, ""), sys.stderr)
