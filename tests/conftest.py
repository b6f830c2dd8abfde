"""Every test begins with the signals that a person's shell would give a command."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Undo what a background job or `nohup` ignores: the commands that tests start would inherit
    it, and Ctrl-C and a closed terminal would mean nothing to them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
