"""Fields of cases and suites that have the shapes of options: one check, one wording for both."""

from __future__ import annotations

from typing import Any

from evalcase.model.defaults import MOST_REPEATS
from evalcase.model.finding import KeyPath
from evalcase.model.shape import Flag, Number, Shape
from evalcase.model.shape_seconds import Seconds
from evalcase.resolve.findings import Findings

FLAG = Flag()
SECONDS = Seconds()
SHARE = Number(0, 1)
TIMES = Number(1, MOST_REPEATS, whole=True)
WEIGHT = Number(0)


def read_as(shape: Shape, value: Any, path: KeyPath, findings: Findings) -> Any:
    """A value of a shape; None if it is another."""
    faults = [*shape.faults(value, path)]
    for fault in faults:
        findings.add_fault(fault)
    return None if faults else value
