"""What a report says, read again."""

import json
import re
from typing import Any

from tests.run.project import Done


def trials(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def next_of(done: Done) -> list[str]:
    """The words of the command that is suggested, without the name of the run."""
    found = re.search(r"^next +evalcase (.*)$", done.out, re.MULTILINE)
    words = found[1].split() if found else []
    return [word for word in words if not re.match(r"\d{8}-", word)]
