"""The shape of a time: seconds, without a unit."""

from __future__ import annotations

from evalcase.model.json_value import JSON
from evalcase.model.shape import Number


class Seconds(Number, frozen=True):
    """A number of seconds over 0."""

    least: float = 0
    above: bool = True

    def meant(self, value: JSON) -> str | None:
        from evalcase.model.meant_numbers import seconds_meant

        return seconds_meant(value)

    def hint(self, value: JSON, meant: str | None) -> str | None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if is_number else f"write seconds without a unit: {meant or 30}"
