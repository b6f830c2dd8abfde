"""Templates of people's own: their words around the blocks, `{{name}}` for where a block goes.

Nothing else is a template language, and what is put in is never looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.nearest import find_nearest
from evalcase.model.shape import OptionFault, Plain, describe_mismatch

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


class TemplateText(Plain, frozen=True):
    """A text in which `{{name}}` stands for a block."""

    @property
    def words(self) -> str:
        return "a text with {{answer}} and {{criteria}} in it"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            yield describe_mismatch(self, value, path)
            return
        used = [found[1] for found in _PLACE.finditer(value)]
        for name in dict.fromkeys(used):
            if name not in BLOCKS:
                close = find_nearest(name, BLOCKS)
                hint = f"did you mean {{{{{close}}}}}?" if close else _list_blocks()
                yield OptionFault(path, f"`template` has no block {{{{{name}}}}}", hint)
        for name in _NEEDED:
            if used.count(name) != 1:
                message = (
                    f"`template` needs {{{{{name}}}}} once, and has it {used.count(name)} times"
                )
                yield OptionFault(path, message, _list_blocks())

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


def _list_blocks() -> str:
    return f"the blocks are {', '.join(f'{{{{{name}}}}}' for name in BLOCKS)}"
