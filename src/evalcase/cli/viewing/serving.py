"""The server, from its first word to Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TextIO

from evalcase.cli.conclusion import RecordPlace
from evalcase.cli.viewing.guard import Guard, answer_in_words
from evalcase.cli.viewing.listing import Listing
from evalcase.cli.viewing.server import Viewer
from evalcase.errors import ConfigError
from evalcase.model.value import Value
from evalcase.project.config import Config
from evalcase.record.folder import Run
from evalcase.system.http.server import HttpServer
from evalcase.system.world import World

_HOST = "127.0.0.1"
_PATIENCE_S = 0.5
"""How long an answer may take that was begun when somebody ends it."""


class Opening(Value, frozen=True):
    """What a person asked for."""

    folder: str
    config: Config
    run: Run | None
    """The one whose page is opened; None for the list."""
    port: int
    opens_browser: bool


async def serve_viewer(opening: Opening, world: World, out: TextIO) -> None:
    """Serve until somebody ends it. Raise ConfigError if nobody can be listened to."""
    token = urlsafe_b64encode(world.entropy(32)).rstrip(b"=").decode()
    ports = [opening.port]
    guard = Guard(token, lambda: ports[0])
    listing = Listing(opening.folder, opening.config.root, world.state)
    viewer = Viewer(listing, RecordPlace(world.cwd, opening.config))
    server = HttpServer(
        lambda request: guard.answer(request, viewer.answer),
        answer_in_words,
        logging.getLogger("evalcase.view"),
    )
    try:
        ports[0] = await _listen_at_port(server, opening.port)
        address = f"http://{_HOST}:{ports[0]}/{token}/"
        if opening.run is not None:
            address += f"run/{os.path.basename(opening.run.path)}"
        out.write(f"{address}\npress Ctrl-C to stop\n")
        out.flush()
        if opening.opens_browser and has_screen(world.environment, sys.platform):
            await asyncio.to_thread(_open_browser, address)
        await asyncio.Event().wait()
    finally:
        await server.close(_PATIENCE_S)


async def _listen_at_port(server: HttpServer, port: int) -> int:
    try:
        return await server.listen(_HOST, port)
    except OSError as error:
        raise ConfigError(f"port {port} can't be used: {error.strerror or error}") from error


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Whether a browser would have a window. Without one, Python might start one in the terminal,
    over what stands there."""
    if platform in ("win32", "darwin"):
        return True
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def _open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
