"""Shapes of options that name something else: code, a program, a place in JSON, other graders.

None of them is looked up here: nothing is imported for a check of its syntax.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalcase.model.finding import KeyPath
from evalcase.model.json_value import JSON
from evalcase.model.path_steps import path_steps
from evalcase.model.shape import ListOf, OptionFault, Plain, Shape, Text, describe_mismatch
from evalcase.model.value import Value


class Reference(Plain, frozen=True):
    """`module:function` or `./file.py:function`, looked at and never imported."""

    @property
    def words(self) -> str:
        return "`module:function`"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            yield describe_mismatch(self, value, path)
            return
        module, colon, name = value.partition(":")
        is_module = _is_dotted(module) and not module.endswith(".py")
        if not colon or not (is_module or _is_file(module)) or not _is_dotted(name):
            what = f"`{value:.80}` does not name a function"
            yield OptionFault(path, what, _reference_hint(module, name))

    def schema(self) -> dict[str, JSON]:
        # Plain enough to be read in an editor; what it lets through is found by `faults`.
        return {"type": "string", "pattern": r"^(?:[^\s:/]+|\./[^:]+\.py):[^\s:/]+$"}


def _is_file(module: str) -> bool:
    """A file of the project: `./` says that no module is meant."""
    folders = module.split("/")
    return folders[0] == "." and ".." not in folders and module.endswith(".py")


def _is_dotted(names: str) -> bool:
    return all(word.isidentifier() for word in names.split("."))


def _reference_hint(module: str, name: str) -> str:
    if module == "file" and name.startswith("//"):
        # So others write it, who call `get_assert` where no function is named.
        module, _, function = name.removeprefix("//").removeprefix("./").partition(":")
        name = function or "get_assert"
    if not name and _is_file(module):
        return f"write {module}:FUNCTION"
    if not name and _is_dotted(module):
        first, dot, last = module.rpartition(".")
        if last == "py":
            return f"write ./{module}:FUNCTION"
        return f"did you mean `{first}:{last}`?" if dot else f"write {module}:FUNCTION"
    if not _is_dotted(name):
        return "write module:function, for example my_agent:answer"
    if module.startswith("//") and _is_dotted(module[2:].removesuffix(".py")):
        return f"did you mean `{module.removeprefix('//')}:{name}`?"
    if ".." in module or module.startswith("/"):
        return "only files of the project are imported, as in ./checks.py:polite"
    if module.endswith(".py"):
        return f"did you mean `./{module}:{name}`?"
    if "/" in module:
        file = module.removeprefix("./").removesuffix("/")
        return f"did you mean `./{file}.py:{name}`?"
    return "write module:function, for example my_agent:answer"


class Argv(ListOf, frozen=True):
    """A program and its arguments, held as a tuple. Others write them as one line, for a shell."""

    item: Shape = Text(empty=True)
    what: str = "a list of texts"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        hint = f"write [{', '.join(value.split())}]" if isinstance(value, str) and value else None
        for fault in ListOf.faults(self, value, path):
            yield fault._replace(hint=fault.hint or hint)


class _Name(Plain, frozen=True):
    """A name of something that is looked up elsewhere."""

    words: str

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str) or not value:
            yield describe_mismatch(self, value, path)

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


class TargetName(_Name, frozen=True):
    """A target by its name, or as `kind:value`. Whoever knows targets looks it up."""

    words: str = "the name of a target"


class PathText(Plain, frozen=True):
    """A path into JSON."""

    @property
    def words(self) -> str:
        return "a path such as items.0.name"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, str):
            yield describe_mismatch(self, value, path)
            return
        try:
            path_steps(value)
        except ValueError as error:
            yield OptionFault(path, f"`{path[-1]}` {error}")

    def schema(self) -> dict[str, JSON]:
        return {"type": "string", "minLength": 1}


class FileName(_Name, frozen=True):
    """A file of the project, named from its root. Whoever may touch the disk looks for it."""

    words: str = "the path of a file"
    holds: Shape | None = None
    """What the JSON in it is, if that is known."""


class GraderList(Value, frozen=True):
    """A list of graders in any spelling, held as a tuple of graders.

    Whoever knows graders looks at what is in it, and makes them before it is read."""

    @property
    def words(self) -> str:
        return "a list of graders"

    def faults(self, value: JSON, path: KeyPath) -> Iterator[OptionFault]:
        if not isinstance(value, list):
            yield describe_mismatch(self, value, path)
        elif not value:
            yield OptionFault(path, f"`{path[-1]}` is an empty list", code="empty-list")

    def read(self, value: JSON) -> Any:  # noqa: ANN401 - graders that have been made
        assert isinstance(value, list)
        return tuple(value)

    def schema(self) -> dict[str, JSON]:
        return {"type": "array", "items": {"$ref": "#/$defs/grader"}, "minItems": 1}
