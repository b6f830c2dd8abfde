"""Dates and times in texts, read by formats that are given: nothing is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

_TIMES = ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c", "%z", "%Z")


class Moment(NamedTuple):
    at: datetime
    has_time: bool
    """Whether it says the time of the day, and not only the day."""

    def days_from(self, other: Moment) -> float | None:
        """How far apart they are, counted in days; None if only one of them has a time zone.

        Where one is a day, only the days count.
        """
        if not (self.has_time and other.has_time):
            return float(abs((self.at.date() - other.at.date()).days))
        if (self.at.utcoffset() is None) != (other.at.utcoffset() is None):
            return None
        return abs((self.at - other.at).total_seconds()) / 86_400


def read_moment(text: str, formats: Sequence[str]) -> Moment | None:
    """The date or time of a text, by the first format that fits; ISO 8601 if there are none."""
    if not formats:
        return read_iso(text)
    for each in formats:
        try:
            # A format that says a zone makes it aware of one; others compare as they stand.
            found = datetime.strptime(text, each)  # noqa: DTZ007
        except ValueError:
            continue
        return Moment(found, any(mark in each for mark in _TIMES))
    return None


def read_expected(text: str, formats: Sequence[str]) -> Moment | None:
    """What an author wrote: by ISO 8601, whatever answers have to be like, or as they have to."""
    return read_iso(text) or read_moment(text, formats)


def read_iso(text: str) -> Moment | None:
    try:
        return Moment(datetime.fromisoformat(text), len(text) > 10)
    except ValueError:
        return None


def object_to_format(format: str) -> str | None:
    """Why a text is no format for dates; None if it is one."""
    if "%" not in format:
        return "it has none of the directives of Python, such as %Y-%m-%d"
    sample = datetime(2001, 2, 3, 4, 5, 6)  # noqa: DTZ001 - only to try the format
    try:
        datetime.strptime(sample.strftime(format), format)  # noqa: DTZ007
    except ValueError as error:
        return str(error)
    return None
