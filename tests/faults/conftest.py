"""The project and the gate that the tests of the command have, too."""

from __future__ import annotations

from tests.cli.conftest import gate, project

__all__ = ["gate", "project"]
