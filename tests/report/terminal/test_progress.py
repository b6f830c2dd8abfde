import io

from evalcase.report.progress import LogView, RunView
from tests.store.samples import result


class Log:
    def __init__(self, planned: int) -> None:
        self.now = 0.0
        self.out = io.StringIO()
        self.view = LogView(self.out, clock=lambda: self.now)
        self.view.expect({"agent": planned})

    def pass_trials(self, number: int, each_s: float) -> None:
        for _ in range(number):
            self.now += each_s
            self.view.finished(result(0))
        self.view.tick()

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


def test_a_line_says_how_far_it_is() -> None:
    log = Log(100)
    log.pass_trials(50, 1.0)
    assert log.lines == ["50/100 (50%) · 50 passed · 0:50 · 0:50 left"]


def test_failures_are_left_to_the_summary_and_notices_have_no_control_codes() -> None:
    log = Log(10)
    log.view.finished(result(1, verdict="failed"))
    log.view.say("a \x1b[2J notice")
    assert log.lines == ["a <U+001B>[2J notice"]


class Full(io.StringIO):
    def write(self, _: str) -> int:
        raise OSError("no space left")


def test_a_log_that_can_t_be_written_does_not_end_the_run() -> None:
    view = LogView(Full())
    view.expect({"agent": 2})
    view.finished(result(1, verdict="failed"))
    view.warn("careful")
    view.close()
    RunView(Full()).warn("careful")


def test_a_warning_is_broken_between_words_where_the_width_is_known() -> None:
    told, log = io.StringIO(), io.StringIO()
    RunView(told, 20).warn("mind the step, please")
    RunView(log).warn("mind the step, please")
    assert told.getvalue() == "warning: mind the\n  step, please\n"
    assert log.getvalue() == "warning: mind the step, please\n"
