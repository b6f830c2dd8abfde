from typing import Any

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
