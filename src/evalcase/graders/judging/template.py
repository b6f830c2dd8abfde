"""Templates of people's own: their words around the blocks, `{{name}}` for where a block goes.

Nothing else is a template language, and what is put in is never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from evalcase.types.options import OptionFault, Place, of_kind
from evalcase.types.problem import find_nearest

BLOCKS = ("goal", "conversation", "reference", "context", "answer", "tool_calls", "criteria")
_NEEDED = ("answer", "criteria")
_PLACE = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")


def fill_template(template: str, blocks: Mapping[str, str]) -> str:
    """The template with each block in its place; a block that the case hasn't got is left out."""
    return _PLACE.sub(lambda found: blocks.get(found[1], ""), template)


def shows_block(template: str | None, name: str) -> bool:
    """Whether a judge sees a block. Without a template it sees all that there are."""
    return template is None or any(found[1] == name for found in _PLACE.finditer(template))


def hidden_faults(template: str | None, rubric: str, needs: Sequence[str]) -> Iterator[OptionFault]:
    """What a rubric needs to be shown, and a template leaves out."""
    for what, block in (("expected_output", "reference"), ("context", "context")):
        if what in needs and not shows_block(template, block):
            message = f"the rubric `{rubric}` needs {{{{{block}}}}} in the `template`"
            yield OptionFault(("template",), message)


def _check_template(value: str, place: Place) -> Iterator[OptionFault]:
    used = [found[1] for found in _PLACE.finditer(value)]
    for name in dict.fromkeys(used):
        if name not in BLOCKS:
            close = find_nearest(name, BLOCKS)
            hint = f"did you mean {{{{{close}}}}}?" if close else _list_blocks()
            yield place.fault(f"has no block {{{{{name}}}}}", hint)
    for name in _NEEDED:
        if used.count(name) != 1:
            what = f"needs {{{{{name}}}}} once, and has it {used.count(name)} times"
            yield place.fault(what, _list_blocks())


def _list_blocks() -> str:
    return f"the blocks are {', '.join(f'{{{{{name}}}}}' for name in BLOCKS)}"


Template = Annotated[
    str,
    of_kind(
        "a text with {{answer}} and {{criteria}} in it",
        check=_check_template,
        schema={"type": "string", "minLength": 1},
    ),
]
"""A prompt in which `{{name}}` stands for a block."""
