"""How large a page may be, as a person says it."""

from __future__ import annotations

import click

from evalcase.cli.options import checked
from evalcase.cli.reports.reported import MAX_SIZE

_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}


def _read_size(text: str) -> int:
    """A number of bytes, as people write one: `50MB`, `800 kB`."""
    number = text.rstrip("kKmMgGbB ")
    unit = _UNITS.get(text[len(number) :].strip().lower(), 0)
    try:
        size = round(float(number) * unit)
    except (OverflowError, ValueError):
        size = 0
    if size <= 0:
        raise click.BadParameter(f"`{text}` is not a size; write 50MB, or 800kB")
    return size


max_size_option = click.option(
    "--max-size", metavar="SIZE", default=f"{MAX_SIZE // 1_000_000}MB", show_default=True,
    callback=checked(_read_size),
    help="Size limit of an HTML page: above it, details of passed cases are left out.",
)  # fmt: skip
