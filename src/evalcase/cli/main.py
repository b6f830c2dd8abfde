"""The entry point. `--version` is answered before anything is imported that it doesn't need."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from evalcase import __version__

        sys.stdout.write(f"evalcase {__version__}\n")
        return
    from evalcase.cli.app import run

    sys.exit(run(sys.argv[1:]))
