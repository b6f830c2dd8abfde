"""Placeholders in a command: `{prompt}` and the like.

A known name in braces is replaced, in one pass: what is put in is never looked at again. All other
braces stay as they are, so JSON and `${HOME}` can be written plainly. `{{prompt}}` is the literal
`{prompt}`. A name in braces that is nearly a known one is refused as a likely misspelling, unless
its braces are doubled, too.

| placeholder | value |
|---|---|
| `{prompt}` | the last user text; data as JSON |
| `{case_id}`, `{conversation_id}` | as in the case; empty where there is none |
| `{repeat}` | which trial of the case this is, from 1 |
| `{attempt}` | which try of the trial this is, from 1 |
| `{input_file}` | a file with the JSON object that else is on stdin |
| `{prompt_file}` | a file with the prompt |
| `{output_file}` | a file that the command writes its answer to, in place of stdout |

Commands of AgentV have `{PROMPT}`, `{EVAL_ID}`, `{ATTEMPT}` (from 0), `{FILES}`, `{GUIDELINES}`
(always empty), `{PROMPT_FILE}` and `{OUTPUT_FILE}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from evalcase.errors import ConfigError

NAMES = (
    "prompt", "case_id", "conversation_id", "repeat", "attempt",
    "input_file", "prompt_file", "output_file",
)  # fmt: skip
AGENTV_NAMES = (
    "PROMPT", "EVAL_ID", "ATTEMPT", "FILES", "GUIDELINES", "PROMPT_FILE", "OUTPUT_FILE"
)  # fmt: skip

_PLACEHOLDER = re.compile(r"(?<!\$)(?:\{\{([A-Za-z_]+)\}\}|\{([A-Za-z_]+)\})")


class Template:
    """Texts with placeholders, whose names are checked once."""

    def __init__(self, texts: Iterable[str], names: Iterable[str]) -> None:
        self.texts = list(texts)
        self._names = frozenset(names)
        found = [match for text in self.texts for match in _PLACEHOLDER.finditer(text)]
        single = {match[2] for match in found if match[2] is not None}
        self.used = single & self._names
        """The names that stand in it."""
        for name in single - self._names:
            self._check_spelling(name)
        doubled = {match[1] for match in found if match[1] is not None}
        self._literal = {name for name in doubled if name in self._names or self._near(name)}

    def fill(self, values: Mapping[str, str]) -> list[str]:
        """The texts with every placeholder replaced. `values` has every used name."""

        def put(match: re.Match[str]) -> str:
            if match[2] in self._names:
                return values[match[2]]
            return match[0][1:-1] if match[1] in self._literal else match[0]

        return [_PLACEHOLDER.sub(put, text) for text in self.texts]

    def _check_spelling(self, name: str) -> None:
        near = self._near(name)
        if near:
            hint = f"did you mean {{{near}}}? Write {{{{{name}}}}} if it is meant literally"
            raise ConfigError(f"command target: there is no placeholder {{{name}}}: {hint}")

    def _near(self, name: str) -> str | None:
        from difflib import get_close_matches

        close = get_close_matches(name, self._names, 1, 0.75)
        return close[0] if close else None
