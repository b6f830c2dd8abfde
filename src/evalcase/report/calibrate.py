"""How far a judge can be trusted, from its verdicts and people's labels on the same answers: the
figures, and what they mean in words.

Of several labels of one person the last counts; of several people's, the majority. The figures are
of the answers of a run: where people labelled as many of the judge's fails as of its passes, they
are weighed by their shares in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import combinations, zip_longest
from math import comb
from typing import Any, NamedTuple

from msgspec import Struct

from evalcase.report.case_text import asked_lines, message_lines
from evalcase.report.labels import AnswerName, Judged, Label, criteria_in
from evalcase.report.terminal import Screen, cut
from evalcase.stats.agreement import (
    Confusion,
    Fleiss,
    Strata,
    Stratum,
    cohen_kappa,
    count_pairs,
    estimate_true_share,
    estimate_youden,
)
from evalcase.stats.intervals import LEVEL, Estimate, estimate_share
from evalcase.types.case import Case
from evalcase.types.result import Result
from evalcase.types.value import Value
from evalcase.util.text import list_some, make_visible, write_count

FEWEST = 10
"""Labels of either kind, below which an interval of kappa promises too much."""
_WORDS = ((0.8, "very well"), (0.6, "well"), (0.4, "fairly well"), (-1.0, "a little"))
"""From which kappa on."""
_WORTHLESS = 0.2
Ratings = dict[AnswerName, dict[str, Label]]
"""For each answer, the label of each person."""


class JudgedPair(NamedTuple):
    judge: bool
    people: bool
    drawn_from: float | None
    """The share of the run from which it was drawn; None if it was not drawn."""


class LabelCounts(Value, frozen=True, omit_defaults=False):
    used: int
    answers: int
    refused: int
    """Labels whose answer is no longer the one that was judged."""
    elsewhere: int
    """Labels of cases or targets that the run hasn't got."""
    undecided: int
    """Answers on which as many people say one thing as the other."""
    without_verdict: int
    """Labelled answers on which the judge gave no verdict."""
    by: tuple[str, ...]
    weighed: bool
    """Whether some answers were chosen for labelling by what a judge said of them."""


class Between(Value, frozen=True):
    by: tuple[str, str]
    answers: int
    agreed: int
    kappa: float | None
    kappa_interval: Estimate | None


class Itself(Value, frozen=True):
    """How far a judge agrees with itself."""

    answers: int
    """How many answers were judged more than once."""
    agreement: float | None
    """Of all pairs of verdicts on the same answer, the share that agree."""
    voted: int
    """How many criteria were voted on."""
    votes_kappa: float | None
    """Fleiss' kappa of those votes."""


class Section(Value, frozen=True):
    """How far a judge agrees with people, on whole answers or on one criterion; as JSON, an object
    of these fields."""

    criterion: str | None
    labels: LabelCounts
    confusion: Confusion
    agreement: Estimate | None
    true_pass_rate_of_judge: Estimate | None
    """Of what people pass, the share that the judge passes."""
    true_fail_rate_of_judge: Estimate | None
    """Of what people fail, the share that it fails."""
    pass_rate_by_people: float
    """Of the labelled answers."""
    youden: Estimate | None
    """J: true passes + true fails - 1, which is 0 for a coin."""
    kappa: float | None
    kappa_interval: Estimate | None
    kappa_refused: str | None
    """Why there is no interval of kappa."""
    judged: int
    """How many answers of the run have its verdict."""
    pass_rate_by_judge: float | None
    """Of those, labelled or not."""
    pass_rate_by_judge_interval: Estimate | None
    pass_rate: Estimate | None
    """The share of answers of the run that people would pass."""
    pass_rate_refused: str | None
    itself: Itself
    people: tuple[Between, ...]

    @property
    def constant_agreement(self) -> float:
        """How often a judge that always says the same would agree with people."""
        return max(self.pass_rate_by_people, 1 - self.pass_rate_by_people)

    def reaches(self, kappa: float) -> bool:
        return self.kappa_interval is not None and self.kappa_interval.low >= kappa

    @property
    def verdict(self) -> str:
        interval = self.kappa_interval
        if not self.confusion.total:
            return "Nothing can be said of this judge: no label is of an answer that it judged."
        if interval is None:
            return f"These labels can't say how far to trust this judge: {self.kappa_refused}."
        value, low, high = interval
        if low <= 0 and (high < _WORTHLESS or value <= 0):
            return "This judge agrees with people no better than a coin would."
        if low <= 0:
            return (
                "These labels don't show that this judge is better than a coin: kappa is "
                f"{value:.2f}, and may be {low:.2f}. More labels would tell."
            )
        word, surely = (
            next(word for least, word in _WORDS if kappa >= least) for kappa in (value, low)
        )
        how = surely if word == surely else f"{surely} at least"
        return (
            f"This judge agrees with people {how}: kappa is {value:.2f}, and its 95% interval "
            f"begins at {low:.2f}."
        )


