"""How far a judge can be trusted, from its verdicts and people's labels on the same answers.

Of several labels of one person the last counts; of several people's, the majority. The figures are
of the answers of a run: where people labelled as many of the judge's fails as of its passes, they
are weighed by their shares in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import combinations, zip_longest
from math import exp, log
from typing import NamedTuple

from msgspec import Struct, field

from evalcase.stats.agreement import (
    Confusion,
    Kappa,
    Strata,
    Stratum,
    cohen_kappa,
    count_pairs,
    estimate_true_share,
    estimate_youden,
    fleiss_kappa,
)
from evalcase.stats.intervals import LEVEL, Estimate, estimate_difference, estimate_share
from evalcase.types.grade import AnswerName, Judged, Label
from evalcase.types.value import JSON, Value

Ratings = dict[AnswerName, dict[str, Label]]
"""For each answer, the label of each person."""


class JudgedPair(NamedTuple):
    """An answer that both judged."""

    judged: Judged
    judge: bool
    people: bool
    drawn_from: float | None
    """The share of the run from which it was drawn; None if it was not drawn."""


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


class Itself(Value, frozen=True):
    answers: int
    """How many answers were judged more than once."""
    agreement: float | None
    """Of all pairs of verdicts on the same answer, the share that agree."""
    voted: int
    """How many criteria were voted on."""
    votes_kappa: float | None
    """Fleiss' kappa of those votes."""


def compare_with_itself(said: Iterable[Judged], criterion: str | None = None) -> Itself:
    verdicts: dict[AnswerName, list[int]] = {}
    votes: list[Mapping[str, int]] = []
    for judged in said:
        votes += [each for id, each in judged.votes.items() if criterion in (None, id)]
        if (passed := judged.verdict_on(criterion)) is not None:
            verdicts.setdefault(judged.answer, [0, 0])[passed] += 1
    again = [counts for counts in verdicts.values() if sum(counts) > 1]
    pairs = sum(_pairs_among(sum(counts)) for counts in again)
    agreed = sum(_pairs_among(failed) + _pairs_among(passed) for failed, passed in again)
    voted = [each for each in votes if sum(each.values()) > 1]
    share = agreed / pairs if pairs else None
    return Itself(len(again), share, len(voted), fleiss_kappa(voted))


def _pairs_among(count: int) -> int:
    return count * (count - 1) // 2


def part_by_drawing(pairs: Sequence[JudgedPair]) -> list[Stratum]:
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


FEWEST = 10
"""Labels of either kind, below which an interval of kappa promises too much."""


class _Figures(NamedTuple):
    agreement: Estimate | None
    true_passes: Estimate | None
    true_fails: Estimate | None
    kappa: Kappa | None
    people: float
    """The share of answers that people pass."""


class Trust(Value, frozen=True):
    """How far a judge agrees with people."""

    table: Confusion
    passed: int
    """How many answers of the run the judge passes, labelled or not."""
    judged: int
    """How many answers of the run have its verdict."""
    agreement: Estimate | None
    true_passes: Estimate | None
    """Of what people pass, the share that the judge passes."""
    true_fails: Estimate | None
    """Of what people fail, the share that it fails."""
    people: float
    """The share of the answers that people pass."""
    youden: Estimate | None
    """J: true passes + true fails - 1, which is 0 for a coin."""
    kappa: float | None
    kappa_interval: Estimate | None
    kappa_refused: str
    """Why there is no interval of kappa."""
    true_share: Estimate | None
    """The share of answers of the run that people would pass."""
    true_share_refused: str
    length: Estimate | None
    """The mean logarithm of the lengths of false passes, less that of false fails."""

    @property
    def judge_share(self) -> Estimate | None:
        """The share of answers of the run that the judge passes."""
        return estimate_share(self.passed, self.judged)

    @property
    def constant(self) -> float:
        """How often a judge that always says the same would agree with people."""
        return max(self.people, 1 - self.people)

    @property
    def floor(self) -> float | None:
        """What kappa is at least; None where the labels can't say."""
        return self.kappa_interval.low if self.kappa_interval is not None else None


def measure_trust(matched: Matched, run: tuple[int, int]) -> Trust:
    """`run` has how many answers the judge passes, and how many it gave a verdict on."""
    table = count_pairs((pair.judge, pair.people) for pair in matched.pairs)
    strata = Strata(part_by_drawing(matched.pairs), run[1]) if matched.is_weighed else None
    figures = _count_figures(table) if strata is None else _weigh_strata(strata)
    youden = None
    if figures.true_passes is not None and figures.true_fails is not None:
        youden = estimate_youden(figures.true_passes, figures.true_fails)
    too_few = _too_few(table, figures.kappa)
    interval = figures.kappa.interval if figures.kappa is not None and not too_few else None
    is_whole = 0 < table.total == run[1]
    doubt = "" if is_whole else _say_doubt(youden)
    return Trust(
        table, *run, figures.agreement, figures.true_passes, figures.true_fails, figures.people,
        youden, figures.kappa.value if figures.kappa is not None and table.total > 1 else None,
        interval, too_few,
        None if doubt else _true_share(table, run, strata), doubt, _compare_lengths(matched),
    )  # fmt: skip


