from __future__ import annotations

from datetime import UTC, datetime

from evalcase.util.environment import Stamps


def test_stamps_are_times_to_the_millisecond() -> None:
    times = iter([0.0, 1_700_000_000.25, 1_700_000_000.999, 1_700_000_001.0, 1_699_999_999.5])
    stamps = Stamps(lambda: next(times))
    for seconds in (0.0, 1_700_000_000.25, 1_700_000_000.999, 1_700_000_001.0, 1_699_999_999.5):
        expected = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
        assert stamps.now() == expected
