from __future__ import annotations

import json
from typing import Any

from evalcase.report.json import figures_object
from tests.report.figures.results import figures, once, priced, trial, trials


def as_json(*args: Any, **changes: Any) -> Any:
    return json.loads(json.dumps(figures_object(figures(*args, **changes)), allow_nan=False))


def test_a_rate_has_beside_it_what_it_is_of() -> None:
    found = as_json(once("ppfeus"), {"c0": {"tags": ["x"]}}, not_run=2)
    assert {name: found[name] for name in ("level", "interval", "cluster")} == {
        "level": 0.95, "interval": "wilson", "cluster": None
    }  # fmt: skip
    whole = found["all"]
    assert {name: whole[name] for name in ("n", "rate", "total", "passed", "failed")} == {
        "n": 5, "rate": 0.4, "total": 6, "passed": 2, "failed": 1
    }  # fmt: skip
    beside = ("errored", "ungraded", "skipped", "unfinished", "not_run")
    assert [whole[name] for name in beside] == [1, 1, 1, 0, 2]
    assert whole["low"] < 0.4 < whole["high"]
    assert (whole["without_errors"]["n"], whole["without_errors"]["rate"]) == (4, 0.5)
    assert list(found["by_tag"]) == ["x"]
    assert list(found["by_grader"]) == ["g"]
    assert list(found["by_suite"]) == ["s.yaml"]


def test_what_can_t_be_estimated_is_null() -> None:
    whole = as_json(once("f"))["all"]
    assert (whole["rate"], whole["low"], whole["high"]) == (0.0, None, None)
    assert whole["repeats"] is None
    assert whole["failures_up_to"] is None
    whole = as_json([])["all"]
    assert (whole["n"], whole["rate"], whole["score"]["mean"]) == (0, None, None)
    assert whole["latency"] == {"n": 0, "median_s": None, "p95_s": None, "total_s": 0}


def test_repeats_and_what_answers_took() -> None:
    results = trials("a", "pf") + trials("b", "pp") + [trial("c", "p", **priced(2.0, 0.5, 7))]
    whole = as_json(results)["all"]
    assert (whole["repeats"]["cases"], whole["repeats"]["flaky"]) == (2, 1)
    assert [each["k"] for each in whole["repeats"]["pass_at"]] == [2]
    assert whole["repeats"]["trials_passed"]["mean"] == 0.75
    assert whole["latency"]["p95_s"] == 2.0
    assert whole["tokens"] == {"n": 1, "input": 7, "output": 1}
    assert whole["cost"] == {"usd": 0.5, "unpriced": 4, "cached": 0}
    assert sum(whole["scores"]) == 3


def test_clusters_are_counted() -> None:
    cases = {f"c{number}": {"metadata": {"topic": number // 2}} for number in range(4)}
    found = as_json(once("ppff"), cases, "metadata.topic")
    assert (found["cluster"], found["unclustered"]) == ("metadata.topic", 0)
    assert found["all"]["clusters"] == 2
