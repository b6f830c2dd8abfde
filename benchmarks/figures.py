"""A figure and its bar: what the benchmarks measure, how it is shown, and how it is kept."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `bar` is the most it may be; without one it is for information."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    detail: str = ""

    @property
    def verdict(self) -> str:
        """Whether the bar is met."""
        if self.bar is None:
            return "–"
        return "ok" if self.value <= self.bar else "over"


def ratio(name: str, work: float, yardstick: float, bar: float | None = None) -> Figure:
    """A figure that says how many times the CPU of the yardstick the work took."""
    detail = f"{work:.3f} s / {yardstick:.3f} s"
    return Figure(name, work / yardstick, "×", bar, detail)


HEADER = f"{'what':<62}{'measured':>13}{'bar':>9}"


def show(figure: Figure) -> str:
    """One line of the table."""
    bar = "" if figure.bar is None else f"≤ {figure.bar:g}"
    value = f"{figure.value:,.2f}".removesuffix(".00")
    return (
        f"{figure.name:<62}{value:>7} {figure.unit:<5}{bar:>9}  {figure.verdict:<5} {figure.detail}"
    )


def save(path: Path, figures: Sequence[Figure]) -> None:
    """Keep the figures, with what is needed to compare them with another run's."""
    rows = [{**asdict(figure), "verdict": figure.verdict} for figure in figures]
    document = {"machine": _machine(), "figures": rows}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _machine() -> dict[str, str | int | None]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        **{name: _version(name) for name in ("evalcase", "PyYAML", "pydantic-evals")},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
