"""Lines that are shown in, lines out that no CI system takes for its own commands.

GitHub's runner obeys `::name::…` at the start of a line that some program prints, white space
aside, and `##[name]…` anywhere; Azure's obeys `##vso[…]`. What a model said must not be obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_COMMAND = re.compile(r"^(?:\s|\x1b\[[\d;]*m)*::|##(?=\[|vso\[)")


def in_ci(environment: Mapping[str, str]) -> bool:
    """Whether somebody reads the output who obeys such commands."""
    return "GITHUB_ACTIONS" in environment or "TF_BUILD" in environment


def defuse_line(line: str) -> str:
    """The line with a blank within whatever would be a command."""
    if "::" not in line and "##" not in line:
        return line
    return _COMMAND.sub(lambda found: f"{found[0][:-1]} {found[0][-1]}", line)