class Calibration(Value, frozen=True):
    run: str
    grader: str
    sections: tuple[Section, ...]
    """Of whole answers first, if any label is of those; then one for each criterion."""


def calibrate_grader(
    run: str, grader: str, said: Sequence[Judged], labels: Sequence[Label],
    criterion: str | None = None,
) -> Calibration:  # fmt: skip
    """With a criterion, the labels on it alone; else all labels, those on each criterion apart."""
    named = sorted({label.criterion for label in labels if label.criterion is not None})
    whole = any(label.criterion is None for label in labels) or not named
    wanted = [criterion] if criterion is not None else [*([None] if whole else []), *named]
    return Calibration(run, grader, tuple(_make_section(said, labels, each) for each in wanted))


def calibration_object(calibration: Calibration, min_kappa: float | None = None) -> dict[str, Any]:
    """With `min_kappa`, each section says whether it surely is as much."""
    sections = []
    for each in calibration.sections:
        told = {
            **_plain_value(each), "verdict": each.verdict,
            "constant_agreement": each.constant_agreement,
        }  # fmt: skip
        if min_kappa is not None:
            told |= {"min_kappa": min_kappa, "reached": each.reaches(min_kappa)}
        sections.append(told)
    return {
        "run": calibration.run, "grader": calibration.grader, "level": LEVEL, "sections": sections
    }  # fmt: skip


