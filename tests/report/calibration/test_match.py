"""Which labels count, and what several people come to."""

from evalcase.stats.agreement import Confusion
from tests.report.calibration.labels import judged, label, only, whole


def test_a_label_of_another_answer_is_refused_and_counted() -> None:
    section = only([judged(1, True)], [label(1, False, hash="f" * 16)])
    assert (section.labels.refused, section.labels.elsewhere) == (1, 0)
    assert section.confusion.total == 0


def test_the_last_label_of_a_person_counts() -> None:
    section = only([judged(1, True)], [label(1, False), label(1, True)])
    assert section.confusion == Confusion(1, 0, 0, 0)
    assert section.labels.used == 1


def test_more_people_decide_and_a_tie_is_left_out() -> None:
    three = [label(1, True, by=name) for name in ("ada", "bob")] + [label(1, False, by="eve")]
    two = [label(2, True, by="ada"), label(2, False, by="bob")]
    section = only([judged(1, False), judged(2, True)], [*three, *two])
    assert section.confusion == Confusion(0, 0, 1, 0)
    assert section.labels.undecided == 1
    assert section.labels.by == ("ada", "bob", "eve")


def test_an_answer_without_a_verdict_is_no_fail() -> None:
    section = only([judged(1, None), judged(2, False)], [label(1, True), label(2, False)])
    assert section.confusion == Confusion(0, 0, 0, 1)
    assert section.labels.without_verdict == 1
    assert section.judged == 1


def test_each_criterion_that_labels_name_is_a_section() -> None:
    said = [judged(1, False, criteria={"polite": True, "right": False})]
    labels = [label(1, False), label(1, True, criterion="polite"), label(1, True, criterion="x")]
    sections = {each.criterion: each for each in whole(said, labels).sections}
    assert list(sections) == [None, "polite", "x"]
    assert sections[None].confusion == Confusion(0, 0, 0, 1)
    assert sections["polite"].confusion == Confusion(1, 0, 0, 0)
    assert sections["x"].labels.without_verdict == 1
