"""Targets set up before the first question and torn down after the last, whatever they do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from evalcase.errors import ConfigError, TargetError
from evalcase.model.target import Target


@asynccontextmanager
async def opened(
    targets: Iterable[Target], scrub: Callable[[str], str], warn: Callable[[str], None]
) -> AsyncIterator[None]:
    """Open all targets. Raise ConfigError or TargetError, without secrets, if one can't be."""

    async def close(target: Target) -> None:
        try:
            await target.close()
        except Exception as error:  # noqa: BLE001 - the answers are safe already
            warn(f"a target could not be closed: {type(error).__name__}: {error}")

    async with AsyncExitStack() as stack:
        for target in targets:
            stack.push_async_callback(close, target)
            await _open(target, scrub)
        yield


async def _open(target: Target, scrub: Callable[[str], str]) -> None:
    try:
        await target.open()
    except (ConfigError, TargetError) as error:
        # What keeps a target from opening is printed, and may have a key in it.
        raise type(error)(scrub(str(error))) from error
    except Exception as error:
        what = scrub(f"{type(error).__name__}: {error}")
        raise TargetError(f"a target could not be set up: {what}") from error
