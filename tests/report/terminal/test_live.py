import io

from rich.file_proxy import FileProxy

from evalcase.report.progress import LiveView
from evalcase.types.answer import Failure
from tests.for_each import for_each
from tests.report.terminal.screen import Screen
from tests.store.samples import result


class Terminal:
    """A view on a screen, with a clock that stands still unless it is moved."""

    def __init__(self, columns: int = 80, colour: bool = True) -> None:
        self.columns = columns
        self.now = 100.0
        self.out = io.StringIO()
        self.view = LiveView(self.out, colour=colour, width=columns, clock=lambda: self.now)
        self.view.expect({"agent": 10})
        self.view._thread.start = lambda: None  # type: ignore[method-assign]
        self.view.begin()
        self.now += 5.0

    def screen(self) -> list[str]:
        screen = Screen(self.columns)
        # A terminal makes a line end also go back to the margin.
        screen.write(self.out.getvalue().replace("\n", "\r\n"))
        return screen.lines


def errored(number: int, message: str = "out of ink") -> object:
    return result(number, verdict="errored", answer=None, failure=Failure("exception", message))


@for_each("columns", [40, 80, 200])
@for_each("colour", [False, True])
def test_failures_stand_above_one_status_line(columns: int, colour: bool) -> None:
    terminal = Terminal(columns, colour)
    for number, verdict in enumerate(["passed", "failed", "passed"]):
        terminal.view.finished(result(number, verdict=verdict))
        terminal.now += 1
        terminal.view.tick()
    terminal.view.finished(errored(3, "x" * 500))  # type: ignore[arg-type]
    terminal.view.tick()
    failed, broken, status = terminal.screen()
    assert failed.startswith("failed case-1: expected 4")
    assert broken.startswith("errored case-3: xxx")
    assert broken.endswith("…")
    assert "4/10" in status
    assert ("━" in status) == (columns > 40)
    assert max(map(len, (failed, broken))) < columns
    assert len(status) <= columns - 3


def test_a_brief_run_leaves_failures_to_its_summary() -> None:
    terminal = Terminal()
    terminal.now -= 1
    terminal.view.finished(result(1, verdict="failed"))
    terminal.view.tick()
    assert len(terminal.screen()) == 1, "the status line"
    terminal.now += 1
    terminal.view.tick()
    assert terminal.screen()[0].startswith("failed case-1: ")


def test_text_from_outside_can_not_steer_the_terminal() -> None:
    terminal = Terminal()
    terminal.view.finished(errored(1, "\x1b[2J\x1b[1;1Hgotcha\x07"))  # type: ignore[arg-type]
    terminal.view.say("warning: \x1b[2J")
    terminal.view.tick()
    told = "".join(terminal.screen())  # the screen refuses what it doesn't know
    assert "<U+001B>[2J<U+001B>[1;1Hgotcha<U+0007>" in told


def test_what_user_code_prints_stands_above_the_line() -> None:
    terminal = Terminal()
    stream = FileProxy(terminal.view.console, terminal.out)
    terminal.view.tick()
    print("hello", file=stream)
    stream.write("half a ")
    terminal.view.tick()
    stream.write("line\nand no end")
    terminal.view.tick()
    stream.flush()
    terminal.view.close()
    assert terminal.screen()[:3] == ["hello", "half a line", "and no end"]


class Gone(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("the terminal is gone")


def test_a_terminal_that_is_gone_does_not_end_the_run() -> None:
    view = LiveView(Gone(), colour=False, width=80)
    view.begin()
    view.say("anyone?")
    view.tick()
    view.close()
