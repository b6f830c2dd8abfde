"""How often intervals of 95 % hold the truth: simulated judges of known quality."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.simulation import Setting, cover

TIMES = 4000
SETTINGS = (
    Setting(0.5, 0.9, 0.8, 400, 30),
    Setting(0.5, 0.9, 0.8, 400, 100),
    Setting(0.5, 0.9, 0.8, 400, 200),
    Setting(0.85, 0.9, 0.7, 400, 100),
    Setting(0.95, 0.95, 0.6, 400, 50),
    Setting(0.5, 0.9, 0.8, 400, 100, by_verdict=True),
    Setting(0.85, 0.9, 0.7, 400, 100, by_verdict=True),
    Setting(0.9, 0.98, 0.9, 400, 60, by_verdict=True),
)


def coverage_figures(_: Path) -> Iterator[Figure]:
    """Kappa, the true pass rate and the three shares in each setting."""
    for setting in SETTINGS:
        drawn = "drawn evenly" if setting.by_verdict else "drawn at random"
        named = f"{setting.labelled} labels {drawn}, {setting.share:.0%} good"
        for name, rate in cover(setting, TIMES, seed=1).items():
            yield Figure(f"{named}: {name}", 100 * rate, "%")
