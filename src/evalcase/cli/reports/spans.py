"""A report as traces: OTLP JSON, for collectors and whatever stands behind them."""

from __future__ import annotations

from collections.abc import Iterator

from evalcase import __version__
from evalcase.cli.reports.reported import Reported
from evalcase.report.otlp import otlp_lines


def write_otlp(reported: Reported) -> Iterator[str]:
    kept = reported.kept
    trials = (
        (result, kept.find_case(result.key.suite, result.key.case)) for result in reported.results()
    )
    return otlp_lines(kept.run.id, __version__, trials)
