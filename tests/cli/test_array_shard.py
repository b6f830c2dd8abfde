"""Which shard a task of an array is, by the variables of its scheduler."""

from __future__ import annotations

import pytest

from evalcase.cli.options import read_shard
from evalcase.config.options import Shard
from tests.for_each import for_each

SLURM = {"SLURM_ARRAY_TASK_MIN": "0", "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_STEP": "1"}


@for_each(
    ("environment", "of", "shard"),
    [
        ({**SLURM, "SLURM_ARRAY_TASK_ID": "0"}, None, Shard(1, 4)),
        (
            {
                "SLURM_ARRAY_TASK_ID": "15", "SLURM_ARRAY_TASK_MIN": "5",
                "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "5",
            },
            None,
            Shard(3, 3),
        ),
        ({"JOB_COMPLETION_INDEX": "0"}, 5, Shard(1, 5)),
        ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, None, Shard(1, 3)),
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


@for_each(
    ("environment", "of", "said"),
    [
        ({}, None, "this is not an array task"),
        ({"JOB_COMPLETION_INDEX": "0"}, None, "write it as auto/5"),
        ({"JOB_COMPLETION_INDEX": "5"}, 5, "not one of 5 tasks"),
        ({"JOB_COMPLETION_INDEX": "x"}, 5, "'x', which is not a number"),
        ({"CI_NODE_INDEX": "4", "CI_NODE_TOTAL": "3"}, None, "CI_NODE_INDEX is 4"),
        ({"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": "3"}, 4, "CI_NODE_TOTAL is 3, not 4"),
        # `--array=1,3,7`: three tasks, but which of them 7 is can't be seen.
        (
            {
                "SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "1",
                "SLURM_ARRAY_TASK_COUNT": "3", "SLURM_ARRAY_TASK_STEP": "1",
            },
            None,
            "tasks without a gap",
        ),
        ({"SLURM_ARRAY_TASK_ID": "1", "JOB_COMPLETION_INDEX": "1"}, None, "which task this is"),
    ],
)  # fmt: skip
def test_what_is_not_said_clearly_is_refused(
    environment: dict[str, str], of: int | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read_shard(environment, of)
