"""The environment of a process in, out the shard that it is to run: schedulers that start the same
command many times tell each process by variables which of them it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from evalcase.config.options import Shard


class _Array(NamedTuple):
    """The variables by which one kind of scheduler tells a process its place."""

    name: str
    number: str
    first: str
    """The number of the first process, or the variable that has it."""
    total: str
    """The variable that has how many there are; empty where none does."""
    step: str = "1"
    """The same for what lies between two numbers."""


_ARRAYS = (
    _Array(
        "Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT",
        "SLURM_ARRAY_TASK_STEP",
    ),
    _Array("Kubernetes", "JOB_COMPLETION_INDEX", "0", ""),
    _Array("GitLab", "CI_NODE_INDEX", "1", "CI_NODE_TOTAL"),
    _Array("CircleCI", "CIRCLE_NODE_INDEX", "0", "CIRCLE_NODE_TOTAL"),
    _Array("Buildkite", "BUILDKITE_PARALLEL_JOB", "0", "BUILDKITE_PARALLEL_JOB_COUNT"),
    _Array("Cloud Run", "CLOUD_RUN_TASK_INDEX", "0", "CLOUD_RUN_TASK_COUNT"),
)  # fmt: skip


def read_shard(environment: Mapping[str, str], of: int | None) -> Shard:
    """The shard of this process, of as many as its scheduler says, or as are asked for.

    Raise ValueError, with what to do, where it isn't said, or not clearly: a wrong guess would run
    some cases twice, and others never.
    """
    found = [each for each in _ARRAYS if environment.get(each.number)]
    if not found:
        known = ", ".join(each.number for each in _ARRAYS)
        raise ValueError(f"this is not an array task: none of {known} is set; write it as 2/5")
    if len(found) > 1:
        several = " and ".join(each.number for each in found)
        raise ValueError(f"{several} are both set: write the one that is meant as 2/5")
    return _place_in(found[0], environment, of)


def _place_in(array: _Array, environment: Mapping[str, str], of: int | None) -> Shard:
    said = _read_number(array.total, environment) if array.total else None
    if said is None and of is None:
        raise ValueError(
            f"{array.name} doesn't tell a task how many there are: write it as auto/5, "
            "for five of them"
        )
    if said is not None and of is not None and said != of:
        raise ValueError(f"{array.total} is {said}, not {of}")
    count = of if said is None else said
    assert count is not None
    ahead = _read_number(array.number, environment) - _read_number(array.first, environment)
    place, rest = divmod(ahead, max(_read_number(array.step, environment), 1))
    if rest or not 0 <= place < count:
        raise ValueError(
            f"{array.number} is {environment[array.number]}, which is not one of {count} tasks "
            "without a gap: write it as 2/5"
        )
    return Shard(place + 1, count)


def _read_number(name: str, environment: Mapping[str, str]) -> int:
    """A number, or what the variable of that name has."""
    text = name if name.isdigit() else environment.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise ValueError(f"{name} is {text!r:.60}, which is not a number of tasks")
    return int(text)
