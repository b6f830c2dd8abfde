"""A JSON-like value in, YAML for people out, which reads back as exactly that value.

Every choice is safe for YAML 1.1 and 1.2 alike and stays inside what libyaml reads, so a file
written here means the same to every loader.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalcase.text.yaml_scalar import literal_text, scalar_text, string_text

STEP = 2
LONGEST_SIMPLE_KEY = 1000
"""libyaml gives up on a `key:` whose colon is more than 1024 characters away."""

LONGEST_FLOW_ITEM = 24
LONGEST_FLOW_LIST = 72


def write_yaml(value: object) -> Iterator[str]:
    """Yield the text in chunks. TypeError or ValueError for what isn't a JSON value."""
    text = _on_the_line(value, 0)
    if text is None:
        yield from _collection(value, 0)
    else:
        yield f"{text}\n"


def _on_the_line(value: object, indent: int) -> str | None:
    """What can start on the line of its key or dash; None for a collection in block style."""
    if isinstance(value, dict):
        return None if value else "{}"
    if isinstance(value, list):
        return _flow_list(value)
    literal = literal_text(value, indent + STEP, STEP) if isinstance(value, str) else None
    return scalar_text(value) if literal is None else literal


def _flow_list(items: list[object]) -> str | None:
    if len(items) * 2 > LONGEST_FLOW_LIST or any(isinstance(i, (dict, list)) for i in items):
        return None
    texts = [scalar_text(item, in_flow=True) for item in items]
    text = f"[{', '.join(texts)}]"
    if len(text) > LONGEST_FLOW_LIST or max(map(len, texts), default=0) > LONGEST_FLOW_ITEM:
        return None
    # Text of several lines reads better as blocks, however short it is.
    return None if any(isinstance(item, str) and "\n" in item for item in items) else text


def _collection(value: object, indent: int) -> Iterator[str]:
    """A block collection, from where the writer stands: at column `indent` of a started line."""
    if isinstance(value, dict):
        return _mapping(value, indent)
    assert isinstance(value, list)
    return _sequence(value, indent)


def _mapping(value: dict[object, object], indent: int) -> Iterator[str]:
    pad = ""
    for key, item in value.items():
        yield pad + _key(key, indent)
        text = _on_the_line(item, indent)
        if text is None:
            deeper = indent + STEP
            yield "\n" + " " * deeper
            yield from _collection(item, deeper)
        else:
            yield f" {text}\n"
        pad = " " * indent


def _sequence(value: list[object], indent: int) -> Iterator[str]:
    pad = ""
    for item in value:
        yield f"{pad}- "
        text = _on_the_line(item, indent)
        if text is None:
            yield from _collection(item, indent + STEP)
        else:
            yield f"{text}\n"
        pad = " " * indent


def _key(key: object, indent: int) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key must be a string, not {type(key).__name__}")
    text = string_text(key)
    return f"{text}:" if len(text) <= LONGEST_SIMPLE_KEY else f"? {text}\n{' ' * indent}:"
