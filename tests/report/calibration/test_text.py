"""The text as a whole, and that nothing in it can steer a terminal or break its edge."""

from __future__ import annotations

from evalcase.report.calibrate import Calibration
from evalcase.report.calibration_text import calibration_lines
from evalcase.report.terminal import Screen
from tests.report.calibration.labels import judged, label, of_table, only, whole

GOOD = """\
This judge agrees with people well: kappa is 0.78, and its 95 % interval begins
at 0.62.

judge     judge, of run 20260301-090000-a1b2c3
labels    100 used, by ada

              people pass  people fail
judge passes           45            6
judge fails             5           44

                                  95 % interval
agreement                   0.89  0.81 to 0.94    who always passes has 0.50
passes what people pass     0.90  0.79 to 0.96
fails what people fail      0.88  0.76 to 0.94
kappa                       0.78  0.62 to 0.87    0 is chance, 1 is perfect
pass rate by the judge      0.63  0.58 to 0.67    of 400 answers
true pass rate              0.65  0.55 to 0.77
"""

FEW = """\
These labels can't say how far this judge can be trusted: people passed 3 of the
labelled answers and failed 4, and 10 of each are needed.

judge     judge, of run 20260301-090000-a1b2c3
labels    7 used, by ada

              people pass  people fail
judge passes            2            1
judge fails             1            3

                                  95 % interval
agreement                   0.71  0.36 to 0.92    who always fails has 0.57
passes what people pass     0.67  0.21 to 0.94
fails what people fail      0.75  0.30 to 0.95
kappa                       0.42  no interval: people passed 3 of the labelled
                                  answers and failed 4, and 10 of each are
                                  needed
pass rate by the judge      0.48  0.31 to 0.66    of 27 answers
true pass rate                 –  not said: the judge is not clearly better than
                                  a coin
"""


def text(calibration: Calibration) -> str:
    return "".join(f"{line}\n" for line in calibration_lines(calibration, Screen()))


def of(cells: tuple[int, int, int, int], more: tuple[int, int]) -> Calibration:
    return Calibration("20260301-090000-a1b2c3", "judge", (of_table(cells, more=more),))


def test_a_good_judge() -> None:
    assert text(of((45, 6, 5, 44), (200, 100))) == GOOD


def test_too_few_labels() -> None:
    assert text(of((2, 1, 1, 3), (10, 10))) == FEW


def test_no_label_that_counts() -> None:
    said = text(whole([judged(1, True)], [label(1, True, hash="0" * 16)]))
    assert "no label is of an answer that it judged" in said
    assert "1 refused: their answers are not those that were judged" in said


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
