"""The settings of where trials are answered, a table of its own."""

from __future__ import annotations

from evalcase.model.option import option
from evalcase.model.quick_dataclass import dataclass
from evalcase.model.shape import ListOf, Number, Text


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Where trials are answered."""

    kind: str = option(
        Text("the name of a kind"), "What answers: `processes`, or what a package adds.",
        example="processes",
    )  # fmt: skip
    workers: int | None = option(
        Number(1, whole=True), "How many processes there are; without it, one for each core.",
        default=None, elsewhere=("processes", "num_workers", "size"),
    )  # fmt: skip
    memory_mb: int | None = option(
        Number(1, whole=True), "How much memory a worker may take, in millions of bytes.",
        default=None, elsewhere=("memory", "max_memory"),
    )  # fmt: skip
    env: tuple[str, ...] = option(
        ListOf(Text("the name of an environment variable"), "a list of names", least=0),
        "Environment variables that reach a worker, beside those that targets name.",
        default=(), example=["MODEL_PATH"],
    )  # fmt: skip
