"""What a run takes from the process it is in, all in one value, so that tests can give another."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from random import random


@dataclass(frozen=True, slots=True)
class World:
    cwd: str
    environment: MutableMapping[str, str]
    import_path: list[str]
    """The folders from which modules are imported."""
    now: Callable[[], datetime]
    random: Callable[[], float]
    entropy: Callable[[int], bytes]
    """So many bytes that nobody can guess."""


def this_world() -> World:
    """The world as it is now."""
    return World(os.getcwd(), os.environ, sys.path, _now, random, os.urandom)


def _now() -> datetime:
    return datetime.now(UTC)
