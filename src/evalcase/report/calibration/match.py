"""Labels to answers: which of them still say something of what a judge said, and what people agree
on. The last label counts that somebody gave; of several people's, what more of them say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.stats.agreement import Kappa, cohen_kappa, count_pairs
from evalcase.types.grade import AnswerName, Judged, Label
from evalcase.types.value import Value

Ratings = dict[AnswerName, dict[str, Label]]
"""For each answer, the label of each person."""


class JudgedPair(NamedTuple):
    """An answer that both judged."""

    judged: Judged
    judge: bool
    people: bool
    drawn_from: float | None
    """The share of the run from which it was drawn; None where nobody chose."""


class Matched(Struct):
    """The labels on whole answers, or on one criterion, beside what the judge said of the same."""

    criterion: str | None
    pairs: list[JudgedPair] = field(default_factory=list)
    labels: int = 0
    """How many labels those rest on."""
    refused: int = 0
    """Labels whose answer is no longer the one that was judged."""
    elsewhere: int = 0
    """Labels of cases or targets that the run hasn't got."""
    undecided: int = 0
    """Answers on which as many people say one thing as the other."""
    without_verdict: int = 0
    """Labelled answers on which the judge gave no verdict."""
    moved: dict[str, str] = field(default_factory=dict)
    """Suites that labels name, by what the run calls those that have the same answers."""
    known: tuple[str, ...] | None = None
    """The criteria that the judge has, where the one that labels are about is none of them."""
    raters: tuple[str, ...] = ()

    @property
    def is_weighed(self) -> bool:
        """Whether some answers were chosen for labelling by what a judge said of them."""
        return any(pair.drawn_from is not None for pair in self.pairs)


def first_of_each(said: Iterable[Judged]) -> dict[AnswerName, Judged]:
    """What was said of each answer, once: where it was judged several times, by its first trial."""
    first: dict[AnswerName, Judged] = {}
    for judged in said:
        known = first.get(judged.answer)
        if known is None or judged.repeat < known.repeat:
            first[judged.answer] = judged
    return first


def match_labels(
    answers: Mapping[AnswerName, Judged], labels: Iterable[Label], criterion: str | None
) -> Matched:
    """Those labels that are about one criterion, or about none."""
    cases = {answer[:3] for answer in answers}
    matched, ratings = Matched(criterion), Ratings()
    for label in labels:
        if label.criterion == criterion:
            ratings.setdefault(label.answer, {})[label.by] = label
    raters: dict[str, bool] = {}
    for answer, by_rater in ratings.items():
        if answer in answers:
            raters.update(dict.fromkeys(by_rater, True))
            _add_labels(matched, answers[answer], list(by_rater.values()))
        elif answer[:3] in cases:
            matched.refused += len(by_rater)
        else:
            matched.elsewhere += len(by_rater)
    matched.raters = tuple(raters)
    if matched.elsewhere:
        matched.moved = _find_moved(answers, ratings)
    known = {id for judged in answers.values() for id in judged.criteria}
    if criterion is not None and criterion not in known:
        matched.known = tuple(sorted(known))
    return matched


def _find_moved(answers: Iterable[AnswerName], labelled: Iterable[AnswerName]) -> dict[str, str]:
    """Suites of labels whose answers the run has under another name: those were renamed."""
    here = {answer[1:]: answer.suite for answer in answers}
    suites = set(here.values())
    moved = ((each.suite, here.get(each[1:])) for each in labelled if each.suite not in suites)
    return {old: new for old, new in moved if new is not None}


def _add_labels(matched: Matched, judged: Judged, labels: Sequence[Label]) -> None:
    passed = sum(label.passed for label in labels)
    verdict = judged.verdict_on(matched.criterion)
    if verdict is None:
        matched.without_verdict += 1
    elif 2 * passed == len(labels):
        matched.undecided += 1
    else:
        shares = [label.drawn_from for label in labels if label.drawn_from is not None]
        share = shares[0] if shares else None
        matched.pairs.append(JudgedPair(judged, verdict, 2 * passed > len(labels), share))
        matched.labels += len(labels)


class Between(Value, frozen=True):
    """Two people who labelled the same answers."""

    raters: tuple[str, str]
    answers: int
    agreed: int
    kappa: Kappa | None


def compare_raters(labels: Iterable[Label], criterion: str | None) -> list[Between]:
    """Every two people with answers in common, those with most of them first."""
    ratings = Ratings()
    for label in labels:
        if label.criterion == criterion:
            ratings.setdefault(label.answer, {})[label.by] = label
    common: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for by_rater in ratings.values():
        for one, other in combinations(sorted(by_rater), 2):
            pair = by_rater[one].passed, by_rater[other].passed
            common.setdefault((one, other), []).append(pair)
    found = [_compare_raters(raters, pairs) for raters, pairs in common.items()]
    return sorted(found, key=lambda each: (-each.answers, each.raters))


def _compare_raters(raters: tuple[str, str], pairs: list[tuple[bool, bool]]) -> Between:
    table = count_pairs(pairs)
    return Between(raters, table.total, table.agreed, cohen_kappa(table.rows))
