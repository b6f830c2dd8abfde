"""The settings of where trials are answered, a table of its own."""

from __future__ import annotations

from dataclasses import dataclass

from evalcase.model.option import option
from evalcase.model.shape import ListOf, MapOf, Number, Text
from evalcase.model.shape_variable import VariableName


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Where trials are answered."""

    kind: str = option(
        Text("the name of a kind"), "Where trials run: `processes`, `ray`, or a plug-in's engine.",
        example="processes",
    )  # fmt: skip
    workers: int | None = option(
        Number(1, whole=True),
        "The number of workers; by default, the number of cores.",
        default=None, elsewhere=("processes", "num_workers", "size"),
    )  # fmt: skip
    memory_mb: int | None = option(
        Number(1, whole=True), "Memory limit of each worker, in megabytes.",
        default=None, elsewhere=("memory", "max_memory"),
    )  # fmt: skip
    max_workers: int | None = option(
        Number(1, whole=True),
        "With Ray: the most workers, if the others are busy.",
        default=None,
    )  # fmt: skip
    address: str = option(
        Text("an address"),
        "With Ray: the cluster, as `ray://HOST:PORT`, `HOST:PORT` or `auto`; by default, one is "
        "started on this machine for the run.",
        default="local", example="ray://head:10001",
    )  # fmt: skip
    cpus: float = option(
        Number(0), "With Ray: how many cores a worker needs.", default=1, elsewhere=("num_cpus",)
    )
    gpus: float = option(
        Number(0), "With Ray: how many GPUs a worker needs.", default=0, elsewhere=("num_gpus",)
    )
    resources: dict[str, float] = option(
        MapOf(Number(0), "a table of numbers"),
        "With Ray: custom resources that a worker needs, by name.",
        default={}, example={"sandbox": 1},
    )  # fmt: skip
    env: tuple[str, ...] = option(
        ListOf(VariableName(), "a list of names", least=0),
        "Environment variables passed to workers, in addition to those that targets name.",
        default=(), example=["MODEL_PATH"],
    )  # fmt: skip
