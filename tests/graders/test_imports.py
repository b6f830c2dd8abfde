"""What `check` imports to know the options of a grader has nothing that is slow to import."""

from __future__ import annotations

import subprocess
import sys

from evalcase.plugins.registry import list_names

SLOW = {"asyncio", "subprocess", "httptools", "yaml", "decimal", "urllib.parse"}


def test_declarations_are_quick_to_import() -> None:
    quick = [name for name in list_names("graders") if name not in ("python", "judge")]
    program = (
        "import sys; from evalcase.plugins.registry import find_class\n"
        f"for name in {quick!r}: find_class('graders', name)\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{program}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert SLOW & set(done.stdout.split()) == set()
