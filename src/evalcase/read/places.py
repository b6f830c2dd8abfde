"""Where values stand in a text: a tree of spans shaped like the value, and how to look one up."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from evalcase.model.finding import At, Path
from evalcase.model.problem import Span

Wanted: TypeAlias = "dict[str | int, Wanted]"
"""The paths to look up, as a tree. An empty one wants nothing below."""


class Branch(NamedTuple):
    """A mapping or a list: its children by key or index, and what `<<` adds to it."""

    span: Span
    children: dict[str | int, tuple[Span, Node]]
    """Key span and value; the key span of a list item is that of the item."""
    merged: tuple[Node, ...] = ()


class Leaf(NamedTuple):
    span: Span


class Alias(NamedTuple):
    span: Span
    target: Node


Node: TypeAlias = "Branch | Leaf | Alias"


class Place(NamedTuple):
    span: Span
    through: Span | None = None
    """The alias that leads there, where the value is written elsewhere."""


def find(root: Node, path: Path, at: At) -> Place:
    """The place of a value, or of its key. A path that leads nowhere ends at its parent."""
    node, key_span, through = root, root.span, None
    for step in path:
        while isinstance(node, Alias):
            through, node = through or node.span, node.target
        entry = _child(node, step)
        if entry is None:
            break
        key_span, node = entry
    return Place(key_span if at == "key" else node.span, through)


def _child(node: Node, step: str | int) -> tuple[Span, Node] | None:
    while isinstance(node, Alias):
        node = node.target
    if isinstance(node, Leaf):
        return None
    if step in node.children:
        return node.children[step]
    for source in node.merged:
        entry = _child(source, step)
        if entry is not None:
            return entry
    return None


def wanted_tree(paths: list[Path]) -> Wanted:
    root: Wanted = {}
    for path in paths:
        node = root
        for step in path:
            node = node.setdefault(step, {})
    return root