def _count_figures(table: Confusion) -> _Figures:
    return _Figures(
        estimate_share(table.agreed, table.total),
        estimate_share(table.true_passes, table.people_passed),
        estimate_share(table.true_fails, table.people_failed),
        cohen_kappa(table.rows), table.people_passed / table.total if table.total else 0.5,
    )  # fmt: skip


def _weigh_strata(strata: Strata) -> _Figures:
    return _Figures(
        strata.estimate_agreement(), strata.estimate_true_passes(),
        strata.estimate_true_fails(), strata.kappa(), strata.people,
    )  # fmt: skip


def _too_few(table: Confusion, kappa: Kappa | None) -> str:
    passes, fails = table.people_passed, table.people_failed
    if min(passes, fails) < FEWEST:
        return (
            f"people passed {passes:,} of the labelled answers and failed {fails:,}, "
            f"and {FEWEST} of each are needed"
        )
    return "" if kappa is not None else "nothing varies"


def _say_doubt(youden: Estimate | None) -> str:
    if youden is None:
        return "labels of both kinds are needed"
    return "" if youden.low > 0 else "the judge is not clearly better than a coin"


def _true_share(table: Confusion, run: tuple[int, int], strata: Strata | None) -> Estimate | None:
    if table.total == run[1]:
        # People have seen all there is, and no judge is needed to tell.
        return estimate_share(table.people_passed, table.total)
    if strata is not None:
        return strata.estimate_people()
    true_passes = table.true_passes, table.people_passed
    return estimate_true_share(run, true_passes, (table.true_fails, table.people_failed))


def _compare_lengths(matched: Matched) -> Estimate | None:
    passes: list[float] = []
    fails: list[float] = []
    for pair in matched.pairs:
        if pair.judge != pair.people:
            (fails if pair.people else passes).append(log(1 + pair.judged.length))
    return estimate_difference(passes, fails)


_WORDS = ((0.8, "very well"), (0.6, "well"), (0.4, "fairly well"))
"""From which kappa on."""
_WORTHLESS = 0.2


def say_verdict(trust: Trust) -> str:
    if not trust.table.total:
        return "Nothing can be said of this judge: no label is of an answer that it judged."
    interval = trust.kappa_interval
    if interval is None:
        return f"These labels can't say how far this judge can be trusted: {trust.kappa_refused}."
    if interval.low <= 0:
        if interval.high < _WORTHLESS or interval.value <= 0:
            return "This judge agrees with people no better than a coin would."
        return (
            "These labels don't show that this judge is better than a coin: kappa is "
            f"{interval.value:.2f}, and may be {interval.low:.2f}. More labels would tell."
        )
    word, surely = _choose_word(interval.value), _choose_word(interval.low)
    how = surely if word == surely else f"{surely} at least"
    told = f"This judge agrees with people {how}: kappa is {interval.value:.2f}, "
    told += f"and its 95 % interval begins at {interval.low:.2f}."
    if trust.agreement is not None and trust.agreement.value <= trust.constant:
        told += " Always saying the same would agree with them as often."
    return told


def _choose_word(kappa: float) -> str:
    return next((word for least, word in _WORDS if kappa >= least), "a little")


class Section(Value, frozen=True):
    """What labels on whole answers say, or those on one criterion."""

    matched: Matched
    trust: Trust
    itself: Itself
    people: tuple[Between, ...]

    def reaches(self, kappa: float) -> bool:
        """Whether kappa is surely as much as that."""
        return self.trust.floor is not None and self.trust.floor >= kappa


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
    answers = first_of_each(said)
    named = sorted({label.criterion for label in labels if label.criterion is not None})
    whole = any(label.criterion is None for label in labels) or not named
    wanted = [criterion] if criterion is not None else [*([None] if whole else []), *named]
    sections = tuple(_make_section(said, answers, labels, each) for each in wanted)
    return Calibration(run, grader, sections)


def _make_section(
    said: Iterable[Judged], answers: dict[AnswerName, Judged], labels: Sequence[Label],
    criterion: str | None,
) -> Section:  # fmt: skip
    matched = match_labels(answers, labels, criterion)
    verdicts = [each.verdict_on(criterion) for each in answers.values()]
    run = verdicts.count(True), len(verdicts) - verdicts.count(None)
    return Section(
        matched, measure_trust(matched, run), compare_with_itself(said, criterion),
        tuple(compare_raters(labels, criterion)),
    )  # fmt: skip


