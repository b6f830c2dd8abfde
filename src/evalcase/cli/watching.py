"""A run while it goes on, as a person at this terminal sees it; and the terminal left as it was."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, cast

from evalcase.cli.streams import Streams, same_streams
from evalcase.cli.terminal import has_colour, is_live
from evalcase.util.text import defuse_line, in_ci

if TYPE_CHECKING:
    # Only one of them is needed.
    from evalcase.report.progress import RunView


def make_view(streams: Streams, *, quiet: bool) -> RunView:
    """The view of a run, on standard error: standard output is for what came of it."""
    stream = streams.err
    if quiet:
        from evalcase.report.progress import QuietView

        return QuietView(_defuse_stream(stream))
    if not is_live(stream):
        from evalcase.report.progress import LogView

        same = _is_same_log(stream, streams.out)
        return LogView(_defuse_stream(stream), same=same)
    from rich.file_proxy import FileProxy

    from evalcase.report.progress import LiveView

    view = LiveView(stream, colour=has_colour(stream), same=streams.out.isatty())
    # From here on, so that loggers which the user's modules set up write above the line, too.
    sys.stdout = sys.stderr = cast("TextIO", FileProxy(view.console, sys.stderr))
    return view


class _Defused:
    """A stream that a CI system reads, which finds no commands to itself in it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def write(self, line: str) -> int:
        return self._stream.write(defuse_line(line))


def _defuse_stream(stream: TextIO) -> TextIO:
    return cast("TextIO", _Defused(stream)) if in_ci(os.environ) else stream


def _is_same_log(one: TextIO, other: TextIO) -> bool:
    """Whether both end in the same file, as after `2>&1`; or both in pipes, as in CI, where a
    person reads them as one."""
    try:
        about = os.fstat(one.fileno()), os.fstat(other.fileno())
    except (OSError, ValueError):
        return False
    return os.path.samestat(*about) or all(_is_pipe(each.st_mode) for each in about)


def _is_pipe(mode: int) -> bool:
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


@contextmanager
def keep_shown(view: RunView) -> Iterator[None]:
    """Show a run, and leave the terminal as it was, whatever ends it."""
    stderr = sys.stderr

    def tidy_up(number: int, _: object) -> None:
        view.close()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = signal.signal(signal.SIGTERM, tidy_up) if view.is_live else None
    view.begin()
    try:
        with same_streams():
            yield
    finally:
        if view.is_live:
            _take_back(stderr)
        view.close()
        if view.is_live:
            signal.signal(signal.SIGTERM, before)


def _take_back(stderr: TextIO) -> None:
    """Standard error as it was before a live view stood before it."""
    from rich.file_proxy import FileProxy

    if isinstance(stderr, FileProxy):
        stderr.flush()
        sys.stdout = sys.stderr = cast("TextIO", stderr.rich_proxied_file)
