from __future__ import annotations

from typing import Any

import pytest

from evalcase.report.figures import Mean
from evalcase.stats.intervals import Cluster, estimate_clusters
from tests.report.figures.results import figures, once


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
