"""Judges with known rates over answers of known quality, again and again from one seed: how often
do intervals hold the truth?"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from evalcase.stats.agreement import (
    Confusion,
    Strata,
    Stratum,
    cohen_kappa,
    count_pairs,
    estimate_true_share,
)
from evalcase.stats.intervals import Estimate, estimate_share


class Setting(NamedTuple):
    """A judge and a run."""

    share: float
    """Of answers that people would pass."""
    true_passes: float
    true_fails: float
    judged: int
    labelled: int
    by_verdict: bool = False
    """Whether labelled answers are drawn evenly from the judge's passes and fails."""

    @property
    def kappa(self) -> float:
        found = self.share * self.true_passes + (1 - self.share) * (1 - self.true_fails)
        agreed = self.share * self.true_passes + (1 - self.share) * self.true_fails
        by_chance = found * self.share + (1 - found) * (1 - self.share)
        return (agreed - by_chance) / (1 - by_chance)

    @property
    def truth(self) -> dict[str, float]:
        agreed = self.share * self.true_passes + (1 - self.share) * self.true_fails
        return {
            "kappa": self.kappa, "share": self.share, "agreement": agreed,
            "true passes": self.true_passes, "true fails": self.true_fails,
        }  # fmt: skip


def cover(setting: Setting, times: int, seed: int) -> dict[str, float]:
    """For each figure the share of simulated runs in which its interval holds the truth."""
    random, held = Random(seed), dict.fromkeys(setting.truth, 0)
    counted = dict.fromkeys(setting.truth, 0)
    for _ in range(times):
        for name, estimate in _estimates(setting, random).items():
            if estimate is not None:
                counted[name] += 1
                held[name] += estimate.low <= setting.truth[name] <= estimate.high
    return {name: held[name] / counted[name] for name in held if counted[name]}


def _estimates(setting: Setting, random: Random) -> dict[str, Estimate | None]:
    run = [_answer(setting, random) for _ in range(setting.judged)]
    passed = sum(judge for judge, _ in run)
    if setting.by_verdict:
        return _weighed(Strata(_drawn(run, setting.labelled), len(run)))
    # Labels of answers beside the run: the formulas hold for those.
    table = count_pairs(_answer(setting, random) for _ in range(setting.labelled))
    return _plain(table, passed, len(run))


def _answer(setting: Setting, random: Random) -> tuple[bool, bool]:
    people = random.random() < setting.share
    right = random.random() < (setting.true_passes if people else setting.true_fails)
    return people == right, people


def _drawn(run: list[tuple[bool, bool]], labelled: int) -> list[Stratum]:
    passes = [pair for pair in run if pair[0]]
    fails = [pair for pair in run if not pair[0]]
    rarer = min(len(passes), len(fails), labelled // 2)
    return [
        Stratum(len(kind) / len(run), count_pairs(kind[: max(rarer, labelled - rarer)]))
        if len(kind) > rarer else Stratum(len(kind) / len(run), count_pairs(kind))
        for kind in (passes, fails)
    ]  # fmt: skip


def _weighed(weighed: Strata) -> dict[str, Estimate | None]:
    kappa = weighed.kappa()
    return {
        "kappa": kappa,
        "share": weighed.estimate_people(), "agreement": weighed.estimate_agreement(),
        "true passes": weighed.estimate_true_passes(),
        "true fails": weighed.estimate_true_fails(),
    }  # fmt: skip


def _plain(table: Confusion, passed: int, judged: int) -> dict[str, Estimate | None]:
    kappa = cohen_kappa(table)
    true_passes = table.true_passes, table.people_passed
    true_fails = table.true_fails, table.people_failed
    # Better than a coin: otherwise there is nothing to be corrected.
    better = table.true_passes * table.true_fails > table.false_passes * table.false_fails
    return {
        "kappa": kappa,
        "share": estimate_true_share((passed, judged), true_passes, true_fails) if better else None,
        "agreement": estimate_share(table.agreed, table.total),
        "true passes": estimate_share(*true_passes), "true fails": estimate_share(*true_fails),
    }  # fmt: skip