def _plain_value(value: Any) -> Any:  # noqa: ANN401 - whatever a field holds
    """For JSON: a structure or a named tuple is an object of its fields."""
    if isinstance(value, Struct):
        return {name: _plain_value(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        fields = getattr(value, "_asdict", None)
        return fields() if fields is not None else [_plain_value(each) for each in value]
    return value


def _make_section(
    said: Sequence[Judged], labels: Iterable[Label], criterion: str | None
) -> Section:
    answers = first_of_each(said)
    ratings = Ratings()
    for label in labels:
        if label.criterion == criterion:
            ratings.setdefault(label.answer, {})[label.by] = label
    pairs, counts = _match_labels(answers, ratings, criterion)
    table = count_pairs((pair.judge, pair.people) for pair in pairs)
    verdicts = [each.verdict_on(criterion) for each in answers.values()]
    passed, judged = verdicts.count(True), len(verdicts) - verdicts.count(None)
    strata = None
    if counts.weighed:
        strata = Strata(_part_by_drawing(pairs), judged)
        agreement: Estimate | None = strata.estimate_agreement()
        passes, fails = strata.estimate_true_passes(), strata.estimate_true_fails()
        kappa, people = strata.kappa(), strata.people
    else:
        agreement = estimate_share(table.agreed, table.total)
        passes = estimate_share(table.true_passes, table.people_passed)
        fails = estimate_share(table.true_fails, table.people_failed)
        kappa, people = cohen_kappa(table), table.people_passed / table.total if pairs else 0.5
    youden = estimate_youden(passes, fails) if passes is not None and fails is not None else None
    kappa_refused, true_refused = None, None
    if min(table.people_passed, table.people_failed) < FEWEST:
        kappa_refused = (
            f"people passed {table.people_passed:,} of the labelled answers and failed "
            f"{table.people_failed:,}, and {FEWEST} of each are needed"
        )
    elif kappa is None:
        kappa_refused = "nothing varies"
    true_share = None
    if 0 < table.total == judged:
        # People have seen all there is, and no judge is needed to tell.
        true_share = estimate_share(table.people_passed, table.total)
    elif youden is None:
        true_refused = "labels of both kinds are needed"
    elif youden.low <= 0:
        true_refused = "the judge is not clearly better than a coin"
    elif strata is not None:
        true_share = strata.estimate_people()
    else:
        true_passes = table.true_passes, table.people_passed
        true_fails = table.true_fails, table.people_failed
        true_share = estimate_true_share((passed, judged), true_passes, true_fails)
    return Section(
        criterion, counts, table, agreement, passes, fails, people, youden,
        kappa.value if kappa is not None and table.total > 1 else None,
        kappa if kappa_refused is None else None, kappa_refused,
        judged, passed / judged if judged else None, estimate_share(passed, judged), true_share,
        true_refused, compare_with_itself(said, criterion), _compare_raters(ratings.values()),
    )  # fmt: skip


def first_of_each(said: Iterable[Judged]) -> dict[AnswerName, Judged]:
    """What was said of each answer, once: where it was judged several times, by its first trial."""
    first: dict[AnswerName, Judged] = {}
    for judged in said:
        known = first.get(judged.answer)
        if known is None or judged.repeat < known.repeat:
            first[judged.answer] = judged
    return first


def _match_labels(
    answers: Mapping[AnswerName, Judged], ratings: Ratings, criterion: str | None
) -> tuple[list[JudgedPair], LabelCounts]:
    cases = {answer[:3] for answer in answers}
    counts: Counter[str] = Counter()
    pairs: list[JudgedPair] = []
    raters: dict[str, None] = {}
    for answer, by_rater in ratings.items():
        if answer not in answers:
            counts["refused" if answer[:3] in cases else "elsewhere"] += len(by_rater)
            continue
        raters.update(dict.fromkeys(by_rater))
        judged, labels = answers[answer], by_rater.values()
        verdict, passed = judged.verdict_on(criterion), sum(label.passed for label in labels)
        if verdict is None:
            counts["without_verdict"] += 1
        elif 2 * passed == len(labels):
            counts["undecided"] += 1
        else:
            counts["used"] += len(labels)
            shares = [label.drawn_from for label in labels if label.drawn_from is not None]
            people = 2 * passed > len(labels)
            pairs.append(JudgedPair(verdict, people, shares[0] if shares else None))
    return pairs, LabelCounts(
        counts["used"], len(pairs), counts["refused"], counts["elsewhere"], counts["undecided"],
        counts["without_verdict"], tuple(raters),
        any(pair.drawn_from is not None for pair in pairs),
    )  # fmt: skip


def _part_by_drawing(pairs: Sequence[JudgedPair]) -> list[Stratum]:
    """Those that were drawn at one time are of two kinds, whose shares make up the whole. Several
    drawings each tell of the whole, and count by how many answers they have."""
    drawings: dict[float | None, dict[float, list[JudgedPair]]] = {}
    for pair in pairs:
        share = pair.drawn_from
        # Both kinds of a drawing are known by the smaller share.
        drawing = None if share is None else min(share, round(1 - share, 4))
        kinds = drawings.setdefault(drawing, {})
        kinds.setdefault(1.0 if share is None else share, []).append(pair)
    return [
        Stratum(size * share / sum(kinds), count_pairs((each.judge, each.people) for each in kind))
        for kinds in drawings.values()
        for size in [sum(map(len, kinds.values())) / len(pairs)]
        for share, kind in kinds.items()
    ]


def _compare_raters(ratings: Iterable[Mapping[str, Label]]) -> tuple[Between, ...]:
    """Every two people with answers in common, those with most of them first."""
    common: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for by_rater in ratings:
        for one, other in combinations(sorted(by_rater), 2):
            pair = by_rater[one].passed, by_rater[other].passed
            common.setdefault((one, other), []).append(pair)
    found = []
    for raters, pairs in common.items():
        table = count_pairs(pairs)
        kappa = cohen_kappa(table)
        value = None if kappa is None else kappa.value
        found.append(Between(raters, table.total, table.agreed, value, kappa))
    return tuple(sorted(found, key=lambda each: (-each.answers, each.by)))


def compare_with_itself(said: Iterable[Judged], criterion: str | None = None) -> Itself:
    verdicts: dict[AnswerName, list[int]] = {}
    votes = Fleiss()
    for judged in said:
        for id, cast in judged.votes.items():
            if criterion in (None, id):
                votes.add(cast)
        if (passed := judged.verdict_on(criterion)) is not None:
            verdicts.setdefault(judged.answer, [0, 0])[passed] += 1
    again = [counts for counts in verdicts.values() if sum(counts) > 1]
    pairs = sum(comb(sum(counts), 2) for counts in again)
    agreed = sum(comb(failed, 2) + comb(passed, 2) for failed, passed in again)
    return Itself(len(again), agreed / pairs if pairs else None, votes.subjects, votes.kappa)


def draw_answers(answers: Iterable[Judged], criterion: str | None, seed: str) -> list[Judged]:
    """Each answer that has a verdict, once: by twos, one of each kind, while both last."""
    kinds: dict[bool, list[tuple[bytes, Judged]]] = {True: [], False: []}
    for judged in answers:
        verdict = judged.verdict_on(criterion)
        if verdict is not None:
            name = json.dumps([seed, *judged.answer])
            kinds[verdict].append((sha256(name.encode()).digest(), judged))
    drawn: list[Judged] = []
    for pair in zip_longest(*(sorted(kind, key=lambda lot: lot[0]) for kind in kinds.values())):
        # Which of the two comes first is a lot of its own.
        lots = [lot for lot in pair if lot is not None]
        drawn += [judged for _, judged in sorted(lots, key=lambda lot: lot[0][::-1])]
    return drawn


def shares_of(drawn: Sequence[Judged], criterion: str | None) -> dict[bool, float]:
    passed = round(sum(each.verdict_on(criterion) is True for each in drawn) / len(drawn), 4)
    return {True: passed, False: round(1 - passed, 4)}


# For people.

_COLUMN = 10
_FIGURE = 26
_MOST_RATER_PAIRS = 5


def calibration_lines(calibration: Calibration, screen: Screen) -> Iterator[str]:
    for number, section in enumerate(calibration.sections):
        if number:
            yield ""
        yield from (screen.paint(row, "place") for row in screen.wrap(section.verdict))
        yield ""
        judge = f"{calibration.grader}, of run {calibration.run}"
        yield from _fact_lines([("judge", judge), *_label_facts(section)], screen)
        if not section.confusion.total:
            continue
        yield from ("", f"{'':12}{'people pass':>13}{'people fail':>13}")
        for name, row in zip(("judge passes", "judge fails"), section.confusion.rows, strict=True):
            yield f"{name:12}{row[0]:13,}{row[1]:13,}"
        yield ""
        yield from _figure_lines(section, screen)
        if others := list(_other_facts(section)):
            yield ""
        yield from _fact_lines(others, screen)


def _fact_lines(facts: Iterable[tuple[str, str]], screen: Screen) -> Iterator[str]:
    for label, text in facts:
        yield from screen.label(label, make_visible(text), column=_COLUMN)


def _label_facts(section: Section) -> Iterator[tuple[str, str]]:
    labels = section.labels
    if section.criterion is not None:
        yield "criterion", section.criterion
    names = [cut(name, 30) for name in labels.by]
    by = f", by {list_some(names[:3], len(names))}" if names else ""
    said = [f"{labels.used:,} used{by}"]
    for count, words in (
        (labels.refused, "refused: their answers are not those that were judged"),
        (labels.elsewhere, "of cases or targets that this run doesn't have"),
        (labels.without_verdict, "of answers on which the judge returned no verdict"),
        (labels.undecided, "answers left out, on which people are divided"),
    ):
        if count:
            said.append(f"{count:,} {words}")
    yield "labels", "; ".join(said)


def _figure_lines(section: Section, screen: Screen) -> Iterator[str]:
    yield screen.paint(f"{'':{_FIGURE}}{'':6}  95% interval", "dim")
    word = "passes" if section.pass_rate_by_people >= 0.5 else "fails"
    constant = f"who always {word} has {section.constant_agreement:.2f}"
    judged = f"of {write_count(section.judged, 'answer')}"
    refused, kappa = section.pass_rate_refused, section.kappa_interval
    figures: tuple[tuple[str, float | None, Estimate | None, str], ...] = (
        ("agreement", None, section.agreement, constant),
        ("passes what people pass", None, section.true_pass_rate_of_judge, ""),
        ("fails what people fail", None, section.true_fail_rate_of_judge, ""),
        ("kappa", section.kappa, kappa, section.kappa_refused or "0 is chance, 1 is perfect"),
        ("pass rate by the judge", None, section.pass_rate_by_judge_interval, judged),
        ("true pass rate", None, section.pass_rate, refused or ""),
    )
    for name, value, estimate, beside in figures:
        if estimate is None:
            shown = "–" if value is None else f"{value:.2f}"
            why = f"no interval: {beside}" if beside else "no label says"
            yield from screen.label(f"{name:{_FIGURE}}{shown:>6}", why, column=_FIGURE + 8)
        else:
            interval = f"{estimate.low:.2f} to {estimate.high:.2f}"
            yield f"{name:{_FIGURE}}{estimate.value:6.2f}  {interval:15} {beside}".rstrip()
    if section.labels.weighed:
        told = "As many fails as passes of the judge were labelled: figures are weighed by"
        yield from screen.wrap(f"({told} their shares in the run.)")


def _other_facts(section: Section) -> Iterator[tuple[str, str]]:
    itself = section.itself
    if itself.agreement is not None:
        told = f"of {write_count(itself.answers, 'answer')} that it judged again"
        yield "itself", f"agrees with itself in {itself.agreement:.2f} of pairs, {told}"
    if itself.voted:
        kappa = "says nothing" if itself.votes_kappa is None else f"is {itself.votes_kappa:.2f}"
        yield "votes", f"Fleiss' kappa of {itself.voted:,} votes on criteria {kappa}"
    for each in section.people[:_MOST_RATER_PAIRS]:
        one, other = (cut(name, 30) for name in each.by)
        answers = write_count(each.answers, "answer")
        told = f"{one} and {other} agree on {each.agreed:,} of {answers}"
        if each.kappa_interval is not None:
            value, low, high = each.kappa_interval
            told += f": kappa {value:.2f} ({low:.2f} to {high:.2f})"
        yield "people", told


def question_lines(
    case: Case | None, result: Result, grader: str, criterion: str | None, screen: Screen
) -> Iterator[str]:
    if case is not None:
        yield from asked_lines(case, "reference", screen)
    if result.answer is not None:
        yield from message_lines("answer", result.answer.messages, screen)
    points = _list_points(case, result, grader, criterion)
    if points:
        several = "all of " if len(points) > 1 else ""
        yield screen.paint(f"does the answer meet {several}this?", "place")
    for text in points:
        yield from screen.inset().label("-", text)


def _list_points(
    case: Case | None, result: Result, grader: str, criterion: str | None
) -> list[str]:
    """What the judge was asked to look for, as its grade has it; else as the case says."""
    details = (grade.details for grade in result.grades if grade.grader == grader)
    points = [
        each["text"]
        for each in criteria_in(next(details, {}))
        if isinstance(each.get("text"), str) and criterion in (None, each["id"])
    ]
    if points or case is None or criterion is not None:
        return points
    said = [case.criteria] if case.criteria is not None else []
    return said + [str(rubric.get("text", "")) for rubric in case.rubrics]
