"""Two runs that are compared, as one page to look at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from evalcase.report.compare.compared import Compared
from evalcase.report.compare.side import Side
from evalcase.report.figures.ledger import Ledger
from evalcase.report.figures.summing import sum_up
from evalcase.report.page.comparison import tell_comparison
from evalcase.report.page.paired import PairedRows
from evalcase.report.page.subject import RunFacts
from evalcase.report.page.write import Page, write_page


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