def draw_answers(answers: Iterable[Judged], criterion: str | None, seed: str) -> list[Judged]:
    """Each answer that has a verdict, once: by twos, one of each kind, while both last."""
    kinds: dict[bool, list[tuple[bytes, Judged]]] = {True: [], False: []}
    for judged in answers:
        verdict = judged.verdict_on(criterion)
        if verdict is not None:
            kinds[verdict].append((_draw_lot(seed, *judged.answer), judged))
    passes, fails = (sorted(kind, key=lambda each: each[0]) for kind in kinds.values())
    return list(_mix_kinds(passes, fails))


def shares_of(drawn: Sequence[Judged], criterion: str | None) -> dict[bool, float]:
    """The share of each kind."""
    passed = round(sum(each.verdict_on(criterion) is True for each in drawn) / len(drawn), 4)
    return {True: passed, False: round(1 - passed, 4)}


def _mix_kinds(
    passes: list[tuple[bytes, Judged]], fails: list[tuple[bytes, Judged]]
) -> Iterator[Judged]:
    for pair in zip_longest(passes, fails):
        # Which of the two comes first is a lot of its own.
        drawn = [each for each in pair if each is not None]
        for _, judged in sorted(drawn, key=lambda each: each[0][::-1]):
            yield judged


def _draw_lot(*names: str) -> bytes:
    # Each with its length, so that no two answers are one.
    told = "".join(f"{len(name)}:{name}" for name in names)
    return sha256(told.encode("utf-8", "surrogatepass")).digest()


def calibration_object(calibration: Calibration, min_kappa: float | None = None) -> dict[str, JSON]:
    """With `min_kappa`, each section says whether it surely is as much."""
    sections: list[JSON] = [_section_object(each, min_kappa) for each in calibration.sections]
    return {
        "run": calibration.run, "grader": calibration.grader, "level": LEVEL, "sections": sections
    }  # fmt: skip


def _section_object(section: Section, min_kappa: float | None) -> dict[str, JSON]:
    matched, trust, itself = section.matched, section.trust, section.itself
    table = trust.table
    told: dict[str, JSON] = {
        "criterion": matched.criterion,
        "verdict": say_verdict(trust),
        "labels": {
            "used": matched.labels, "answers": table.total, "refused": matched.refused,
            "elsewhere": matched.elsewhere, "undecided": matched.undecided,
            "without_verdict": matched.without_verdict, "by": list(matched.raters),
            "weighed": matched.is_weighed, "moved_suites": dict(matched.moved),
            "known_criteria": None if matched.known is None else list(matched.known),
        },
        "confusion": dict(table._asdict()),
        "agreement": _object_of_estimate(trust.agreement),
        "constant_agreement": trust.constant,
        "true_pass_rate_of_judge": _object_of_estimate(trust.true_passes),
        "true_fail_rate_of_judge": _object_of_estimate(trust.true_fails),
        "youden": _object_of_estimate(trust.youden),
        "kappa": trust.kappa,
        "kappa_interval": _object_of_estimate(trust.kappa_interval),
        "kappa_refused": trust.kappa_refused or None,
        "judged": trust.judged,
        "pass_rate_by_judge": trust.passed / trust.judged if trust.judged else None,
        "pass_rate_by_judge_interval": _object_of_estimate(trust.judge_share),
        "pass_rate": _object_of_estimate(trust.true_share),
        "pass_rate_refused": trust.true_share_refused or None,
        "itself": {
            "answers": itself.answers, "agreement": itself.agreement, "voted": itself.voted,
            "votes_kappa": itself.votes_kappa,
        },
        "people": [_object_of_between(each) for each in section.people],
        "length_ratio": _object_of_ratio(trust.length),
    }  # fmt: skip
    if min_kappa is not None:
        told["min_kappa"], told["reached"] = min_kappa, section.reaches(min_kappa)
    return told


def _object_of_estimate(estimate: Estimate | None) -> JSON:
    return None if estimate is None else dict(estimate._asdict())


def _object_of_ratio(length: Estimate | None) -> JSON:
    """False passes by false fails."""
    return (
        None if length is None else _object_of_estimate(Estimate(*(exp(value) for value in length)))
    )


def _object_of_between(between: Between) -> JSON:
    kappa = between.kappa
    return {
        "by": list(between.raters), "answers": between.answers, "agreed": between.agreed,
        "kappa": None if kappa is None else kappa.value,
        "kappa_interval": None if kappa is None else _object_of_estimate(kappa.interval),
    }  # fmt: skip
