from itertools import pairwise

from evalcase.report.calibrate import draw_answers
from tests.report.calibration.labels import judged

SAID = [judged(number, number % 10 != 0) for number in range(200)]


def test_nobody_can_tell_the_next_from_the_last() -> None:
    drawn = [each.passed for each in draw_answers(SAID, None, "run")][:40]
    changes = sum(one != other for one, other in pairwise(drawn))
    assert 20 < changes < 38
    assert drawn != [each.passed for each in draw_answers(SAID, None, "other")][:40]


def test_the_order_is_the_same_whenever_one_goes_on() -> None:
    assert draw_answers(SAID, None, "run") == draw_answers(reversed(SAID), None, "run")
