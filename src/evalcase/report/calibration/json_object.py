"""A calibration as one JSON object, with every count behind its figures."""

from __future__ import annotations

from math import exp

from evalcase.report.calibration.calibration import Calibration, Section
from evalcase.report.calibration.match import Between
from evalcase.report.calibration.verdict import say_verdict
from evalcase.stats.intervals import LEVEL, Estimate
from evalcase.types.value import JSON


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
