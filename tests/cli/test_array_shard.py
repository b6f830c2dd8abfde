"""Which shard a task of an array is, by the variables of its scheduler."""

from __future__ import annotations

from evalcase.cli.options import read_shard
from evalcase.config.options import Shard
from tests.for_each import for_each

SLURM = {"SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_STEP": "1"}


@for_each(
    ("environment", "of", "shard"),
    [
        ({**SLURM, "SLURM_ARRAY_TASK_ID": "0"}, None, Shard(1, 4)),
        ({**SLURM, "SLURM_ARRAY_TASK_ID": "3"}, None, Shard(4, 4)),
        (
            {
                "SLURM_ARRAY_TASK_ID": "15", "SLURM_ARRAY_TASK_MIN": "5",
                "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "5",
            },
            None,
            Shard(3, 3),
        ),
        ({"JOB_COMPLETION_INDEX": "0"}, 5, Shard(1, 5)),
        ({"JOB_COMPLETION_INDEX": "4"}, 5, Shard(5, 5)),
        ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, None, Shard(1, 3)),
        ({"CI_NODE_INDEX": "3", "CI_NODE_TOTAL": "3"}, 3, Shard(3, 3)),
        ({"CIRCLE_NODE_INDEX": "0", "CIRCLE_NODE_TOTAL": "2"}, None, Shard(1, 2)),
        ({"BUILDKITE_PARALLEL_JOB": "1", "BUILDKITE_PARALLEL_JOB_COUNT": "2"}, None, Shard(2, 2)),
        ({"CLOUD_RUN_TASK_INDEX": "9", "CLOUD_RUN_TASK_COUNT": "10"}, None, Shard(10, 10)),
        ({"CI_NODE_TOTAL": "1", "JOB_COMPLETION_INDEX": "1"}, 2, Shard(2, 2)),
    ],
)  # fmt: skip
def test_each_scheduler_says_which_task_it_is(
    environment: dict[str, str], of: int | None, shard: Shard
) -> None:
    assert read_shard(environment, of) == shard
