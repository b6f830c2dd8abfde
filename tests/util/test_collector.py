from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest

from evalcase.util.environment import collector_paused

YOUNG, OLD = 0, 2
made_for_good = partial(collector_paused, for_good=True)


class Ring:
    """Something that only the collector can find once nobody has it."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def _enabled() -> Iterator[None]:
    """As a process is that has kept nothing from the collector, and so it is left."""
    was_enabled = gc.isenabled()
    gc.unfreeze()
    gc.enable()
    yield
    gc.unfreeze()
    (gc.enable if was_enabled else gc.disable)()


def is_in(value: object, generation: int) -> bool:
    return any(each is value for each in gc.get_objects(generation))


@pytest.mark.parametrize("pause", [collector_paused, made_for_good])
def test_nothing_is_collected_meanwhile(pause: Callable[[], AbstractContextManager[None]]) -> None:
    with pause():
        assert not gc.isenabled()
        with pause():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_somebody_keeps_from_the_collector_is_left_alone() -> None:
    gc.freeze()
    kept = gc.get_freeze_count()
    assert kept
    with collector_paused():
        ring = Ring()
    assert 0 < gc.get_freeze_count() <= kept  # some of it may be gone by itself
    assert is_in(ring, YOUNG), "it can be found once nobody has it"


def test_what_is_made_for_good_is_never_looked_at() -> None:
    with made_for_good():
        ring = Ring()
    assert gc.get_freeze_count()
    assert not any(is_in(ring, generation) for generation in range(OLD + 1))


def test_a_collector_that_is_switched_off_stays_so() -> None:
    gc.disable()
    for pause in (collector_paused, made_for_good):
        with pause():
            ring = Ring()
        assert not gc.isenabled()
        assert is_in(ring, YOUNG)
