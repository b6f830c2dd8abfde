"""Two runs that are compared, as one page to look at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from evalcase.report.aggregate import Ledger, sum_up
from evalcase.report.gates import Compared
from evalcase.report.html.compared import PairedRows, tell_comparison
from evalcase.report.html.details import RunFacts
from evalcase.report.html.page import Page, write_page
from evalcase.report.paired_cases import Side


def write_compared_html(compared: Compared, max_size: int, home: str = "") -> Iterator[bytes]:
    """The pieces of the page."""
    rows = PairedRows(compared.comparison)

    def describe() -> Page:
        base, head = compared.comparison.base, compared.comparison.head
        return Page(
            _describe_side(head, rows.head), _describe_side(base, rows.base),
            tell_comparison(compared),
            more=f"evalcase compare {base.label} {head.label} --format html --max-size 1GB",
            home=home,
        )  # fmt: skip

    with tempfile.TemporaryFile() as scratch:
        yield from write_page(describe, rows, scratch, max_size, compared=True, served=bool(home))


def _describe_side(side: Side, ledger: Ledger) -> RunFacts:
    # What is to be said of either side stands in the comparison already.
    return RunFacts(side.label, sum_up(ledger))
