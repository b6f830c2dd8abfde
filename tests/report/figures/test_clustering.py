from __future__ import annotations

from typing import Any

import pytest

from evalcase.report.figures import Mean
from evalcase.stats.intervals import Cluster, estimate_clusters
from tests.report.figures.results import figures, once, trials


def about(*topics: str | None) -> dict[str, dict[str, Any]]:
    return {
        f"c{number}": {"metadata": {"topic": topic}} for number, topic in enumerate(topics)
    }  # fmt: skip


def clustered(*clusters: Cluster) -> Mean:
    found = estimate_clusters(clusters)
    assert found is not None
    return Mean(sum(cluster.cases for cluster in clusters), *found, len(clusters))


def test_cases_of_a_topic_count_together() -> None:
    found = figures(once("ppffpp"), about("a", "a", "b", "b", "c", "c"), "metadata.topic")
    assert found.all.rate == clustered(Cluster(2, 2), Cluster(2, 0), Cluster(2, 2))
    assert found.cluster == "metadata.topic"


def test_a_cluster_reaches_across_targets_and_suites() -> None:
    results = [*once("pf", target="one"), *once("pf", target="two"), *once("pp", suite="b.yaml")]
    found = figures(results, about("a", "b"), "metadata.topic")
    assert found.all.rate == clustered(Cluster(3, 3), Cluster(3, 1))
    assert found.by_target["two"].rate == clustered(Cluster(1, 1), Cluster(1, 0))


def test_what_has_no_topic_is_alone() -> None:
    found = figures(once("ppff"), about("a", "a", None) | {"c3": {}}, "metadata.topic")
    assert found.all.rate == clustered(Cluster(2, 2), Cluster(1, 0), Cluster(1, 0))
    assert found.unclustered == 2


def test_one_cluster_is_too_few() -> None:
    found = figures(once("pppf"), about("a", "a", "a", "a"), "metadata.topic")
    assert found.all.rate == Mean(4, 0.75, None, None, 1)


def test_no_failure_of_a_few_clusters() -> None:
    found = figures(once("pppp"), about("a", "a", "b", "b"), "metadata.topic")
    assert found.all.failures_up_to == pytest.approx(1 - 0.05**0.5)


def test_repeats_and_scores_count_by_cluster_too() -> None:
    results = trials("c0", "ppf") + trials("c1", "pff") + trials("c2", "ppp")
    found = figures(results, about("a", "a", "b"), "metadata.topic")
    assert found.all.repeats is not None
    assert found.all.repeats.share == clustered(Cluster(2, 1), Cluster(1, 1))
    assert found.all.score == clustered(Cluster(2, 1), Cluster(1, 1))
    assert found.all.repeats.pass_at[0].all == clustered(Cluster(2, 0), Cluster(1, 1))


def test_a_path_may_lead_to_any_value() -> None:
    cases = {
        "c0": {"metadata": {"k": {"b": 1, "a": 2}}},
        "c1": {"metadata": {"k": {"a": 2, "b": 1}}},
    }
    assert figures(once("pf"), cases, "metadata.k").all.rate.clusters == 1
