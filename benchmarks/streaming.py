"""Memory of streaming cases: what each further case costs, and the whole at a million."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.generate import write_long_jsonl
from benchmarks.measure import Cost, cost

FEW, MANY = 100_000, 1_000_000


def streaming_figures(folder: Path) -> Iterator[Figure]:
    """Bytes per case between the two lengths, and the resident memory at the longer one."""
    few, many = _stream(folder, FEW), _stream(folder, MANY)
    per_case = (many.peak_bytes - few.peak_bytes) / (MANY - FEW)
    detail = f"{few.peak_bytes / 1e6:.0f} MB → {many.peak_bytes / 1e6:.0f} MB"
    yield Figure("memory per further case, 100,000 → 1,000,000", per_case, "bytes", 100, detail)
    yield Figure("resident at 1,000,000 JSONL cases", many.peak_bytes / 1e6, "MB", 300)


def _stream(folder: Path, count: int) -> Cost:
    path = write_long_jsonl(folder, count)
    try:
        return cost("stream_cases", path)
    finally:
        path.unlink()  # hundreds of megabytes, and quick to write again
