"""The text as a whole, and that nothing in it can steer a terminal or break its edge."""

from evalcase.report.calibrate import Calibration, calibration_lines
from evalcase.report.terminal import Screen
from tests.report.calibration.labels import judged, label, only, whole


def text(calibration: Calibration) -> str:
    return "".join(f"{line}\n" for line in calibration_lines(calibration, Screen()))


def test_hostile_names_stay_in_their_lines() -> None:
    evil = "\x1b[2J\n\u202e" + "w" * 200
    labels = [label(1, True, by=evil), label(1, True, by="bob", criterion=evil)]
    section = only([judged(1, True)], labels[:1])
    shown = Calibration("run", evil, (section, *whole([judged(1, True)], labels).sections))
    for screen in (Screen(), Screen(colour=True)):
        lines = list(calibration_lines(shown, screen))
        assert not any("\u202e" in line or "[2J\n" in line for line in lines)
    assert all(
        len(line) <= 80 and "\x1b" not in line for line in calibration_lines(shown, Screen())
    )
