from typing import Any

from evalcase.runner.stopping import Base, Stopping
from evalcase.types.case import canonical_case
from evalcase.types.result import Decision, Result, Trial, Verdict
from evalcase.util.table import Table


def trials(count: int, target: str = "agent", repeat: int = 1, skipped: int = 0) -> list[Trial]:
    cases = [
        canonical_case(
            {"id": f"c{number}", "input": [], **({"skip": True} if number < skipped else {})}
        )
        for number in range(count)
    ]
    return [
        Trial("s", case, target, each, repeat, number)
        for number, case in enumerate(cases)
        for each in range(1, repeat + 1)
    ]


def made(rule: Any, count: int, fail_under: float | None = 0.5, **options: Any) -> Stopping:
    stopping = Stopping(rule, options.pop("seed", 0), fail_under, options.pop("base", None))
    stopping.arrange("agent", trials(count, **options))
    stopping.begin()
    return stopping


def result(trial: Trial, verdict: Verdict) -> Result:
    return Result(trial.key, "", verdict, repeats=trial.repeats, number=trial.number)


def feed(stopping: Stopping, *verdicts: str) -> Decision | None:
    """Results in the order in which trials are started."""
    for trial, verdict in zip(stopping.ordered["agent"], verdicts, strict=False):
        if stopping.after(result(trial, verdict)) is not None:  # type: ignore[arg-type]
            break
    return stopping.decision


def base(**verdicts: bool) -> Base:
    table = Table(1)
    for case, passed in verdicts.items():
        table.add(hash(("agent", "s", case)), passed)
    return Base("before", {"agent": "agent"}, table)


# The order


def test_the_order_is_that_of_the_seed() -> None:
    orders = [
        [trial.case.id for trial in made("likely", 30, seed=seed).ordered["agent"]]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert orders[0] != sorted(orders[0])


# Certain


def test_enough_have_passed() -> None:
    decision = feed(made("certain", 10), *["passed"] * 10)
    assert decision is not None
    assert (decision.outcome, decision.seen, decision.cases) == ("met", 5, 10)
    assert (decision.low, decision.high) == (0.5, 1.0)


def test_too_many_have_not() -> None:
    verdicts = ["failed", "errored", "ungraded", "failed", "failed", "failed"]
    decision = feed(made("certain", 10), *verdicts)
    assert decision is not None
    assert (decision.outcome, decision.seen) == ("missed", 6)
    assert (decision.low, decision.high) == (0.0, 0.4)


def test_what_is_skipped_is_no_case() -> None:
    stopping = made("certain", 10, skipped=4)
    tried = [trial for trial in stopping.ordered["agent"] if not trial.case.skip]
    said = [stopping.after(result(trial, "passed")) for trial in tried[:3]]
    assert said[2] is not None
    assert stopping.decision is not None
    assert stopping.decision.cases == 6


# Likely


def test_it_is_likely_long_before_it_is_certain() -> None:
    decision = feed(made("likely", 500, 0.8), *["passed"] * 500)
    assert decision is not None
    assert decision.outcome == "met"
    assert decision.seen < 40
    assert 0.8 <= decision.low < decision.high == 1.0


# In turn, and whole


def test_who_is_done_first_waits_for_those_ahead() -> None:
    """Those that are quick may be those that pass."""
    stopping = made("certain", 10)
    first, *others = stopping.ordered["agent"]
    assert [stopping.after(result(trial, "passed")) for trial in others] == [None] * 9
    said = stopping.after(result(first, "failed"))
    assert said == "decided after 6 of 10 cases: the pass rate can't be below 0.5 any more"


def test_only_whole_cases_count() -> None:
    stopping = made("certain", 2, repeat=3)
    looks = [stopping.after(result(trial, "passed")) for trial in stopping.ordered["agent"]]
    assert [look is not None for look in looks] == [False, False, True, False, False, False]


def test_several_targets_are_each_bounded() -> None:
    stopping = Stopping("likely", 0, 0.6)
    for target in ("a", "b"):
        stopping.arrange(target, trials(100, target))
    stopping.begin()
    for trial in stopping.ordered["a"]:
        assert stopping.after(result(trial, "passed")) is None  # half of all may still fail
    more = [stopping.after(result(trial, "passed")) for trial in stopping.ordered["b"][:20]]
    assert any(more)
    assert stopping.decision is not None
    assert stopping.decision.cases == 200


# Against a run


def test_worse_than_before() -> None:
    before = base(**{f"c{number}": True for number in range(20)})
    decision = feed(made("likely", 20, None, base=before), *["failed"] * 20)
    assert decision is not None
    assert str(decision) == "decided after 8 of 20 cases: worse than before (0 fixed, 8 broken)"
    assert not decision.is_good


def test_cases_without_a_verdict_before_say_nothing() -> None:
    before = base(**{f"c{number}": True for number in range(4)})
    assert feed(made("likely", 20, None, base=before), *["failed"] * 20) is None


# What is asked for


# When what was under way is done


def test_what_is_certain_in_the_end_takes_the_place_of_what_was_likely() -> None:
    stopping = made("likely", 100)
    at = 0
    while stopping.decision is None:
        stopping.after(result(stopping.ordered["agent"][at], "passed"))
        at += 1
    for trial in stopping.ordered["agent"][at : at + 60]:
        assert stopping.after(result(trial, "failed")) is None
    said = stopping.conclude()
    assert stopping.decision is not None
    assert (stopping.decision.outcome, stopping.decision.rule) == ("missed", "certain")
    assert (stopping.decision.low, stopping.decision.high) == (at / 100, 0.4)
    assert "can't reach 0.5 any more" in said


def test_bounds_that_are_disproved_decide_nothing() -> None:
    stopping = made("likely", 100)
    decision = feed(stopping, *["passed"] * 100)
    assert decision is not None
    for trial in stopping.ordered["agent"][decision.seen :][: 101 - round(100 * decision.low)]:
        stopping.after(result(trial, "failed"))
    said = stopping.conclude()
    assert stopping.decision is None
    assert "contradict" in said
